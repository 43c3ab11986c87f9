package npu

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel"
)

// A prepared call is an operator for arguments of some types: checked, its
// results' types inferred, its kernel selected.
type prepared struct {
	op     *ir.Op
	attrs  []Attr
	in     []tensor.T // types only; dtype Invalid: absent
	out    []tensor.T
	call   *ir.Call
	apart  *kernel.Prepared   // with results apart from the inputs
	places []*kernel.Prepared // by argument: with the result in its place; nil where that can't be
}

// A callCache keeps prepared calls, so that a call that comes again allocates
// nothing.
type callCache struct {
	mu    sync.Mutex
	calls map[uint64]*prepared
}

// maxCalls bounds the cache. A program that uses more calls than that by turns
// prepares each anew.
const maxCalls = 1 << 12

// find returns a call that is prepared already, or nil, and its key.
func (c *callCache) find(op *ir.Op, inputs []*DeviceTensor, attrs []Attr) (*prepared, uint64) {
	key := keyOf(op, inputs, attrs)
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.calls[key]; p != nil && p.is(op, inputs, attrs) {
		return p, key
	}
	return nil, key
}

func (c *callCache) add(key uint64, p *prepared) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls == nil || len(c.calls) >= maxCalls {
		c.calls = map[uint64]*prepared{}
	}
	c.calls[key] = p
}

func (p *prepared) is(op *ir.Op, inputs []*DeviceTensor, attrs []Attr) bool {
	if p.op != op || len(p.in) != len(inputs) || len(p.attrs) != len(attrs) {
		return false
	}
	for i, t := range inputs {
		if t == nil && p.in[i].DType != tensor.Invalid || t != nil && !sameType(&t.t, &p.in[i]) {
			return false
		}
	}
	for i, a := range attrs {
		if b := p.attrs[i]; a.name != b.name || !a.lit.Equal(b.lit) {
			return false
		}
	}
	return true
}

func sameType(a, b *tensor.T) bool { return a.DType == b.DType && slices.Equal(a.Shape, b.Shape) }

// A key is a hash of what makes a call: FNV-1a, by words instead of bytes, with
// their high bits folded in.
type key uint64

func (k *key) add(n uint64) {
	*k = (*k ^ key(n)) * 1099511628211
	*k ^= *k >> 32
}

func keyOf(op *ir.Op, inputs []*DeviceTensor, attrs []Attr) uint64 {
	k := key(hash(op.Name))
	for _, t := range inputs {
		if t == nil {
			k.add(math.MaxUint64)
			continue
		}
		k.add(uint64(t.t.DType)<<32 | uint64(len(t.t.Shape)))
		for _, n := range t.t.Shape {
			k.add(uint64(n))
		}
	}
	for i := range attrs {
		l := &attrs[i].lit
		k.add(hash(attrs[i].name))
		k.add(uint64(l.Kind)<<8 | uint64(l.DType))
		k.add(uint64(l.Int))
		k.add(math.Float64bits(l.Float))
		k.add(hash(l.Str))
		for _, n := range l.Ints {
			k.add(uint64(n))
		}
		for _, d := range l.Dims {
			n, _ := d.Const()
			k.add(uint64(n))
		}
	}
	return uint64(k)
}

// infer makes the call of an operator, with the types of its results.
func infer(op *ir.Op, inputs []*DeviceTensor, attrs []Attr) (*prepared, error) {
	lits, err := literals(op, attrs)
	if err != nil {
		return nil, err
	}
	p := &prepared{op: op, attrs: slices.Clone(attrs), in: make([]tensor.T, len(inputs))}
	c := &ir.Call{Op: op, Attrs: lits, In: make([]ir.Type, len(inputs))}
	for i, t := range inputs {
		if t != nil {
			p.in[i] = tensor.T{DType: t.t.DType, Shape: t.t.Shape}
			c.In[i] = ir.TypeOf(&t.t)
		}
	}
	if err := ir.InferCall(c); err != nil {
		return nil, err
	}
	for _, t := range c.Out {
		if !t.IsConst() {
			return nil, ir.Errorf("not-constant", "the result has type %s, and there is nothing that a symbol could be bound by", t)
		}
		p.out = append(p.out, tensor.T{DType: t.DType, Shape: t.Ints()})
	}
	p.call = c
	return p, nil
}

// selectKernel chooses the code of a prepared call.
func (p *prepared) selectKernel(o *kernel.Options) error {
	p.apart = kernel.Prepare(kernel.Single(p.call, nil, kernel.Absent), o)
	if p.apart == nil {
		return ir.Errorf("internal", "there is no kernel for it")
	}
	p.places = make([]*kernel.Prepared, len(p.in))
	for i := range p.in {
		if p.call.InPlace(i) {
			p.places[i] = kernel.Prepare(kernel.Single(p.call, nil, i), o)
		}
	}
	return nil
}

// unit is the hardware unit of a device that does the call: the row's, but a cube
// does only the dtypes that it multiplies, and leaves others to the vector unit.
func (p *prepared) unit(row *Device) string {
	if p.op.Unit == ir.Cube && len(p.in) > 0 && !row.Multiplies(p.in[0].DType.String()) {
		return ir.Vector.String()
	}
	return p.op.Unit.String()
}

// findOperator looks an operator up by its name, in any mixture of upper and
// lower case and with or without underscores: bias_add, BiasAdd, MatMul.
func findOperator(name string) (*ir.Op, error) {
	var buf [64]byte
	if op := operators()[string(fold(buf[:0], name))]; op != nil {
		return op, nil
	}
	if op := bodied()[string(fold(nil, name))]; op != nil {
		return nil, faults("wrong-arguments", name, "it has bodies, or a value from outside, and can't be executed by itself; compile a graph that has it")
	}
	var names []string
	for _, op := range operators() {
		names = append(names, op.Name)
	}
	slices.Sort(names)
	err := unknown("operator", name, names)
	if d := err.(Diagnostics)[0]; len(d.Helps) == 0 {
		d.Helps = []string{"npu ops lists the operators"}
	}
	return nil, err
}

// fold appends a name's letters and digits in lower case.
func fold(buf []byte, name string) []byte {
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c == '_':
		case 'A' <= c && c <= 'Z':
			buf = append(buf, c+'a'-'A')
		default:
			buf = append(buf, c)
		}
	}
	return buf
}

// operators are those that a runtime executes, by their folded names and aliases:
// all that compute tensors from tensors without a body. bodied are the others.
var (
	operators = sync.OnceValue(func() map[string]*ir.Op { return folded(true) })
	bodied    = sync.OnceValue(func() map[string]*ir.Op { return folded(false) })
)

func folded(executable bool) map[string]*ir.Op {
	all := map[string]*ir.Op{}
	for _, op := range ir.Ops() {
		outside := op.Eval == nil || op.Class == ir.Region || op == ir.Const || op.Flags&(ir.Unbound|ir.Projection) != 0
		if outside == executable {
			continue
		}
		for _, name := range append([]string{op.Name}, op.Aliases...) {
			all[string(fold(nil, name))] = op
		}
	}
	return all
}

// disagree is how a message begins when arguments do not fit each other, by code.
var disagree = map[string]string{
	"shape-mismatch": "input shapes do not match",
	"rank-mismatch":  "input ranks do not match",
	"dtype-mismatch": "input dtypes do not match",
}

// callError says what is wrong with a call by the names of its tensors. Where
// several disagree they come first, and the operator's own words follow as a note:
//
//	MatMul: input shapes do not match: A(1024,1024), D(512,512)
func callError(what string, op *ir.Op, inputs []*DeviceTensor, err error) Diagnostics {
	d := *asDiagnostics(err)[0]
	d.Subject = what
	if e, ok := err.(*ir.Error); ok {
		var who []string
		for _, l := range e.Labels {
			if l.Arg < len(inputs) && inputs[l.Arg] != nil {
				who = append(who, describe(op, l.Arg, inputs[l.Arg], e.Code == "dtype-mismatch"))
			}
		}
		first, several := disagree[e.Code]
		switch {
		case several && len(who) > 1:
			d.Notes = append([]string{e.Msg}, e.Notes...)
			d.Message = first + ": " + strings.Join(who, ", ")
		case len(who) > 0:
			d.Message = e.Msg + ": " + strings.Join(who, ", ")
		}
	}
	return Diagnostics{&d}
}

// describe prints A(1024,1024), with its dtype where that matters: A f32(2).
func describe(op *ir.Op, arg int, t *DeviceTensor, dtype bool) string {
	name := t.called(op.ArgName(arg))
	if dtype {
		name += " " + t.t.DType.String()
	}
	return name + shapeOf(t.t.Shape)
}

// counted prints 1 result, 2 results.
func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// typeText prints f32(2,3).
func typeText(t *tensor.T) string { return fmt.Sprintf("%v%s", t.DType, shapeOf(t.Shape)) }
