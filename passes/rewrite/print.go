package rewrite

import (
	"fmt"
	"strings"

	"github.com/npulang/npu/ir"
)

// String prints the pattern with every operator as a call, in the form that
// compiles back to the same pattern.
func (p *Pattern) String() string {
	var b strings.Builder
	p.print(&b, p.root)
	return b.String()
}

func (p *Pattern) print(b *strings.Builder, n *node) {
	switch n.kind {
	case nameNode:
		b.WriteString(p.names[n.id].text)
		if n.maybe {
			b.WriteByte('?')
		}
	case numberNode:
		b.WriteString(n.number.String())
	default:
		p.printCall(b, n)
	}
}

func (p *Pattern) printCall(b *strings.Builder, n *node) {
	b.WriteString(n.op.Name)
	if n.optional {
		b.WriteByte('?')
	}
	if n.open {
		b.WriteString("(...)")
		return
	}
	b.WriteByte('(')
	sep := ""
	item := func(name string) {
		b.WriteString(sep + name)
		sep = ", "
	}
	skipped := false // an absent argument: those behind it go by name
	for i, a := range n.args {
		if a == nil {
			skipped = true
			continue
		}
		item("")
		if skipped {
			name, _, _ := ir.ArgKind(n.op.Args[i])
			b.WriteString(name + "=")
		}
		p.print(b, a)
	}
	for i, a := range n.attrs {
		decl := &n.op.Attrs[i]
		if !a.named && a.fn == nil && a.lit.Equal(decl.Default) && !decl.Required {
			continue
		}
		item(decl.Name + "=" + p.attrText(a))
	}
	b.WriteByte(')')
}

func (p *Pattern) attrText(a attr) string {
	switch {
	case a.named:
		return p.names[a.id].text
	case a.fn != nil:
		var args []string
		for _, id := range a.of {
			args = append(args, p.names[id].text)
		}
		return a.fn.name + "(" + strings.Join(args, ", ") + ")"
	case a.lit.IsNone():
		return "None"
	case a.lit.Kind == ir.KString:
		return fmt.Sprintf("%q", a.lit.Str)
	}
	if n, ok := litNumber(a.lit); ok {
		return n.String()
	}
	return a.lit.String()
}

// String prints the rule as a declaration of the language.
func (r *Rule) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s {\n    %s", r.Kind(), r.Name, r.Match)
	if r.Replace != nil {
		fmt.Fprintf(&b, "  =>  %s", r.Replace)
	}
	b.WriteByte('\n')
	for _, t := range r.Where {
		fmt.Fprintf(&b, "    where %s\n", t)
	}
	if r.Safe {
		b.WriteString("    safe")
		if r.Within > 0 {
			fmt.Fprintf(&b, " within %v", r.Within)
		}
		b.WriteByte('\n')
	}
	b.WriteString("}\n")
	return b.String()
}
