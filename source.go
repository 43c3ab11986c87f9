package npu

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/npulang/npu/codegen/bytecode"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/lang/weights"
)

// A Source is what Compile takes: a File, a Reader, a Script, a file of an FS,
// IRText, or a *Graph. The content tells a script, IR text and a compiled
// program apart.
type Source interface{ open() (*text, error) }

// A text is an open source: a script or IR text, a compiled program, or a
// graph that was built in Go.
type text struct {
	name    string
	content string
	root    string // folder above which imports may not reach
	read    func(path string) ([]byte, error)
	mapped  bool // read is the disk: weights are mapped rather than read

	file  *bytecode.File // a compiled program
	graph *Graph
}

// maxSource bounds a script or IR text, in bytes.
const maxSource = 64 << 20

type sourceFunc func() (*text, error)

func (f sourceFunc) open() (*text, error) { return f() }

// File is a program in a file: a script (.npu), IR text (.ir) or a compiled
// program (.npuc). Imports and data are looked up beside it.
func File(path string) Source {
	return sourceFunc(func() (*text, error) {
		compiled, err := isCompiled(path)
		if err != nil {
			return nil, err
		}
		if compiled {
			f, err := bytecode.Open(path)
			return &text{name: path, file: f}, err
		}
		content, err := readSource(path)
		return onDisk(path, content), err
	})
}

// isCompiled reports whether a file begins like a compiled program.
func isCompiled(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	head := make([]byte, len(compiledMagic))
	n, err := io.ReadFull(f, head)
	if err != nil && n == 0 && err != io.EOF {
		return false, err
	}
	return string(head) == compiledMagic, nil
}

// compiledMagic begins every .npuc file.
const compiledMagic = "npuc"

// readSource reads a file, refusing what is larger than a source may be.
func readSource(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if info.Size() > maxSource {
		return "", tooLarge(path)
	}
	b, err := os.ReadFile(path)
	return string(b), err
}

func tooLarge(name string) error {
	return Diagnostics{{Code: "limit", Subject: name, Message: fmt.Sprintf("a source has at most %d MiB", maxSource>>20)}}
}

func onDisk(name, content string) *text {
	return &text{name: name, content: content, root: filepath.Dir(name), read: os.ReadFile, mapped: true}
}

// Reader is a program from a stream. Imports and data are looked up in the
// current folder.
func Reader(name string, r io.Reader) Source {
	return sourceFunc(func() (*text, error) {
		b, err := io.ReadAll(io.LimitReader(r, maxStream+1))
		switch {
		case err != nil:
			return nil, err
		case bytes.HasPrefix(b, []byte(compiledMagic)):
			f, err := bytecode.Read(b)
			return &text{name: name, file: f}, err
		case len(b) > maxSource:
			return nil, tooLarge(name)
		}
		return onDisk(name, string(b)), nil
	})
}

// maxStream bounds a compiled program that comes as a stream.
const maxStream = 16 << 30

// Script is a script in memory. Imports and data are looked up in the current
// folder.
func Script(name, content string) Source {
	return sourceFunc(func() (*text, error) { return onDisk(name, content), nil })
}

// IRText is the text form of the IR.
func IRText(name, content string) Source { return Script(name, content) }

// FS is a program in a file system, which also serves its imports and data:
// what an embedded program wants.
func FS(fsys fs.FS, name string) Source {
	return sourceFunc(func() (*text, error) {
		read := func(p string) ([]byte, error) { return fs.ReadFile(fsys, path.Clean(filepath.ToSlash(p))) }
		b, err := read(name)
		if err != nil {
			return nil, err
		}
		if bytes.HasPrefix(b, []byte(compiledMagic)) {
			f, err := bytecode.Read(b)
			return &text{name: name, file: f}, err
		}
		return &text{name: name, content: string(b), root: path.Dir(name), read: read}, nil
	})
}

func (g *Graph) open() (*text, error) {
	return &text{name: g.frame.Func.Name, graph: g, read: os.ReadFile, root: "."}, g.Err()
}

// isIR reports whether a text is IR rather than a script: its first line that
// is no comment begins a function.
func (t *text) isIR() bool {
	for line := range strings.Lines(t.content) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "//") {
			continue
		}
		rest, ok := strings.CutPrefix(line, "func")
		return ok && strings.HasPrefix(strings.TrimSpace(rest), "@")
	}
	return false
}

// openWeights opens the weights file that a script names.
func (t *text) openWeights(path string) (*weights.Set, error) {
	if t.mapped {
		return weights.Open(path)
	}
	b, err := t.read(path)
	if err != nil {
		return nil, err
	}
	return weights.Decode(path, b)
}

func (t *text) source() *diag.Source { return diag.NewSource(t.name, t.content) }
