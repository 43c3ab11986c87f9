package lang

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/lang/syntax"
)

// A value is what an expression gives: something known at compile time, or a
// tensor of the program that is being built. noun says what it is, with an
// article, for messages.
type value interface{ noun() string }

type (
	// An intVal is a compile-time integer, perhaps symbolic. Integers beyond
	// what an ir.Dim holds are kept in big: they can be elements of a literal,
	// nothing else.
	intVal struct {
		d   ir.Dim
		big *big.Int
	}
	// A floatVal is a compile-time float. text is how the source writes it, so
	// that a dtype rounds it once.
	floatVal struct {
		f    float64
		text string
	}
	boolVal   bool
	stringVal string
	dtypeVal  tensor.DType
	typeVal   ir.Type
	noneVal   struct{}
	rangeVal  struct{ from, to ir.Dim }

	// A listVal is a bracket list, or the results of a call of several. Read
	// back under a name it is a tensor of its own dtype (strong); written beside
	// an operand it takes the operand's.
	listVal struct {
		elems  []value
		size   int              // elements, those of the lists in it counted each time
		node   *syntax.ListExpr // nil when it was not written as a list
		label  string           // the name under which it was bound
		strong bool
		tuple  bool
	}

	// A tensorVal is a run-time value. home is the program it belongs to: a
	// test consists of several. born tells values apart by age.
	tensorVal struct {
		v    *ir.Value
		home *program
		born int
	}

	// A funcVal is a fn or graph together with the declarations it sees.
	funcVal struct {
		decl *syntax.FuncDecl
		in   *space
	}
	moduleVal struct {
		decl *syntax.ModuleDecl
		in   *space
	}
	fileVal struct{ file *file }
	// A builtinVal is an operator of the IR or a function of compile-time
	// values, under the name by which it was found.
	builtinVal struct {
		name string
		op   *ir.Op
		fn   *pureFunc
	}
	// A poison stands for the value of an expression that has failed and has
	// been reported: what uses it is silent.
	poison struct{}
)

func (intVal) noun() string    { return "an integer" }
func (floatVal) noun() string  { return "a float" }
func (boolVal) noun() string   { return "a compile-time bool" }
func (stringVal) noun() string { return "a string" }
func (dtypeVal) noun() string  { return "a dtype" }
func (typeVal) noun() string   { return "a type" }
func (noneVal) noun() string   { return "None" }
func (rangeVal) noun() string  { return "a range" }
func (l listVal) noun() string {
	return map[bool]string{true: "several results", false: "a list"}[l.tuple]
}
func (tensorVal) noun() string   { return "a tensor" }
func (f funcVal) noun() string   { return "a " + declWord(f.decl) }
func (moduleVal) noun() string   { return "a module" }
func (fileVal) noun() string     { return "an imported file" }
func (builtinVal) noun() string  { return "a built-in function" }
func (poison) noun() string      { return "a failed expression" }
func (i *instance) noun() string { return "an instance of " + i.decl.Name.Name }

// declWord is the word that declares d.
func declWord(d *syntax.FuncDecl) string {
	if d.Graph {
		return "graph"
	}
	return "fn"
}

func intOf(n int64) intVal { return intVal{d: ir.N(n)} }

// show prints what is known about a value, for labels: a type, a number, or
// the noun.
func show(v value) string {
	switch v := v.(type) {
	case tensorVal:
		return v.v.Type.String()
	case intVal:
		return v.String()
	case floatVal:
		return v.String()
	case boolVal:
		return fmt.Sprint(bool(v))
	case stringVal:
		return fmt.Sprintf("%q", clip(string(v), 40))
	case dtypeVal:
		return tensor.DType(v).String()
	case typeVal:
		return "the type " + ir.Type(v).String()
	case rangeVal:
		return v.from.String() + ".." + v.to.String()
	case listVal:
		return v.String()
	}
	return v.noun()
}

func (i intVal) String() string {
	if i.big != nil {
		return i.big.String()
	}
	return i.d.String()
}

func (f floatVal) String() string {
	if f.text != "" {
		return f.text
	}
	return tensor.FormatFloat(tensor.F64, f.f)
}

func (l listVal) String() string {
	parts := make([]string, 0, 4)
	for i, e := range l.elems {
		if i == 4 {
			parts = append(parts, "...")
			break
		}
		if _, nested := e.(listVal); nested {
			parts = append(parts, "[...]")
			continue
		}
		parts = append(parts, show(e))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// clip shortens a text for a message.
func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "..."
	}
	return s
}

func isPoison(v value) bool { _, ok := v.(poison); return ok }

func isNumber(v value) bool {
	switch v.(type) {
	case intVal, floatVal, lateVal:
		return true
	}
	return false
}

// isStatic reports whether v can become a scalar tensor by itself.
func isStatic(v value) bool {
	_, isBool := v.(boolVal)
	return isBool || isNumber(v)
}

// An operand is a value with the place where it was written.
type operand struct {
	val value
	at  diag.Span
}

// text is the source under a span.
func text(s diag.Span) string {
	if s.Src == nil || s.Start > s.End || s.End > len(s.Src.Text) {
		return ""
	}
	return s.Src.Text[s.Start:s.End]
}
