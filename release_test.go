package npu_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/npulang/npu"
	"github.com/npulang/npu/codegen/bytecode"
)

// TestRelease: whatever ends a compilation or a test gives the files back that
// it has mapped.
func TestRelease(t *testing.T) {
	if _, err := os.ReadFile("/proc/self/maps"); err != nil {
		t.Skip("this system does not list the mapped files: ", err)
	}
	dir := t.TempDir()
	compiled, weights := filepath.Join(dir, "net.npuc"), copyInto(t, dir, "examples/mlp.safetensors")
	script := copyInto(t, dir, "examples/mlp.npu")
	copyInto(t, dir, "examples/digits.npy")

	p, err := npu.Compile(npu.File(script), npu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !mapped(t, weights) {
		t.Error("weights in use are not mapped: the test sees nothing")
	}
	if err := p.Save(compiled); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	results, _, err := npu.Test(npu.File(script), npu.TestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for r := range results {
		if r.Failed() {
			t.Error(r.Diagnostics)
		}
	}
	for _, src := range []npu.Source{npu.File(script), npu.File(compiled)} {
		if _, err := npu.Compile(src, npu.Options{Graph: "other"}); err == nil {
			t.Error("a graph that is not there compiles")
		}
	}
	if _, err := npu.Compile(npu.File(script), npu.Options{Level: "O9"}); err == nil {
		t.Error("a level that is not there compiles")
	}
	refused := filepath.Join(dir, "refused.npuc")
	if err := (&bytecode.File{IR: "func @main("}).Save(refused); err != nil {
		t.Fatal(err)
	}
	if _, err := npu.Compile(npu.File(refused), npu.Options{}); err == nil {
		t.Error("a compiled file with half a function compiles")
	}
	for _, file := range []string{weights, compiled, refused} {
		if mapped(t, file) {
			t.Errorf("%s is still mapped", filepath.Base(file))
		}
	}
}

func mapped(t *testing.T, file string) bool {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(maps), file)
}

func copyInto(t *testing.T, dir, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(dir, filepath.Base(file))
	if err := os.WriteFile(to, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return to
}
