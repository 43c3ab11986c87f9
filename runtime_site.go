package npu

import (
	"path/filepath"
	"runtime"
	"strings"

	"github.com/npulang/npu/ir/diag"
)

// A site is where a Go program called the runtime, kept cheaply: frames are
// looked up when an error is printed.
type site struct {
	pcs [siteDepth]uintptr
	n   int
}

// siteDepth is more than the calls inside this package from any method of the
// runtime to here.
const siteDepth = 12

func here() *site {
	s := new(site)
	s.n = runtime.Callers(2, s.pcs[:])
	return s
}

// loc is the first line outside this package; the file is named without its
// folder, so that messages are the same everywhere.
func (s *site) loc() diag.Loc {
	frames := runtime.CallersFrames(s.pcs[:s.n])
	for {
		f, more := frames.Next()
		if f.Function != "" && !strings.HasPrefix(f.Function, ownPackage) {
			return diag.Loc{File: filepath.Base(f.File), Line: f.Line}
		}
		if !more {
			return diag.Loc{}
		}
	}
}

// ownPackage begins the names of this package's functions.
const ownPackage = "github.com/npulang/npu."
