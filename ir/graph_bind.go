package ir

import (
	"fmt"
	"slices"
	"strings"
)

// A relation is what an Assert may say of two numbers.
type relation struct {
	holds func(a, b int64) bool
	words string // between the two values, in the message
}

var relations = map[string]relation{
	"==": {func(a, b int64) bool { return a == b }, "is not equal to"},
	"<=": {func(a, b int64) bool { return a <= b }, "is not at most"},
	"%":  {func(a, b int64) bool { return b != 0 && a%b == 0 }, "does not divide by"},
}

// relationNames lists the relations in the order in which messages name them.
var relationNames = []string{"==", "<=", "%"}

// BareSymbols is the set of symbols that inputs bind: those that are a size of
// their own, as B in f32[B,4], and not only part of one.
func BareSymbols(inputs []*Value) map[string]bool {
	bare := map[string]bool{}
	for _, v := range inputs {
		for _, d := range v.Type.Shape {
			if name, ok := d.Symbol(); ok {
				bare[name] = true
			}
		}
	}
	return bare
}

// BindSymbols finds the sizes of f's symbols from the types of its inputs: a
// bare dimension binds its symbol; then all other dimensions and the asserts of
// f and its regions are checked. An error is an *Error about an input, or a
// *RunError about an assert.
func BindSymbols(f *Func, inputs []Type) (Env, error) {
	if len(inputs) != len(f.Params) {
		return nil, Errorf("bad-input", "takes %d inputs, got %d", len(f.Params), len(inputs))
	}
	env := Env{}
	from := map[string]string{} // the place that bound a symbol
	for i, v := range f.Params {
		if err := bindInput(v, inputs[i], env, from); err != nil {
			return nil, err
		}
	}
	for i, v := range f.Params {
		if err := checkInput(v, inputs[i], env); err != nil {
			return nil, err
		}
	}
	return env, checkAsserts(f, env)
}

// bindInput binds the bare dimensions of one input.
func bindInput(v *Value, got Type, env Env, from map[string]string) error {
	if got.DType != v.Type.DType {
		return Errorf("bad-input", "input %s has dtype %s, but must have %s", v.Name, got.DType, v.Type.DType)
	}
	if got.Rank() != v.Type.Rank() {
		return Errorf("bad-input", "input %s has rank %d (%s), but must have rank %d (%s)", v.Name, got.Rank(), got, v.Type.Rank(), v.Type)
	}
	for i, d := range v.Type.Shape {
		name, ok := d.Symbol()
		if !ok {
			continue
		}
		n, isConst := got.Shape[i].Const()
		if !isConst || n < 0 {
			return Errorf("bad-input", "input %s has the size %s in dimension %d, which is no number of elements", v.Name, got.Shape[i], i)
		}
		old, bound := env[name]
		if bound && old != n {
			return Errorf("dimension-mismatch", "input %s: dimension %d is %d, but %s is %d by %s", v.Name, i, n, name, old, from[name])
		}
		if !bound {
			env[name], from[name] = n, fmt.Sprintf("dimension %d of input %s", i, v.Name)
		}
	}
	return nil
}

// checkInput compares the sizes of one input with its type.
func checkInput(v *Value, got Type, env Env) error {
	for i, d := range v.Type.Shape {
		n, _ := got.Shape[i].Const()
		want, err := d.Eval(env)
		if err != nil {
			return Errorf("dimension-mismatch", "input %s: dimension %d: %s", v.Name, i, err)
		}
		if n == want {
			continue
		}
		if d.IsConst() {
			return Errorf("bad-input", "input %s: dimension %d is %d, but its type %s has %d", v.Name, i, n, v.Type, want)
		}
		return Errorf("dimension-mismatch", "input %s: dimension %d is %d, but %s is %d%s", v.Name, i, n, d, want, where(env, d))
	}
	return nil
}

// where lists the bindings that dimensions depend on: " with B = 4, S = 2".
func where(env Env, ds ...Dim) string {
	var parts []string
	seen := map[string]bool{}
	for _, d := range ds {
		d.Symbols(func(name string) {
			if n, ok := env[name]; ok && !seen[name] {
				seen[name] = true
				parts = append(parts, fmt.Sprintf("%s = %d", name, n))
			}
		})
	}
	if len(parts) == 0 {
		return ""
	}
	return " with " + strings.Join(parts, ", ")
}

// checkAsserts checks what could not be proved when f was built.
func checkAsserts(f *Func, env Env) error {
	for g := range f.Funcs() {
		for _, a := range g.Asserts {
			if err := a.Check(env); err != nil {
				return &RunError{What: a.What, Pos: a.Pos, Err: err}
			}
		}
	}
	return nil
}

// Check evaluates both sides; the error, an *Error, says what they are.
func (a Assert) Check(env Env) error {
	left, err := a.Left.Eval(env)
	if err != nil {
		return Errorf("dimension-mismatch", "%s", err)
	}
	right, err := a.Right.Eval(env)
	if err != nil {
		return Errorf("dimension-mismatch", "%s", err)
	}
	rel, ok := relations[a.Rel]
	if !ok {
		return Errorf("internal", "there is no relation %s", a.Rel)
	}
	if rel.holds(left, right) {
		return nil
	}
	return Errorf("dimension-mismatch", "%s, which is %d, %s %s%s%s", a.Left, left, rel.words, a.Right, valueIf(a.Right, right), where(env, compound(a.Left, a.Right)...))
}

// compound leaves out the bare symbols, whose values are told already.
func compound(ds ...Dim) []Dim {
	return slices.DeleteFunc(ds, func(d Dim) bool {
		_, bare := d.Symbol()
		return bare
	})
}

// valueIf tells the value of a dimension that does not show it itself.
func valueIf(d Dim, n int64) string {
	if d.IsConst() {
		return ""
	}
	return fmt.Sprintf(", which is %d", n)
}
