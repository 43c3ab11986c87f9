package npu_test

import (
	"context"
	"errors"
	"flag"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/npulang/npu"
)

var stress = flag.Duration("stress", 0, "how long each of the stress tests goes on; 0: a moment")

// moment is how long a stress test goes on if nobody says.
func moment() time.Duration {
	switch {
	case *stress > 0:
		return *stress
	case testing.Short():
		return 500 * time.Millisecond
	}
	return 2 * time.Second
}

// TestManyCallers lets 32 goroutines run one program at more sizes than it
// keeps plans for, in much memory and in little; runs fail and are cancelled at any
// moment. Every other goroutine binds its tensors. Once the program is closed
// nothing of it is left.
func TestManyCallers(t *testing.T) {
	for _, opts := range []npu.Options{
		{MaxMemory: 64 << 10},
		{Streams: 4, MemoryMode: npu.MemoryAggressive},
		{MaxMemory: 1 << 20, Streams: 3, MaxDims: map[string]int64{"N": 24, "M": 24}},
	} {
		before := goleak.IgnoreCurrent()
		p := compile(t, busy, opts)
		end := time.Now().Add(moment())
		var all sync.WaitGroup
		for g := range 32 {
			all.Go(func() {
				c := caller{p: p, r: rand.New(rand.NewPCG(uint64(g), 1)), binds: g%2 == 0}
				for time.Now().Before(end) && !t.Failed() {
					c.call(t)
				}
			})
		}
		all.Wait()
		if i := p.MemoryInfo(); i.Used != 0 || i.Running != 0 || i.Peak > i.Limit {
			t.Errorf("at rest: %+v", i)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if err := goleak.Find(before); err != nil {
			t.Error(err)
		}
	}
}

// A caller runs a program by itself or by a binding.
type caller struct {
	p       *npu.Program
	r       *rand.Rand
	binds   bool
	bound   *npu.IOBinding
	n, m, k int
	in      map[string]*npu.Tensor
}

// call runs the program once, and looks at what came of it.
func (c *caller) call(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if c.r.IntN(3) == 0 {
		time.AfterFunc(time.Duration(c.r.IntN(200))*time.Microsecond, cancel)
	}
	err := c.run(ctx)
	var ds npu.Diagnostics
	failed := errors.As(err, &ds) && ds[0].Code == "division-by-zero" && c.k == 0
	if err != nil && !failed && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err == nil && c.k == 0 {
		t.Error("a division by zero has a result")
	}
}

func (c *caller) run(ctx context.Context) error {
	k := c.r.IntN(4)
	if !c.binds {
		c.k = k
		return runBusy(ctx, c.p, 1+c.r.IntN(24), 1+c.r.IntN(24), k)
	}
	if c.bound == nil || c.r.IntN(20) == 0 {
		if err := c.bind(); err != nil {
			return err
		}
	}
	c.k = k
	npu.Of[int32](c.in["k"])[0] = int32(k)
	if err := c.bound.Run(ctx); err != nil {
		return err
	}
	return checkBusy(c.bound.Outputs(), c.n, c.m)
}

// bind takes new sizes.
func (c *caller) bind() (err error) {
	c.n, c.m = 1+c.r.IntN(24), 1+c.r.IntN(24)
	c.in = busyInput(c.n, c.m, 1)
	c.bound, err = c.p.Bind(c.in, nil)
	return err
}
