package ir

import "github.com/npulang/npu/ir/diag"

// ParseType reads the text form of a type: f32[B,256], or i64 for a scalar. The
// error is a *diag.Diagnostic.
func ParseType(text string) (Type, error) {
	p := newParser(diag.NewSource("type", text))
	t := p.typ()
	if p.tok.kind != tokEOF {
		p.expected("the end of the type")
	}
	if p.err != nil {
		return Type{}, p.err.Diagnostic
	}
	return t, nil
}
