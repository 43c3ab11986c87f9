package syntax

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/alecthomas/participle/v2/lexer"

	"github.com/npulang/npu/ir/diag"
)

// A charSlip is a text that begins no token of the language but one of a
// language that users come from.
type charSlip struct {
	text string
	says string
	help string
}

// charSlips are tried in order; a longer text stands before its beginning.
var charSlips = []charSlip{
	{"&&", "&& is not an operator", "write and"},
	{"||", "|| is not an operator", "write or"},
	{"/*", "/* opens no comment", "comments begin with // and end with their line"},
	{"++", "++ is not an operator", "write x = x + 1"},
	{"+=", "+= is not an operator", "a name is bound again: x = x + y"},
	{"-=", "-= is not an operator", "a name is bound again: x = x - y"},
	{"*=", "*= is not an operator", "a name is bound again: x = x * y"},
	{"/=", "/= is not an operator", "a name is bound again: x = x / y"},
	{"@=", "@= is not an operator", "a name is bound again: x = x @ w"},
	{":=", ":= is not an operator", "a name is bound with =, the first time too"},
	{"!=", "", ""},
	{"!", "! is not an operator", "write not"},
	{";", "; ends nothing", "a statement ends with its line; leave the ; out"},
	{"'", "a text stands in double quotes", `write "..." in place of '...'`},
	{"`", "a text stands in double quotes", `write "..." in place of backquotes`},
	{"#", "# opens no comment", "comments begin with //"},
	{"$", "$ is not part of the language", "a name is letters, digits and _"},
	{"\\", `\ is not part of the language`, "a line goes on after an operator, a comma, or within brackets"},
}

// slipAt returns the slip at the scanner's place, nil for none.
func (s *scanner) slipAt() *charSlip {
	rest := s.text[s.off:]
	if strings.IndexByte("&|/+-*@:!;'`#$\\", rest[0]) < 0 {
		return nil
	}
	for i := range charSlips {
		if strings.HasPrefix(rest, charSlips[i].text) {
			if charSlips[i].says == "" {
				return nil
			}
			return &charSlips[i]
		}
	}
	return nil
}

// skipSlip moves over a slip, and over the comment that it opens.
func (s *scanner) skipSlip(slip *charSlip) {
	start := s.off
	s.off += len(slip.text)
	if slip.text != "/*" {
		return
	}
	if n := strings.Index(s.text[s.off:], "*/"); n >= 0 {
		s.off += n + 2
	} else if n := strings.IndexByte(s.text[s.off:], '\n'); n >= 0 {
		s.off += n
	}
	s.line += strings.Count(s.text[start:s.off], "\n")
}

func (c *charSlip) at(span diag.Span) *syntaxError { return newError(span, "%s", c.says).help(c.help) }

// strayNames words the characters that look like something else.
var strayNames = map[rune][2]string{
	'\u00a0': {"a no-break space", "put a plain space in its place"},
	'\u2003': {"an em space", "put a plain space in its place"},
	'\u2009': {"a thin space", "put a plain space in its place"},
	'\u3000': {"an ideographic space", "put a plain space in its place"},
	'\u200b': {"a zero-width space", "delete it"},
	'\u200d': {"a zero-width joiner", "delete it"},
	'\ufeff': {"a byte order mark", "it may stand at the start of the file only"},
	'\u2028': {"a line separator", "end the line with a newline"},
	'\u201c': {"a curved quote", `texts stand in straight quotes: "..."`},
	'\u201d': {"a curved quote", `texts stand in straight quotes: "..."`},
	'\u2018': {"a curved quote", `texts stand in straight quotes: "..."`},
	'\u2019': {"a curved quote", `texts stand in straight quotes: "..."`},
	'\u2212': {"a minus sign", "write - for minus"},
	'\u2013': {"a dash", "write - for minus"},
	'\u2014': {"a dash", "write - for minus"},
	'\u00d7': {"a multiplication sign", "write * for a product, @ for a product of matrices"},
	'\u00b7': {"a middle dot", "write * for a product"},
	'\u00f7': {"a division sign", "write / for a division"},
	'\u2264': {"a less-or-equal sign", "write <="},
	'\u2265': {"a greater-or-equal sign", "write >="},
	'\u2260': {"a not-equal sign", "write !="},
	'\u2192': {"an arrow", "write ->"},
	'\u21d2': {"a double arrow", "write =>"},
	'\u2026': {"an ellipsis", "write ..."},
	'\r':     {"a carriage return without a newline", "end the line with a newline"},
	'\f':     {"a form feed", "delete it"},
	'\v':     {"a vertical tab", "delete it"},
}

// stray reports a character that begins no token.
func (s *scanner) stray() lexer.TokenType {
	r, size := utf8.DecodeRuneInString(s.text[s.off:])
	span := s.span(s.off, s.off+size)
	s.off += size
	name, help := fmt.Sprintf("U+%04X", r), ""
	if row, ok := strayNames[r]; ok {
		name, help = name+", "+row[0], row[1]
	} else if unicode.IsPrint(r) && !unicode.IsMark(r) {
		name = string(r) + " (" + name + ")"
	}
	s.fail(newError(span, "unexpected character %s", name).help(help))
	return 0
}

// checkLine reports a line that begins with a product of matrices: with the @
// in front it would be taken for an annotation.
func (s *scanner) checkLine(typ lexer.TokenType, start int) {
	if typ != tAt || !s.fresh || s.whole || s.off < len(s.text) && wordLength(s.text[s.off:]) > 0 {
		return
	}
	e := newError(s.span(start, s.off), "a line cannot begin with the operator @").
		help("put the @ at the end of the line above")
	rest := strings.TrimLeft(s.text[s.off:], " \t")
	if n := wordLength(rest); n > 0 && strings.HasPrefix(rest[n:], "(") {
		e.help("an annotation has no space: @" + rest[:n] + "(...)")
	}
	s.fail(e)
}

// A slipPlace is where a token did not fit.
type slipPlace struct {
	prev, found, next lexer.Token
	want              string
}

// A tokenSlip is a habit of another language that leads to a token that does
// not fit.
type tokenSlip struct {
	when func(slipPlace) bool
	help string
}

// tokenSlips are tried in order; the first that fits gives its help.
var tokenSlips = []tokenSlip{
	{after("let", "var", "val", "auto", "mut"), "a name is bound without a word before it: x = ..."},
	{after("def", "func", "function", "fun"), "a function is declared with fn: fn name(x: f32[N]) -> f32[N] { ... }"},
	{after("class", "struct"), "a layer is declared with module: module Name(args) { ... }"},
	{after("from"), `a library is imported by its text: import "nn"`},
	{after("elif", "elseif", "elsif"), "write else if"},
	{isFound("elif", "elseif", "elsif"), "write else if"},
	{after("import"), `what is imported stands in double quotes: import "nn"`},
	{after("error"), `the error's text follows: expect error "text" { ... }`},
	{after("print", "assert"), "there are no printed values; an expectation is written expect ... in a test"},
	{after("lambda"), "a function is declared at file level: fn name(x) { return ... }"},
	{finds(tEq, "="), "a name is bound with one ="},
	{finds(tAssign, "the end of the line"), "values are compared with ==; a name is bound at the start of a line, one in each"},
	{finds(tComma, ")"), "several values stand without parentheses: a, b"},
	{finds(tCollect, "{"), "a while collects nothing; for ... collect stacks what its rounds give"},
	{finds(tCarry, "{"), "carry stands before collect"},
	{finds(tLBrace, "("), "parameters follow the name, if only ( )"},
	{operatorAt("a statement"), "an operator stands at the end of the line above"},
	{decimalAt("an expression"), "a float has a digit before its point: 0.5"},
	{finds(tAssign, ":"), "a parameter is declared with its type: name: f32[N] = ..."},
	{finds(tColon, "="), "a name is bound without a type: x = ..."},
	{finds(tColon, "{"), "a block stands in braces: { ... }"},
	{finds(tNewline, "{"), "the { stands on the line of its head"},
	{finds(lexer.EOF, "{"), "the { stands on the line of its head"},
	{finds(tDType, "{"), "write -> before the type of the result"},
	{finds(tArrow, "}"), "a rewrite has => between its pattern and its replacement"},
	{finds(tAssign, "}"), "values are compared with =="},
	{wordAt("where", "}"), "the tests of a rule stand before its safe"},
	{wordAt("safe", "}"), "safe stands last in a rule, and once"},
	{finds(tFatArrow, "{"), "write -> before the type of the result"},
	{finds(tColon, "->"), "write -> before the type of the result"},
	{finds(tIf, ""), "a value is chosen with if c { a } else { b }, or element by element with where(c, a, b)"},
	{isFound("is"), "values are compared with =="},
	{finds(tNot, "an expression"), "put the not and its operand in parentheses"},
	{finds(tPlus, "an expression"), "a number is positive without a sign"},
	{finds(tAssign, "an expression"), "an assignment is not an expression"},
	{finds(tEllipsis, "an expression"), "... stands in shapes and subscripts only"},
	{dtypeBefore(tColon), "the name of a dtype is not free to name something else"},
	{finds(tColon, ", or )"), "an argument is named with =: f(x, axis=0)"},
}

// slipHelp returns the help for the habit that a place shows, "" for none.
func slipHelp(at slipPlace) string {
	for _, slip := range tokenSlips {
		if slip.when(at) {
			return slip.help
		}
	}
	return ""
}

func after(words ...string) func(slipPlace) bool {
	return func(at slipPlace) bool { return isOneOf(at.prev, words) }
}

func isFound(words ...string) func(slipPlace) bool {
	return func(at slipPlace) bool { return isOneOf(at.found, words) }
}

// finds fits a type of token where a text was expected; any text when want is
// empty.
func finds(typ lexer.TokenType, want string) func(slipPlace) bool {
	return func(at slipPlace) bool {
		return at.found.Type == typ && (want == "" || strings.HasPrefix(at.want, want))
	}
}

// wordAt fits a name where a text was expected.
func wordAt(word, want string) func(slipPlace) bool {
	return func(at slipPlace) bool { return at.want == want && isOneOf(at.found, []string{word}) }
}

// operatorAt fits a binary operator where a text was expected.
func operatorAt(want string) func(slipPlace) bool {
	return func(at slipPlace) bool {
		return at.want == want && at.found.Type > 0 && at.found.Type < tokenTypes && tokenTable[at.found.Type].level > 0
	}
}

// decimalAt fits the point of .5 where a text was expected.
func dtypeBefore(typ lexer.TokenType) func(slipPlace) bool {
	return func(at slipPlace) bool { return at.prev.Type == tDType && at.found.Type == typ }
}

func decimalAt(want string) func(slipPlace) bool {
	return func(at slipPlace) bool { return at.want == want && at.found.Type == tDot && at.next.Type == tNumber }
}

func isOneOf(t lexer.Token, words []string) bool {
	for _, w := range words {
		if t.Type == tIdent && t.Value == w {
			return true
		}
	}
	return false
}
