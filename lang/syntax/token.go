package syntax

import "github.com/alecthomas/participle/v2/lexer"

// The types of tokens. Each operator and reserved word has its own, so that
// the expression parser compares numbers, not texts; the grammar's tags name
// the operators by their text and the rest by the names in symbols.
const (
	tNewline lexer.TokenType = iota + 1
	tIdent
	tNumber
	tString
	tDType

	tAnd
	tOr
	tNot
	tIf
	tElse
	tFor
	tIn
	tWhile
	tCarry
	tCollect
	tReturn
	tTrue
	tFalse
	tNone

	tLParen
	tRParen
	tLBrack
	tRBrack
	tLBrace
	tRBrace
	tComma
	tColon
	tDot
	tRange
	tEllipsis
	tArrow
	tFatArrow
	tAssign
	tQuestion
	tAt

	tPow
	tStar
	tSlash
	tPercent
	tPlus
	tMinus
	tShl
	tShr
	tAmp
	tCaret
	tPipe
	tEq
	tNe
	tLt
	tLe
	tGt
	tGe
	tAbout
	tTilde

	tokenTypes // how many there are
)

// The levels of binary operators, loosest first. A gap is left between or/and
// and the comparisons for the prefix "not".
const (
	levelNone = iota
	levelOr
	levelAnd
	levelNot
	levelCompare
	levelBitOr
	levelBitXor
	levelBitAnd
	levelShift
	levelSum
	levelProduct
	levelUnary
	levelPower
)

// A tokenRow says what the lexer and the parsers know of one type of token.
type tokenRow struct {
	text  string // as written; empty when it varies
	level int    // of a binary operator
	open  bool   // a newline after it does not end the statement
}

// tokenTable is indexed by token type.
var tokenTable = [tokenTypes]tokenRow{
	tAnd:     {"and", levelAnd, true},
	tOr:      {"or", levelOr, true},
	tNot:     {"not", levelNone, false},
	tIf:      {"if", levelNone, false},
	tElse:    {"else", levelNone, false},
	tFor:     {"for", levelNone, false},
	tIn:      {"in", levelNone, false},
	tWhile:   {"while", levelNone, false},
	tCarry:   {"carry", levelNone, false},
	tCollect: {"collect", levelNone, false},
	tReturn:  {"return", levelNone, false},
	tTrue:    {"true", levelNone, false},
	tFalse:   {"false", levelNone, false},
	tNone:    {"None", levelNone, false},

	tLParen:   {"(", levelNone, false},
	tRParen:   {")", levelNone, false},
	tLBrack:   {"[", levelNone, false},
	tRBrack:   {"]", levelNone, false},
	tLBrace:   {"{", levelNone, true},
	tRBrace:   {"}", levelNone, false},
	tComma:    {",", levelNone, true},
	tColon:    {":", levelNone, true},
	tDot:      {".", levelNone, true},
	tRange:    {"..", levelNone, true},
	tEllipsis: {"...", levelNone, false},
	tArrow:    {"->", levelNone, true},
	tFatArrow: {"=>", levelNone, true},
	tAssign:   {"=", levelNone, true},
	tQuestion: {"?", levelNone, false},

	// A product of matrices; at the start of a statement it opens an annotation.
	tAt: {"@", levelProduct, true},

	tPow:     {"**", levelPower, true},
	tStar:    {"*", levelProduct, true},
	tSlash:   {"/", levelProduct, true},
	tPercent: {"%", levelProduct, true},
	tPlus:    {"+", levelSum, true},
	tMinus:   {"-", levelSum, true},
	tShl:     {"<<", levelShift, true},
	tShr:     {">>", levelShift, true},
	tAmp:     {"&", levelBitAnd, true},
	tCaret:   {"^", levelBitXor, true},
	tPipe:    {"|", levelBitOr, true},
	tEq:      {"==", levelCompare, true},
	tNe:      {"!=", levelCompare, true},
	tLt:      {"<", levelCompare, true},
	tLe:      {"<=", levelCompare, true},
	tGt:      {">", levelCompare, true},
	tGe:      {">=", levelCompare, true},
	tAbout:   {"~=", levelNone, true},
	tTilde:   {"~", levelNone, false},
}

// words are the reserved words: nowhere a plain name, but for after a point.
var words = map[string]lexer.TokenType{
	"and": tAnd, "or": tOr, "not": tNot, "if": tIf, "else": tElse, "for": tFor,
	"in": tIn, "while": tWhile, "carry": tCarry, "collect": tCollect,
	"return": tReturn, "true": tTrue, "false": tFalse, "None": tNone,
	"inf": tNumber, "nan": tNumber,
	"f64": tDType, "f32": tDType, "f16": tDType, "bf16": tDType,
	"i64": tDType, "i32": tDType, "i16": tDType, "i8": tDType,
	"u64": tDType, "u32": tDType, "u16": tDType, "u8": tDType,
	"bool": tDType, "int": tDType, "float": tDType, "string": tDType,
}

// declWords open a declaration, each with the type of the token that follows
// it there; before anything else such a word is a plain name.
var declWords = map[string]lexer.TokenType{
	"import": tString, "weights": tString, "test": tString,
	"param": tIdent, "const": tIdent, "fn": tIdent, "module": tIdent,
	"graph": tIdent, "rewrite": tIdent, "fusion": tIdent,
}

// memberWords are the declaration words that a module's body may hold.
var memberWords = map[string]bool{"param": true, "const": true, "fn": true}

// symbols are the names that grammar tags use for tokens without fixed text.
var symbols = map[string]lexer.TokenType{
	"EOF": lexer.EOF, "Newline": tNewline, "Ident": tIdent, "Number": tNumber,
	"String": tString, "DType": tDType,
}

// punctuation lists the operators by their first byte, the longer ones first.
var punctuation = byFirstByte()

func byFirstByte() (table [128][]lexer.TokenType) {
	for length := 3; length > 0; length-- {
		for t := tLParen; t < tokenTypes; t++ {
			if text := tokenTable[t].text; len(text) == length {
				table[text[0]] = append(table[text[0]], t)
			}
		}
	}
	return table
}

// startsExpr tells whether an expression can begin with a token of type t.
func startsExpr(t lexer.TokenType) bool {
	switch t {
	case tIdent, tNumber, tString, tDType, tTrue, tFalse, tNone, tIf, tNot,
		tMinus, tTilde, tLParen, tLBrack:
		return true
	}
	return false
}

// opType returns the type of an operator, by its text.
func opType(text string) lexer.TokenType {
	if t, ok := words[text]; ok {
		return t
	}
	if text == "" || text[0] >= 128 {
		return tNewline
	}
	for _, t := range punctuation[text[0]] {
		if tokenTable[t].text == text {
			return t
		}
	}
	return tNewline
}
