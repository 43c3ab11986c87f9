package kernel_test

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/irtest"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel"
	"github.com/npulang/npu/vm/kernel/isa"
)

// sampledOps are the operators of whose calls there are samples that kernels may run.
var sampledOps = slices.DeleteFunc(slices.Clone(ir.Ops()), func(op *ir.Op) bool {
	return op.Sample == nil || op.Eval == nil || op.Class == ir.Region || op.Flags&(ir.Impure|ir.Projection|ir.Unbound) != 0 || op == ir.Const
})

// executors hold what other operators have left in their memory.
var executors = sync.Pool{New: func() any { return new(kernel.Exec) }}

// eachOp runs a test for every operator, several at a time, and returns when all have
// ended.
func eachOp(t *testing.T, test func(t *testing.T, op *ir.Op, x *kernel.Exec)) {
	t.Helper()
	t.Run("ops", func(t *testing.T) {
		for _, op := range sampledOps {
			t.Run(op.Name, func(t *testing.T) {
				t.Parallel()
				x := executors.Get().(*kernel.Exec)
				defer executors.Put(x)
				test(t, op, x)
			})
		}
	})
}

// A tally counts by name what the tests of operators have met.
type tally struct {
	mu sync.Mutex
	of map[string]int
}

func (c *tally) add(name string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil {
		c.of = map[string]int{}
	}
	c.of[name] += n
}

// names are those that were counted.
func (c *tally) names() []string { return slices.Collect(maps.Keys(c.of)) }

// attrsText is how codegen writes attributes.
func attrsText(c *ir.Call) string {
	var parts []string
	for i, a := range c.Op.Attrs {
		if l := c.Attrs[i]; !l.Equal(a.Default) {
			parts = append(parts, a.Name+"="+l.String())
		}
	}
	return strings.Join(parts, ", ")
}

// sample makes a legal call of an operator and arguments for it.
func sample(t *testing.T, op *ir.Op, r *rand.Rand) (*ir.Call, []*tensor.T) {
	t.Helper()
	c := op.Sample(r)
	c.Op = op
	if c.Attrs == nil {
		c.Attrs = op.Defaults()
	}
	if err := ir.InferCall(&c); err != nil {
		t.Fatalf("%s: the sample is not legal: %v", op.Name, err)
	}
	in := make([]*tensor.T, len(c.In))
	for i, typ := range c.In {
		switch {
		case i < len(c.Known) && c.Known[i] != nil:
			in[i] = c.Known[i]
		case !typ.Absent():
			in[i] = irtest.Tensor(r, typ)
		}
	}
	return &c, in
}

// choices are the kernels that tests ask for: the reference, and each level that
// this processor has.
func choices() []kernel.Options {
	list := []kernel.Options{{}, {Kind: kernel.Generic}}
	for _, l := range isa.Levels() {
		if l != isa.Portable {
			list = append(list, kernel.Options{Kind: kernel.Fast, Level: l, Packs: new(kernel.Packs)})
		}
	}
	return list
}

// given are the arguments that are there.
func given(in []*tensor.T) []*tensor.T {
	return slices.DeleteFunc(slices.Clone(in), func(t *tensor.T) bool { return t == nil })
}

// garbage makes tensors for a call's results that hold something else.
func garbage(c *ir.Call) []*tensor.T { return garbageOf(c.Out) }

// rubbish is what garbage is filled with.
var rubbish = [256]byte(bytes.Repeat([]byte{0xa5}, 256))

func garbageOf(types []ir.Type) []*tensor.T {
	out := make([]*tensor.T, len(types))
	for i, typ := range types {
		out[i] = tensor.New(typ.DType, typ.Ints()...)
		for rest := out[i].Data; len(rest) > 0; {
			rest = rest[copy(rest, rubbish[:]):]
		}
	}
	return out
}

func typesOf(t testing.TB, list string) []ir.Type {
	t.Helper()
	var types []ir.Type
	for _, s := range strings.Fields(list) {
		typ, err := ir.ParseType(s)
		if err != nil {
			t.Fatal(err)
		}
		types = append(types, typ)
	}
	return types
}
