package ir

import (
	"testing"

	"github.com/npulang/npu/ir/tensor"
)

// TestPhase holds what a phase sees to what its results are the sums of: all elements x of
// the axis and k of the window that meet there.
func TestPhase(t *testing.T) {
	for step := 1; step < 7; step++ {
		for spread := 1; spread < 7; spread++ {
			for size := 1; size < 6; size++ {
				for before := range 5 {
					s := spatial{in: 100, size: size, step: step, spread: spread, before: before}
					for p := range step {
						f := s.phase(p)
						checkPhase(t, s, f, p)
					}
				}
			}
		}
	}
}

// checkPhase looks at result p + step*10.
func checkPhase(t *testing.T, s spatial, f Phase, p int) {
	t.Helper()
	met := map[[2]int]bool{}
	for k := range s.size {
		if i := p + s.step*10 + s.before - k*s.spread; i%s.step == 0 {
			met[[2]int{i / s.step, k}] = true
		}
	}
	for j := range f.Size {
		at := [2]int{10 + j*f.Spread - f.Before, f.First + (f.Size-1-j)*f.Each}
		if !met[at] {
			t.Fatalf("phase %d of %+v is %+v, which meets %v", p, s, f, at)
		}
	}
	if len(met) != f.Size {
		t.Fatalf("phase %d of %+v is %+v, but %d elements of the window meet there", p, s, f, len(met))
	}
}

// TestFarPhases: a window without numbers may be of any size, and a stride of any length
// takes no longer than its results.
func TestFarPhases(t *testing.T) {
	const far = 1<<31 - 1
	for _, c := range []struct {
		x, w        Type
		stride, pad int64
		want        int // results
	}{
		{T(tensor.F32, Dims(1, 0, 1)...), T(tensor.F32, Dims(0, 2, far+2)...), 1, far, 4},
		{T(tensor.F32, Dims(1, 1, 2)...), T(tensor.F32, Dims(1, 1, 1)...), 1 << 20, 0, 1<<20 + 1},
		{T(tensor.F32, Dims(1, 1, 2)...), T(tensor.F32, Dims(1, 1, 1<<12)...), far, far, 1 << 12},
	} {
		call := &Call{Op: ConvTranspose, In: []Type{c.x, c.w}, Attrs: ConvTranspose.Defaults()}
		call.Attrs[0], call.Attrs[1] = IntsLit(c.stride), IntsLit(c.pad, 0)
		if err := InferCall(call); err != nil {
			t.Fatal(err)
		}
		x, w := tensor.New(tensor.F32, c.x.Ints()...), tensor.New(tensor.F32, c.w.Ints()...)
		for i := range x.Len() {
			x.SetFloat(i, 1)
		}
		for i := range w.Len() {
			w.SetFloat(i, float64(i+1))
		}
		out, err := Evaluate(call, x, w)
		if err != nil {
			t.Fatal(err)
		}
		n := out[0].Len()
		if last := out[0].FloatAt(n - 1); n != c.want || w.Len() > 0 && last != w.FloatAt(w.Len()-1) {
			t.Errorf("%v by %v has %d results, the last %g; want %d", c.x, c.w, n, last, c.want)
		}
	}
}
