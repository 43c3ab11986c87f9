package syntax

// An Expr is an expression.
type Expr interface {
	Node
	expr()
}

type exprHead struct {
	pos
	Parens bool // the source has parentheses around it, which At leaves out
}

func (exprHead) expr() {}

func (e *exprHead) parens()        { e.Parens = true }
func (e *exprHead) inParens() bool { return e.Parens }

// NumberLit is a number as written: 3, 0x1f, 1_000, 1e-5, 0.5, inf, nan.
type NumberLit struct {
	exprHead
	Text    string
	IsFloat bool
}

// StringLit is a quoted text; Value is unquoted.
type StringLit struct {
	exprHead
	Value string
}

// BoolLit is true or false.
type BoolLit struct {
	exprHead
	Value bool
}

// NoneLit is None.
type NoneLit struct{ exprHead }

// NameExpr is a name: variable, function, dtype, module.
type NameExpr struct {
	exprHead
	Name     string
	Optional bool // written mask?, in a pattern: the operand may be absent
}

// ListExpr is [a, b, c].
type ListExpr struct {
	exprHead
	Elems []Expr
}

// ComprehensionExpr is [e for v in range].
type ComprehensionExpr struct {
	exprHead
	Elem Expr
	Var  Ident
	In   Expr
}

// RangeExpr is a..b, allowed after in.
type RangeExpr struct {
	exprHead
	From, To Expr
}

// A TypeLit is a type where an expression stands: zeros(f32[2, 3]).
type TypeLit struct {
	exprHead
	Type *TypeExpr
}

// IfExpr chooses at compile time: if c { a } else { b }. Each block has a
// Value.
type IfExpr struct {
	exprHead
	Branches []Branch
	Else     *Block
}

// UnaryExpr is a chain of prefix operators, outermost first: - ~ not.
type UnaryExpr struct {
	exprHead
	Ops []OpTok
	X   Expr
}

// BinaryExpr is a chain of operators of one precedence level:
// First Rest[0].Op Rest[0].X Rest[1].Op ... It is read from the left, but for
// ** from the right. Comparisons have one element in Rest.
type BinaryExpr struct {
	exprHead
	First Expr
	Rest  []BinaryRest
}

// BinaryRest is an operator and its right operand.
type BinaryRest struct {
	Op OpTok
	X  Expr
}

// An OpTok is an operator and its place.
type OpTok struct {
	pos
	Text string
}

// PostfixExpr is a chain of calls, subscripts and selectors on X, innermost
// first: a list, however long the chain.
type PostfixExpr struct {
	exprHead
	X   Expr
	Ops []Postfix
}

// A Postfix is one link of a PostfixExpr: CallOp, IndexOp or SelectOp.
type Postfix interface {
	Node
	postfix()
}

type postfixHead struct{ pos }

func (postfixHead) postfix() {}

// CallOp is (args). Optional is set for op?(x), which patterns may write.
type CallOp struct {
	postfixHead
	Args     []Arg
	Optional bool
}

// An Arg is a positional argument, or a named one.
type Arg struct {
	pos
	Name  Ident // empty when positional
	Value Expr
}

// SelectOp is .Name.
type SelectOp struct {
	postfixHead
	Name Ident
}

// IndexOp is [subscripts].
type IndexOp struct {
	postfixHead
	Subs []Subscript
}

// A Subscript is an index, a slice, an ellipsis or None.
type Subscript struct {
	pos
	Kind             SubscriptKind
	Index            Expr // IndexSub
	Start, End, Step Expr // SliceSub; nil when absent
}

// SubscriptKind tells the four subscripts apart.
type SubscriptKind uint8

const (
	IndexSub SubscriptKind = iota
	SliceSub
	EllipsisSub
	NoneSub
)
