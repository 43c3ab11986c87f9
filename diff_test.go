package npu

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/npulang/npu/fusion"
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/lang"
	"github.com/npulang/npu/passes"
)

func (c *trialCase) program(opts Options) (*Program, error) {
	opts.Kernels = KernelsReference
	b := &compilation{opts: opts, text: &text{name: c.f.Name}}
	return b.build(&lang.Graph{Name: c.f.Name, Func: c.f})
}

// check compares what the optimised graph computes on the machine with what the
// interpreter makes of the graph as it was: bits, where no rule with a tolerance
// was applied. It returns the case that fails, c or a part of it, and the names of
// the rules that were applied.
func (c *trialCase) check() (fired []string, failed *trialCase, err error) {
	p, err := c.program(c.opts)
	if err != nil {
		return nil, c, err
	}
	defer p.Close()
	for _, r := range p.record.Rewrites {
		fired = append(fired, r.Rule)
	}
	written := c.f
	if p.lowered() {
		written = p.fn // @precision: what is converted is held against itself
	}
	if p.within == 0 || p.lowered() {
		err := p.compare(written, c.inputs)
		if err == nil {
			err = p.checkOtherKernels(c.inputs)
		}
		return fired, c, err
	}
	failed, err = c.checkTolerant(p)
	return fired, failed, err
}

// shrunk is the least graph that fails as the case does.
func (c *trialCase) shrunk(t *testing.T) string {
	opts := TrialOptions{Options: c.opts, Tolerance: c.tolerance, Inputs: map[string]string{}}
	opts.Dims = map[string]int64{}
	for i, p := range c.f.Params {
		path := filepath.Join(t.TempDir(), "input.npy")
		file, err := os.Create(path)
		if err != nil {
			return err.Error()
		}
		if err := tensor.WriteNpy(file, c.inputs[i]); err != nil {
			return err.Error()
		}
		file.Close()
		opts.Inputs[p.Name] = path
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	s, err := Shrink(ctx, IRText("case.ir", c.f.String()), opts)
	if err != nil {
		return fmt.Sprintf("it cannot be reduced: %v\n%s", err, c.f)
	}
	o := c.opts
	record, _, err := Trace(IRText("reduced.ir", s.IR), o)
	if err != nil {
		return s.IR + err.Error()
	}
	return s.IR + record.Trace() + c.values(s)
}

// values shows the inputs that are left.
func (c *trialCase) values(s *Shrunk) string {
	var b strings.Builder
	for i, p := range c.f.Params {
		if strings.Contains(s.IR, "%"+p.Name+":") {
			fmt.Fprintf(&b, "%s = %s\n", p.Name, ir.TensorLit(c.inputs[i]))
		}
	}
	return b.String()
}

// differ checks a case, and counts the rules that were applied; nil is none.
func differ(t *testing.T, name string, c *trialCase, fired map[string]int) {
	t.Helper()
	if c == nil {
		return
	}
	rules, failed, err := c.check()
	if err != nil {
		t.Fatalf("%s: %v\noptions: %s\n%s", name, err, c.described(), failed.shrunk(t))
	}
	for _, name := range rules {
		fired[name]++
	}
}

func (c *trialCase) described() string {
	o := c.opts
	text := fmt.Sprintf("level %s, fusion %q, switches %v, passes %q, save memory %t", o.Level, o.Fusion, o.Switches, o.Passes, o.SaveMemory)
	text += fmt.Sprintf(", mapping %q, streams %d %q, memory %q, align %d", o.Mapping, o.Streams, o.StreamStrategy, o.MemoryMode, o.Align)
	if o.Device != nil {
		text += ", device " + o.Device.Name
	}
	return text
}

// goldenOptions compile the graphs of golden files: by default, and with fusions
// that see what is not raised.
var goldenOptions = []Options{
	{Level: O2, Verify: true},
	{Level: O2, Verify: true, Fusion: FuseAll, Passes: slices.DeleteFunc(usualPasses(), func(name string) bool { return name == "raise" })},
}

// TestDifferential compares graphs of golden files, of the forms that rules look
// for, and of all operators, optimised and not. Every rule is applied somewhere.
func TestDifferential(t *testing.T) {
	fired := map[string]int{}
	for i, path := range goldenPrograms() {
		for j, f := range goldenGraphs(path) {
			for _, opts := range goldenOptions {
				r := rand.New(rand.NewPCG(uint64(1000*i+j), 9))
				differ(t, path+" "+f.Name, caseOf(f, nil, opts, r), fired)
			}
		}
		if testing.Short() && i > 20 {
			return
		}
	}
	for seed := range uint64(800) {
		size := int(seed) % 30
		differ(t, fmt.Sprintf("seed %d, size %d", seed, size), newTrialCase(seed, size), fired)
	}
	for _, row := range passes.Rules() {
		if fired[row.Rule.Name] == 0 && row.Rule.Liberty == "" {
			t.Errorf("%s was never applied", row.Rule.Name)
		}
	}
	for _, name := range fusion.Names() {
		if fired[name] == 0 {
			t.Errorf("%s was never applied", name)
		}
	}
}

// TestStressDifferential goes on with other seeds for as long as -stress says, and
// compares fast and generic kernels in a second plan too.
func TestStressDifferential(t *testing.T) {
	goesOn := flag.Lookup("stress").Value.(flag.Getter).Get().(time.Duration)
	if goesOn == 0 {
		t.Skip("TestDifferential has the seeds below 800; -stress 10m tries others")
	}
	end := time.Now().Add(goesOn)
	first := uint64(time.Now().UnixNano()) % 1e12
	seed := first
	for ; time.Now().Before(end); seed++ {
		c := newTrialCase(seed, int(seed)%40)
		name := fmt.Sprintf("seed %d, size %d", seed, int(seed)%40)
		differ(t, name, c, map[string]int{})
		if c == nil {
			continue
		}
		plan := c.opts
		randomPlan(rand.New(rand.NewPCG(seed, 77)), &plan)
		p, err := c.program(c.opts)
		if err != nil {
			t.Fatal(err)
		}
		err = p.checkOtherKernels(c.inputs, plan)
		p.Close()
		if err != nil {
			t.Fatalf("%s: %v\noptions: %s\n%s", name, err, c.described(), c.f)
		}
	}
	t.Logf("%d seeds from %d", seed-first, first)
}

// FuzzOptimiser does the same for any seed.
func FuzzOptimiser(f *testing.F) {
	for seed := range uint64(16) {
		f.Add(seed, uint8(2*seed))
	}
	f.Fuzz(func(t *testing.T, seed uint64, size uint8) {
		differ(t, "case", newTrialCase(seed, int(size)%64), map[string]int{})
	})
}
