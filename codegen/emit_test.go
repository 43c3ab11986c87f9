package codegen_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/npulang/npu/codegen"
	"github.com/npulang/npu/codegen/bytecode"
	"github.com/npulang/npu/golden/expect"
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/lower"
)

// TestListings compares the tasks, memory, streams and bytecode of each
// testdata/*.ir with the .txt beside it. Symbols are 64.
func TestListings(t *testing.T) {
	files, err := filepath.Glob("testdata/*.ir")
	if err != nil || len(files) == 0 {
		t.Fatal("no testdata", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".ir"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			expect.File(t, strings.TrimSuffix(file, ".ir")+".txt", listings(t, file, string(text)))
		})
	}
}

func listings(t *testing.T, file, text string) string {
	t.Helper()
	fs, errs := ir.ParseFuncs(diag.NewSource(filepath.Base(file), text))
	if errs.Err() != nil {
		t.Fatal(errs.Err())
	}
	env := ir.Env{"B": 64, "S": 64}
	plan, err := lower.Lower(fs[0], env, lower.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, _, err := codegen.Emit(plan)
	if err != nil {
		t.Fatal(err)
	}
	if err := bytecode.Verify(p); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, write := range []func() error{
		func() error { return plan.WriteTasks(&b) },
		func() error { return plan.WriteMemory(&b) },
		func() error { return plan.WriteStreams(&b) },
		func() error { return bytecode.Disassemble(&b, p) },
	} {
		if err := write(); err != nil {
			t.Fatal(err)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
