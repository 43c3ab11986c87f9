package passes

import (
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// measure adds the range of the left operand of a product to the results of the graph,
// if the product would be one of bytes.
func (l *lowering) measure(v *ir.Value, p *Product) bool {
	if p.Annot && p.Asked != tensor.I8 {
		p.Why = "an annotation asks for another dtype"
		return false
	}
	p.Asked = tensor.I8
	if p.Why = l.refusal(v, p); p.Why != "" {
		return false
	}
	x := l.cast(v.Args[0], tensor.F32)
	for _, end := range []*ir.Op{ir.Min, ir.Max} {
		l.f.Results = append(l.f.Results, l.call(end, []*ir.Value{x}))
		if l.f.ResultNames != nil {
			l.f.ResultNames = append(l.f.ResultNames, end.Name+" "+p.Value)
		}
	}
	return true
}
