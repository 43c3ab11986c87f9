package syntax

import "strconv"

func (p *treePrinter) exprs(list []Expr) {
	for i, e := range list {
		if i > 0 {
			p.write(", ")
		}
		p.expr(e)
	}
}

func (p *treePrinter) typ(t *TypeExpr) {
	p.write(t.DType.Name)
	if !t.HasShape {
		return
	}
	p.write("[")
	if t.Ellipsis {
		p.write("...")
	}
	for i, e := range t.Dims {
		if i > 0 || t.Ellipsis {
			p.write(", ")
		}
		p.expr(e)
	}
	p.write("]")
}

func (p *treePrinter) expr(e Expr) {
	p.inline++
	defer func() { p.inline-- }()
	switch e := e.(type) {
	case *NumberLit:
		p.write(e.Text)
	case *StringLit:
		p.write(strconv.Quote(e.Value))
	case *BoolLit:
		p.write(strconv.FormatBool(e.Value))
	case *NoneLit:
		p.write("None")
	case *NameExpr:
		p.write(nameText(e))
	case *ListExpr:
		p.write("[")
		p.exprs(e.Elems)
		p.write("]")
	case *ComprehensionExpr:
		p.write("[")
		p.expr(e.Elem)
		p.write(" for ", e.Var.Name, " in ")
		p.expr(e.In)
		p.write("]")
	case *RangeExpr:
		p.expr(e.From)
		p.write("..")
		p.expr(e.To)
	case *TypeLit:
		p.write("(type ")
		p.typ(e.Type)
		p.write(")")
	case *IfExpr:
		p.write("(")
		p.ifChain(e.Branches, e.Else)
		p.write(")")
	case *UnaryExpr:
		p.unary(e)
	case *BinaryExpr:
		p.binary(e)
	case *PostfixExpr:
		p.postfix(e)
	}
}

func (p *treePrinter) unary(e *UnaryExpr) {
	p.write("(")
	for _, op := range e.Ops {
		p.write(op.Text, " ")
	}
	p.expr(e.X)
	p.write(")")
}

func (p *treePrinter) binary(e *BinaryExpr) {
	p.write("(")
	p.expr(e.First)
	for _, r := range e.Rest {
		p.write(" ", r.Op.Text, " ")
		p.expr(r.X)
	}
	p.write(")")
}

func (p *treePrinter) postfix(e *PostfixExpr) {
	p.expr(e.X)
	for _, op := range e.Ops {
		switch op := op.(type) {
		case *SelectOp:
			p.write(".", op.Name.Name)
		case *CallOp:
			if op.Optional {
				p.write("?")
			}
			p.args(op.Args)
		case *IndexOp:
			p.subscripts(op.Subs)
		}
	}
}

func (p *treePrinter) args(list []Arg) {
	p.write("(")
	for i, a := range list {
		if i > 0 {
			p.write(", ")
		}
		if a.Name.Name != "" {
			p.write(a.Name.Name, "=")
		}
		p.expr(a.Value)
	}
	p.write(")")
}

func (p *treePrinter) subscripts(list []Subscript) {
	p.write("[")
	for i := range list {
		if i > 0 {
			p.write(", ")
		}
		p.subscript(&list[i])
	}
	p.write("]")
}

func (p *treePrinter) subscript(s *Subscript) {
	switch s.Kind {
	case EllipsisSub:
		p.write("...")
	case NoneSub:
		p.write("None")
	case IndexSub:
		p.expr(s.Index)
	default:
		p.optional("", s.Start)
		p.optional(":", s.End)
		if s.End == nil {
			p.write(":")
		}
		p.optional(":", s.Step)
	}
}
