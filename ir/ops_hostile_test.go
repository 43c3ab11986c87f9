package ir_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// TestHostileAttributes spoils legal calls: attributes of any value and length,
// arguments of other ranks, sizes and dtypes. Inference either refuses or gives
// types that evaluation keeps to, or refuses; nothing panics.
func TestHostileAttributes(t *testing.T) {
	for _, op := range rowsOf(groupsB) {
		t.Run(op.Name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(3, 4))
			for range 3000 {
				c := op.Sample(r)
				c.Op = op
				spoil(r, &c)
				if err := ir.InferCall(&c); err != nil {
					if _, ok := err.(*ir.Error); !ok {
						t.Fatalf("%v %v: %T", c.In, c.Attrs, err)
					}
					continue
				}
				evalSpoiled(t, r, &c)
			}
		})
	}
}

var badNumbers = []int64{-1, 0, 1, 2, 3, 7, -3, 1 << 20, 1 << 31, -1 << 31, 1 << 41, -1 << 41, math.MaxInt64, math.MinInt64}

// spoil changes one attribute or argument, or some.
func spoil(r *rand.Rand, c *ir.Call) {
	for range 1 + r.IntN(2) {
		if n := len(c.Attrs); n > 0 && r.IntN(3) > 0 {
			i := r.IntN(n)
			c.Attrs[i] = spoilLit(r, c.Attrs[i])
		} else if n := len(c.In); n > 0 {
			i := r.IntN(n)
			c.In[i] = spoilType(r, c.In[i])
		}
	}
}

func spoilLit(r *rand.Rand, l ir.Lit) ir.Lit {
	number := func() int64 { return badNumbers[r.IntN(len(badNumbers))] }
	switch l.Kind {
	case ir.KInt:
		return ir.IntLit(number())
	case ir.KInts:
		ints := append([]int64{}, l.Ints...)
		for i := range ints {
			if r.IntN(2) == 0 {
				ints[i] = number()
			}
		}
		if r.IntN(2) == 0 {
			ints = append(ints, number())
		}
		return ir.IntsLit(ints...)
	case ir.KDim:
		return ir.DimLit(ir.N(number()))
	case ir.KFloat:
		return ir.FloatLit([]float64{math.NaN(), math.Inf(1), 0, 1e300, -2.5}[r.IntN(5)])
	case ir.KDims:
		dims := append([]ir.Dim{}, l.Dims...)
		for i := range dims {
			if r.IntN(2) == 0 {
				dims[i] = ir.N(number())
			}
		}
		return ir.DimsLit(dims[:r.IntN(len(dims)+1)]...)
	case ir.KType:
		return ir.TypeLit(spoilType(r, l.Type()))
	}
	return l
}

func spoilType(r *rand.Rand, t ir.Type) ir.Type {
	shape := append([]ir.Dim{}, t.Shape...)
	switch {
	case r.IntN(3) == 0:
		return ir.Type{DType: tensor.DTypes[r.IntN(len(tensor.DTypes))], Shape: shape}
	case r.IntN(2) == 0 && len(shape) > 0:
		shape[r.IntN(len(shape))] = ir.N(int64(r.IntN(4)))
	case r.IntN(2) == 0:
		shape = append(shape, ir.N(int64(r.IntN(4))))
	default:
		shape = shape[:len(shape)/2]
	}
	return ir.Type{DType: t.DType, Shape: shape}
}

// evalSpoiled evaluates a call whose results are small.
func evalSpoiled(t *testing.T, r *rand.Rand, c *ir.Call) {
	t.Helper()
	for _, typ := range c.Out {
		if n, ok := typ.Elements().Const(); !ok || n > 1<<16 {
			return
		}
	}
	for i, known := range c.Known {
		if known != nil && !ir.TypeOf(known).Equal(c.In[i]) {
			c.Known[i] = nil
		}
	}
	out, err := c.Op.Eval(c, randomInputs(r, c)...)
	if err != nil {
		if _, ok := err.(*ir.Error); !ok {
			t.Fatalf("%v %v: %T %v", c.In, c.Attrs, err, err)
		}
		return
	}
	for i, y := range out {
		if !ir.TypeOf(y).Equal(c.Out[i]) {
			t.Fatalf("%v %v: result %d is %v, inferred %v", c.In, c.Attrs, i, ir.TypeOf(y), c.Out[i])
		}
	}
}
