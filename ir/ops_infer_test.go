package ir

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/npulang/npu/ir/diag"
)

// TestInferMoves reads testdata/infer_moves.txt, whose head says what a line
// means. Legal calls are added to a function, to see what it then asserts.
func TestInferMoves(t *testing.T) {
	text, err := os.ReadFile("testdata/infer_moves.txt")
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(text), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		call, want, legal := strings.Cut(line, " => ")
		if !legal {
			call, want, _ = strings.Cut(line, " ! ")
		}
		t.Run(fmt.Sprintf("%d/%s", i+1, strings.Fields(line)[0]), func(t *testing.T) {
			v, f := parseCall(t, call)
			if legal {
				checkLegal(t, v, f, want)
			} else {
				checkIllegal(t, v, want)
			}
		})
	}
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
