package syntax

import "github.com/npulang/npu/ir/diag"

// A Node is any piece of syntax that has a place in the source.
type Node interface{ Span() diag.Span }

// pos is embedded by every node.
type pos struct{ At diag.Span }

// Span tells where the node stands.
func (p pos) Span() diag.Span { return p.At }

// An Ident is a name and its place.
type Ident struct {
	pos
	Name string
}

// A File is one parsed source. Declarations that could not be parsed are
// absent from Decls and present among the diagnostics.
type File struct {
	Src      *diag.Source
	Decls    []Decl
	Comments []Comment // all of them, in source order; the formatter places them again

	// Broken are the names of declarations that could not be parsed. What
	// follows from their absence is no error of its own.
	Broken []Ident
}

// A Comment runs from // to the end of its line.
type Comment struct {
	pos
	Text string // with the slashes, without the newline
}

// An Annotation is @name(args) before a statement, declaration or block.
type Annotation struct {
	pos
	Name Ident
	Args []Arg
}

// A TypeExpr is a dtype and perhaps a shape: f32, f32[], f32[..., B, 2*N],
// T[...], or one of the words int float bool string dtype (compile-time kinds,
// where a parameter may have one).
type TypeExpr struct {
	pos
	DType    Ident
	HasShape bool // f32[] has, f32 has not
	Ellipsis bool // the shape begins with ...
	Dims     []Expr

	dots diag.Span // of the ellipsis, for the formatter
}

// A TypeVar is one name of fn f[T: float].
type TypeVar struct {
	Name Ident
	Kind Ident // float, int, number or any
}

// A Decl is a declaration at file or module level.
type Decl interface {
	Node
	decl()
	Annotations() []Annotation
}

// declHead is embedded by every declaration.
type declHead struct {
	pos
	Doc    string // the /// lines above, without slashes, joined by newlines
	Annots []Annotation
}

func (declHead) decl() {}

// Annotations returns what stands before the declaration.
func (d declHead) Annotations() []Annotation { return d.Annots }

func (d declHead) doc() string { return d.Doc }

// place sets what every declaration has; its span begins with its annotations.
func (d *declHead) place(at diag.Span, doc string, annots []Annotation) {
	d.At, d.Doc, d.Annots = at, doc, annots
}

// ImportDecl is import "path" [as Name]. Name is empty when absent.
type ImportDecl struct {
	declHead
	Path *StringLit
	As   Ident
}

// WeightsDecl is weights "file".
type WeightsDecl struct {
	declHead
	Path *StringLit
}

// ParamDecl is param name: type [= init].
type ParamDecl struct {
	declHead
	Name Ident
	Type *TypeExpr
	Init Expr // nil when absent
}

// ConstDecl is const name = value.
type ConstDecl struct {
	declHead
	Name  Ident
	Value Expr
}

// InstanceDecl is name = expr at file or module level.
type InstanceDecl struct {
	declHead
	Name  Ident
	Value Expr
}

// FuncDecl is a fn or a graph.
type FuncDecl struct {
	declHead
	Graph    bool
	Name     Ident
	TypeVars []TypeVar
	Params   []Param
	Results  []Result // empty when the head has no arrow
	Body     *Block
}

// A Param is one parameter of a fn, graph or module.
type Param struct {
	pos
	Name    Ident
	Type    *TypeExpr // nil when absent
	Default Expr      // nil when absent
}

// A Result is one result of a fn or graph; Name is empty when unnamed.
type Result struct {
	pos
	Name Ident
	Type *TypeExpr
}

// ModuleDecl is module Name(params) { members }. Members are ParamDecl,
// ConstDecl, InstanceDecl and FuncDecl.
type ModuleDecl struct {
	declHead
	Name    Ident
	Params  []Param
	Members []Decl
}

// TestDecl is test "name" { ... }.
type TestDecl struct {
	declHead
	Name *StringLit
	Body *Block
}

// RuleDecl is rewrite NAME { pattern => replacement ... } or
// fusion NAME { pattern ... }.
type RuleDecl struct {
	declHead
	Fusion      bool
	Name        Ident
	Pattern     Expr
	Replacement Expr // nil for a fusion
	Where       []Expr
	Safe        bool
	Within      Expr // nil when safe has no tolerance

	safe diag.Span // the word, for the formatter
}

// A Stmt is a statement. Each carries its annotations.
type Stmt interface {
	Node
	stmt()
	Annotations() []Annotation
}

type stmtHead struct {
	pos
	Annots []Annotation
}

func (stmtHead) stmt() {}

// Annotations returns what stands before the statement.
func (s stmtHead) Annotations() []Annotation { return s.Annots }

// place sets what every statement has; its span begins with its annotations.
func (s *stmtHead) place(at diag.Span, annots []Annotation) { s.At, s.Annots = at, annots }

// A Block is { statements }. Value is the closing expression of a branch of an
// if-expression, nil elsewhere.
type Block struct {
	pos
	Stmts []Stmt
	Value Expr
}

// BindStmt is a = e, or a, b = e.
type BindStmt struct {
	stmtHead
	Names []Ident
	Value Expr
}

// ReturnStmt is return a, b.
type ReturnStmt struct {
	stmtHead
	Values []Expr
}

// ForStmt is for v in e [carry ...] [collect ...] { }. With Carry or Collect
// it runs at run time.
type ForStmt struct {
	stmtHead
	Var     Ident
	In      Expr // a RangeExpr or a list
	Carry   []Ident
	Collect []Ident
	Body    *Block
}

// WhileStmt is while e carry ... { }.
type WhileStmt struct {
	stmtHead
	Cond  Expr
	Carry []Ident
	Body  *Block
}

// IfStmt is if c { } else if d { } else { }: a list, however long the chain.
type IfStmt struct {
	stmtHead
	Branches []Branch
	Else     *Block // nil when absent
}

// A Branch is one condition and its block.
type Branch struct {
	Cond Expr
	Body *Block
}

// BlockStmt is an annotated block, @fuse("name") { ... }: it opens no scope.
type BlockStmt struct {
	stmtHead
	Body *Block
}

// ExpectStmt is expect X, expect X == Y, expect X ~= Y [within t].
type ExpectStmt struct {
	stmtHead
	X      Expr
	Op     string // "", "==" or "~="
	Y      Expr   // nil when Op is ""
	Within Expr   // nil when absent
}

// ExpectErrorStmt is expect error "text" { ... }.
type ExpectErrorStmt struct {
	stmtHead
	Text *StringLit
	Body *Block
}
