package vm_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/npulang/npu/codegen/bytecode"
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm"
)

// A mutation spoils the plan of a program: where something lies or when it is
// done, never what is computed. It reports whether it found something to change.
type mutation struct {
	name string
	do   func(r *rand.Rand, p *bytecode.Program) bool
}

var mutations = []mutation{
	{"move a buffer", moveBuffer},
	{"exchange two buffers", exchangeBuffers},
	{"shrink the arena", shrinkArena},
	{"drop a wait", func(r *rand.Rand, p *bytecode.Program) bool { return dropOne(r, p, bytecode.Wait) }},
	{"drop a post", func(r *rand.Rand, p *bytecode.Program) bool { return dropOne(r, p, bytecode.Post) }},
	{"wait for another event", renameEvent},
	{"exchange neighbours", exchangeNeighbours},
	{"move to another stream", changeStream},
}

// moveBuffer puts a buffer, with all that views it, where another one lies or at
// any offset.
func moveBuffer(r *rand.Rand, p *bytecode.Program) bool {
	at := ownBuffers(p)
	if len(at) == 0 {
		return false
	}
	b := at[r.IntN(len(at))]
	to := p.Buffers[at[r.IntN(len(at))]].Offset
	if r.IntN(2) == 0 {
		to = r.Int64N(p.Arena/p.Align+1) * p.Align
	}
	shift(p, b, to-p.Buffers[b].Offset)
	return true
}

func exchangeBuffers(r *rand.Rand, p *bytecode.Program) bool {
	at := ownBuffers(p)
	if len(at) == 0 {
		return false
	}
	a, b := at[r.IntN(len(at))], at[r.IntN(len(at))]
	d := p.Buffers[b].Offset - p.Buffers[a].Offset
	shift(p, a, d)
	if a != b {
		shift(p, b, -d)
	}
	return true
}

// ownBuffers are those in the arena that view no other.
func ownBuffers(p *bytecode.Program) (list []int) {
	for i, b := range p.Buffers {
		if b.Space == bytecode.ArenaSpace && b.Base < 0 {
			list = append(list, i)
		}
	}
	return list
}

func shift(p *bytecode.Program, b int, by int64) {
	for i := range p.Buffers {
		if i == b || p.Buffers[i].Base == b {
			p.Buffers[i].Offset += by
		}
	}
}

func shrinkArena(r *rand.Rand, p *bytecode.Program) bool {
	p.Arena -= min(p.Arena, 1+r.Int64N(p.Align))
	return true
}

// A spot is an instruction of the program itself.
type spot struct{ stream, at int }

func spots(p *bytecode.Program, keep func(in *bytecode.Instr) bool) (list []spot) {
	for s := range p.Functions[0].Streams {
		code := p.Functions[0].Streams[s].Code
		for i := range code {
			if code[i].Op != bytecode.End && keep(&code[i]) {
				list = append(list, spot{s, i})
			}
		}
	}
	return list
}

func dropOne(r *rand.Rand, p *bytecode.Program, op bytecode.Opcode) bool {
	list := spots(p, func(in *bytecode.Instr) bool { return in.Op == op })
	if len(list) == 0 {
		return false
	}
	at := list[r.IntN(len(list))]
	s := &p.Functions[0].Streams[at.stream]
	s.Code = slices.Delete(s.Code, at.at, at.at+1)
	return true
}

func renameEvent(r *rand.Rand, p *bytecode.Program) bool {
	list := spots(p, func(in *bytecode.Instr) bool { return in.Op == bytecode.Wait })
	if len(list) == 0 {
		return false
	}
	at := list[r.IntN(len(list))]
	p.Functions[0].Streams[at.stream].Code[at.at].Index = r.IntN(p.Events)
	return true
}

func exchangeNeighbours(r *rand.Rand, p *bytecode.Program) bool {
	list := spots(p, func(*bytecode.Instr) bool { return true })
	at := list[r.IntN(len(list))]
	code := p.Functions[0].Streams[at.stream].Code
	if at.at == 0 {
		return false
	}
	code[at.at-1], code[at.at] = code[at.at], code[at.at-1]
	return true
}

// changeStream takes an instruction from its stream to any place of another one.
func changeStream(r *rand.Rand, p *bytecode.Program) bool {
	streams := p.Functions[0].Streams
	list := spots(p, func(*bytecode.Instr) bool { return true })
	from, to := list[r.IntN(len(list))], &streams[r.IntN(len(streams))]
	in := streams[from.stream].Code[from.at]
	streams[from.stream].Code = slices.Delete(streams[from.stream].Code, from.at, from.at+1)
	to.Code = slices.Insert(to.Code, r.IntN(len(to.Code)), in)
	return true
}

// TestMutants spoils the plans of random graphs. Most mutants the verifier
// refuses. What it accepts must compute the same as before, in any order of
// tasks, with memory full of NaN that holds nothing.
func TestMutants(t *testing.T) {
	w := vm.NewWorkers(2)
	defer w.Close()
	refused, accepted := map[string]int{}, map[string]int{}
	const least = 60 // graphs, however slow the machine
	end := time.Now().Add(moment())
	for seed := uint64(0); seed < least || time.Now().Before(end); seed++ {
		r := rand.New(rand.NewPCG(seed, 33))
		f, in := stressGraph(t, r, seed)
		want, err := interpret(f, in)
		if err != nil {
			continue // whose order of errors is not part of the plan
		}
		p := program(t, f, bindings(t, f, in), stressOptions(r))
		for range 12 {
			m := mutations[r.IntN(len(mutations))]
			q := deepCopy(t, p)
			if !m.do(r, q) {
				continue
			}
			if bytecode.Verify(q) != nil {
				refused[m.name]++
				continue
			}
			accepted[m.name]++
			runMutant(t, fmt.Sprintf("seed %d: %s", seed, m.name), f, q, w, in, want)
		}
	}
	t.Logf("refused %v, accepted %v", refused, accepted)
	for _, m := range mutations {
		if refused[m.name] == 0 {
			t.Errorf("no mutant of the kind %q was refused; %d were accepted", m.name, accepted[m.name])
		}
	}
}

func deepCopy(t *testing.T, p *bytecode.Program) *bytecode.Program {
	t.Helper()
	q, err := bytecode.Decode(bytecode.Encode(p))
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func runMutant(t *testing.T, what string, f *ir.Func, q *bytecode.Program, w *vm.Workers, in, want []*tensor.T) {
	t.Helper()
	m := load(t, f, q, vm.Options{Workers: w, Poison: true})
	defer m.Close()
	for seed := range uint64(3) {
		m.Disturb(seed, 3)
		got, err := m.Run(context.Background(), in)
		if err != nil {
			t.Fatalf("%s: %v\n%s", what, err, listing(q))
		}
		sameOf(t, what+"\n"+listing(q), f, got, want)
	}
}
