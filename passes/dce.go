package passes

import "github.com/npulang/npu/ir"

// dropDead removes what no result needs.
//
//	%a = exp %x : f32[4]           =>
//	%b = neg %x : f32[4]               %b = neg %x : f32[4]
//	return %b                          return %b
//
// Definitions come before uses, so one sweep from the end sees every reader of
// a value before the value. An operator of which only a further result is
// needed stays; the projections that nobody reads go. The parameters of a
// function are its signature and stay, as do the arguments of a region.
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
