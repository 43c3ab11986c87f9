package lower

import (
	"cmp"
	"fmt"
	"math"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// A RegionKind says how a task runs its bodies.
type RegionKind uint8

const (
	Fused RegionKind = iota // Bodies[0], once, on all arguments
	If                      // Bodies[0] if argument 0 is true, else Bodies[1], on the other arguments
	Loop                    // Bodies[0] for each round, while Bodies[1], if it is there, gives true
)

// Unbounded is the To of a loop that only its condition ends.
const Unbounded = math.MaxInt64

// regionKinds is the table of operators with bodies.
var regionKinds = map[*ir.Op]RegionKind{ir.Fused: Fused, ir.If: If, ir.Loop: Loop}

// region makes one task of an operator with bodies. Each body is planned by
// itself, as if it had an arena of its own; that arena is the frame, a buffer
// that lives as long as the task. Bodies nest as deep as brackets in a script.
func (b *builder) region(v *ir.Value) error {
	kind, ok := regionKinds[v.Op]
	if !ok {
		return failure(v, fmt.Errorf("there is no way to run the bodies of %s", v.Op.Name))
	}
	c, err := b.call(v)
	if err != nil {
		return err
	}
	r := &Region{Kind: kind, Frame: -1}
	t := Task{Name: v.Op.Name, Unit: v.Op.Unit, Call: c, Region: r}
	if kind == Fused {
		t.Name, t.Unit = fusedName(c), fusedUnit(c)
	}
	if kind == Loop {
		err = b.loopRegion(v, c, r)
	} else {
		err = b.bodies(r, c.Bodies, func(inner *builder) { inner.fused = kind == Fused })
	}
	if err != nil {
		return err
	}
	if err := b.addTask(v, t); err != nil {
		return err
	}
	b.frame(r)
	return nil
}

// frame makes the buffer for the bodies' arenas. Only one of them runs at a
// time, and none leaves anything there for the next.
func (b *builder) frame(r *Region) {
	size := int64(0)
	for _, body := range r.Bodies {
		size = max(size, body.Arena+body.Frames)
	}
	if size == 0 {
		return
	}
	at := len(b.plan.Tasks) - 1
	r.Frame = b.buffer(Buffer{Space: Arena, Type: frameType(size), First: at, Name: frameName(at), Kept: r.keeps(), Local: r.Kind == Fused})
}

// body plans one body.
func (b *builder) body(f *ir.Func, set func(*builder)) (*Plan, error) {
	inner := newBuilder(f, b.env, b.opts, b.plan.weights, b.kept)
	set(inner)
	if err := inner.lower(); err != nil {
		return nil, err
	}
	inner.plan.Name = f.Name
	inner.plan.needs()
	if b.opts.mode().reorder {
		inner.plan.reorder()
	}
	inner.plan.measureTasks()
	inner.plan.oneStream()
	inner.plan.placeBuffers(&b.opts)
	return inner.plan, nil
}

func (b *builder) bodies(r *Region, fs []*ir.Func, set func(*builder)) error {
	for _, f := range fs {
		if f == nil {
			continue
		}
		p, err := b.body(f, set)
		if err != nil {
			return err
		}
		r.Bodies = append(r.Bodies, p)
	}
	return nil
}

// loopRegion plans a loop: its results are where carried values live, and the
// bodies read them there.
func (b *builder) loopRegion(v *ir.Value, c *ir.Call, r *Region) error {
	r.Carry = int(c.Int("carry"))
	var err error
	if r.From, err = dimOr(c.Attr("from"), 0); err == nil {
		r.To, err = dimOr(c.Attr("to"), Unbounded)
	}
	if err != nil {
		return failure(v, err)
	}
	if r.To == Unbounded && (len(c.Bodies) < 2 || c.Bodies[1] == nil) {
		return failure(v, ir.Errorf("limit", "has neither a limit nor a condition and would run for ever"))
	}
	counter := true
	return b.bodies(r, c.Bodies, func(inner *builder) {
		inner.loop, inner.count = true, counter
		if counter { // a condition's result is only looked at
			inner.plan.carry = r.Carry
		}
		counter = false
	})
}

// dimOr is the value of a dimension attribute, or what stands for its absence.
func dimOr(l ir.Lit, absent int64) (int64, error) {
	if l.IsNone() {
		return absent, nil
	}
	n, ok := l.Dims[0].Const()
	if !ok {
		return 0, fmt.Errorf("the bound %s is not a number", l.Dims[0])
	}
	return n, nil
}

// fusedName is the name of the rule that made the region.
func fusedName(c *ir.Call) string {
	return cmp.Or(c.Str("rule"), "fused")
}

// fusedUnit is the unit that the rule asks for.
func fusedUnit(c *ir.Call) ir.Unit {
	if unit, ok := ir.ParseUnit(c.Str("unit")); ok {
		return unit
	}
	return c.Op.Unit
}

// frameType is the type of a buffer that holds bodies' arenas.
func frameType(size int64) ir.Type { return ir.T(tensor.U8, ir.N(size)) }
