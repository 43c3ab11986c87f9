package ir

import (
	"fmt"
	"slices"
	"strings"
)

// A Violation is an invariant that a function breaks: a fault of whoever made
// the function, never of the user's program.
type Violation struct {
	Func      string
	Value     *Value // the first that breaks it; may be nil
	Invariant string // the sentence
	Detail    string
}

func (e *Violation) Error() string {
	at := "@" + quoteName(e.Func)
	if e.Value != nil {
		at += ": " + describe(e.Value)
	}
	s := at + ": " + e.Invariant
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}

// describe shows a value of which not even the parts may be there.
func describe(v *Value) string {
	op := "?"
	if v.Op != nil {
		op = v.Op.Name
	}
	return fmt.Sprintf("%%%s = %s : %s", quoteName(v.Name), op, v.Type)
}

// invariants is what Verify proves, in this order: a check may rely on those
// above it. Each check looks at one function; bodies are checked on their own.
var invariants = []struct {
	sentence string
	check    func(*verifier, *Func) (*Value, string)
}{
	{"every value has an operator of the table", (*verifier).operators},
	{"a value is defined once", (*verifier).definedOnce},
	{"parameters are inputs, and inputs are parameters", (*verifier).inputs},
	{"weights stand outside of regions", (*verifier).weights},
	{"arguments are defined before they are read, in the same function", (*verifier).definedBefore},
	{"results are values of the function", (*verifier).results},
	{"there are no result names or one for each result, all different", (*verifier).resultNames},
	{"a call is legal: number and types of arguments, kinds of attributes, regions", (*verifier).legal},
	{"the type of a value is the one that its operator infers", (*verifier).types},
	{"a further result reads the value whose result it is, and each is there once", (*verifier).projections},
	{"an assertion compares by == <= or %", (*verifier).asserts},
	{"every symbol is the bare dimension of some input of the graph", (*verifier).symbols},
}

// Invariants lists what Verify proves, one sentence each.
func Invariants() []string {
	var out []string
	for _, inv := range invariants {
		out = append(out, inv.sentence)
	}
	return append(out, madeInvariant)
}

// Verify proves that f is what every later stage may rely on. The error is a
// *Violation. It takes time linear in the size of f.
func Verify(f *Func) error {
	if f == nil {
		return &Violation{Invariant: "there is a function"}
	}
	t := &verifier{top: f, owner: map[*Value]*Func{}, inferred: map[*Value][]Type{}}
	if err := t.nesting(f); err != nil {
		return err
	}
	for g := range f.Funcs() {
		for _, inv := range invariants {
			if v, detail := inv.check(t, g); v != nil || detail != "" {
				return &Violation{f.Name, v, inv.sentence, detail}
			}
		}
	}
	if f.Weights != nil {
		return verifyMade(f)
	}
	return nil
}

// A verifier is the memory of one Verify.
type verifier struct {
	top      *Func
	owner    map[*Value]*Func // where a value is defined
	inferred map[*Value][]Type
}

// nesting bounds the recursion over regions, before anything recurses; it also
// finds values and bodies that are missing.
func (t *verifier) nesting(f *Func) error {
	level := []*Func{f}
	for depth := 1; ; depth++ { // of the regions in this level
		var inner []*Func
		for _, g := range level {
			for _, v := range slices.Concat(g.Params, g.Body) {
				if v == nil || slices.Contains(v.Bodies, nil) {
					return &Violation{f.Name, v, "there is no value or body that is nil", ""}
				}
				if len(v.Bodies) > 0 && tooDeep(v.Op, depth) {
					return &Violation{f.Name, v, nestedMost, ""}
				}
				inner = append(inner, v.Bodies...)
			}
		}
		if len(inner) == 0 {
			return nil
		}
		level = inner
	}
}

// MaxNesting is how deep regions are nested at most. Fusion makes regions of what
// lies in the innermost of them, and may.
const MaxNesting = 200

var nestedMost = fmt.Sprintf("regions are nested at most %d deep", MaxNesting)

// tooDeep reports whether regions of an operator may not be nested that deep.
func tooDeep(op *Op, depth int) bool {
	return depth > MaxNesting && (op != Fused || depth > MaxNesting+1)
}

func (t *verifier) operators(f *Func) (*Value, string) {
	for _, v := range slices.Concat(f.Params, f.Body) {
		if v.Op == nil || Lookup(v.Op.Name) != v.Op {
			return v, "the operator is not a row of it"
		}
	}
	return nil, ""
}

func (t *verifier) definedOnce(f *Func) (*Value, string) {
	for _, v := range slices.Concat(f.Params, f.Body) {
		if t.owner[v] != nil {
			return v, "it is there twice"
		}
		t.owner[v] = f
	}
	return nil, ""
}

func (t *verifier) inputs(f *Func) (*Value, string) {
	for _, v := range f.Params {
		if v.Op != Input {
			return v, "this parameter is none"
		}
	}
	for _, v := range f.Body {
		if v.Op == Input {
			return v, "this input is no parameter"
		}
	}
	return nil, ""
}

func (t *verifier) weights(f *Func) (*Value, string) {
	for _, v := range f.Body {
		if v.Op == Param && f != t.top {
			return v, "this one is inside"
		}
	}
	return nil, ""
}

func (t *verifier) definedBefore(f *Func) (*Value, string) {
	seen := make(map[*Value]bool, len(f.Params)+len(f.Body))
	for _, v := range f.Params {
		seen[v] = true
	}
	for _, v := range f.Body {
		for i, a := range v.Args {
			if a != nil && !seen[a] {
				return v, fmt.Sprintf("argument %d, %s, is not", i, describe(a))
			}
		}
		seen[v] = true
	}
	return nil, ""
}

func (t *verifier) results(f *Func) (*Value, string) {
	for i, v := range f.Results {
		if v == nil || t.owner[v] != f {
			return v, fmt.Sprintf("result %d is not", i)
		}
	}
	return nil, ""
}

func (t *verifier) resultNames(f *Func) (*Value, string) {
	if f.ResultNames == nil {
		return nil, ""
	}
	if len(f.ResultNames) != len(f.Results) {
		return nil, fmt.Sprintf("%d names for %d results", len(f.ResultNames), len(f.Results))
	}
	seen := map[string]bool{}
	for _, name := range f.ResultNames {
		if name != "" && seen[name] {
			return nil, quoteName(name) + " is there twice"
		}
		seen[name] = true
	}
	return nil, ""
}

func (t *verifier) legal(f *Func) (*Value, string) {
	for _, v := range slices.Concat(f.Params, f.Body) {
		c := v.Call()
		if err := inferSafely(c); err != nil {
			return v, err.Error()
		}
		t.inferred[v] = c.Out
	}
	return nil, ""
}

func (t *verifier) types(f *Func) (*Value, string) {
	for _, v := range slices.Concat(f.Params, f.Body) {
		if out := t.inferred[v]; len(out) == 0 || !out[0].Equal(v.Type) {
			return v, "the inferred type is " + typesText(out)
		}
	}
	return nil, ""
}

func typesText(ts []Type) string {
	parts := make([]string, len(ts))
	for i, t := range ts {
		parts[i] = t.String()
	}
	return strings.Join(parts, ", ")
}

func (t *verifier) projections(f *Func) (*Value, string) {
	type result struct {
		of    *Value
		index int
	}
	seen := map[result]bool{}
	for _, v := range f.Body {
		if v.Op.Flags&Projection == 0 {
			continue
		}
		owner, i := projected(v)
		switch {
		case owner == nil:
			return v, "its index is not that of a further result"
		case owner.Op.Flags&Projection != 0 || i >= len(t.inferred[owner]):
			return v, fmt.Sprintf("%s has no result %d", describe(owner), i)
		case !t.inferred[owner][i].Equal(v.Type):
			return v, "result has the type " + t.inferred[owner][i].String()
		case seen[result{owner, i}]:
			return v, "this one is there twice"
		}
		seen[result{owner, i}] = true
	}
	return nil, ""
}

func (t *verifier) asserts(f *Func) (*Value, string) {
	for _, a := range f.Asserts {
		if relations[a.Rel].holds == nil {
			return nil, "this one by " + a.Rel
		}
	}
	return nil, ""
}

// symbols looks at every form of a dimension once: many types share it.
func (t *verifier) symbols(f *Func) (*Value, string) {
	bare := BareSymbols(t.top.Params)
	seen := map[*poly]bool{}
	loose := func(ds []Dim) string {
		for _, d := range ds {
			if d.p == nil || seen[d.p] {
				continue
			}
			seen[d.p] = true
			missing := ""
			d.Symbols(func(name string) {
				if !bare[name] {
					missing = symbolKey(name)
				}
			})
			if missing != "" {
				return missing + " is not"
			}
		}
		return ""
	}
	for _, v := range slices.Concat(f.Params, f.Body) {
		if detail := loose(v.Type.Shape); detail != "" {
			return v, detail
		}
		for _, l := range v.Attrs {
			if detail := loose(l.Dims); detail != "" {
				return v, detail
			}
		}
	}
	for _, a := range f.Asserts {
		if detail := loose([]Dim{a.Left, a.Right}); detail != "" {
			return nil, detail
		}
	}
	return nil, ""
}

// inferSafely is InferCall for functions that may not be legal: a row that
// panics on them is a fault, reported as one.
func inferSafely(c *Call) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = Errorf("internal", "inference failed: %v", r)
		}
	}()
	if err := InferCall(c); err != nil {
		return err
	}
	if len(c.Out) == 0 || len(c.Out) > maxResults {
		return Errorf("wrong-arguments", "has %d results", len(c.Out))
	}
	return nil
}
