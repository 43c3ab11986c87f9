package ir

import "strconv"

// Names gives every value of f, but for those inside regions, the name under
// which the text form shows it: "%h", "%h.1" for a repeat, "%0" for one without
// a name, in print order. Later stages show the same names.
func (f *Func) Names() map[*Value]string { return nameValues(f, nil) }

// A namer hands out printed names, each once.
type namer struct {
	names   map[*Value]string
	taken   map[string]bool
	repeats map[string]int // how many repeats of a name there were
	next    int            // number of the next value without a name
}

// nameValues names the values of f; inherited holds printed names of
// parameters.
func nameValues(f *Func, inherited map[*Value]string) map[*Value]string {
	size := len(f.Params) + len(f.Body)
	n := &namer{names: make(map[*Value]string, size), taken: make(map[string]bool, size), repeats: map[string]int{}}
	for _, v := range f.Params {
		if name, ok := inherited[v]; ok {
			n.names[v], n.taken[name] = name, true
		}
	}
	for _, v := range f.Params {
		n.name(v)
	}
	// Projections are printed with their owner.
	further := furtherResults(f)
	for _, v := range f.Body {
		n.name(v)
		results := further[v]
		for i, left := 1, len(results); left > 0 && i <= maxResults; i++ {
			if r := results[i]; r != nil {
				n.name(r)
				left--
			}
		}
	}
	return n.names
}

func (n *namer) name(v *Value) {
	if n.names[v] != "" {
		return
	}
	name := n.unused(v.Name)
	n.names[v], n.taken[name] = name, true
}

func (n *namer) unused(base string) string {
	if base == "" {
		for {
			name := "%" + strconv.Itoa(n.next)
			n.next++
			if !n.taken[name] {
				return name
			}
		}
	}
	name := "%" + quoteName(base)
	for n.taken[name] {
		n.repeats[base]++
		name = "%" + quoteName(base+"."+strconv.Itoa(n.repeats[base]))
	}
	return name
}
