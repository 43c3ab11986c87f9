package examples_test

import (
	"os"
	"os/exec"
	"testing"
)

// programs are the Go examples and what they print: the quadrants of (1, 1),
// (-1, 2) and (-1, -1); averages over four values.
var programs = map[string]string{
	"./embed":   "quadrants: [0 1 2]\n",
	"./builder": "[10]\n[1 2 4]\n",
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
