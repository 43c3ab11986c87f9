package irtest

import (
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
)

// Parse reads one function in its text form and verifies it.
func Parse(t testing.TB, text string) *ir.Func {
	t.Helper()
	fs, errs := ir.ParseFuncs(diag.NewSource("test.ir", text))
	if err := errs.Err(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if len(fs) != 1 {
		t.Fatalf("%d functions where one is wanted", len(fs))
	}
	if err := ir.Verify(fs[0]); err != nil {
		t.Fatal(err)
	}
	return fs[0]
}
