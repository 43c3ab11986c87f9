package npu_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/npulang/npu"
)

// A wildBuilder calls the methods of a graph, each by its parameters' types, with
// arguments that a Go program may pass and no rule of an operator allows for: nil ones,
// values of other graphs and of bodies that have ended, attributes of other operators,
// numbers that are as large as they get.
type wildBuilder struct {
	r      *rand.Rand
	g      *npu.Graph
	values []*npu.Value // that were made, legal or not
	depth  int          // of bodies that are under way
}

// wildAttrs are of every name that a row has, and of one that none has.
var wildAttrs = func() (names []string) {
	for _, op := range npu.Ops() {
		_, list, _ := strings.Cut(op.Signature, "(")
		for word := range strings.SplitSeq(strings.TrimSuffix(list, ")"), ",") {
			if name, _, ok := strings.Cut(strings.TrimSpace(word), "="); ok && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return append(names, "", "no attribute")
}()

var (
	wildInts    = []int{0, 0, 1, 1, 2, 3, 4, -1, -2, 8, 9, 1 << 20, math.MaxInt, math.MinInt}
	wildFloats  = []float64{0, 1, -1, 0.5, 1e-300, math.Inf(1), math.NaN(), math.MaxFloat64}
	wildStrings = []string{"", "x", "none", "same", "tanh", "add", "ij,jk->ik", "ij->", "...->", "reflect", "f32[2]", "f32[B, 4]", "f32[-1]", "i64[\x00", "\xff"}
)

func (w *wildBuilder) dtype() npu.DType { return npu.DType(w.r.IntN(18)) }

func (w *wildBuilder) dim() npu.Dim {
	switch w.r.IntN(4) {
	case 0:
		return npu.Dim{}
	case 1:
		return npu.Sym(oneOfAll(w.r, []string{"B", "", "0"}))
	}
	return npu.N(int64(oneOfAll(w.r, wildInts)))
}

func oneOfAll[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

func (w *wildBuilder) value() *npu.Value {
	if w.r.IntN(24) == 0 || len(w.values) == 0 {
		return nil
	}
	return oneOfAll(w.r, w.values)
}

func (w *wildBuilder) attr() npu.Attr {
	name := oneOfAll(w.r, wildAttrs)
	switch w.r.IntN(8) {
	case 0:
		return npu.Attr{}
	case 1:
		return npu.BoolAttr(name, w.r.IntN(2) == 0)
	case 2:
		return npu.FloatAttr(name, oneOfAll(w.r, wildFloats))
	case 3:
		return npu.StringAttr(name, oneOfAll(w.r, wildStrings))
	case 4:
		return npu.TypeAttr(name, npu.Type{DType: w.dtype(), Shape: []npu.Dim{w.dim()}})
	case 5:
		return npu.Sizes(w.dim(), w.dim())
	}
	list := make([]int, w.r.IntN(4))
	for i := range list {
		list[i] = oneOfAll(w.r, wildInts)
	}
	return npu.IntAttr(name, list...)
}

// body is a region's: it calls, and gives what comes to hand.
func (w *wildBuilder) body(results []reflect.Type) func([]reflect.Value) []reflect.Value {
	return func(args []reflect.Value) (out []reflect.Value) {
		w.depth++
		for _, a := range args {
			switch a := a.Interface().(type) {
			case *npu.Value:
				w.values = append(w.values, a)
			case []*npu.Value:
				w.values = append(w.values, a...)
			}
		}
		for range w.r.IntN(3) {
			w.call()
		}
		w.depth--
		for _, t := range results {
			out = append(out, w.argument(t))
		}
		return out
	}
}

// argument is of a parameter's type.
func (w *wildBuilder) argument(t reflect.Type) reflect.Value {
	switch t {
	case reflect.TypeFor[npu.Operand]():
		if w.r.IntN(8) == 0 {
			return reflect.ValueOf([]npu.Operand{npu.Num(oneOfAll(w.r, wildFloats)), nil}[w.r.IntN(2):]).Index(0)
		}
		return reflect.ValueOf(w.value())
	case reflect.TypeFor[*npu.Value]():
		return reflect.ValueOf(w.value())
	case reflect.TypeFor[npu.Attr]():
		return reflect.ValueOf(w.attr())
	case reflect.TypeFor[npu.Dim]():
		return reflect.ValueOf(w.dim())
	case reflect.TypeFor[npu.DType]():
		return reflect.ValueOf(w.dtype())
	case reflect.TypeFor[*npu.Tensor]():
		return reflect.ValueOf(oneOfAll(w.r, []*npu.Tensor{nil, {}, npu.FromSlice([]int{2}, []float32{1, 2}), {DType: npu.F32, Shape: []int{-1}}, {DType: npu.F32, Shape: []int{9}}, {DType: 77, Data: []byte{1}}}))
	}
	v := reflect.New(t).Elem()
	switch t.Kind() {
	case reflect.Bool:
		v.SetBool(w.r.IntN(2) == 0)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(oneOfAll(w.r, wildInts)))
	case reflect.Float64:
		v.SetFloat(oneOfAll(w.r, wildFloats))
	case reflect.String:
		v.SetString(oneOfAll(w.r, wildStrings))
	case reflect.Slice:
		for range w.r.IntN(4) {
			v = reflect.Append(v, w.argument(t.Elem()))
		}
	case reflect.Struct:
		for i := range t.NumField() {
			v.Field(i).Set(w.argument(t.Field(i).Type))
		}
	case reflect.Func:
		if w.r.IntN(16) > 0 {
			results := make([]reflect.Type, t.NumOut())
			for i := range results {
				results[i] = t.Out(i)
			}
			v = reflect.MakeFunc(t, w.body(results))
		}
	default:
		panic("no argument of type " + t.String())
	}
	return v
}

// call calls a method, which may have its own say about what goes wrong.
func (w *wildBuilder) call() {
	of := reflect.ValueOf(w.g)
	i := w.r.IntN(of.NumMethod())
	name, method := of.Type().Method(i).Name, of.Method(i)
	if name == "Err" && w.depth > 0 || w.depth > 3 {
		return
	}
	t := method.Type()
	var args []reflect.Value
	for i := range t.NumIn() {
		args = append(args, w.argument(t.In(i)))
	}
	call := method.Call
	if t.IsVariadic() {
		call = method.CallSlice
	}
	for _, out := range call(args) {
		switch out := out.Interface().(type) {
		case *npu.Value:
			w.values = append(w.values, out)
		case []*npu.Value:
			w.values = append(w.values, out...)
		}
	}
}

// TestBuilderHostile: whatever a Go program passes to the methods of a graph, nothing
// panics, and what is refused is refused as a mistake of the program. A mistake is
// the end of a graph, so that most have one call, behind some that are legal.
func TestBuilderHostile(t *testing.T) {
	other := npu.NewGraph("other").Input("o", "f32[2]")
	end, seeds := time.Now().Add(*stress), uint64(20000)
	if testing.Short() {
		seeds = 2000
	}
	compiled := 0
	for seed := uint64(0); seed < seeds || time.Now().Before(end); seed++ {
		if hostileGraph(t, rand.New(rand.NewPCG(seed, 61)), fmt.Sprint("seed ", seed), other) {
			compiled++
		}
	}
	if compiled == 0 {
		t.Error("no graph was legal: the test sees half")
	}
	t.Logf("%d graphs were legal", compiled)
}

// hostileGraph builds, compiles and runs a graph, and reports whether it is legal.
func hostileGraph(t *testing.T, r *rand.Rand, name string, other *npu.Value) (legal bool) {
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("%s: panic: %v\n%s", name, p, debug.Stack())
		}
	}()
	w := &wildBuilder{r: r, g: npu.NewGraph("main")}
	for i, typ := range []string{"f32[2, 4, 9, 9]", "f32[4, 4]", "f32[B, 4]", "i64[4]", "bool[4]", "u8[0, 4]", "f16[]", "f64[4]"} {
		w.values = append(w.values, w.g.Input(fmt.Sprint("in", i), typ))
	}
	if r.IntN(8) == 0 {
		w.values = append(w.values, other, &npu.Value{})
	}
	for range 1 + r.IntN(4) {
		w.call()
	}
	if w.g.Err() == nil {
		w.g.Output("last", w.values[len(w.values)-1])
	}
	p, err := npu.Compile(w.g, npu.Options{Verify: true, RandomWeights: true, MaxMemory: 1 << 24, Level: oneOfAll(r, []npu.Level{npu.O0, npu.O2})})
	if !wellSaid(err) {
		t.Errorf("%s: %v", name, err)
	}
	if err != nil {
		return false
	}
	defer p.Close()
	given := map[string]string{}
	for _, port := range p.Inputs() {
		given[port.Name] = "random"
	}
	in, err := p.ReadInputs(given, npu.InputOptions{Dims: map[string]int64{"B": 3}, Seed: r.Uint64()})
	if err == nil {
		_, err = p.Run(t.Context(), in)
	}
	if !wellSaid(err) {
		t.Errorf("%s: %v", name, err)
	}
	return true
}

// wellSaid reports whether an error is none of npu's own faults.
func wellSaid(err error) bool {
	var all npu.Diagnostics
	return err == nil || errors.As(err, &all) && !slices.ContainsFunc(all, func(d *npu.Diagnostic) bool { return d.Code == "internal" })
}
