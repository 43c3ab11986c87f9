package npu

import (
	"strings"

	"github.com/npulang/npu/codegen/bytecode"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/vm"
)

// A listing of bytecode, as npu emit bytecode prints it, is the code of a plan and no
// program: it has neither the graph, whose names, symbols and random inputs the other
// commands go by, nor the parameters' values. It is read back, and proved, by Check.

// isListing reports whether a text is a listing of bytecode: its first line that is no
// comment begins a program.
func (t *text) isListing() bool {
	return t.graph == nil && t.file == nil && strings.HasPrefix(t.firstLine(), "program @")
}

// checkListing reports what is wrong with a listing: its lines, what the verifier cannot
// prove, and operators that there are not.
func (t *text) checkListing() Diagnostics {
	p, faults := bytecode.Assemble(t.source())
	if len(faults) > 0 {
		return Diagnostics(faults)
	}
	if err := vm.Check(p); err != nil {
		return asDiagnostics(inFile(t.name, err))
	}
	return nil
}

// notRun refuses a listing where a program is wanted.
func (t *text) notRun() error {
	return Diagnostics{{Code: "bad-file", Loc: diag.Loc{File: t.name},
		Message: "the file is a listing of bytecode, not a program (.npu, .ir or .npuc)",
		Helps:   []string{"npu check reads and proves it; to run the program, give what the listing was made of"}}}
}
