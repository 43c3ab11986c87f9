package npu_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/npulang/npu"
)

// beginners is a network with most that a first run makes once for all: layers of one
// form, weights that are made of others, packed ones, a loop and a convolution; and an
// index that may be out of range.
const beginners = `
param w1: f32[2, 64, 96]
param w2: f32[2, 96, 64]
param wl: f32[64, 64]
param filters: f32[16, 16, 3, 3]

fn layer(x, i) { return x + gelu(x @ w1[i]) @ (w2[i] * 0.1) }

graph main(x: f32[N, 64], i: i32[1]) -> (y: f32[N, 64], z: f32[1, 64], c: f32[N, 16, 2, 2]) {
    h = layer(layer(x, 0), 1)
    for t in 0..3 carry h { h = tanh(h @ wl) }
    s = softmax(h @ transpose(h))
    return s @ h, gather(wl, i, 0), conv(reshape(x, [N, 16, 2, 2]), filters, pad=1)
}
`

// TestFirstRuns has goroutines meet in the first runs of programs, over and over: at
// several sizes, of which each makes a plan, while others are cancelled, fail, or give
// wrong inputs, and while the program is closed. Whatever run succeeds has the bits that
// a program of one caller has.
func TestFirstRuns(t *testing.T) {
	for name, opts := range map[string]npu.Options{
		"f32":     {},
		"int8":    {Precision: npu.PrecisionInt8},
		"bf16":    {Precision: npu.PrecisionBF16, Streams: 4},
		"bounded": {MaxDims: map[string]int64{"N": 40}, MaxMemory: 4 << 20},
		"generic": {Kernels: npu.KernelsGeneric, MaxMemory: 1 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			opts.RandomWeights = true
			first := newFirstRuns(t, opts)
			end := time.Now().Add(moment() / 2)
			for seed := uint64(0); seed == 0 || time.Now().Before(end) && !t.Failed(); seed++ {
				first.round(t, seed)
			}
		})
	}
}

// firstSizes are those at which programs run: fewer than a program keeps plans for.
var firstSizes = []int{1, 2, 7, 16, 33, 40}

// A firstRuns is a program, with its inputs and what they give.
type firstRuns struct {
	opts npu.Options
	in   []map[string]*npu.Tensor
	want []map[string]*npu.Tensor
}

func newFirstRuns(t *testing.T, opts npu.Options) *firstRuns {
	f := &firstRuns{opts: opts}
	p := must(npu.Compile(npu.Script("test.npu", beginners), opts))
	defer p.Close() // else its workers stay for others
	for _, n := range firstSizes {
		in := map[string]*npu.Tensor{"x": npu.RandomTensor(npu.F32, []int{n, 64}, uint64(n), "x"), "i": npu.FromSlice([]int{1}, []int32{int32(n)})}
		f.in = append(f.in, in)
		f.want = append(f.want, must(p.Run(t.Context(), in)))
	}
	return f
}

// round lets all goroutines begin with a program at the same time.
func (f *firstRuns) round(t *testing.T, seed uint64) {
	before := goleak.IgnoreCurrent()
	p := must(npu.Compile(npu.Script("test.npu", beginners), f.opts))
	start := make(chan struct{})
	var all sync.WaitGroup
	for g := range 24 {
		all.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(g)))
			<-start
			for range 1 + r.IntN(4) {
				if err := f.call(p, r); err != nil {
					t.Error(err)
				}
			}
		})
	}
	close(start)
	if seed%3 == 2 { // some come too late
		time.Sleep(time.Duration(seed%7) * time.Millisecond)
		p.Close()
	}
	all.Wait()
	if i := p.MemoryInfo(); i.Used != 0 || i.Running != 0 {
		t.Errorf("at rest: %+v", i)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if err := goleak.Find(before); err != nil {
		t.Error(err)
	}
}

// call runs the program in one of several ways, and looks at what comes of it.
func (f *firstRuns) call(p *npu.Program, r *rand.Rand) error {
	k := r.IntN(len(f.in))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	in, refused := f.in[k], ""
	switch r.IntN(8) {
	case 0:
		time.AfterFunc(time.Duration(r.IntN(3000))*time.Microsecond, cancel)
	case 1:
		in, refused = map[string]*npu.Tensor{"x": in["x"], "i": npu.FromSlice([]int{1}, []int32{64})}, "index-out-of-range"
	case 2:
		in, refused = map[string]*npu.Tensor{"x": npu.NewTensor(npu.F32, 3, 65), "i": in["i"]}, "bad-input"
	case 3:
		p.Record()
		p.MemoryInfo()
	}
	out, err := f.run(ctx, p, in, r.IntN(2) == 0)
	return f.check(k, out, err, refused)
}

// run runs the program by itself, or by a binding.
func (f *firstRuns) run(ctx context.Context, p *npu.Program, in map[string]*npu.Tensor, binds bool) (map[string]*npu.Tensor, error) {
	if !binds {
		return p.Run(ctx, in)
	}
	b, err := p.Bind(in, nil)
	if err == nil {
		err = b.Run(ctx)
	}
	if err != nil {
		return nil, err
	}
	return b.Outputs(), nil
}

// check holds an outcome against what it may be: refused names the error that there
// has to be, unless the run was cancelled or the program closed.
func (f *firstRuns) check(k int, out map[string]*npu.Tensor, err error, refused string) error {
	var ds npu.Diagnostics
	switch {
	case errors.Is(err, context.Canceled):
		return nil
	case errors.As(err, &ds) && (ds[0].Message == "the program is closed" || ds[0].Code == refused):
		return nil
	case err != nil:
		return err
	case refused != "":
		return fmt.Errorf("a run that %s should refuse has a result", refused)
	}
	for name, want := range f.want[k] {
		if !bytes.Equal(out[name].Data, want.Data) {
			return fmt.Errorf("%d rows: %s has other bits than in the run of one caller", firstSizes[k], name)
		}
	}
	return nil
}
