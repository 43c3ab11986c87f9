package fusion

import (
	"fmt"
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// dearer turns down a head that would be computed so often that this takes
// longer than to write its result once and read it. A product reads an operand
// anew for each tile of the other one: with n columns of the result in half of
// L0C, every element of the left operand is read
//
//	passes = ceil(reads / n),   reads = flops / 2 / elements of the operand
//
// times, where reads is how often the product multiplies an element. All passes
// but the first cost work that an operator by itself does not have.
func (w *fusing) dearer(p *pair, ops []int32) *reason {
	d := w.options.Device
	passes := w.passes(p)
	work := int64(0)
	for _, id := range ops {
		x := &w.vals[id]
		if x.kind != point {
			continue
		}
		n := w.size.elements(x.v.Type.Shape)
		if slow(x.v.Op) {
			n = times(n, int64(max(d.LanesF32/max(d.LanesSlow, 1), 1)))
		}
		work += n
	}
	adds := ceilDiv(times(work, passes-1), int64(d.VectorCores)*int64(d.LanesF32))
	saves := ceilDiv(2*w.size.bytes(w.vals[p.value].v.Type), int64(d.CubeCores)*int64(d.MemRead))
	if adds <= saves {
		return nil
	}
	return &reason{"dearer", fmt.Sprintf("adds %d cycles, saves %d", adds, saves)}
}

// narrows turns down a head that makes numbers smaller: each pass would read what they
// were, and a product of numbers of fewer bytes is there for reading them.
func (w *fusing) narrows(ops []int32) *reason {
	for _, id := range ops {
		v := w.vals[id].v
		if w.vals[id].kind != point || len(v.Args) == 0 || v.Args[0] == nil {
			continue
		}
		if from, to := v.Args[0].Type.DType, v.Type.DType; to.Size() < from.Size() && to != tensor.Bool {
			return &reason{"dearer", fmt.Sprintf("%s makes %s of %s, which each pass would read", v.Op.Name, to, from)}
		}
	}
	return nil
}

// slow reports whether an operator takes several steps for each element:
// exponentials, roots, divisions. What is for floats alone nearly always is one.
func slow(op *ir.Op) bool {
	return op.Over == ir.Floats || slices.Contains([]*ir.Op{ir.Div, ir.Pow, ir.Fmod, ir.Rem}, op)
}

// passes is how often the product behind a pair reads what the pair hands it.
func (w *fusing) passes(p *pair) int64 {
	op, from := p.to, p.value
	if len(p.via) > 0 {
		from = p.via[len(p.via)-1]
	}
	for w.vals[op].kind != product {
		if from, op = op, w.follow(op); op == none {
			return 1
		}
	}
	v, d := w.vals[op].v, w.options.Device
	half := d.L0C / 2 / 4
	tile := half / int64(d.CubeN) // rows of the result for the right operand
	if w.number[v.Args[0]] == from {
		tile = half / int64(d.CubeM)
	}
	reads := w.flops(v) / 2 / max(w.size.elements(w.vals[from].v.Type.Shape), 1)
	return max(ceilDiv(reads, max(tile, 1)), 1)
}

// follow is the reader of a head that leads to its product.
func (w *fusing) follow(head int32) int32 {
	for _, r := range w.vals[head].readers {
		if w.group(r) == w.group(head) && (w.vals[r].head || w.vals[r].kind == product) {
			return r
		}
	}
	return none
}

// flops is the work of an operator at the assumed sizes.
func (w *fusing) flops(v *ir.Value) int64 {
	for _, a := range v.Args {
		if a != nil {
			w.size.elements(a.Type.Shape) // gives its symbols sizes
		}
	}
	c := v.Call()
	if err := ir.InferCall(c); err != nil {
		return 0
	}
	bound, err := c.Bind(w.size.env)
	if err != nil {
		return 0
	}
	return bound.Cost().Flops
}
