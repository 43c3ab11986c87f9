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

// Rewrites picks those of a user's rewrites that take part.
func (o *Options) Rewrites(rules []*rewrite.Rule) []*rewrite.Rule {
	var on []*rewrite.Rule
	for _, r := range rules {
		if yes, _ := o.enabled(r); yes && !r.Fusion() {
			on = append(on, r)
		}
	}
	return on
}
