//go:build unix

package npu_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/npulang/npu"
)

// TestPipes names a pipe that nobody writes to in every place where a script
// can name a file: opening it would wait for ever.
func TestPipes(t *testing.T) {
	for name, script := range map[string]string{
		"import":  `import "./pipe" as p` + "\ngraph main(x: f32[2]) -> f32[2] { return p.f(x) }\n",
		"weights": `weights "pipe"` + "\nparam w: f32[2]\ngraph main(x: f32[2]) -> f32[2] { return x + w }\n",
		"init":    "param w: f32[2] = load(\"pipe\")\ngraph main(x: f32[2]) -> f32[2] { return x + w }\n",
		"default": "graph main(x: f32[B] = load(\"pipe\")) -> f32[B] { return x }\n",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
				t.Skip("no pipes here: ", err)
			}
			file := filepath.Join(dir, "main.npu")
			if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
				t.Fatal(err)
			}
			failed := make(chan error, 1)
			go func() {
				p, err := npu.Compile(npu.File(file), npu.Options{})
				if err == nil {
					_, err = p.Run(t.Context(), nil)
				}
				failed <- err
			}()
			select {
			case err := <-failed:
				if err == nil || !strings.Contains(npu.AsDiagnostic(err).Error()+strings.Join(npu.AsDiagnostic(err).Notes, "\n"), "no regular file") {
					t.Errorf("%v", err)
				}
			case <-time.After(20 * time.Second):
				t.Fatal("waits for the pipe")
			}
		})
	}
}

// TestBankDevice names a device as a bank: reading one might never end.
func TestBankDevice(t *testing.T) {
	opts := npu.Options{Bank: "/dev/null"}
	script := npu.Script("s.npu", "graph main(x: f32[2]) -> f32[2] { return x + 1.0 }")
	p, err := npu.Compile(script, opts)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	fails(t, p.Warnings(), "/dev/null", "not used: it is a device")
	_, err = npu.TuneKernels(t.Context(), script, npu.TuneOptions{Options: opts})
	fails(t, err, "/dev/null", "it is a device")
}
