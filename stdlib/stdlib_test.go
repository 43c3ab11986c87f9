package stdlib_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/npulang/npu"
	"github.com/npulang/npu/stdlib"
)

// TestBlocks runs the test blocks of every module, at O0 and O2.
func TestBlocks(t *testing.T) {
	files, _ := filepath.Glob("*.npu")
	if len(files) < 5 {
		t.Fatalf("only %v", files)
	}
	for _, file := range files {
		t.Run(file, func(t *testing.T) {
			results, warnings, err := npu.Test(npu.File(file), npu.TestOptions{Options: npu.Options{Verify: true}})
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range warnings {
				t.Errorf("warning: %s", w.Headline())
			}
			ran := 0
			for r := range results {
				ran++
				if r.Failed() {
					t.Errorf("%s at %s: %v", r.Name, r.Level, r.Diagnostics)
				}
			}
			if ran < 20 {
				t.Errorf("only %d runs", ran)
			}
		})
	}
}

var declaration = regexp.MustCompile(`(?m)^(module|fn|const) (\w+)`)

// TestDocumented checks that everything that a module offers has a comment, and
// is used by a test with values of its own or by a tested layer.
func TestDocumented(t *testing.T) {
	layers := read(t, os.DirFS("."), "nn_test.npu")
	for _, name := range []string{"act.npu", "loss.npu", "math.npu", "nn.npu"} {
		text := read(t, stdlib.FS, name)
		if text != read(t, os.DirFS("."), name) {
			t.Errorf("%s: the embedded text is another", name)
		}
		code, tests, ok := strings.Cut(text, "// The tests below are written by testdata/gen_stdlib.py")
		if !ok {
			t.Errorf("%s has no generated tests", name)
		}
		for _, m := range declaration.FindAllStringSubmatchIndex(code, -1) {
			what := code[m[4]:m[5]]
			if !strings.HasSuffix(lineBefore(code, m[0]), "\n") || !strings.HasPrefix(lineBefore(code, m[0]), "///") {
				t.Errorf("%s: %s has no /// comment", name, what)
			}
			word := regexp.MustCompile(`\b` + what + `\b`)
			if !word.MatchString(tests) && !(name == "nn.npu" && (word.MatchString(layers) || len(word.FindAllString(code, -1)) > 1)) {
				t.Errorf("%s: no test uses %s", name, what)
			}
		}
	}
}

// lineBefore is the line that ends at an offset, with its newline.
func lineBefore(text string, at int) string {
	text = text[:at]
	return text[strings.LastIndexByte(strings.TrimSuffix(text, "\n"), '\n')+1:]
}

func read(t *testing.T, fsys fs.FS, name string) string {
	t.Helper()
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestFormatted checks that the files are as npu fmt leaves them.
func TestFormatted(t *testing.T) {
	files, _ := filepath.Glob("*.npu")
	for _, file := range files {
		text := read(t, os.DirFS("."), file)
		if got, err := npu.Format(file, text); err != nil || got != text {
			t.Errorf("%s is not formatted (%v); npu fmt -w does it", file, err)
		}
	}
}
