package npu_test

import (
	"context"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/npulang/npu"
	"github.com/npulang/npu/codegen/bytecode"
)

// Sizes of the product that the tests of numbers compute.
const rows, inner, columns = 7, 37, 9

// lowered is a product of floats, x[i,k] * w[k,j], written out.
type lowered func(x, w func(i, k int) float64) func(i, j int) float64

// sum adds the products of a row and a column.
func sum(x, w func(i, k int) float64, i, j int) (s float64) {
	for k := range inner {
		s += x(i, k) * w(k, j)
	}
	return s
}

// rounded computes with operands of a dtype, and one rounding to f32.
func rounded(d npu.DType) lowered {
	one := npu.NewTensor(d, 1)
	r := func(v float64) float64 { one.SetFloat(0, v); return one.FloatAt(0) }
	return func(x, w func(i, k int) float64) func(i, j int) float64 {
		return func(i, j int) float64 {
			s := sum(func(i, k int) float64 { return r(x(i, k)) }, func(k, j int) float64 { return r(w(k, j)) }, i, j)
			return float64(float32(s))
		}
	}
}

// scaleOf is the scale of n elements.
func scaleOf(n int, at func(int) float64) float32 {
	most := float32(0)
	for i := range n {
		a := float32(math.Abs(at(i)))
		if a > most || a != a {
			most = a
		}
	}
	return max(most/127, 0x1p-126)
}

// quantised is an element in steps of a scale.
func quantised(v float64, scale float32) float64 {
	q := math.RoundToEven(float64(float32(v) / scale))
	if q != q {
		return 0
	}
	return max(-128, min(127, q))
}

// inBytes computes with a scale for each row and each column.
func inBytes(x, w func(i, k int) float64) func(i, j int) float64 {
	return func(i, j int) float64 {
		xs := scaleOf(inner, func(k int) float64 { return x(i, k) })
		ws := scaleOf(inner, func(k int) float64 { return w(k, j) })
		s := sum(func(i, k int) float64 { return quantised(x(i, k), xs) }, func(k, j int) float64 { return quantised(w(k, j), ws) }, i, j)
		return float64(float32(s) * xs * ws)
	}
}

// bytesOf computes with a scale for each column and one for all rows.
func bytesOf(most float64) lowered {
	return func(x, w func(i, k int) float64) func(i, j int) float64 {
		return func(i, j int) float64 {
			xs := float32(most) / 127
			ws := scaleOf(inner, func(k int) float64 { return w(k, j) })
			s := sum(func(i, k int) float64 { return quantised(x(i, k), xs) }, func(k, j int) float64 { return quantised(w(k, j), ws) }, i, j)
			return float64(float32(s) * (ws * xs))
		}
	}
}

// operands are a left side with rows of zeros, of huge and tiny numbers, with NaN and an
// infinity, and a right side with a column of zeros.
func operands() (x, w *npu.Tensor) {
	x, w = npu.RandomTensor(npu.F32, []int{rows, inner}, 1, "x"), npu.RandomTensor(npu.F32, []int{inner, columns}, 1, "w")
	for k := range inner {
		x.SetFloat(1*inner+k, 0)
		x.SetFloat(2*inner+k, x.FloatAt(2*inner+k)*1e4)
		x.SetFloat(3*inner+k, x.FloatAt(3*inner+k)*1e-4)
		w.SetFloat(k*columns+4, 0)
	}
	x.SetFloat(4*inner+3, math.NaN())
	x.SetFloat(5*inner+5, math.Inf(1))
	return x, w
}

// TestPrecisionNumbers: each precision computes what its formulas say, to the bit.
func TestPrecisionNumbers(t *testing.T) {
	x, w := operands()
	turned := npu.NewTensor(npu.F32, columns, inner)
	for k := range inner {
		for j := range columns {
			turned.SetFloat(j*inner+k, w.FloatAt(k*columns+j))
		}
	}
	at := func(t *npu.Tensor, n int) func(i, k int) float64 {
		return func(i, k int) float64 { return t.FloatAt(i*n + k) }
	}
	scripts := map[string]npu.Arrays{
		"param w: f32[37, 9]\ngraph main(x: f32[B, 37]) -> (y: f32[B, 9]) { return x @ w }":        {"w": w},
		"param w: f32[9, 37]\ngraph main(x: f32[B, 37]) -> (y: f32[B, 9]) { return linear(x, w) }": {"w": turned},
	}
	for script, weights := range scripts {
		for _, c := range []struct {
			opts npu.Options
			want lowered
		}{
			{npu.Options{Precision: npu.PrecisionBF16}, rounded(npu.BF16)},
			{npu.Options{Precision: npu.PrecisionF16}, rounded(npu.F16)},
			{npu.Options{Precision: npu.PrecisionInt8}, inBytes},
			{npu.Options{Precision: npu.PrecisionInt8, Level: npu.O0}, inBytes},
			{npu.Options{Precision: npu.PrecisionInt8, Scales: npu.Scales{"w": {Min: -1, Max: 2.5}}}, bytesOf(2.5)},
		} {
			opts := c.opts
			opts.Weights, opts.Kernels = weights, npu.KernelsReference
			p, err := npu.Compile(npu.Script("product.npu", script), opts)
			if err != nil {
				t.Fatal(err)
			}
			out, err := p.Run(t.Context(), map[string]*npu.Tensor{"x": x})
			p.Close()
			if err != nil {
				t.Fatal(err)
			}
			want := c.want(at(x, inner), at(w, columns))
			for i := range rows {
				for j := range columns {
					g, w := out["y"].FloatAt(i*columns+j), want(i, j)
					if g != w && !(g != g && w != w) {
						t.Errorf("%s at %s: y[%d,%d] is %v, want %v", script, opts.Precision, i, j, g, w)
					}
				}
			}
		}
	}
}

const shared = `
param w: f32[3, 3]
param v: f32[3, 2]
graph main(x: f32[B, 3]) -> (y: f32[B, 2]) {
    h = (x @ w + 1.0) @ w
    @precision(f32) g = h @ w
    return g @ v
}`

var sharedWeights = npu.Arrays{
	"w": npu.FromSlice([]int{3, 3}, []float32{1, 0, 0, 0, -2, 0, 0, 0, 1}),
	"v": npu.FromSlice([]int{3, 2}, []float32{1, 2, 3, 4, 5, 6}),
}

// samplesOf writes inputs as samples in every form, and lists them.
func samplesOf(t *testing.T, inputs ...*npu.Tensor) []npu.Sample {
	t.Helper()
	dir := t.TempDir()
	for i, x := range inputs {
		to := filepath.Join(dir, []string{"", "a", "b"}[i%3])
		if err := os.MkdirAll(to, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := npu.WriteArrays(to, map[string]*npu.Tensor{"x": x}); err != nil {
			t.Fatal(err)
		}
	}
	samples, err := npu.ReadSamples(dir)
	if err != nil || len(samples) != len(inputs) {
		t.Fatal(samples, err)
	}
	return samples
}

// TestSampleNames: endings count in any case, and a folder may have both kinds.
func TestSampleNames(t *testing.T) {
	dir := t.TempDir()
	if err := npu.WriteArrays(dir, map[string]*npu.Tensor{"x": npu.NewTensor(npu.F32, 2), "y": npu.NewTensor(npu.F32, 2)}); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "x.npy"), filepath.Join(dir, "x.NPY")); err != nil {
		t.Fatal(err)
	}
	samples, err := npu.ReadSamples(dir)
	if err != nil || len(samples) != 1 || samples[0]["x"] != filepath.Join(dir, "x.NPY") || samples[0]["y"] == "" {
		t.Errorf("%v, %v", samples, err)
	}
}

// TestCalibrate: a weight has the range of all that it multiplies with over all
// samples, but for products that are to stay f32.
func TestCalibrate(t *testing.T) {
	samples := samplesOf(t, npu.FromSlice([]int{1, 3}, []float32{1, 2, 3}), npu.FromSlice([]int{2, 3}, []float32{0, 0, -4, 0, 7, 0}))
	opts := npu.Options{Weights: sharedWeights}
	got, err := npu.Calibrate(t.Context(), npu.Script("s.npu", shared), opts, samples)
	if err != nil {
		t.Fatal(err)
	}
	want := npu.Scales{"w": {Min: -13, Max: 7}, "v": {Min: -52, Max: 4}}
	if got.String() != want.String() {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	again, err := npu.ParseScales("scales", got.String())
	if err != nil || again.String() != got.String() {
		t.Errorf("read back as\n%s%v", again, err)
	}
	opts.Precision, opts.Scales = npu.PrecisionInt8, got
	p, err := npu.Compile(npu.Script("s.npu", shared), opts)
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
	opts.Precision = ""
	_, err = npu.Calibrate(t.Context(), npu.Script("s.npu", shared), opts, samples)
	fails(t, err, "leave out precision and scales")
	_, err = npu.Calibrate(t.Context(), npu.Script("s.npu", shared), npu.Options{Weights: sharedWeights}, nil)
	fails(t, err, "no samples")
	nan := samplesOf(t, npu.FromSlice([]int{1, 3}, []float32{1, float32(math.NaN()), 3}))
	_, err = npu.Calibrate(t.Context(), npu.Script("s.npu", shared), npu.Options{Weights: sharedWeights}, nan)
	fails(t, err, "NaN", "x.npy")
	wide := samplesOf(t, npu.NewTensor(npu.F32, 1, 3), npu.NewTensor(npu.F32, 1, 4))
	_, err = npu.Calibrate(t.Context(), npu.Script("s.npu", shared), npu.Options{Weights: sharedWeights}, wide)
	fails(t, err, "dimension 1 is 4", "the sample is x="+wide[slices.IndexFunc(wide, func(s npu.Sample) bool { return strings.Contains(s["x"], filepath.Join("a", "x.npy")) })]["x"])
	none := samplesOf(t, npu.NewTensor(npu.F32, 0, 3))
	_, err = npu.Calibrate(t.Context(), npu.Script("s.npu", shared), npu.Options{Weights: sharedWeights}, none)
	fails(t, err, "without elements")
	some, err := npu.Calibrate(t.Context(), npu.Script("s.npu", shared), npu.Options{Weights: sharedWeights}, append(none, samples...))
	if err != nil || some.String() != want.String() {
		t.Errorf("a sample without elements makes of it\n%s%v", some, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = npu.Calibrate(ctx, npu.Script("s.npu", shared), npu.Options{Weights: sharedWeights}, samples); err == nil {
		t.Error("a cancelled calibration ends well")
	}
}

// TestScalesText: each mistake in a file of scales is told with its line.
func TestScalesText(t *testing.T) {
	for text, want := range map[string]string{
		"w 1":            "scales:1:1: error: a name and two numbers",
		"\n# c\nw 1 2 3": "scales:3:1: error: a name and two numbers",
		"w a 2":          "a and 2 are not both numbers",
		"w 2 1":          "2 to 1 is no range",
		"w 0 inf":        "0 to inf is no range",
		"w 0 1e39":       "0 to 1e39 is no range",
		"w nan 1":        "nan to 1 is no range",
		"w 0 1\nw 0 2":   "scales:2:1: error: w has a line already",
		"\"w 0 1":        "the quoted name does not end",
		"\"w\"-1 1":      "there is no blank behind the quoted name",
		"w":              "a name and two numbers",
	} {
		_, err := npu.ParseScales("scales", text)
		fails(t, err, want)
	}
	odd := npu.Scales{`a "b" #`: {Min: -1, Max: 1}, "": {Max: 2}, "x.y": {}, "line\nw 0 1": {Max: 3}, "no\u00a0break": {Max: 4}}
	again, err := npu.ParseScales("scales", odd.String())
	if err != nil || !maps.Equal(again, odd) {
		t.Errorf("%v is read as %v, %v", odd, again, err)
	}
	byHand, err := npu.ParseScales("scales", "w\t-1\t1\n  v 0 0x1p4 # as seen\r\n\"a\"\t0 1# so\n")
	if want := (npu.Scales{"w": {Min: -1, Max: 1}, "v": {Max: 16}, "a": {Max: 1}}); err != nil || !maps.Equal(byHand, want) {
		t.Errorf("what is written by hand is read as %v, %v", byHand, err)
	}
	if _, err := npu.ReadScales(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a file that there is not is read")
	}
	_, err = npu.Compile(npu.Script("s.npu", shared), npu.Options{Weights: sharedWeights, Precision: npu.PrecisionInt8, Scales: npu.Scales{"w": {Min: 1}}})
	fails(t, err, "1 to 0 is no range of a scale")
}

// TestGraphPrecision: in Go, a body's products are computed in its dtype, and an inner
// body's in that.
func TestGraphPrecision(t *testing.T) {
	g := npu.NewGraph("main")
	x, w := g.Input("x", "f32[B, 4]"), g.Param("w", "f32[4, 4]")
	a := g.MatMul(x, w)
	var b, c, d *npu.Value
	g.Precision(npu.BF16, func() {
		b = g.MatMul(a, w)
		g.Precision(npu.F32, func() { c = g.MatMul(b, w) })
		d = g.MatMul(c, w)
	})
	g.Output("y", g.MatMul(d, w))
	text, _, err := npu.Emit(g, "precision", npu.Options{Precision: npu.PrecisionInt8})
	if err != nil {
		t.Fatal(err)
	}
	var computed []string
	for _, line := range strings.Split(strings.TrimSpace(text), "\n")[2:] {
		computed = append(computed, strings.Fields(line)[5])
	}
	if got := strings.Join(computed, " "); got != "i8 bf16 f32 bf16 i8" {
		t.Errorf("computed in %s\n%s", got, text)
	}
	g = npu.NewGraph("main")
	g.Precision(npu.I32, func() {})
	fails(t, g.Err(), "i32 is no precision")
}

// TestCompiledPrecision: a compiled file holds the weights that runs read and no
// others, and makes them anew of other weights.
func TestCompiledPrecision(t *testing.T) {
	const script = `
param w: f32[3, 3]
param b: f32[3]
graph main(x: f32[B, 3]) -> (y: f32[B, 3]) { return x @ w + (b * 2.0 + w[0]) }`
	first := npu.Arrays{"w": sharedWeights["w"], "b": npu.FromSlice([]int{3}, []float32{1, 2, 3})}
	other := npu.Arrays{"w": npu.FromSlice([]int{3, 3}, []float32{3, 1, 2, 1, -5, 2, 0, 4, 1}), "b": npu.FromSlice([]int{3}, []float32{-7, 0, 1})}
	x := map[string]*npu.Tensor{"x": npu.FromSlice([]int{2, 3}, []float32{1, 2, 3, -4, 5, 6})}
	run := func(src npu.Source, opts npu.Options) string {
		t.Helper()
		p, err := npu.Compile(src, opts)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		out, err := p.Run(t.Context(), x)
		if err != nil {
			t.Fatal(err)
		}
		return out["y"].String()
	}
	opts := npu.Options{Weights: first, Precision: npu.PrecisionInt8}
	p := compile(t, script, opts)
	path := filepath.Join(t.TempDir(), "p.npuc")
	if err := p.Save(path); err != nil {
		t.Fatal(err)
	}
	file, err := bytecode.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, w := range file.Weights {
		names = append(names, w.Name)
	}
	file.Close()
	if got := strings.Join(names, " "); got != "b.add w.i8 w.scale" {
		t.Errorf("the file holds %s", got)
	}
	if got, want := run(npu.File(path), npu.Options{}), run(npu.Script("p.npu", script), opts); got != want {
		t.Errorf("the file computes %s, and the script %s", got, want)
	}
	opts.Weights = other
	if got, want := run(npu.File(path), npu.Options{Weights: other}), run(npu.Script("p.npu", script), opts); got != want {
		t.Errorf("with other weights the file computes %s, and the script %s", got, want)
	}
	_, err = npu.Compile(npu.File(path), npu.Options{Weights: npu.Arrays{"w": first["w"]}})
	fails(t, err, "b", "missing-weight")
	_, err = npu.Compile(npu.File(path), npu.Options{Scales: npu.Scales{"w": {Max: 1}}})
	fails(t, err, "the file is compiled already")
	_, err = npu.Calibrate(t.Context(), npu.File(path), npu.Options{}, samplesOf(t, x["x"]))
	fails(t, err, "a compiled file is not measured")
}

// TestMadeWeightsFail: what fails while a weight is made is told with its place; so is
// what takes more memory than there is.
func TestMadeWeightsFail(t *testing.T) {
	_, err := npu.Compile(npu.Script("s.npu", "param i: i64[2]\nparam w: f32[4]\ngraph main(x: f32[2]) -> f32[2] { return x + gather(w, i) }"),
		npu.Options{Weights: npu.Arrays{"i": npu.FromSlice([]int{2}, []int64{0, 9}), "w": npu.NewTensor(npu.F32, 4)}})
	fails(t, err, "s.npu:3:", "9")
	big := npu.Arrays{"w": npu.NewTensor(npu.F32, 1<<18)}
	_, err = npu.Compile(npu.Script("s.npu", "param w: f32[262144]\ngraph main(x: f32[1]) -> f32[] { return sum(x) + sum(exp(w) + w) }"),
		npu.Options{Weights: big, MaxMemory: 1 << 19})
	fails(t, err, "s.npu:2:", "[limit]")
	// A view takes no memory, and so gives none back.
	_, err = npu.Compile(npu.Script("s.npu", "param w: f32[262144]\ngraph main(x: f32[1]) -> f32[] { return sum(x) + sum(exp(softmax(reshape(w, [512, 512])))) }"),
		npu.Options{Weights: big, MaxMemory: 3 << 19})
	fails(t, err, "s.npu:2:", "[limit]")
}
