package passes

import (
	"slices"
	"strings"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// Products in the bodies of loops and branches. What a body reads is an argument of its
// region, so that an operand that does not change from round to round, or is static, is
// converted outside, once, and comes in as a further argument:
//
//	%y = loop %h0, %w {..} body(%t, %h, %w) {     =>  %w.1 = cast %w {dtype=bf16}
//	  %p = matmul %h, %w                              %y = loop %h0, %w, %w.1 {..} body(%t, %h, %w, %w.1) {
//	  yield %p                                          %0 = cast %h {dtype=bf16}
//	}                                                   %p = matmul %0, %w.1 {dtype=f32}
//	                                                    yield %p
//	                                                  }
//
// Arguments that no body reads any more go with what is dead.

// An enclosure is the region around a body that is being lowered.
type enclosure struct {
	outer  *lowering
	region *ir.Value
	first  int                     // the argument that the body's first parameter stands for; negative: a counter comes before
	within map[*ir.Value]int       // outer values that were brought in: their arguments
	like   map[*ir.Value]*ir.Value // values of the body: the same, computed outside
}

// regionFirst says which argument stands for the first parameter of bodies.
var regionFirst = map[*ir.Op]int{ir.If: 1, ir.Loop: -1, ir.Fused: 0}

// bodies lowers the products in the bodies of a region, before the region itself is
// added to the new body.
func (l *lowering) bodies(v *ir.Value) {
	before := len(l.t.products)
	within := map[*ir.Value]int{}
	for i, body := range v.Bodies {
		e := &enclosure{outer: l, region: v, first: regionFirst[v.Op], within: within, like: map[*ir.Value]*ir.Value{}}
		if v.Op == ir.Loop && i > 0 {
			e.first = 0 // a condition sees no counter
		}
		l.t.inside(body, func() { lowerBody(body, l.t, e) })
	}
	for at := before; at < len(l.t.products); at++ {
		l.listed = append(l.listed, listed{at, v, true})
	}
}

// argument is the outer value that a parameter of the body stands for in every round;
// nil: it is another one in each.
func (e *enclosure) argument(body *ir.Func, param *ir.Value) *ir.Value {
	i := slices.Index(body.Params, param)
	if i < 0 || i+e.first < e.changing() {
		return nil
	}
	return e.region.Args[i+e.first]
}

// changing is how many arguments are not what the bodies read in every round.
func (e *enclosure) changing() int {
	switch e.region.Op {
	case ir.Loop:
		return int(attrOf(e.region, "carry").Int)
	case ir.If:
		return 1
	}
	return 0
}

// known are the parameters that stand for static values.
func (l *lowering) known() (list []knownStatic) {
	if l.around == nil {
		return nil
	}
	outer := l.around.outer.static
	for _, p := range l.f.Params {
		if a := l.around.argument(l.f, p); a != nil && outer.static[a] {
			list = append(list, knownStatic{p, outer.first[a]})
		}
	}
	return list
}

// maxOutside is how many operators in a row are computed outside of a body for an
// operand: a weight that is sliced, transposed and reshaped.
const maxOutside = 8

// outside is the value outside of the body that v is; nil: there is none, or what is
// computed there might not be needed.
func (l *lowering) outside(v *ir.Value, most int) *ir.Value {
	e := l.around
	if e == nil || e.region.Op == ir.Fused {
		return nil
	}
	if known := e.like[v]; known != nil {
		return known
	}
	made := e.argument(l.f, v)
	switch {
	case made != nil && (e.region.Op == ir.Loop || e.outer.static.static[made]):
	case made != nil || !l.static.static[v] || l.static.first[v] == "" || projection(v) || most == 0:
		return nil
	default:
		args := make([]*ir.Value, len(v.Args))
		for i, a := range v.Args {
			if args[i] = l.constant(a); args[i] == nil {
				args[i] = l.outside(a, most-1)
			}
			if args[i] == nil && a != nil {
				return nil
			}
		}
		if made = e.outer.add(v.Op, args, v.Attrs); made == nil {
			return nil
		}
		made.Name, made.Pos = v.Name, v.Pos
	}
	e.like[v] = made
	return made
}

// constant is a constant of the body again outside; nil: v is none.
func (l *lowering) constant(v *ir.Value) *ir.Value {
	if v == nil || v.Op != ir.Const {
		return nil
	}
	return l.around.outer.add(v.Op, nil, v.Attrs)
}

// add adds a call with these attributes to the new body; nil: it is not legal.
func (l *lowering) add(op *ir.Op, args []*ir.Value, attrs []ir.Lit) *ir.Value {
	made := addTo(l.f, op, args, attrs)
	if made != nil && l.static.computable(made) {
		l.static.add(made)
	}
	return made
}

// bring is a value from outside as a parameter of the body.
func (l *lowering) bring(v *ir.Value) *ir.Value {
	e := l.around
	i, there := e.within[v]
	if !there {
		i = len(e.region.Args)
		e.within[v] = i
		e.region.Args = append(slices.Clone(e.region.Args), v)
		for _, body := range e.region.Bodies {
			body.NewInput(v.Name, v.Type)
		}
	}
	p := l.f.Params[i-e.first]
	if outer := e.outer.static; outer.static[v] {
		l.static.static[p], l.static.first[p] = true, outer.first[v]
	}
	return p
}

// castOutside is cast for an operand that is known outside of the body; nil: it is not.
func (l *lowering) castOutside(v *ir.Value, to tensor.DType) *ir.Value {
	out := l.outside(v, maxOutside)
	if out == nil {
		return nil
	}
	outer := l.around.outer
	cast := outer.placed(v, func() *ir.Value { return outer.cast(out, to) })
	if l.failed = l.failed || cast == nil; l.failed {
		return nil
	}
	return l.bring(cast)
}

// quantiseOutside is quantise for such an operand.
func (l *lowering) quantiseOutside(v *ir.Value, axis int, most float64) *quantised {
	out := l.outside(v, maxOutside)
	if out == nil {
		return nil
	}
	outer := l.around.outer
	var q *quantised
	outer.placed(v, func() *ir.Value { q = outer.quantise(out, axis, most); return q.bytes })
	if l.failed = l.failed || q.bytes == nil; l.failed {
		return nil
	}
	if from := outer.static.first[out]; from != "" {
		q.bytes.Name, q.scale.Name = from+".i8", from+".scale"
	}
	return &quantised{l.bring(q.bytes), l.bring(q.scale)}
}

// placed gives what is made for a body the place of the value that it is made of there,
// and forgets a call that was not legal.
func (l *lowering) placed(as *ir.Value, make func() *ir.Value) *ir.Value {
	at := len(l.f.Body)
	made := make()
	l.failed = false
	for _, v := range l.f.Body[at:] {
		v.Pos = as.Pos
	}
	return made
}

// valueName is the printed name of a value, in a body with that of the region.
func (l *lowering) valueName(v *ir.Value) string {
	if l.around == nil {
		return l.names[v]
	}
	return l.names[v] + " in " + l.around.outer.valueName(l.around.region)
}

// ownKey is the name of a product, in files of scales, that multiplies with no weight.
func (l *lowering) ownKey(v *ir.Value) string {
	key := strings.TrimPrefix(l.names[v], "%")
	if l.around != nil {
		key = l.around.outer.ownKey(l.around.region) + "/" + key
	}
	return key
}
