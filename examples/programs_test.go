package examples_test

import (
	"os"
	"os/exec"
	"testing"
)

// programs are the Go examples and what they print: the quadrants of (1, 1),
// (-1, 2) and (-1, -1); averages over four values; the sums and differences of
// (i, 1), negative ones cut off, and what docs/runtime.md tells of.
var programs = map[string]string{
	"./embed":   "quadrants: [0 1 2]\n",
	"./builder": "[10]\n[1 2 4]\n",
	"./runtime": `batch 0 [1 0]
batch 1 [2 0]
batch 2 [3 1]
batch 3 [4 2]
softmax ran as softmax/any/reference on the vector unit of cpu
main.go:146: error: MatMul: input shapes do not match: A(1024,1024), D(512,512) [shape-mismatch]
1024 bytes come back
main.go:162: error: memory pool: the block of 1000 bytes is freed twice [use-after-free]
`,
}

func TestPrograms(t *testing.T) {
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("needs the go command")
	}
	for dir, want := range programs {
		run := exec.Command(tool, "run", dir)
		run.Env = append(os.Environ(), "GOFLAGS=") // those of the test's own run are not meant for it
		out, err := run.CombinedOutput()
		if err != nil || string(out) != want {
			t.Errorf("go run %s prints %q (%v), not %q", dir, out, err, want)
		}
	}
}
