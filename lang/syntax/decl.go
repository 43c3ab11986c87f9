package syntax

import (
	"path"
	"strings"

	"github.com/alecthomas/participle/v2/lexer"

	"github.com/npulang/npu/ir/diag"
)

// A level is where a declaration stands.
type level int

const (
	fileLevel level = iota
	moduleLevel
)

// placedDecl is a declaration whose head is still to be filled in.
type placedDecl interface {
	Decl
	place(at diag.Span, doc string, annots []Annotation)
}

// A declRow says how a declaration is parsed and where it may stand.
type declRow struct {
	member bool
	parse  func(*parser, *lexer.PeekingLexer) (placedDecl, error)
}

// declTable maps the first word of a declaration to its row. It is filled at
// start, because the functions lead back to it through module bodies.
var declTable map[string]declRow

func init() {
	declTable = map[string]declRow{
		"import":  {false, (*parser).importDecl},
		"weights": {false, (*parser).weightsDecl},
		"param":   {true, (*parser).paramDecl},
		"const":   {true, (*parser).constDecl},
		"fn":      {true, (*parser).funcDecl},
		"graph":   {false, (*parser).funcDecl},
		"module":  {false, (*parser).moduleDecl},
		"test":    {false, (*parser).testDecl},
		"rewrite": {false, (*parser).ruleDecl},
		"fusion":  {false, (*parser).ruleDecl},
	}
}

// decl parses a declaration with its annotations and documentation.
func (p *parser) decl(lex *lexer.PeekingLexer, at level) (Decl, error) {
	start := lex.Peek().Pos.Offset
	doc := p.docBefore(start)
	annots, err := p.annotations(lex)
	if err != nil {
		return nil, err
	}
	if inner := lex.Peek().Pos.Offset; doc == "" && inner != start {
		doc = p.docBefore(inner)
	}
	d, err := p.bareDecl(lex, at)
	if err != nil {
		return nil, err
	}
	d.place(p.from(start, lex).At, doc, annots)
	return d, nil
}

func (p *parser) bareDecl(lex *lexer.PeekingLexer, at level) (placedDecl, error) {
	first := lex.Peek()
	if first.Type == tIdent && second(lex) == tAssign {
		return p.instanceDecl(lex)
	}
	row, ok := declTable[first.Value]
	switch {
	case !ok || first.Type != tIdent:
		return nil, p.noDeclaration(lex, at)
	case at == moduleLevel && !row.member:
		return nil, p.misplaced(*first, "%s stands at file level only, not in a module")
	}
	return row.parse(p, lex)
}

// noDeclaration reports what begins no declaration.
func (p *parser) noDeclaration(lex *lexer.PeekingLexer, at level) error {
	t := *lex.Peek()
	if t.Type == tReturn || t.Type == tFor || t.Type == tWhile || t.Type == tIf {
		return p.misplaced(t, "%s stands in a function or graph only")
	}
	if at == moduleLevel {
		return p.unexpected(t, "a member of the module").help(orNone(t, "the members are param, const, fn and name = expression"))
	}
	if t.Type == tIdent && second(lex) != lexer.EOF {
		lex.Next()
		return p.expected(lex, "=")
	}
	return p.unexpected(t, "a declaration").help("declarations begin with import, weights, param, const, fn, module, graph, test, rewrite, fusion or name =")
}

// orNone keeps a general help from standing beside a particular one.
func orNone(t lexer.Token, help string) string {
	if t.Type == tRBrace {
		return ""
	}
	return help
}

func (p *parser) misplaced(t lexer.Token, format string) *syntaxError {
	return newError(p.tokenSpan(t), format, t.Value)
}

func (p *parser) importDecl(lex *lexer.PeekingLexer) (placedDecl, error) {
	r, err := p.g.imports(lex)
	if err != nil {
		return nil, err
	}
	return &ImportDecl{Path: p.text(r.Path), As: p.optionalIdent(r.As)}, nil
}

func (p *parser) weightsDecl(lex *lexer.PeekingLexer) (placedDecl, error) {
	r, err := p.g.weights(lex)
	if err != nil {
		return nil, err
	}
	return &WeightsDecl{Path: p.text(r.Path)}, nil
}

func (p *parser) paramDecl(lex *lexer.PeekingLexer) (placedDecl, error) {
	r, err := p.g.param(lex)
	if err != nil {
		return nil, err
	}
	return &ParamDecl{Name: p.ident(r.Name.Token), Type: p.typeExpr(r.Type), Init: r.Init}, nil
}

func (p *parser) constDecl(lex *lexer.PeekingLexer) (placedDecl, error) {
	r, err := p.g.constant(lex)
	if err != nil {
		return nil, err
	}
	return &ConstDecl{Name: p.ident(r.Name.Token), Value: r.Value}, nil
}

func (p *parser) instanceDecl(lex *lexer.PeekingLexer) (placedDecl, error) {
	r, err := p.g.instance(lex)
	if err != nil {
		return nil, err
	}
	return &InstanceDecl{Name: p.ident(r.Name.Token), Value: r.Value}, nil
}

func (p *parser) funcDecl(lex *lexer.PeekingLexer) (placedDecl, error) {
	r, err := p.g.function(lex)
	if err != nil {
		return nil, err
	}
	d := &FuncDecl{
		Graph:   r.Kind.Value == "graph",
		Name:    p.ident(r.Name.Token),
		Params:  p.params(r.Params),
		Results: p.results(r.Results),
		Body:    r.Body.(*Block),
	}
	for _, v := range r.TypeVars {
		d.TypeVars = append(d.TypeVars, TypeVar{p.ident(v.Name.Token), p.ident(v.Kind)})
	}
	return d, nil
}

func (p *parser) params(rules []parameterRule) []Param {
	var list []Param
	for _, r := range rules {
		one := Param{Name: p.ident(r.Name.Token), Default: r.Default}
		one.At = one.Name.At
		if r.Type != nil {
			one.Type = p.typeExpr(r.Type)
			one.At = one.At.To(one.Type.At)
		}
		if r.Default != nil {
			one.At = one.At.To(r.Default.Span())
		}
		list = append(list, one)
	}
	return list
}

func (p *parser) results(r *resultsRule) []Result {
	if r == nil {
		return nil
	}
	if r.One != nil {
		t := p.typeExpr(r.One)
		return []Result{{pos: t.pos, Type: t}}
	}
	var list []Result
	for _, one := range r.Many {
		t := p.typeExpr(one.Type)
		name := p.optionalIdent(one.Name)
		list = append(list, Result{pos{name.At.To(t.At)}, name, t})
	}
	return list
}

func (p *parser) typeExpr(r *typeRule) *TypeExpr {
	t := &TypeExpr{DType: p.ident(r.DType)}
	t.At = t.DType.At
	if s := r.Shape; s != nil {
		t.HasShape, t.Ellipsis, t.Dims = true, s.Ellipsis.Value != "", s.Dims
		t.dots = p.tokenSpan(s.Ellipsis)
		t.At.End = s.Close.Pos.Offset + 1
	}
	return t
}

func (p *parser) moduleDecl(lex *lexer.PeekingLexer) (placedDecl, error) {
	r, err := p.g.module(lex)
	if err != nil {
		return nil, err
	}
	return &ModuleDecl{Name: p.ident(r.Name.Token), Params: p.params(r.Params), Members: r.Members.members()}, nil
}

// A memberList is what stands between the braces of a module.
type memberList []Decl

func (m memberList) members() []Decl { return m }

func (p *parser) moduleBody(lex *lexer.PeekingLexer) (memberList, error) {
	if lex.Peek().Type != tLBrace {
		return nil, p.expected(lex, "{")
	}
	lex.Next()
	var list memberList
	for head := int(lex.RawCursor()); ; {
		if lex.Peek().EOF() {
			if err := p.refill(lex, head); err != nil {
				return nil, err
			}
		}
		if lex.Peek().Type == tRBrace {
			break
		}
		d, err := p.decl(lex, moduleLevel)
		if err != nil {
			return nil, err
		}
		list = append(list, d)
		if err := p.endOfLine(lex); err != nil {
			return nil, err
		}
	}
	lex.Next()
	return list, nil
}

// testDecl parses a test; within it, expect begins a statement.
func (p *parser) testDecl(lex *lexer.PeekingLexer) (placedDecl, error) {
	p.inTest = true
	r, err := p.g.test(lex)
	if err != nil {
		return nil, err
	}
	p.inTest = false
	return &TestDecl{Name: p.text(r.Name), Body: r.Body.(*Block)}, nil
}

// ruleDecl parses a rewrite or a fusion; within it, op?(x) is allowed.
func (p *parser) ruleDecl(lex *lexer.PeekingLexer) (placedDecl, error) {
	kind := *lex.Peek()
	p.pattern = true
	r, err := p.g.rule(lex)
	p.pattern = false
	if err != nil {
		return nil, err
	}
	d := &RuleDecl{
		Fusion: kind.Value == "fusion", Name: p.ident(r.Name.Token),
		Pattern: r.Pattern, Replacement: r.Replacement,
		Where: r.Where, Safe: r.Safe.Value != "", Within: r.Within,
		safe: p.tokenSpan(r.Safe),
	}
	switch {
	case d.Fusion && d.Replacement != nil:
		return nil, newError(d.Replacement.Span(), "a fusion has no replacement").
			help("a fusion names the operators that go into one kernel; a rule with => is a rewrite")
	case !d.Fusion && d.Replacement == nil:
		return nil, newError(d.Pattern.Span(), "the rewrite has no replacement").
			help("write pattern => replacement")
	}
	return d, nil
}

// startsDeclaration tells whether the chunk at hand looks like a declaration,
// not like the rest of the broken one before it.
func (p *parser) startsDeclaration() bool {
	t := p.tokens[0]
	if t.Type == tAt {
		return true
	}
	if t.Type != tIdent || len(p.tokens) < 2 {
		return false
	}
	_, word := declTable[t.Value]
	return word || p.tokens[1].Type == tAssign
}

// indented tells whether the chunk at hand stands like a statement, further in
// than a declaration of a file: it has no brace around it where the head before
// it lost its own.
func (p *parser) indented() bool {
	t := p.tokens[0]
	_, word := declTable[t.Value]
	at := t.Pos.Offset
	return t.Type == tIdent && !word && at > 0 && (p.src.Text[at-1] == ' ' || p.src.Text[at-1] == '\t')
}

// brokenName returns the name that the chunk at hand would have declared, when
// that can be told.
func (p *parser) brokenName() []Ident {
	for i, t := range p.tokens[:len(p.tokens)-1] {
		next := p.tokens[i+1]
		_, word := declTable[t.Value]
		switch {
		case t.Type != tIdent:
		case next.Type == tAssign:
			return []Ident{p.ident(t)}
		case t.Value == "import" && next.Type == tString:
			return p.brokenImport(p.tokens[i+1:])
		case word && next.Type == tIdent:
			return []Ident{p.ident(next)}
		}
	}
	return nil
}

func (p *parser) brokenImport(tokens []lexer.Token) []Ident {
	if len(tokens) > 2 && tokens[1].Value == "as" && tokens[2].Type == tIdent {
		return []Ident{p.ident(tokens[2])}
	}
	value, bad := unquote(tokens[0].Value)
	if bad != nil {
		return nil
	}
	return []Ident{{p.ident(tokens[0]).pos, strings.TrimSuffix(path.Base(value), ".npu")}}
}
