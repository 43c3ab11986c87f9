package fusion

import "github.com/npulang/npu/passes/rewrite"

// enabled reports whether a user's rule, or a fusion, takes part, and if not, by
// which code it is turned down.
func (o *Options) enabled(r *rewrite.Rule) (yes bool, code string) {
	if on, set := o.Switches[r.Name]; set {
		return on, "disabled"
	}
	switch {
	case o.Mode == None:
		return false, "disabled"
	case !r.Safe && o.Mode != All:
		return false, "not-safe"
	}
	return true, ""
}

// Rewrites picks those of a user's rewrites that take part. The others are told
// why not.
func (o *Options) Rewrites(rules []*rewrite.Rule) (on []*rewrite.Rule, off map[*rewrite.Rule]string) {
	off = map[*rewrite.Rule]string{}
	for _, r := range rules {
		if r.Fusion() {
			continue
		}
		if yes, code := o.enabled(r); yes {
			on = append(on, r)
		} else {
			off[r] = code
		}
	}
	return on, off
}
