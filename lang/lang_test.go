package lang

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/lang/weights"
)

var update = flag.Bool("update", false, "rewrite the expected sections of testdata")

// TestCases runs testdata/*.txtar. The section in.npu is loaded, further files
// can be imported (those under std/ as the standard library); the sections
// errors, ir and run are compared: diagnostics as users see them, the functions,
// and the outcome of the tests by the interpreter. Whatever compiles is verified
// and its text read back.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { runCase(t, file) })
	}
}

func runCase(t *testing.T, file string) {
	ar, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	out := outcome(t, ar)
	changed := false
	for i, f := range ar.Files {
		want, isOutput := out[f.Name]
		if !isOutput || string(f.Data) == want {
			continue
		}
		if *update {
			ar.Files[i].Data = []byte(want)
			changed = true
			continue
		}
		t.Errorf("section %s (-want +got):\n%s", f.Name, cmp.Diff(string(f.Data), want))
	}
	if out["errors"] != "" && !hasSection(ar, "errors") {
		t.Errorf("unexpected diagnostics:\n%s", out["errors"])
	}
	if changed {
		if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func hasSection(ar *txtar.Archive, name string) bool {
	for _, f := range ar.Files {
		if f.Name == name {
			return true
		}
	}
	return false
}

// outcome computes the sections that a case can have.
func outcome(t *testing.T, ar *txtar.Archive) map[string]string {
	files, std := fstest.MapFS{}, fstest.MapFS{}
	main := ""
	for _, f := range ar.Files {
		switch name, isStd := strings.CutPrefix(f.Name, "std/"); {
		case f.Name == "in.npu":
			main = string(f.Data)
		case isStd:
			std[name] = &fstest.MapFile{Data: f.Data}
		default:
			files[f.Name] = &fstest.MapFile{Data: f.Data}
		}
	}
	read := func(name string) ([]byte, error) { return fs.ReadFile(files, name) }
	unit, ds := Load(diag.NewSource("in.npu", main), Options{Stdlib: std, ReadFile: read})
	var errs bytes.Buffer
	if err := ds.Render(&errs, false); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{"errors": errs.String(), "ir": functions(t, unit), "run": ""}
	if ds.Err() == nil {
		out["run"] = runTests(unit, interpreter{read: read})
	}
	return out
}

// functions prints the graphs, verified, and read back from their text.
func functions(t *testing.T, unit *Unit) string {
	var b strings.Builder
	for i, g := range unit.Graphs {
		if err := ir.Verify(g.Func); err != nil {
			t.Errorf("graph %s: %v", g.Name, err)
		}
		text := g.Func.String()
		back, ds := ir.ParseFuncs(diag.NewSource("ir", text))
		if ds.Err() != nil || len(back) != 1 || back[0].String() != text {
			t.Errorf("graph %s does not read back: %v\n%s", g.Name, ds, text)
		}
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(text)
	}
	return b.String()
}

func runTests(unit *Unit, r interpreter) string {
	var b strings.Builder
	for _, tt := range unit.Tests {
		ds := tt.Run(r)
		fmt.Fprintf(&b, "%s: %s\n", tt.Name, map[bool]string{true: "ok", false: "FAIL"}[len(ds) == 0])
		for _, d := range ds {
			b.WriteString(d.String())
		}
	}
	return b.String()
}

// An interpreter runs tests by the reference evaluation.
type interpreter struct {
	read func(string) ([]byte, error)
	set  *weights.Set
}

func (i interpreter) Run(f *ir.Func, inputs []*tensor.T) ([]*tensor.T, error) {
	if err := ir.Verify(f); err != nil {
		return nil, err
	}
	ws, ds := Bind(f, i.set, BindOptions{ReadFile: i.read})
	if err := ds.Err(); err != nil {
		return nil, err
	}
	in := ir.Interp{Budget: &ir.Budget{Bytes: 1 << 30}, Param: func(v *ir.Value) (*tensor.T, error) { return ws[v.Key()], nil }}
	return in.Run(f, inputs...)
}

// TestLibrary runs the tests of the standard library and of the examples.
func TestLibrary(t *testing.T) {
	var files []string
	for _, dir := range []string{"../stdlib", "../examples"} {
		found, _ := filepath.Glob(dir + "/*.npu")
		files = append(files, found...)
	}
	if len(files) == 0 {
		t.Skip("there is no library beside this package")
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) { runFile(t, file) })
	}
}

func runFile(t *testing.T, file string) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	unit, ds := Load(diag.NewSource(file, string(data)), Options{ReadFile: os.ReadFile, Stdlib: os.DirFS("../stdlib")})
	if err := ds.Err(); err != nil {
		t.Fatal(ds)
	}
	r := interpreter{read: os.ReadFile}
	if unit.Weights != "" {
		if r.set, err = weights.Open(unit.Weights); err != nil {
			t.Fatal(err)
		}
		defer r.set.Close()
	}
	functions(t, unit)
	for _, tt := range unit.Tests {
		for _, d := range tt.Run(r) {
			t.Errorf("%s: %s", tt.Name, d)
		}
	}
}
