package passes

import (
	"slices"

	"github.com/npulang/npu/ir"
)

// dropDead removes what no result needs.
//
//	%a = exp %x : f32[4]           =>
//	%b = neg %x : f32[4]               %b = neg %x : f32[4]
//	return %b                          return %b
//
// Definitions come before uses, so one sweep from the end sees every reader of
// a value before the value. An operator of which only a further result is
// needed stays; the projections that nobody reads go. The parameters of a
// function are its signature and stay. What no body of a loop or a branch reads is no
// argument of it; so their bodies are looked through first.
//
// A dropped value may have been one that fails when it runs: what nobody needs
// is not computed, and does not fail.
func dropDead(f *ir.Func, t *Trace) {
	live := make(map[*ir.Value]bool, len(f.Body))
	for _, v := range f.Results {
		live[v] = true
	}
	dead := 0
	for i := len(f.Body) - 1; i >= 0; i-- {
		v := f.Body[i]
		if !live[v] && t.Rewrite("drop-dead", v) {
			dead++
			continue
		}
		live[v] = true
		dropUnread(v, t)
		for _, a := range v.Args {
			live[a] = true
		}
	}
	if dead == 0 {
		return
	}
	kept := make([]*ir.Value, 0, len(f.Body)-dead)
	for _, v := range f.Body {
		if live[v] {
			kept = append(kept, v)
		}
	}
	f.Body = kept
}

// firstDroppable is the first argument of a loop or a branch that it may do without.
func firstDroppable(v *ir.Value) int {
	switch v.Op {
	case ir.Loop:
		return int(attrOf(v, "carry").Int)
	case ir.If:
		return 1
	}
	return len(v.Args)
}

// dropUnread removes arguments that no body of a region reads, and the parameters that
// stand for them.
func dropUnread(v *ir.Value, t *Trace) {
	first := firstDroppable(v)
	if first == len(v.Args) {
		return
	}
	read := map[*ir.Value]bool{}
	for _, body := range v.Bodies {
		t.inside(body, func() { dropDead(body, t) })
		for _, p := range body.Results {
			read[p] = true
		}
		for _, n := range body.Body {
			for _, a := range n.Args {
				read[a] = true
			}
		}
	}
	for i := len(v.Args) - 1; i >= first; i-- {
		// Bodies of a region have the same parameters, but for what comes first.
		behind := len(v.Args) - i
		param := func(b *ir.Func) int { return len(b.Params) - behind }
		if slices.ContainsFunc(v.Bodies, func(b *ir.Func) bool { return read[b.Params[param(b)]] }) || !t.Rewrite("drop-dead", v) {
			continue
		}
		for _, b := range v.Bodies {
			b.Params = slices.Delete(slices.Clone(b.Params), param(b), param(b)+1)
		}
		v.Args = slices.Delete(slices.Clone(v.Args), i, i+1)
	}
}

// liveIn are the values that the results of a function need.
func liveIn(f *ir.Func) map[*ir.Value]bool {
	live := make(map[*ir.Value]bool, len(f.Body))
	for _, v := range f.Results {
		live[v] = true
	}
	for _, v := range slices.Backward(f.Body) {
		for _, a := range v.Args {
			live[a] = live[a] || live[v]
		}
	}
	return live
}
