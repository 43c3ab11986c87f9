package kernel_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel"
)

// permuted adds a transposition.
func (w *regionWriter) permuted(v int, perm ...int64) int {
	w.Helper()
	row := ir.Lookup("transpose")
	c := &ir.Call{Op: row, In: []ir.Type{w.typeOf(v)}, Attrs: row.Defaults()}
	for i := range row.Attrs {
		if row.Attrs[i].Name == "perm" {
			c.Attrs[i] = ir.IntsLit(perm...)
		}
	}
	if err := ir.InferCall(c); err != nil {
		w.Fatal(err)
	}
	w.ops = append(w.ops, kernel.Op{Call: c, Args: []int{v}, First: len(w.ops)})
	w.types = append(w.types, c.Out[0])
	return len(w.ops) - 1
}

// view adds a view under another shape.
func (w *regionWriter) view(v int, shape ...int) int {
	as := ir.T(w.typeOf(v).DType, ir.Dims(shape...)...)
	w.ops = append(w.ops, kernel.Op{Args: []int{v}, As: as, First: len(w.ops)})
	w.types = append(w.types, as)
	return len(w.ops) - 1
}

// size draws a size: mostly small, sometimes more than a tile or a panel.
func (w *regionWriter) size() int {
	if w.r.IntN(4) == 0 {
		return 1 + w.r.IntN(70)
	}
	return 1 + w.r.IntN(9)
}

// normal makes a tensor of the region's type; integers are all over their range, those of
// a byte also at its ends.
func (w *regionWriter) normal(shape ...int) *tensor.T {
	if w.dtype.IsInt() && w.sums == tensor.Invalid || w.dtype == tensor.U8 {
		x := tensor.New(w.dtype, shape...)
		for i := range x.Len() {
			x.SetInt(i, int64(w.r.Uint64()))
		}
		return x
	}
	x := normal(w.r, shape...)
	if w.dtype == tensor.I8 {
		for i, v := range tensor.Of[float32](x) {
			tensor.Of[float32](x)[i] = 80 * v
		}
	}
	return tensor.Cast(x, w.dtype)
}

// summand makes one of the type of products.
func (w *regionWriter) summand(shape ...int) *tensor.T {
	if w.sums == tensor.Invalid {
		return w.normal(shape...)
	}
	return tensor.Cast(normal(w.r, shape...), w.sums)
}

// behind makes one of the type of what follows products.
func (w *regionWriter) behind(shape ...int) *tensor.T {
	if w.sums == tensor.Invalid {
		return w.normal(shape...)
	}
	return normal(w.r, shape...)
}

// multiply adds a product; sums that are integers become floats.
func (w *regionWriter) multiply(name string, args ...int) int {
	w.Helper()
	if w.sums == tensor.Invalid {
		return w.op(name, "", args...)
	}
	v := w.op(name, "dtype="+w.sums.String(), args...)
	if w.sums == tensor.I32 && !w.wide() && w.r.IntN(8) > 0 {
		v = w.op("cast", "dtype=f32", v)
	}
	return v
}

// productKinds write products of all forms, and return their results.
var productKinds = map[string]func(w *regionWriter) []int{
	"linear": func(w *regionWriter) []int {
		m, k, n := w.size(), w.size(), w.size()
		args := []int{w.input(w.normal(1+w.r.IntN(3), m, k)), w.input(w.normal(n, k))}
		if w.r.IntN(2) == 0 {
			args = append(args, w.input(w.summand(n)))
		}
		return []int{w.multiply("linear", args...)}
	},
	"several": func(w *regionWriter) []int {
		m, k := w.size(), w.size()
		x := w.input(w.normal(m, k))
		var out []int
		for range 2 + w.r.IntN(2) {
			n := w.size()
			args := []int{x, w.input(w.normal(n, k))}
			if w.r.IntN(2) == 0 {
				args = append(args, w.input(w.summand(n)))
			}
			out = append(out, w.multiply("linear", args...))
		}
		return out
	},
	// What is made of a left operand serves the products of it that follow, until another one
	// comes; it is made of rows that lie 2 KB apart.
	"turns": func(w *regionWriter) []int {
		m, k := 20+w.r.IntN(60), 512
		both := [2]int{w.input(w.normal(m, k)), w.input(w.normal(m, k))}
		var out []int
		for _, x := range []int{0, 0, 1, 0} {
			out = append(out, w.multiply("linear", both[x], w.input(w.normal(130, k))))
		}
		return out
	},
	"heads": func(w *regionWriter) []int { // [B,S,H*D] as [B,H,S,D], and K transposed
		b, s, t, h, d := 1+w.r.IntN(2), w.size(), w.size(), 1+w.r.IntN(3), w.size()
		q := w.permuted(w.view(w.input(w.normal(b, s, h*d)), b, s, h, d), 0, 2, 1, 3)
		k := w.permuted(w.view(w.input(w.normal(b, t, h*d)), b, t, h, d), 0, 2, 3, 1)
		return []int{w.multiply("matmul", q, k)}
	},
	"broadcast": func(w *regionWriter) []int {
		b, c, m, k, n := 1+w.r.IntN(3), 1+w.r.IntN(3), w.size(), w.size(), w.size()
		left, right := []int{b, 1, m, k}, []int{c, k, n}
		if w.r.IntN(2) == 0 {
			left, right = []int{c, m, k}, []int{b, 1, k, n}
		}
		return []int{w.multiply("matmul", w.input(w.normal(left...)), w.input(w.normal(right...)))}
	},
	"turned": func(w *regionWriter) []int {
		m, k, n := w.size(), w.size(), w.size()
		return []int{w.multiply("matmul", w.permuted(w.input(w.normal(k, m)), 1, 0), w.permuted(w.input(w.normal(n, k)), 1, 0))}
	},
	"row": func(w *regionWriter) []int {
		k, n := w.size(), w.size()
		return []int{w.multiply("matmul", w.input(w.normal(k)), w.input(w.normal(1+w.r.IntN(2), k, n)))}
	},
	"column": func(w *regionWriter) []int {
		m, k := w.size(), w.size()
		return []int{w.multiply("matmul", w.input(w.normal(1+w.r.IntN(3), m, k)), w.input(w.normal(k)))}
	},
	"narrow": func(w *regionWriter) []int {
		m, k := w.size(), w.size()
		return []int{w.multiply("matmul", w.input(w.normal(1+w.r.IntN(3), m, k)), w.input(w.normal(k, 1)))}
	},
	"empty": func(w *regionWriter) []int {
		sizes := []int{w.size(), w.size(), w.size()}
		sizes[w.r.IntN(3)] = 0
		return []int{w.multiply("matmul", w.input(w.normal(sizes[0], sizes[1])), w.input(w.normal(sizes[1], sizes[2])))}
	},
}

// wide reports whether products are those of package wide, which nothing but a bias follows.
func (w *regionWriter) wide() bool {
	return w.dtype == tensor.F64 || w.dtype.IsInt() && w.sums == tensor.Invalid || w.dtype == tensor.U8
}

// tail adds a few operators behind a product.
func (w *regionWriter) tail(v int) int {
	if w.wide() {
		shape := w.typeOf(v).Ints()
		if w.r.IntN(3) == 0 {
			v = w.op("bias_add", "", v, w.input(w.behind(shape[len(shape)-1])))
		}
		return v
	}
	for range w.r.IntN(4) {
		shape := w.typeOf(v).Ints()
		last := shape[len(shape)-1]
		switch w.r.IntN(6) {
		case 0:
			v = w.op("bias_add", "", v, w.input(w.behind(last)))
		case 1:
			v = w.op("add", "", v, w.input(w.behind(shape...)))
		case 2:
			v = w.op("mul", "", w.input(w.behind(1)), v)
		case 3:
			v = w.op([]string{"relu", "gelu", "silu", "tanh", "sigmoid"}[w.r.IntN(5)], "", v)
		case 4:
			if len(shape) == 1 {
				continue
			}
			perm := make([]int64, len(shape))
			for i, a := range w.r.Perm(len(shape)) {
				perm[i] = int64(a)
			}
			v = w.permuted(v, perm...)
		case 5:
			size := 1
			for _, n := range shape {
				size *= n
			}
			v = w.view(v, size)
		}
	}
	return v
}

// TestProductRegions runs random products with what follows them as one kernel: the
// bits are those of the operators by themselves at the same level, by any number of
// parts, with constant operands and with such that runs bring, and close to those of
// the reference.
func TestProductRegions(t *testing.T) {
	rounds := 12
	if testing.Short() {
		rounds = 3
	}
	for name, kind := range productKinds {
		for _, d := range []struct{ of, sums tensor.DType }{
			{of: tensor.F32}, {of: tensor.BF16}, {of: tensor.F16}, {tensor.BF16, tensor.F32}, {tensor.F16, tensor.F32}, {tensor.I8, tensor.I32},
			{of: tensor.F64}, {of: tensor.I32}, {of: tensor.U32}, {of: tensor.I64}, {of: tensor.U64},
			{of: tensor.I8}, {of: tensor.U8}, {of: tensor.I16}, {of: tensor.U16}, {tensor.U8, tensor.I32},
		} {
			types := d.of.String()
			if d.sums != tensor.Invalid {
				types += " to " + d.sums.String()
			}
			t.Run(name+"/"+types, func(t *testing.T) {
				taken := 0
				for seed := range uint64(rounds) {
					w := &regionWriter{T: t, r: rand.New(rand.NewPCG(seed, 5)), dtype: d.of, sums: d.sums}
					taken += w.product(kind)
				}
				if taken < rounds {
					t.Errorf("%d regions of %d were one kernel", taken, rounds*len(choices()[1:]))
				}
			})
		}
	}
}

// TestProductOfHalf: a product's tail that reads a half of a split again is refused, in
// words; it is the split's further result.
func TestProductOfHalf(t *testing.T) {
	_, b := written(t, `func @f(%x: f32[5,64], %w: f32[32,32]) -> (f32[5,32]) {
  %0, %1 = split %x {parts=2, axis=-1} : f32[5,32], f32[5,32]
  %2 = matmul %1, %w : f32[5,32]
  %3 = add %1, %2 : f32[5,32]
  return %3
}`)
	for _, o := range choices()[1:] {
		if got, want := why(b, "product/f32", &o), "product/f32: a further result of split"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// product writes a region and runs it at all levels; it reports how often it was one
// kernel.
func (w *regionWriter) product(kind func(*regionWriter) []int) (taken int) {
	var out []int
	for _, v := range kind(w) {
		if w.sums != tensor.I32 || w.typeOf(v).DType != tensor.I32 {
			v = w.tail(v)
		}
		out = append(out, v)
	}
	for _, o := range choices()[1:] {
		taken += w.compareProduct(out, o)
	}
	return taken
}

// compareProduct runs a region in all ways; it reports whether it was one kernel.
func (w *regionWriter) compareProduct(out []int, o kernel.Options) int {
	w.Helper()
	consts := make([]bool, len(w.in))
	for i := range consts {
		consts[i] = w.r.IntN(2) == 0
	}
	b := w.body(consts, out...)
	p := kernel.Prepare(b, &o)
	if p == nil {
		return 0 // a view that no strides can say
	}
	row := w.dtype.String()
	switch {
	case w.sums == tensor.I32 && w.dtype == tensor.I8:
		row = "int8"
	case w.dtype.IsInt() && w.dtype.Size() < 4:
		row = "small"
	case w.dtype.IsInt():
		row = fmt.Sprint("i", 8*w.dtype.Size()) // with a sign or without
	}
	if !strings.HasPrefix(p.Name, "product/"+row+"/") {
		if w.wide() && len(b.Ops) > 1 {
			return 0 // a bias that is not along the columns
		}
		w.Fatalf("a region of %d operators runs by %s", len(b.Ops), p.Name)
	}
	var types []ir.Type
	for _, v := range b.Out {
		types = append(types, b.Type(v))
	}
	var x kernel.Exec
	whole := garbageOf(types)
	if err := p.Do(&x, 0, 1, whole, w.in); err != nil {
		w.Fatal(err)
	}
	steps, slow := stepwise(w.T, b, w.in, o)
	exact, _ := stepwise(w.T, b, w.in, kernel.Options{})
	for i := range whole {
		if !slow && !tensor.BitEqual(whole[i], steps[i]) {
			w.Fatalf("%s: result %d of %d operators differs from the operators by themselves: %v", p.Name, i, len(b.Ops), tensor.Compare(whole[i], steps[i], 0))
		}
		if d := tensor.CompareWhole(whole[i], exact[i], tensor.Tolerance(p.Within)); d != nil {
			w.Fatalf("%s: result %d: %v", p.Name, i, d)
		}
	}
	for _, wanted := range []int{2, 3, 5, 8} {
		parts := p.Parts(wanted)
		again := garbageOf(types)
		for i := parts - 1; i >= 0; i-- {
			if err := p.Do(&x, i, parts, again, w.in); err != nil {
				w.Fatal(err)
			}
		}
		for i := range whole {
			if !tensor.BitEqual(whole[i], again[i]) {
				w.Fatalf("%s: result %d by %d parts: %v", p.Name, i, parts, tensor.Compare(again[i], whole[i], 0))
			}
		}
	}
	checkShared(w.T, p, w.in, whole, types, w.r)
	return 1
}

// TestProductsOfUnsigned: bytes without a sign by bytes with one, all over their ranges,
// rows in one piece, turned and in columns.
func TestProductsOfUnsigned(t *testing.T) {
	for _, o := range choices()[1:] {
		for seed := range uint64(60) {
			w := &regionWriter{T: t, r: rand.New(rand.NewPCG(seed, 8)), dtype: tensor.I8, sums: tensor.I32}
			m, k, n := w.size(), w.size(), w.size()
			if seed%3 == 0 {
				n = 1
			}
			left := w.input(w.unsigned(m, k))
			if seed%4 == 0 {
				left = w.permuted(w.input(w.unsigned(k, m)), 1, 0)
			}
			v := w.multiply("matmul", left, w.input(w.normal(k, n)))
			if w.compareProduct([]int{v}, o) == 0 {
				t.Fatalf("seed %d: no kernel", seed)
			}
		}
	}
}

// unsigned makes bytes without a sign.
func (w *regionWriter) unsigned(shape ...int) *tensor.T {
	x := tensor.New(tensor.U8, shape...)
	for i := range x.Data {
		x.Data[i] = byte(w.r.Uint32())
	}
	return x
}

// TestProductInPlace: the result may lie where the residual lies, which only the
// tail reads, and nowhere else.
func TestProductInPlace(t *testing.T) {
	for _, o := range choices()[1:] {
		w := &regionWriter{T: t, r: rand.New(rand.NewPCG(7, 7))}
		x, f, y := w.input(normal(w.r, 40, 30)), w.input(normal(w.r, 40, 30)), w.input(normal(w.r, 40, 40))
		v := w.op("relu", "", w.op("add", "", w.op("linear", "", x, f), y))
		b := w.body(make([]bool, 3), v)
		want, _ := stepwise(t, b, w.in, o)
		b.InPlace = 2
		p := kernel.Prepare(b, &o)
		if p == nil {
			t.Fatal("no kernel replaces the residual")
		}
		in := []*tensor.T{w.in[0], w.in[1], w.in[2].Clone()}
		var exec kernel.Exec
		for part := range p.Parts(3) {
			if err := p.Do(&exec, part, p.Parts(3), in[2:], in); err != nil {
				t.Fatal(err)
			}
		}
		if !tensor.BitEqual(in[2], want[0]) {
			t.Errorf("%s in place: %v", p.Name, tensor.Compare(in[2], want[0], 0))
		}
		for _, replaced := range []int{0, 1} {
			b.InPlace = replaced
			b.Out[0] = v + 3
			if p := kernel.Prepare(b, &o); p != nil {
				t.Errorf("%s replaces an operand of the product", p.Name)
			}
		}
	}
}

// TestProductPacksOnce: tasks that share a constant share its panels.
func TestProductPacksOnce(t *testing.T) {
	o := kernel.Options{Kind: kernel.Generic, Packs: new(kernel.Packs)}
	released := 0
	o.Packs.Release = func(*tensor.T) { released++ }
	w := &regionWriter{T: t, r: rand.New(rand.NewPCG(8, 8))}
	x, f := w.input(normal(w.r, 4, 30)), w.input(normal(w.r, 40, 30))
	v := w.op("linear", "", x, f)
	for range 3 {
		if p := kernel.Prepare(w.body([]bool{false, true}, v), &o); p == nil {
			t.Fatal("no kernel")
		}
	}
	if released != 1 {
		t.Errorf("the weight was packed %d times", released)
	}
}

// TestHalvesAllocateNothing: a steady product of bf16, constant and not, finds all
// memory where it was.
func TestHalvesAllocateNothing(t *testing.T) {
	for _, o := range choices()[1:] {
		for _, constant := range []bool{true, false} {
			w := &regionWriter{T: t, r: rand.New(rand.NewPCG(9, 9)), dtype: tensor.BF16}
			x, f, b := w.input(w.normal(20, 33)), w.input(w.normal(40, 33)), w.input(w.normal(40))
			body := w.body([]bool{false, constant, constant}, w.op("relu", "", w.op("linear", "", x, f, b)))
			p := kernel.Prepare(body, &o)
			out := garbageOf([]ir.Type{body.Type(body.Out[0])})
			var exec kernel.Exec
			if n := testing.AllocsPerRun(10, func() { _ = p.Do(&exec, 0, 1, out, w.in) }); n > 0 {
				t.Errorf("%s, constant: %v: %v allocations a run", p.Name, constant, n)
			}
		}
	}
}
