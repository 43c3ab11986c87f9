package ir

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
)

// TestInfer reads testdata/infer_*.txt, whose heads say what a line means. Legal
// calls are added to a function, to see what it then asserts.
func TestInfer(t *testing.T) {
	files, err := filepath.Glob("testdata/infer_*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no calls", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			if line != "" && line[0] != '#' {
				t.Run(fmt.Sprintf("%s:%d/%s", filepath.Base(file), i+1, strings.Fields(line)[0]), func(t *testing.T) { checkLine(t, line) })
			}
		}
	}
}

func checkLine(t *testing.T, line string) {
	t.Helper()
	if call, want, legal := strings.Cut(line, " => "); legal {
		v, f := parseCall(t, call)
		checkLegal(t, v, f, want)
		checkBindings(t, v)
		return
	}
	call, want, _ := strings.Cut(line, " ! ")
	v, _ := parseCall(t, call)
	checkIllegal(t, v, want)
}

// parseCall reads "op type, type {attrs}"; the types become parameters.
func parseCall(t *testing.T, call string) (*Value, *Func) {
	t.Helper()
	name, rest, _ := strings.Cut(call, " ")
	args, attrs := rest, ""
	if i := strings.Index(rest, "{"); i >= 0 {
		args, attrs = rest[:i], rest[i:]
	}
	op, f := Lookup(name), &Func{}
	v := &Value{Op: op, Attrs: op.Defaults()}
	for _, a := range strings.Split(strings.TrimSpace(args), ", ") {
		if a == "" {
			continue
		}
		typ, err := ParseType(a)
		if err != nil {
			t.Fatal(err)
		}
		v.Args = append(v.Args, f.NewInput("", typ))
	}
	p := newParser(diag.NewSource("attrs", attrs))
	if p.attrs(v); p.err != nil {
		t.Fatal(p.err)
	}
	return v, f
}

func checkLegal(t *testing.T, v *Value, f *Func, want string) {
	t.Helper()
	results, err := f.Add(v.Op, v.Args, v.Attrs)
	if err != nil {
		t.Fatal(err)
	}
	types := make([]string, len(results))
	for i, r := range results {
		types[i] = r.Type.String()
	}
	got := strings.Join(types, ", ")
	for _, a := range f.Asserts {
		got += fmt.Sprintf(" ; %s %s %s", a.Left, a.Rel, a.Right)
	}
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func checkIllegal(t *testing.T, v *Value, want string) {
	t.Helper()
	code, part, _ := strings.Cut(want, " ")
	err, ok := InferCall(v.Call()).(*Error)
	if !ok {
		t.Fatalf("no error, want %s", want)
	}
	said := err.Msg + "; " + strings.Join(err.Notes, "; ")
	if err.Code != code || !strings.Contains(said, part) {
		t.Errorf("got %s %s, want %s", err.Code, said, want)
	}
}

// checkBindings binds the symbols of a legal call to small sizes. What was
// inferred with symbols must be what is inferred with the numbers, and what Eval
// gives, for every binding that neither refuses. Two calls mean less with
// numbers than with symbols, and are not inferred anew: a -1 that cancelled
// beside a size that is now 0, and squeeze of all axes, of which one more may
// now be 1.
func checkBindings(t *testing.T, v *Value) {
	t.Helper()
	c := v.Call()
	if err := InferCall(c); err != nil {
		t.Fatal(err)
	}
	for n := range int64(8) {
		env := Env{}
		for i, name := range []string{"A", "B", "C", "D", "H", "K", "N", "S", "V", "W"} {
			env[name] = (n*int64(i+3) + n/3) % 8
		}
		bound, err := c.Bind(env)
		if err != nil {
			continue // a size that does not divide, or is negative
		}
		anew := &Call{Op: c.Op, In: bound.In, Attrs: bound.Attrs}
		refused := InferCall(anew)
		if hasCode(refused, "wrong-arguments") || c.Op == Squeeze && c.Attr("axis").IsNone() {
			anew.Out, refused = bound.Out, nil
		}
		out, err := c.Op.Eval(bound, zerosFor(bound)...)
		if refused != nil || err != nil {
			if err == nil || refused == nil && !hasCode(err, "index-out-of-range", "dimension-mismatch") {
				t.Errorf("with %v: inference says %v, evaluation %v", env, refused, err)
			}
			continue
		}
		for i, y := range out {
			if got := TypeOf(y); !got.Equal(bound.Out[i]) || !got.Equal(anew.Out[i]) {
				t.Errorf("with %v: result %d is %v, bound %v, inferred anew %v", env, i, got, bound.Out[i], anew.Out[i])
			}
		}
	}
}

// hasCode reports whether err is an *Error of one of the codes.
func hasCode(err error, codes ...string) bool {
	e, ok := err.(*Error)
	return ok && slices.Contains(codes, e.Code)
}

func zerosFor(c *Call) []*tensor.T {
	in := make([]*tensor.T, len(c.In))
	for i, t := range c.In {
		in[i] = tensor.New(t.DType, t.Ints()...)
	}
	return in
}

// TestIndexErrors checks what a run-time error says.
func TestIndexErrors(t *testing.T) {
	x := tensor.New(tensor.F32, 3, 4)
	wide := tensor.FromUints(tensor.U64, []int{1}, []uint64{1<<64 - 1})
	for _, test := range []struct {
		op   *Op
		attr Lit
		in   []*tensor.T
		want string
	}{
		{Gather, IntLit(1), []*tensor.T{x, tensor.FromInts(tensor.I32, []int{2, 2}, []int64{0, 1, 4, 2})}, "index 4 at position [1,0] is outside axis 1 of size 4"},
		{Gather, IntLit(0), []*tensor.T{x, tensor.Scalar(int64(-4))}, "index -4 is outside axis 0 of size 3"},
		{Gather, IntLit(0), []*tensor.T{x, wide}, "index 18446744073709551615 at position [0] is outside axis 0 of size 3"},
		{GatherND, IntLit(0), []*tensor.T{x, tensor.FromInts(tensor.I64, []int{1, 2}, []int64{0, 7})}, "index 7 at position [0,1] is outside axis 1 of size 4"},
		{TakeAlong, IntLit(0), []*tensor.T{x, tensor.FromInts(tensor.I64, []int{1, 4}, []int64{0, 1, 2, 3})}, "index 3 at position [0,3] is outside axis 0 of size 3"},
		{ScatterND, StrLit("add"), []*tensor.T{x, tensor.FromInts(tensor.I64, []int{1, 1}, []int64{3}), tensor.New(tensor.F32, 1, 4)}, "index 3 at position [0,0] is outside axis 0 of size 3"},
	} {
		c := &Call{Op: test.op, Attrs: []Lit{test.attr}}
		for _, y := range test.in {
			c.In = append(c.In, TypeOf(y))
		}
		if err := InferCall(c); err != nil {
			t.Fatalf("%s: %v", test.op.Name, err)
		}
		_, err := test.op.Eval(c, test.in...)
		if e, ok := err.(*Error); !ok || e.Code != "index-out-of-range" || e.Msg != test.want {
			t.Errorf("%s: got %v, want %s", test.op.Name, err, test.want)
		}
	}
}
