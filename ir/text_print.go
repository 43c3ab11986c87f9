package ir

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/npulang/npu/ir/diag"
)

// PrintOptions choose what the text form shows. The zero value shows all that
// ParseFuncs needs, without locations.
type PrintOptions struct {
	Locs bool // source locations: @3:9
	// Elide, if not 0, shows constants of more elements as [...], for people to
	// read: such a text does not parse back.
	Elide int
}

// Print writes f in its text form.
func Print(w io.Writer, f *Func, opt PrintOptions) error {
	out := bufio.NewWriter(w)
	p := &printer{Writer: out, opt: opt, file: firstFile(f)}
	p.function(f)
	return out.Flush()
}

// String prints f in its text form.
func (f *Func) String() string {
	var b strings.Builder
	_ = Print(&b, f, PrintOptions{}) // a Builder does not fail
	return b.String()
}

// firstFile is the file of the first location in f: it is said once, at the
// top.
func firstFile(f *Func) string {
	for v := range f.All() {
		if v.Pos.File != "" {
			return v.Pos.File
		}
	}
	for _, a := range f.Asserts {
		if a.Pos.File != "" {
			return a.Pos.File
		}
	}
	return ""
}

// A printer writes one function. Errors stay in the Writer.
type printer struct {
	*bufio.Writer
	opt  PrintOptions
	file string
	list *listing // that the lines go into as well; nil: none is wanted
}

func (p *printer) put(parts ...string) {
	for _, s := range parts {
		_, _ = p.WriteString(s)
	}
}

func (p *printer) function(f *Func) {
	names := nameValues(f, nil)
	p.list.begin(f, nil)
	p.put("func @", quoteName(f.Name))
	if p.opt.Locs && p.file != "" {
		p.put(" in ", strconv.Quote(p.file), " ")
	}
	p.params(f, names)
	p.put(" -> ", resultsText(f), " ")
	p.body(f, names, "return", "")
	if w := f.Weights; w != nil {
		p.put(" weights ")
		p.body(w, nameValues(w, nil), "yield", "")
	}
	p.put("\n")
}

func (p *printer) params(f *Func, names map[*Value]string) {
	p.put("(")
	for i, v := range f.Params {
		if i > 0 {
			p.put(", ")
		}
		p.put(names[v], ": ", v.Type.String())
		p.tail(v)
	}
	p.put(")")
}

// resultsText prints f32[4], or (y: f32[4], f32[2]).
func resultsText(f *Func) string {
	parts := make([]string, len(f.Results))
	bare := len(parts) == 1
	for i, v := range f.Results {
		parts[i] = "none"
		if v != nil {
			parts[i] = v.Type.String()
		}
		if i < len(f.ResultNames) && f.ResultNames[i] != "" {
			parts[i] = quoteName(f.ResultNames[i]) + ": " + parts[i]
			bare = false
		}
	}
	if bare {
		return parts[0]
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// body prints { ... }, its lines indented by two more than indent.
func (p *printer) body(f *Func, names map[*Value]string, last, indent string) {
	p.list.scope(names)
	p.put("{\n")
	inner := indent + "  "
	for _, a := range f.Asserts {
		p.list.begin(f, nil)
		p.put(inner)
		p.assert(a)
		p.put("\n")
	}
	further := furtherResults(f)
	for _, v := range f.Body {
		if owner, i := projected(v); owner != nil && further[owner][i] == v {
			continue // printed with its owner
		}
		p.list.begin(f, v)
		p.put(inner)
		p.value(v, further[v], names, inner)
		p.put("\n")
	}
	p.list.begin(f, nil)
	p.put(inner, last, spaced(refs(f.Results, names)), "\n")
	p.list.begin(f, nil)
	p.put(indent, "}")
}

func (p *printer) assert(a Assert) {
	p.put("assert ", a.Left.String(), " ", a.Rel, " ", a.Right.String())
	if a.What != "" {
		p.put(" ", strconv.Quote(a.What))
	}
	p.loc(a.Pos)
}

// furtherResults maps each value with several results to its projections, by
// index.
func furtherResults(f *Func) map[*Value]map[int]*Value {
	further := map[*Value]map[int]*Value{}
	for _, v := range f.Body {
		owner, i := projected(v)
		if owner == nil || further[owner][i] != nil {
			continue
		}
		if further[owner] == nil {
			further[owner] = map[int]*Value{}
		}
		further[owner][i] = v
	}
	return further
}

// value prints one line and the regions that belong to it.
func (p *printer) value(v *Value, further map[int]*Value, names map[*Value]string, indent string) {
	types := printedTypes(v, further)
	for i := range types {
		r := further[i]
		if i == 0 {
			p.put(names[v])
		} else if r == nil {
			p.put(", _")
		} else {
			p.put(", ", names[r])
		}
	}
	p.put(" = ", v.Op.Name)
	if v.Op == Const && len(v.Attrs) == 1 && v.Attrs[0].Tensor != nil {
		p.put(" ", p.elements(v))
	} else {
		p.put(spaced(refs(v.Args, names)), attrsText(v, names[v]))
	}
	for i, t := range types {
		p.put([]string{" : ", ", "}[min(i, 1)], t.String())
	}
	p.tail(v)
	p.regions(v, names, indent)
}

func (p *printer) elements(v *Value) string {
	t := v.Attrs[0].Tensor
	if p.opt.Elide > 0 && t.Len() > p.opt.Elide {
		return "[...]"
	}
	return elementsText(t)
}

// printedTypes are the types of all results, those that have no value included.
func printedTypes(v *Value, further map[int]*Value) []Type {
	types := []Type{v.Type}
	// Functions that are not legal are printed too, as far as they go.
	if c := v.Call(); inferSafely(c) == nil && len(c.Out) > 0 {
		types = append(types, c.Out[1:]...)
	}
	for i := range types {
		if r := further[i]; r != nil {
			types[i] = r.Type
		}
	}
	return types
}

// tail prints the annotations and the location.
func (p *printer) tail(v *Value) {
	for _, a := range v.Annots {
		p.put(" !", a.Name, "(", annotText(a.Arg), ")")
	}
	p.loc(v.Pos)
}

func annotText(arg string) string {
	if arg == "" || plain(arg) || digitsLength(arg) == len(arg) {
		return arg
	}
	return strconv.Quote(arg)
}

func (p *printer) loc(l diag.Loc) {
	if !p.opt.Locs || l == (diag.Loc{}) {
		return
	}
	p.put(" @")
	if l.File != p.file {
		p.put(strconv.Quote(l.File), ":")
	}
	p.put(strconv.Itoa(l.Line))
	if l.Col != 0 {
		p.put(":", strconv.Itoa(l.Col))
	}
}

// regions prints the bodies of a value.
func (p *printer) regions(v *Value, names map[*Value]string, indent string) {
	for i, f := range v.Bodies {
		r := RegionDecl{First: -1}
		if i < len(v.Op.Regions) {
			r = v.Op.Regions[i]
		}
		p.put(" ")
		if f == nil {
			p.put("none")
			continue
		}
		inherited := inheritedNames(v, f, r, names)
		p.put(r.Label)
		inner := nameValues(f, inherited)
		if inherited == nil {
			p.params(f, inner)
		}
		if r.Label != "" || inherited == nil {
			p.put(" ")
		}
		p.body(f, inner, "yield", indent)
	}
}

// inheritedNames gives the parameters of a body the names of the arguments for
// which they stand; nil if they need a list of their own.
func inheritedNames(v *Value, f *Func, r RegionDecl, names map[*Value]string) map[*Value]string {
	if r.First < 0 || len(v.Args)-r.First != len(f.Params) {
		return nil
	}
	inherited := map[*Value]string{}
	seen := map[*Value]bool{}
	for i, param := range f.Params {
		a := v.Args[r.First+i]
		same := a != nil && !seen[a] && a.Type.Equal(param.Type) && len(param.Annots) == 0
		if !same {
			return nil
		}
		seen[a] = true
		inherited[param] = names[a]
	}
	return inherited
}

// attrsText prints {axis=-1, eps=1e-05}. The type of a weight stands behind the
// colon; its key is printed where the name was taken.
func attrsText(v *Value, name string) string {
	attrs := v.Attrs
	if v.Op == Param && len(attrs) > 1 {
		attrs = slices.Clone(attrs)
		attrs[0] = None
		if attrs[1].IsNone() && name != "%"+quoteName(v.Name) {
			attrs[1] = StrLit(v.Name)
		}
	}
	if text := v.Op.AttrsText(attrs); text != "" {
		return " {" + text + "}"
	}
	return ""
}

// AttrsText prints the attributes of a call that differ from the defaults, as
// the text form has them between braces: axis=-1, eps=1e-05.
func (op *Op) AttrsText(attrs []Lit) string {
	var parts []string
	for i, a := range op.Attrs {
		// A call that is not legal may have fewer.
		if i < len(attrs) && !attrs[i].Equal(a.Default) {
			parts = append(parts, a.Name+"="+attrs[i].String())
		}
	}
	return strings.Join(parts, ", ")
}

func refs(vs []*Value, names map[*Value]string) []string {
	parts := make([]string, len(vs))
	for i, v := range vs {
		switch {
		case v == nil:
			parts[i] = "_"
		case names[v] == "":
			parts[i] = fmt.Sprintf("%%?%s", v.Name) // not of this function
		default:
			parts[i] = names[v]
		}
	}
	return parts
}

// spaced joins parts by commas, with a blank before.
func spaced(parts []string) string {
	if len(parts) == 0 {
		return ""
	}
	return " " + strings.Join(parts, ", ")
}
