package syntax

import (
	"strconv"
	"strings"
)

// Print shows a file's syntax tree as text, for the stage "ast": a line for
// each declaration and statement, indented by what holds it; expressions with
// parentheses around every operator's operands, so that one sees how they bind.
// Positions and comments are left out, documentation is there.
func Print(f *File) string {
	p := &treePrinter{}
	for _, d := range f.Decls {
		p.decl(d)
	}
	return p.b.String()
}

// PrintExpr shows an expression as Print does.
func PrintExpr(e Expr) string {
	p := &treePrinter{}
	p.expr(e)
	return p.b.String()
}

// A treePrinter writes the tree. Within an expression (inline > 0) statements
// stand on one line, between braces.
type treePrinter struct {
	b      strings.Builder
	depth  int
	inline int
}

func (p *treePrinter) begin() {
	if p.inline == 0 {
		p.b.WriteString(strings.Repeat("  ", p.depth))
	}
}

func (p *treePrinter) end() {
	if p.inline == 0 {
		p.b.WriteByte('\n')
	}
}

func (p *treePrinter) write(texts ...string) {
	for _, t := range texts {
		p.b.WriteString(t)
	}
}

func (p *treePrinter) line(texts ...string) {
	p.begin()
	p.write(texts...)
	p.end()
}

func (p *treePrinter) annotations(list []Annotation) {
	for _, a := range list {
		p.begin()
		p.write("@", a.Name.Name)
		p.args(a.Args)
		if p.inline > 0 {
			p.write(" ")
		}
		p.end()
	}
}

func (p *treePrinter) decl(d Decl) {
	if doc := docOf(d); doc != "" {
		p.line("doc ", strconv.Quote(doc))
	}
	p.annotations(d.Annotations())
	p.begin()
	switch d := d.(type) {
	case *ImportDecl:
		p.write("import ", strconv.Quote(d.Path.Value), prefixed(" as ", d.As.Name))
	case *WeightsDecl:
		p.write("weights ", strconv.Quote(d.Path.Value))
	case *ParamDecl:
		p.write("param ", d.Name.Name, ": ")
		p.typ(d.Type)
		p.optional(" = ", d.Init)
	case *ConstDecl:
		p.write("const ", d.Name.Name)
		p.optional(" = ", d.Value)
	case *InstanceDecl:
		p.write("instance ", d.Name.Name)
		p.optional(" = ", d.Value)
	case *FuncDecl:
		p.funcHead(d)
	case *ModuleDecl:
		p.write("module ", d.Name.Name)
		p.params(d.Params)
	case *TestDecl:
		p.write("test ", strconv.Quote(d.Name.Value))
	case *RuleDecl:
		p.write(map[bool]string{false: "rewrite ", true: "fusion "}[d.Fusion], d.Name.Name)
	}
	p.end()
	p.body(d)
}

// body prints what stands below the head of a declaration.
func (p *treePrinter) body(d Decl) {
	switch d := d.(type) {
	case *FuncDecl:
		p.stmts(d.Body)
	case *TestDecl:
		p.stmts(d.Body)
	case *ModuleDecl:
		p.depth++
		for _, m := range d.Members {
			p.decl(m)
		}
		p.depth--
	case *RuleDecl:
		p.depth++
		p.rule(d)
		p.depth--
	}
}

func docOf(d Decl) string {
	if h, ok := d.(interface{ doc() string }); ok {
		return h.doc()
	}
	return ""
}

func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}

func (p *treePrinter) optional(prefix string, e Expr) {
	if e != nil {
		p.write(prefix)
		p.expr(e)
	}
}

func (p *treePrinter) funcHead(d *FuncDecl) {
	p.write(map[bool]string{false: "fn ", true: "graph "}[d.Graph], d.Name.Name)
	for i, v := range d.TypeVars {
		p.write([]string{"[", ", "}[min(i, 1)], v.Name.Name, ": ", v.Kind.Name)
	}
	if len(d.TypeVars) > 0 {
		p.write("]")
	}
	p.params(d.Params)
	for i, r := range d.Results {
		p.write([]string{" -> (", ", "}[min(i, 1)])
		if r.Name.Name != "" {
			p.write(r.Name.Name, ": ")
		}
		p.typ(r.Type)
	}
	if len(d.Results) > 0 {
		p.write(")")
	}
}

func (p *treePrinter) params(list []Param) {
	p.write("(")
	for i, r := range list {
		if i > 0 {
			p.write(", ")
		}
		p.write(r.Name.Name)
		if r.Type != nil {
			p.write(": ")
			p.typ(r.Type)
		}
		p.optional(" = ", r.Default)
	}
	p.write(")")
}

func (p *treePrinter) rule(d *RuleDecl) {
	p.clause("pattern ", d.Pattern)
	p.clause("replacement ", d.Replacement)
	for _, w := range d.Where {
		p.clause("where ", w)
	}
	if d.Safe {
		p.begin()
		p.write("safe")
		p.optional(" within ", d.Within)
		p.end()
	}
}

func (p *treePrinter) clause(word string, e Expr) {
	if e != nil {
		p.begin()
		p.optional(word, e)
		p.end()
	}
}

// stmts prints a block: indented lines, or { a; b } within an expression.
func (p *treePrinter) stmts(b *Block) {
	if p.inline > 0 {
		p.write(" { ")
	}
	p.depth++
	for i, s := range b.Stmts {
		if i > 0 && p.inline > 0 {
			p.write("; ")
		}
		p.stmt(s)
	}
	if b.Value != nil {
		if len(b.Stmts) > 0 && p.inline > 0 {
			p.write("; ")
		}
		p.clause("value ", b.Value)
	}
	p.depth--
	if p.inline > 0 {
		p.write(" }")
	}
}

func (p *treePrinter) stmt(s Stmt) {
	p.annotations(s.Annotations())
	switch s := s.(type) {
	case *BindStmt:
		p.clause("bind "+names(s.Names)+" = ", s.Value)
	case *ReturnStmt:
		p.begin()
		p.write("return ")
		p.exprs(s.Values)
		p.end()
	case *ForStmt:
		p.clause("for "+s.Var.Name+carried(s.Carry, s.Collect)+" in ", s.In)
		p.stmts(s.Body)
	case *WhileStmt:
		p.clause("while"+carried(s.Carry, nil)+" ", s.Cond)
		p.stmts(s.Body)
	case *IfStmt:
		p.ifChain(s.Branches, s.Else)
	case *BlockStmt:
		p.line("block")
		p.stmts(s.Body)
	case *ExpectStmt:
		p.begin()
		p.write("expect ")
		p.expr(s.X)
		p.optional(" "+s.Op+" ", s.Y)
		p.optional(" within ", s.Within)
		p.end()
	case *ExpectErrorStmt:
		p.line("expect error ", strconv.Quote(s.Text.Value))
		p.stmts(s.Body)
	}
}

func (p *treePrinter) ifChain(branches []Branch, orElse *Block) {
	word, next := "if ", "else "
	if p.inline > 0 {
		next = " else "
	}
	for _, b := range branches {
		p.clause(word, b.Cond)
		p.stmts(b.Body)
		word = next + "if "
	}
	if orElse != nil {
		p.line(strings.TrimSuffix(next, " "))
		p.stmts(orElse)
	}
}
