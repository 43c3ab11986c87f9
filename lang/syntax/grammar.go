package syntax

import (
	"sync"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// The grammar of declarations, statements and types, as participle's tags.
// Expressions, blocks, and the statements whose parts depend on where they
// stand (if, expect) are custom productions: Expr, blockNode, membersNode.
//
// Each rule is chosen by its first word, with no looking ahead, so an error is
// that of the rule that was meant. A list reads (item (?= "," | ")") ","?)*:
// the item, a look at what must follow, the comma, the last one optional.

type importRule struct {
	Path lexer.Token `parser:"'import' @String"`
	As   *word       `parser:"('as' @@)?"`
}

type weightsRule struct {
	Path lexer.Token `parser:"'weights' @String"`
}

type paramRule struct {
	Name word      `parser:"'param' @@ ':'"`
	Type *typeRule `parser:"@@"`
	Init Expr      `parser:"('=' @@)?"`
}

type constRule struct {
	Name  word `parser:"'const' @@"`
	Value Expr `parser:"'=' @@"`
}

type instanceRule struct {
	Name  word `parser:"@@"`
	Value Expr `parser:"'=' @@"`
}

type funcRule struct {
	Kind     lexer.Token     `parser:"@('fn' | 'graph')"`
	Name     word            `parser:"@@"`
	TypeVars []typeVarRule   `parser:"('[' (@@ (?= ',' | ']') ','?)+ ']')?"`
	Params   []parameterRule `parser:"'(' (@@ (?= ',' | ')') ','?)* ')'"`
	Results  *resultsRule    `parser:"('->' @@)?"`
	Body     blockNode       `parser:"@@"`
}

type typeVarRule struct {
	Name word        `parser:"@@ ':'"`
	Kind lexer.Token `parser:"@(Ident | DType)"`
}

type parameterRule struct {
	Name    word      `parser:"@@"`
	Type    *typeRule `parser:"(':' @@)?"`
	Default Expr      `parser:"('=' @@)?"`
}

type resultsRule struct {
	One  *typeRule    `parser:"  @@"`
	Many []resultRule `parser:"| '(' (@@ (?= ',' | ')') ','?)+ ')'"`
}

type resultRule struct {
	Name *word     `parser:"((?= Ident ':') @@ ':')?"`
	Type *typeRule `parser:"@@"`
}

type moduleRule struct {
	Name    word            `parser:"'module' @@"`
	Params  []parameterRule `parser:"'(' (@@ (?= ',' | ')') ','?)* ')'"`
	Members membersNode     `parser:"@@"`
}

type testRule struct {
	Name lexer.Token `parser:"'test' @String"`
	Body blockNode   `parser:"@@"`
}

type ruleRule struct {
	Kind        lexer.Token `parser:"@('rewrite' | 'fusion')"`
	Name        word        `parser:"@@ '{'"`
	Pattern     Expr        `parser:"@@"`
	Replacement Expr        `parser:"('=>' @@)? Newline?"`
	Where       []Expr      `parser:"('where' @@ (',' @@)* Newline?)*"`
	Safe        lexer.Token `parser:"(@'safe'"`
	Within      Expr        `parser:"('within' @@)? Newline?)? '}'"`
}

type typeRule struct {
	DType lexer.Token `parser:"@(DType | Ident)"`
	Shape *shapeRule  `parser:"@@?"`
}

type shapeRule struct {
	Ellipsis lexer.Token `parser:"'[' (@'...' (?= ',' | ']') ','?)?"`
	Dims     []Expr      `parser:"(@@ (?= ',' | ']') ','?)*"`
	Close    lexer.Token `parser:"@']'"`
}

type bindRule struct {
	Names []word `parser:"@@ (',' @@)*"`
	Value Expr   `parser:"'=' @@"`
}

type returnRule struct {
	Values []Expr `parser:"'return' @@ (',' @@)*"`
}

type forRule struct {
	Var     word      `parser:"'for' @@ 'in'"`
	From    Expr      `parser:"@@"`
	To      Expr      `parser:"('..' @@)?"`
	Carry   []word    `parser:"('carry' @@ (',' @@)*)?"`
	Collect []word    `parser:"('collect' @@ (',' @@)*)?"`
	Body    blockNode `parser:"@@"`
}

type whileRule struct {
	Cond  Expr      `parser:"'while' @@"`
	Carry []word    `parser:"('carry' @@ (',' @@)*)?"`
	Body  blockNode `parser:"@@"`
}

type expectErrorRule struct {
	Text lexer.Token `parser:"'expect' 'error' @String"`
	Body blockNode   `parser:"@@"`
}

// A word is a name and its place.
type word struct{ lexer.Token }

// Parse takes a name, participle's way.
func (w *word) Parse(lex *lexer.PeekingLexer) error {
	if lex.Peek().Type != tIdent {
		return participle.NextMatch
	}
	w.Token = *lex.Next()
	return nil
}

// A blockNode is a *Block; participle wants an interface for a custom
// production.
type blockNode interface{ Node }

// A membersNode is the body of a module.
type membersNode interface{ members() []Decl }

// productionList names every rule once, so that one Build makes them all.
type productionList struct {
	Import      *importRule      `parser:"  @@"`
	Weights     *weightsRule     `parser:"| @@"`
	Param       *paramRule       `parser:"| @@"`
	Const       *constRule       `parser:"| @@"`
	Func        *funcRule        `parser:"| @@"`
	Module      *moduleRule      `parser:"| @@"`
	Test        *testRule        `parser:"| @@"`
	Rule        *ruleRule        `parser:"| @@"`
	Return      *returnRule      `parser:"| @@"`
	For         *forRule         `parser:"| @@"`
	While       *whileRule       `parser:"| @@"`
	ExpectError *expectErrorRule `parser:"| @@"`
	Instance    *instanceRule    `parser:"| @@"`
	Bind        *bindRule        `parser:"| @@"`
	Type        *typeRule        `parser:"| @@"`
}

// A grammar is the built parser and, through now, what its custom productions
// need of the source that is being parsed. Building takes about a millisecond,
// so grammars are kept for the next source.
type grammar struct {
	now *parser

	imports     production[importRule]
	weights     production[weightsRule]
	param       production[paramRule]
	constant    production[constRule]
	function    production[funcRule]
	module      production[moduleRule]
	test        production[testRule]
	rule        production[ruleRule]
	returns     production[returnRule]
	fors        production[forRule]
	while       production[whileRule]
	expectError production[expectErrorRule]
	instance    production[instanceRule]
	bind        production[bindRule]
	typ         production[typeRule]
}

// A production parses one rule from where the lexer stands.
type production[R any] func(*lexer.PeekingLexer) (*R, error)

var grammars = sync.Pool{New: func() any { return newGrammar() }}

func newGrammar() *grammar {
	g := &grammar{}
	root := participle.MustBuild[productionList](
		participle.Lexer(definition{}),
		participle.UseLookahead(0),
		participle.ParseTypeWith(func(lex *lexer.PeekingLexer) (Expr, error) { return g.now.expr(lex) }),
		participle.ParseTypeWith(func(lex *lexer.PeekingLexer) (blockNode, error) { return g.now.block(lex, noValue) }),
		participle.ParseTypeWith(func(lex *lexer.PeekingLexer) (membersNode, error) { return g.now.moduleBody(lex) }),
	)
	g.imports = produce[importRule](root)
	g.weights = produce[weightsRule](root)
	g.param = produce[paramRule](root)
	g.constant = produce[constRule](root)
	g.function = produce[funcRule](root)
	g.module = produce[moduleRule](root)
	g.test = produce[testRule](root)
	g.rule = produce[ruleRule](root)
	g.returns = produce[returnRule](root)
	g.fors = produce[forRule](root)
	g.while = produce[whileRule](root)
	g.expectError = produce[expectErrorRule](root)
	g.instance = produce[instanceRule](root)
	g.bind = produce[bindRule](root)
	g.typ = produce[typeRule](root)
	return g
}

func produce[R any](root *participle.Parser[productionList]) production[R] {
	parser, err := participle.ParserForProduction[R](root)
	if err != nil {
		panic(err) // productionList lacks R
	}
	return func(lex *lexer.PeekingLexer) (*R, error) {
		return parser.ParseFromLexer(lex, participle.AllowTrailing(true))
	}
}
