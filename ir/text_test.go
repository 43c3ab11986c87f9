package ir_test

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
)

var update = flag.Bool("update", false, "rewrite the golden files of package ir")

// parse reads functions that must be right.
func parse(t testing.TB, name, text string) []*ir.Func {
	t.Helper()
	fs, errs := ir.ParseFuncs(diag.NewSource(name, text))
	if err := errs.Err(); err != nil {
		t.Fatal(err)
	}
	return fs
}

// parseOne reads one function and verifies it.
func parseOne(t testing.TB, text string) *ir.Func {
	t.Helper()
	fs := parse(t, "test.ir", text)
	if len(fs) != 1 {
		t.Fatalf("%d functions", len(fs))
	}
	if err := ir.Verify(fs[0]); err != nil {
		t.Fatal(err)
	}
	return fs[0]
}

func printAll(fs []*ir.Func, opt ir.PrintOptions) string {
	var parts []string
	for _, f := range fs {
		var b strings.Builder
		_ = ir.Print(&b, f, opt)
		parts = append(parts, b.String())
	}
	return strings.Join(parts, "\n")
}

// TestTextGolden: the files are in canonical form, but for comments, so
// printing what was read gives them again.
func TestTextGolden(t *testing.T) {
	files, _ := filepath.Glob("testdata/text/*.ir")
	if len(files) == 0 {
		t.Fatal("no files")
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		head, body, _ := strings.Cut(string(data), "\nfunc ")
		fs := parse(t, file, string(data))
		for _, f := range fs {
			if err := ir.Verify(f); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
		got := printAll(fs, ir.PrintOptions{Locs: true})
		if want := "func " + body; got != want {
			t.Errorf("%s (-want +got):\n%s", file, cmp.Diff(want, got))
			if *update {
				_ = os.WriteFile(file, []byte(head+"\n"+got), 0o644)
			}
		}
	}
}

// TestTextErrors reads testdata/text_errors.txtar: sections NAME.ir and
// NAME.err, the messages.
func TestTextErrors(t *testing.T) {
	const file = "testdata/text_errors.txtar"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split("\n"+string(data), "\n-- ")
	got := parts[0][1:] + "\n"
	for _, part := range parts[1:] {
		name, text, _ := strings.Cut(part, " --\n")
		base, isInput := strings.CutSuffix(name, ".ir")
		if !isInput {
			continue
		}
		text = strings.TrimSuffix(text, "\n") + "\n"
		fs, errs := ir.ParseFuncs(diag.NewSource(name, text))
		if len(errs) == 0 {
			t.Errorf("%s: no error; it reads as\n%s", name, printAll(fs, ir.PrintOptions{}))
		}
		got += "-- " + name + " --\n" + text + "-- " + base + ".err --\n" + messages(errs)
	}
	if got != string(data) {
		t.Errorf("(-want +got):\n%s", cmp.Diff(string(data), got))
		if *update {
			_ = os.WriteFile(file, []byte(got), 0o644)
		}
	}
}

func messages(errs diag.List) string {
	var b strings.Builder
	for _, e := range errs {
		b.WriteString(e.Headline() + "\n")
		for _, w := range e.Witnesses {
			l := w.Span.Loc()
			b.WriteString("  " + strconv.Itoa(l.Line) + ":" + strconv.Itoa(l.Col) + ": " + w.Text + "\n")
		}
		for _, n := range e.Notes {
			b.WriteString("  note: " + n + "\n")
		}
		for _, h := range e.Helps {
			b.WriteString("  help: " + h + "\n")
		}
	}
	return b.String()
}

// TestNames: repeats get numbers, and printing what was read changes nothing.
func TestNames(t *testing.T) {
	f := &ir.Func{Name: "odd\x80 name"}
	x := f.NewInput("h", ir.T(tensor.F32))
	var vs []*ir.Value
	for _, name := range []string{"h", "h.1", "h", "", "0", "return", "_", "a b", "", "π", "a.", "\xff", "-", `"`} {
		out, err := f.Add(ir.Lookup("relu"), []*ir.Value{x}, nil)
		if err != nil {
			t.Fatal(err)
		}
		out[0].Name = name
		vs = append(vs, out...)
	}
	w := &ir.Value{Op: ir.Param, Attrs: []ir.Lit{ir.TypeLit(ir.T(tensor.F32)), ir.None, ir.None, ir.None}, Type: ir.T(tensor.F32), Name: "h"}
	f.Body = append(f.Body, w)
	f.Results = append(vs, w)
	want := `func @"odd\x80 name"(%h: f32[]) -> (f32[], f32[], f32[], f32[], f32[], f32[], f32[], f32[], f32[], f32[], f32[], f32[], f32[], f32[], f32[]) {
  %h.1 = relu %h : f32[]
  %h.1.1 = relu %h : f32[]
  %h.2 = relu %h : f32[]
  %0 = relu %h : f32[]
  %"0" = relu %h : f32[]
  %return = relu %h : f32[]
  %_ = relu %h : f32[]
  %"a b" = relu %h : f32[]
  %1 = relu %h : f32[]
  %π = relu %h : f32[]
  %a. = relu %h : f32[]
  %"\xff" = relu %h : f32[]
  %"-" = relu %h : f32[]
  %"\"" = relu %h : f32[]
  %h.3 = param {key=h} : f32[]
  return %h.1, %h.1.1, %h.2, %0, %"0", %return, %_, %"a b", %1, %π, %a., %"\xff", %"-", %"\"", %h.3
}
`
	if diff := cmp.Diff(want, f.String()); diff != "" {
		t.Error(diff)
	}
	back := parseOne(t, want)
	if diff := cmp.Diff(want, back.String()); diff != "" {
		t.Error(diff)
	}
	if names := f.Names(); names[vs[0]] != "%h.1" || names[w] != "%h.3" {
		t.Errorf("names: %s, %s", names[vs[0]], names[w])
	}
}

// TestElide: large constants can be left out for people to read.
func TestElide(t *testing.T) {
	f := parseOne(t, "func @f() -> f32[20] {\n  %c = const [1.0 ...] : f32[20]\n  return %c\n}\n")
	if got := printAll([]*ir.Func{f}, ir.PrintOptions{Elide: 8}); !strings.Contains(got, "const [...] : f32[20]") {
		t.Error(got)
	}
}

// chain is a function of n element-wise operators, one after the other.
func chain(t testing.TB, n int) *ir.Func {
	f := &ir.Func{Name: "chain"}
	v := f.NewInput("x", ir.T(tensor.F32, ir.Sym("B")))
	for range n {
		out, err := f.Add(ir.Lookup("relu"), []*ir.Value{v}, nil)
		if err != nil {
			t.Fatal(err)
		}
		v = out[0]
		v.Name = "h"
	}
	f.Results = []*ir.Value{v}
	return f
}

// TestLongFunction: 100,000 values go through every part, without recursion
// and in linear time.
func TestLongFunction(t *testing.T) {
	begin := time.Now()
	f := chain(t, 100_000)
	text := f.String()
	g := parseOne(t, text)
	if g.String() != text {
		t.Error("the text changes")
	}
	in := &ir.Interp{}
	x := tensor.FromSlice([]int{2}, []float32{-1, 3})
	out, err := in.Run(g, x)
	if err != nil {
		t.Fatal(err)
	}
	if got := out[0].Floats(); got[0] != 0 || got[1] != 3 {
		t.Error(got)
	}
	// Some thirty times what it takes; a quadratic part takes minutes.
	if d := time.Since(begin); d > 60*time.Second {
		t.Errorf("took %v", d)
	}
}

func BenchmarkText(b *testing.B) {
	text := chain(b, 10_000).String()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		fs, _ := ir.ParseFuncs(diag.NewSource("chain.ir", text))
		_ = fs[0].String()
	}
}
