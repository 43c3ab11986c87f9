package lang

import (
	"fmt"
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
	MaxBytes int64                             // most that weights which no file holds may take together; 0: no bound
}

// Bind finds the values of the weights of f: in set (nil: there is no file),
// else from their inits. The map is by ir.Value.Key. The list has one error for
// all that is missing or does not fit, and a warning for what is left over.
func Bind(f *ir.Func, set *weights.Set, opts BindOptions) (map[string]*tensor.T, diag.List) {
	params := paramsOf(f)
	made := madeBytes{limit: opts.MaxBytes}
	if opts.Random {
		return randomWeights(params, opts, &made)
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
		if d := made.add(v); d != nil {
			return nil, append(ds, d)
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

// madeBytes counts what weights take that are made up.
type madeBytes struct{ sum, limit int64 }

// add counts a weight; the error is that of the one which is too much.
func (m *madeBytes) add(v *ir.Value) *diag.Diagnostic {
	n, _ := v.Type.Bytes().Const() // at most 1 TiB each
	if m.sum += n; m.limit == 0 || m.sum <= m.limit {
		return nil
	}
	return &diag.Diagnostic{
		Code: "limit", Loc: v.Pos, Subject: "param",
		Message: fmt.Sprintf("with %s: %s the weights need %d bytes, and the limit is %d", v.Key(), v.Type, m.sum, m.limit),
		Helps:   []string{"allow more with --max-memory"},
	}
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
func randomWeights(params []*ir.Value, opts BindOptions, bytes *madeBytes) (map[string]*tensor.T, diag.List) {
	made := map[string]*tensor.T{}
	for _, v := range params {
		if d := bytes.add(v); d != nil {
			return nil, diag.List{d}
		}
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
