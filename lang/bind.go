package lang

import (
	"math"
	"math/rand/v2"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/lang/weights"
)

// BindOptions say how the names of a weights file become those of a program.
type BindOptions struct {
	Prefix   string // cut off the file's names; names without it are left aside
	Renames  []weights.Rename
	Strict   bool // tensors that nothing asks for are an error
	Random   bool // make up every weight instead of reading any
	Seed     uint64
	ReadFile func(path string) ([]byte, error) // for inits that load a file
}

// Bind finds the values of the weights of f: in set (nil: there is no file),
// else from their inits. The map is by ir.Value.Key. The list has one error for
// all that is missing or does not fit, and a warning for what is left over.
func Bind(f *ir.Func, set *weights.Set, opts BindOptions) (map[string]*tensor.T, diag.List) {
	params := paramsOf(f)
	if opts.Random {
		return randomWeights(params, opts)
	}
	wanted := make([]weights.Wanted, len(params))
	for i, v := range params {
		wanted[i] = weights.Wanted{Name: v.Key(), DType: v.Type.DType, Shape: v.Type.Ints(), Optional: hasInit(v)}
	}
	b := weights.Bind(set, wanted, opts.Prefix, opts.Renames)
	var ds diag.List
	if d := b.Problem(); d != nil {
		ds = append(ds, d)
	}
	if d := b.Extra(opts.Strict); d != nil {
		ds = append(ds, d)
	}
	for _, v := range params {
		if b.Tensors[v.Key()] != nil || !hasInit(v) {
			continue
		}
		t, err := InitTensor(v, opts.Seed, opts.ReadFile)
		if err != nil {
			ds = append(ds, &diag.Diagnostic{Code: "bad-weight", Loc: v.Pos, Subject: "param", Message: err.Error()})
			continue
		}
		b.Tensors[v.Key()] = t
	}
	return b.Tensors, ds
}

// paramsOf lists the weights of a function; regions have none of their own.
func paramsOf(f *ir.Func) []*ir.Value {
	var params []*ir.Value
	for _, v := range f.Body {
		if v.Op == ir.Param {
			params = append(params, v)
		}
	}
	return params
}

func hasInit(v *ir.Value) bool {
	return attr(v, "init").Str != "" || attr(v, "value").Tensor != nil
}

// randomWeights makes up weights: their inits where they have one, else normal
// floats whose spread keeps the size of what passes through (1/sqrt of the
// inputs of each output), integers 0 to 9 and fair bools.
func randomWeights(params []*ir.Value, opts BindOptions) (map[string]*tensor.T, diag.List) {
	made := map[string]*tensor.T{}
	for _, v := range params {
		if t, err := InitTensor(v, opts.Seed, opts.ReadFile); err == nil && t != nil {
			made[v.Key()] = t
			continue
		}
		made[v.Key()] = fillInit(randomRow(v.Type), nil, v.Type, seededBy(opts.Seed, v.Key()))
	}
	return made, nil
}

func randomRow(t ir.Type) initRow {
	switch {
	case t.DType == tensor.Bool:
		return initRow{fill: wholeFill(2)}
	case !t.DType.IsFloat():
		return initRow{fill: wholeFill(10)}
	}
	inputs := 1
	for _, n := range t.Ints()[min(1, t.Rank()):] {
		inputs *= max(n, 1)
	}
	return initRow{fill: normalFill(1 / math.Sqrt(float64(inputs)))}
}

func wholeFill(limit int64) func(*rand.Rand, []float64, []float64) {
	return func(r *rand.Rand, _, out []float64) {
		for i := range out {
			out[i] = float64(r.Int64N(limit))
		}
	}
}

func normalFill(spread float64) func(*rand.Rand, []float64, []float64) {
	return func(r *rand.Rand, _, out []float64) {
		for i := range out {
			out[i] = spread * r.NormFloat64()
		}
	}
}
