package vm_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/npulang/npu/codegen"
	"github.com/npulang/npu/codegen/bytecode"
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/device"
	"github.com/npulang/npu/lower"
)

// eager is a host on which every stream pays, however small the tasks.
var eager = func() *device.Device {
	d := *device.Lookup("cpu")
	d.Name, d.LaunchNs, d.SyncNs, d.Workers, d.DefaultStreams = "eager", 1000, 0, 64, 64
	return &d
}()

// strategies are all that lower has.
var strategies = []lower.Strategy{lower.Latency, lower.Throughput, lower.Balanced}

// manyStreams lists options under which random graphs get several streams.
func manyStreams() (list []lower.Options) {
	for _, s := range strategies {
		for _, n := range []int{2, 3, 8, 64} {
			list = append(list, lower.Options{Device: eager, Strategy: s, Streams: n})
		}
	}
	return append(list, lower.Options{Device: device.Lookup("ascend910a")})
}

// without returns a copy of the program that lacks some instructions of its
// first function.
func without(p *bytecode.Program, drop func(stream, at int, in *bytecode.Instr) bool) *bytecode.Program {
	q := *p
	q.Functions = slices.Clone(p.Functions)
	q.Functions[0].Streams = slices.Clone(p.Functions[0].Streams)
	for s := range q.Functions[0].Streams {
		var code []bytecode.Instr
		for at, in := range p.Functions[0].Streams[s].Code {
			if !drop(s, at, &in) {
				code = append(code, in)
			}
		}
		q.Functions[0].Streams[s].Code = code
	}
	return &q
}

// TestEveryEventIsNeeded takes each event, and each single wait, out of many
// programs: the verifier accepts them as they are, and must find the pair of
// accesses that each event keeps apart.
func TestEveryEventIsNeeded(t *testing.T) {
	events, waits := 0, 0
	for i, opts := range manyStreams() {
		for seed := range 6 {
			f := randomFunc(uint64(seed+10*i), 40)
			pinSome(f, seed)
			p := emitted(t, f, opts)
			events += p.Events
			waits += checkEvents(t, p)
		}
	}
	if events < 500 || waits < events {
		t.Errorf("only %d events and %d waits were tried", events, waits)
	}
}

// pinSome gives values to streams with names, every seventh from a seed on.
func pinSome(f *ir.Func, seed int) {
	if seed%2 == 0 {
		return
	}
	for i := seed; i < len(f.Body); i += 7 {
		f.Body[i].Annots = []ir.Annot{{Name: "stream", Arg: fmt.Sprintf("user%d", i%2)}}
	}
}

func emitted(t *testing.T, f *ir.Func, opts lower.Options) *bytecode.Program {
	t.Helper()
	plan, err := lower.Lower(f, nil, opts)
	if err != nil {
		t.Fatal(err)
	}
	p, _, err := codegen.Emit(plan)
	if err != nil {
		t.Fatal(err)
	}
	if err := bytecode.Verify(p); err != nil {
		t.Fatalf("%v\n%s", err, listing(p))
	}
	return p
}

// checkEvents takes events and waits out one by one, and counts the waits.
func checkEvents(t *testing.T, p *bytecode.Program) (waits int) {
	t.Helper()
	for e := range p.Events {
		q := without(p, func(_, _ int, in *bytecode.Instr) bool {
			return (in.Op == bytecode.Wait || in.Op == bytecode.Post) && in.Index == e
		})
		wantUnordered(t, p, bytecode.Verify(q), e)
	}
	for s, stream := range p.Functions[0].Streams {
		for at, in := range stream.Code {
			if in.Op == bytecode.Wait {
				waits++
				q := without(p, func(s2, at2 int, _ *bytecode.Instr) bool { return s == s2 && at == at2 })
				wantUnordered(t, p, bytecode.Verify(q), in.Index)
			}
		}
	}
	return waits
}

func wantUnordered(t *testing.T, p *bytecode.Program, err error, event int) {
	t.Helper()
	if err == nil {
		t.Fatalf("the program is accepted without e%d:\n%s", event, listing(p))
	}
	if !strings.Contains(err.Error(), "nothing orders") {
		t.Fatalf("without e%d the verifier says %q\n%s", event, err, listing(p))
	}
}
