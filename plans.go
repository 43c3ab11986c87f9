package npu

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/npulang/npu/codegen"
	"github.com/npulang/npu/codegen/bytecode"
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/lower"
	"github.com/npulang/npu/vm"
)

// maxPlans bounds how many bindings of symbolic dimensions a program keeps a
// plan for; the one that was not used for longest goes first.
const maxPlans = 16

// A planCache holds the machines of a program, one for each binding.
type planCache struct {
	mu      sync.Mutex
	entries []*planned // the one used last comes last
	closed  bool
}

// A planned is the machine of one binding.
type planned struct {
	key     string
	once    sync.Once
	machine *vm.Machine
	err     error
	users   int
	evicted bool
}

// acquire returns the machine for a binding, made now if need be. done must be
// called when the run is over.
func (c *planCache) acquire(p *Program, env ir.Env) (m *vm.Machine, done func(), err error) {
	e, err := c.enter(envKey(env))
	if err != nil {
		return nil, nil, err
	}
	// The first user makes the plan, others wait for it; nobody holds the lock.
	e.once.Do(func() { e.machine, e.err = p.plan(env) })
	if e.err != nil {
		c.leave(e)
		return nil, nil, e.err
	}
	return e.machine, func() { c.leave(e) }, nil
}

// enter finds or makes the entry of a key and counts a user.
func (c *planCache) enter(key string) (*planned, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, Diagnostics{{Code: "bad-input", Message: "the program is closed"}}
	}
	i := slices.IndexFunc(c.entries, func(e *planned) bool { return e.key == key })
	if i < 0 {
		c.entries = append(c.entries, &planned{key: key})
		i = len(c.entries) - 1
	}
	e := c.entries[i]
	c.entries = append(slices.Delete(c.entries, i, i+1), e)
	e.users++
	if len(c.entries) > maxPlans {
		c.evict(0)
	}
	return e, nil
}

// evict drops an entry; its machine lives until the last user leaves.
func (c *planCache) evict(i int) {
	e := c.entries[i]
	c.entries = slices.Delete(c.entries, i, i+1)
	e.evicted = true
	if e.users == 0 {
		e.close()
	}
}

func (c *planCache) leave(e *planned) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e.users--
	if e.evicted && e.users == 0 {
		e.close()
	}
}

func (e *planned) close() {
	if e.machine != nil {
		e.machine.Close()
	}
}

// close drops all entries and refuses new users.
func (c *planCache) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for len(c.entries) > 0 {
		c.evict(0)
	}
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
	code := p.compiled
	if code == nil {
		made, err := p.code(env)
		if err != nil {
			return nil, err
		}
		code = made
	}
	return vm.Load(code, p.weight, vm.Options{MaxMemory: p.opts.MaxMemory})
}

// code lowers the program for a binding.
func (p *Program) code(env ir.Env) (*bytecode.Program, error) {
	plan, err := lower.Lower(p.fn, env, lower.Options{})
	if err != nil {
		return nil, err
	}
	return codegen.Emit(plan)
}

// weight finds the values of a parameter.
func (p *Program) weight(name string) (*Tensor, error) {
	if t := p.weights[name]; t != nil {
		return t, nil
	}
	return nil, Diagnostics{{Code: "missing-weight", Subject: name, Message: "the parameter has no values"}}
}
