package passes

import (
	"encoding/binary"
	"hash/maphash"
	"math"
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// mergeEqual lets the readers of a value that was computed before read the
// first one.
//
//	%a = exp %x : f32[4]               %a = exp %x : f32[4]
//	%b = exp %x : f32[4]           =>  %b = exp %x : f32[4]   (dead)
//	%c = add %a, %b : f32[4]           %c = add %a, %a : f32[4]
//
// Equal means: the same operator, arguments (in either order if it commutes),
// attributes, type and annotations. Floats and tensors are equal by their bits,
// so 0 and -0 stay apart. Never merged are operators with effects, values bound
// from outside, and operators with regions. Projections are equal only after
// their owners were merged; they are part of that rewrite, and the second is
// taken out at once, since an owner has each of its results once. Values are
// looked up by a hash and then compared, so the sweep is linear.
func mergeEqual(f *ir.Func, t *Trace) {
	seen := make(map[uint64][]*ir.Value, len(f.Body))
	with := map[*ir.Value]*ir.Value{}
	h := &hasher{ids: make(map[*ir.Value]uint64, len(f.Body)+len(f.Params))}
	for _, v := range f.Params {
		h.number(v)
	}
	body := make([]*ir.Value, 0, len(f.Body))
	for _, v := range f.Body {
		h.number(v)
		for i, a := range v.Args {
			if b := with[a]; b != nil {
				v.Args[i] = b
			}
		}
		if first := h.earlier(seen, v); first != nil && (projection(v) || t.Rewrite("merge-equal", v)) {
			with[v] = first
		}
		if with[v] == nil || !projection(v) {
			body = append(body, v)
		}
	}
	f.Body = body
	f.Replace(with)
}

func mergeable(v *ir.Value) bool {
	return v.Op.Flags&(ir.Impure|ir.Unbound) == 0 && len(v.Bodies) == 0
}

// earlier finds the value seen before that is equal to v; if there is none, v is
// the first.
func (h *hasher) earlier(seen map[uint64][]*ir.Value, v *ir.Value) *ir.Value {
	if !mergeable(v) {
		return nil
	}
	key := h.value(v)
	for _, c := range seen[key] {
		if equal(c, v) {
			return c
		}
	}
	seen[key] = append(seen[key], v)
	return nil
}

func equal(a, b *ir.Value) bool {
	return a.Op == b.Op && sameArgs(a, b) && a.Type.Equal(b.Type) &&
		slices.Equal(a.Annots, b.Annots) && slices.EqualFunc(a.Attrs, b.Attrs, ir.Lit.Equal)
}

func sameArgs(a, b *ir.Value) bool {
	if slices.Equal(a.Args, b.Args) {
		return true
	}
	return commutes(a) && len(b.Args) == 2 && a.Args[0] == b.Args[1] && a.Args[1] == b.Args[0]
}

func commutes(v *ir.Value) bool { return v.Op.Flags&ir.Commutative != 0 && len(v.Args) == 2 }

// A hasher maps values that are equal to one number. The numbers differ from
// run to run; only their being the same or not is used.
type hasher struct {
	ids  map[*ir.Value]uint64
	hash maphash.Hash
}

func (h *hasher) number(v *ir.Value) { h.ids[v] = uint64(len(h.ids) + 1) }

func (h *hasher) value(v *ir.Value) uint64 {
	h.hash.Reset()
	h.text(v.Op.Name)
	h.args(v)
	for _, l := range v.Attrs {
		h.lit(l)
	}
	return h.hash.Sum64()
}

// args mixes in the arguments' numbers; an absent argument (nil) is 0. The two
// of an operator that commutes are taken in ascending order.
func (h *hasher) args(v *ir.Value) {
	if commutes(v) {
		a, b := h.ids[v.Args[0]], h.ids[v.Args[1]]
		h.num(min(a, b))
		h.num(max(a, b))
		return
	}
	for _, a := range v.Args {
		h.num(h.ids[a])
	}
}

func (h *hasher) lit(l ir.Lit) {
	h.num(uint64(l.Kind)<<8 | uint64(l.DType))
	h.num(uint64(l.Int))
	h.num(math.Float64bits(l.Float))
	h.text(l.Str)
	for _, n := range l.Ints {
		h.num(uint64(n))
	}
	for _, d := range l.Dims {
		h.text(d.String())
	}
	if l.Tensor != nil {
		h.tensor(l.Tensor)
	}
}

func (h *hasher) tensor(t *tensor.T) {
	h.num(uint64(t.DType))
	for _, n := range t.Shape {
		h.num(uint64(n))
	}
	h.hash.Write(t.Data)
}

func (h *hasher) text(s string) {
	h.num(uint64(len(s)))
	h.hash.WriteString(s)
}

func (h *hasher) num(n uint64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], n)
	h.hash.Write(b[:])
}
