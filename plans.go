package npu

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/npulang/npu/codegen"
	"github.com/npulang/npu/codegen/bytecode"
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/lower"
	"github.com/npulang/npu/vm"
	"github.com/npulang/npu/vm/kernel"
)

const (
	// maxPlans bounds how many bindings of symbolic dimensions a program keeps a
	// plan for; the one that was not used for longest goes first.
	maxPlans = 16
	// maxPlanSize bounds the instructions of all of them, of which one takes some
	// hundred bytes. The plan used last is kept whatever its size.
	maxPlanSize = 1 << 18
)

// A planCache holds the machines of a program, one for each binding. They share
// one memory and one set of workers.
type planCache struct {
	memory  vm.Memory
	workers *vm.Workers // nil before there is a plan
	poison  bool        // memory that is not in use is filled with NaN
	check   func(vm.Difference) error

	once    sync.Once
	kernels kernel.Options // of all machines, which share packed weights
	// seldom is told of weights that have been read for long, and reports whether they lie
	// in a file; may be nil.
	seldom func(*tensor.T) bool
	packed *bytecode.File // that may hold packed weights; may be nil

	mu      sync.Mutex
	entries []*planned // the one used last comes last
	size    int        // instructions of all
	closed  bool
	users   sync.WaitGroup // calls under way
}

// A planned is the machine of one binding.
type planned struct {
	key     string
	env     ir.Env        // the sizes
	ready   chan struct{} // closed when what follows is known
	machine *vm.Machine
	err     error

	users   int  // planCache.mu guards these
	evicted bool // no longer among the entries
	size    int
}

func (e *planned) isReady() bool {
	select {
	case <-e.ready:
		return true
	default:
		return false
	}
}

// begin counts a call, for which Close waits. The error says that the program
// is closed.
func (c *planCache) begin() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.enter()
}

// enter is begin where the lock is held.
func (c *planCache) enter() error {
	if c.closed {
		return Diagnostics{{Code: "bad-input", Message: "the program is closed"}}
	}
	c.users.Add(1)
	return nil
}

// acquire returns the plan for the sizes of the arguments, made now if need be;
// leave must be called when the run is over.
func (c *planCache) acquire(ctx context.Context, p *Program, args []*Tensor) (*planned, error) {
	if e, err := c.find(args); e != nil || err != nil {
		return e, err
	}
	env, err := ir.BindSymbols(p.fn, typesOf(args))
	if err == nil {
		err = p.opts.checkBounds(p.fn.Name, env)
	}
	if err != nil {
		return nil, err
	}
	e, first, err := c.entry(env)
	if err != nil {
		return nil, err
	}
	if first {
		c.fill(e, p, env)
	}
	// The first user makes the plan, others wait for it; nobody holds the lock.
	select {
	case <-e.ready:
		err = e.err
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		c.leave(e)
		return nil, err
	}
	return e, nil
}

func typesOf(args []*Tensor) []ir.Type {
	types := make([]ir.Type, len(args))
	for i, a := range args {
		types[i] = ir.TypeOf(a)
	}
	return types
}

// again is acquire for arguments of the types that e was made for, which may have
// been evicted since.
func (c *planCache) again(ctx context.Context, p *Program, e *planned, args []*Tensor) (*planned, error) {
	if ok, err := c.stay(e); ok || err != nil {
		return e, err
	}
	return c.acquire(ctx, p, args)
}

// stay counts another user of an entry, if it is still there.
func (c *planCache) stay(e *planned) (ok bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.Index(c.entries, e)
	if i < 0 {
		return false, nil
	}
	if err := c.enter(); err != nil {
		return false, err
	}
	c.use(i)
	return true, nil
}

// find looks for a plan that was made for arguments of these types: the same
// types bind the same sizes. It is nil if there is none.
func (c *planCache) find(args []*Tensor) (*planned, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := len(c.entries) - 1; i >= 0; i-- {
		if e := c.entries[i]; e.isReady() && e.machine != nil && e.machine.Accepts(args) {
			if err := c.enter(); err != nil {
				return nil, err
			}
			c.use(i)
			return e, nil
		}
	}
	return nil, nil
}

// entry finds or makes the entry of a binding; first means that it is new.
func (c *planCache) entry(env ir.Env) (e *planned, first bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.enter(); err != nil {
		return nil, false, err
	}
	key := envKey(env)
	i := slices.IndexFunc(c.entries, func(e *planned) bool { return e.key == key })
	if first = i < 0; first {
		i = len(c.entries)
		c.entries = append(c.entries, &planned{key: key, env: env, ready: make(chan struct{})})
	}
	e = c.entries[i]
	c.use(i)
	c.trim()
	return e, first, nil
}

// use counts a user of an entry, which becomes the one used last.
func (c *planCache) use(i int) {
	e := c.entries[i]
	c.entries = append(slices.Delete(c.entries, i, i+1), e)
	e.users++
}

// fill makes the plan of a new entry. One that can't be made is forgotten, so
// that it takes no other's place.
func (c *planCache) fill(e *planned, p *Program, env ir.Env) {
	e.machine, e.err = p.safePlan(env)
	close(e.ready)
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.Index(c.entries, e)
	switch {
	case i < 0: // evicted meanwhile
	case e.err != nil:
		c.evict(i)
	default:
		e.size = e.machine.Size()
		c.size += e.size
		c.trim()
	}
}

// trim evicts what is too much.
func (c *planCache) trim() {
	for len(c.entries) > maxPlans || c.size > maxPlanSize && len(c.entries) > 1 {
		c.evict(0)
	}
}

// evict drops an entry; its machine lives until the last user leaves.
func (c *planCache) evict(i int) {
	e := c.entries[i]
	c.entries = slices.Delete(c.entries, i, i+1)
	c.size -= e.size
	e.evicted = true
	e.closeUnused()
}

// leave ends the use of a plan.
func (c *planCache) leave(e *planned) {
	c.mu.Lock()
	e.users--
	e.closeUnused()
	c.mu.Unlock()
	c.users.Done()
}

// closeUnused closes the machine of an evicted entry, which then has no run
// that it would wait for.
func (e *planned) closeUnused() {
	if e.evicted && e.users == 0 && e.isReady() && e.machine != nil {
		e.machine.Close()
	}
}

// close drops all entries, refuses new users and waits for those there are.
func (c *planCache) close() {
	c.mu.Lock()
	c.closed = true
	for len(c.entries) > 0 {
		c.evict(0)
	}
	c.mu.Unlock()
	c.users.Wait()
	c.workers.Close()
}

// envKey prints a binding: "B=8 S=128".
func envKey(env ir.Env) string {
	var b strings.Builder
	for _, name := range sortedKeys(env) {
		fmt.Fprintf(&b, "%s=%d ", name, env[name])
	}
	return b.String()
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// plan makes the machine for a binding: from the bytecode of a compiled file
// where there is one, else by lowering.
func (p *Program) plan(env ir.Env) (*vm.Machine, error) {
	opts := vm.Options{Memory: &p.plans.memory, Workers: p.plans.helpers(p.opts.Threads), Poison: p.plans.poison, Check: p.plans.check, Kernels: p.kernels()}
	code := p.compiled
	if code == nil {
		var err error
		if code, opts.Calls, err = p.emit(env); err != nil {
			return nil, err
		}
	}
	opts.Reads = p.held.pin
	return vm.Load(code, p.tensor, opts)
}

// kernels are what the tasks of all machines may be run by.
func (p *Program) kernels() *kernel.Options {
	p.plans.once.Do(func() {
		p.plans.kernels = p.opts.kernelOptions()
		p.plans.kernels.Packs.Hold = p.held.hold
		p.plans.kernels.Packs.Release = func(t *tensor.T) {
			if p.plans.seldom != nil {
				p.plans.seldom(t)
			}
			p.held.release(t)
		}
		if p.plans.packed != nil {
			addPacks(p.plans.kernels.Packs, p.plans.packed)
		}
		p.plans.kernels.Choose = chooseBy(p.bank, &p.plans.kernels)
	})
	return &p.plans.kernels
}

// helpers are the workers of all machines: one less than the threads that a run may
// have. Those of a program that nobody closes end when it is collected.
func (c *planCache) helpers(threads int) *vm.Workers {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.workers == nil {
		c.workers = vm.SharedWorkers(threadsOf(threads) - 1)
		vm.EndWith(c, c.workers)
	}
	return c.workers
}

// threadsOf is how many threads a run has where so many are asked for.
func threadsOf(asked int) int {
	most := runtime.GOMAXPROCS(0)
	if asked == 0 {
		return most
	}
	return min(asked, most)
}

// safePlan is plan, in which a panic is an error: others wait for the outcome.
func (p *Program) safePlan(env ir.Env) (m *vm.Machine, err error) {
	defer func() {
		if r := recover(); r != nil {
			m, err = nil, Diagnostics{{Code: "internal", Subject: p.fn.Name, Message: fmt.Sprintf("planning %sfailed: %v", envKey(env), r)}}
		}
	}()
	return p.plan(env)
}

// code lowers the program for a binding.
func (p *Program) code(env ir.Env) (*bytecode.Program, error) {
	code, _, err := p.emit(env)
	return code, err
}

// emit is code, with the call of each kernel.
func (p *Program) emit(env ir.Env) (*bytecode.Program, []*ir.Call, error) {
	most, err := p.bound()
	if err != nil {
		return nil, nil, err
	}
	var known *lower.Known
	if len(env) > 0 {
		known = &p.known // there will be more plans
	}
	plan, err := p.opts.lowerWithin(p.fn, env, most, known)
	if err != nil {
		return nil, nil, err
	}
	return codegen.Emit(plan)
}

// weight finds the values of a parameter, which stay where they are from now on.
func (p *Program) weight(name string) (*Tensor, error) {
	if err := p.held.pin(name); err != nil {
		return nil, err
	}
	return p.tensor(name)
}

// tensor is weight for machines, which say what of it they read: see heldWeights.
func (p *Program) tensor(name string) (*Tensor, error) {
	if t := p.weights[name]; t != nil {
		return t, nil
	}
	if p.fn.Weights != nil && p.fn.MadeWeights()[name] != nil {
		p.making.Do(func() { p.made, p.madeErr = p.computeWeights() })
		return p.made[name], p.madeErr
	}
	return nil, Diagnostics{{Code: "missing-weight", Subject: name, Message: "the parameter has no values"}}
}
