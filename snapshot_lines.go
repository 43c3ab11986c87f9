package npu

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

const (
	// elided is how many elements of a constant a step shows.
	elided = 8
	// longestLine bounds the characters of a line: attributes may hold thousands of
	// numbers.
	longestLine = 400
)

// look takes the function as it is after a pass into the history, if it differs
// from the last step.
func (h *history) look(pass string, f *ir.Func) {
	h.identify(f)
	s := h.step(pass, f)
	last := len(h.steps) - 1
	if last >= 0 {
		h.before = append(h.before, last)
		if compareSteps(&h.steps[last], s) {
			return
		}
	}
	h.steps = append(h.steps, *s)
}

// step prints the function.
func (h *history) step(pass string, f *ir.Func) *Snapshot {
	lines, names := ir.Lines(f, ir.PrintOptions{Elide: elided})
	s := &Snapshot{Pass: pass}
	scopes := s.scopes(f)
	for _, l := range lines {
		line := SnapshotLine{Text: cut(l.Text), Scope: scopes[l.Func], Same: -1}
		if l.Value != nil {
			line.Value, line.Place = h.numbers[l.Value], l.Value.Pos
		}
		s.Lines = append(s.Lines, line)
		s.keys = append(s.keys, h.key(l))
	}
	f.Walk(func(g *ir.Func, v *ir.Value) bool {
		if arg := h.alias[v]; arg == nil || names[v] != names[arg] {
			s.Names = append(s.Names, SnapshotName{scopes[g], names[v], h.numbers[v]})
		}
		return true
	})
	return s
}

// scopes numbers the functions, and notes which lies in which.
func (s *Snapshot) scopes(f *ir.Func) map[*ir.Func]int {
	scopes := map[*ir.Func]int{f: 0}
	s.Scopes = []int{-1}
	f.Walk(func(g *ir.Func, v *ir.Value) bool {
		for _, b := range v.Bodies {
			if b != nil {
				scopes[b] = len(s.Scopes)
				s.Scopes = append(s.Scopes, scopes[g])
			}
		}
		return true
	})
	return scopes
}

func cut(line string) string {
	if r := []rune(line); len(r) > longestLine {
		return string(r[:longestLine]) + "…"
	}
	return line
}

// key says what a line says, with numbers for the names of values: names of
// values that the source does not name change whenever one above goes.
func (h *history) key(l ir.Line) string {
	var b strings.Builder
	text := strings.TrimSpace(l.Text)
	switch {
	case l.Value != nil:
		h.valueKey(&b, l.Value)
	case strings.HasPrefix(text, "return"), strings.HasPrefix(text, "yield"):
		fmt.Fprintf(&b, "end %d", h.owners[l.Func])
		h.list(&b, l.Func.Results)
	default:
		fmt.Fprintf(&b, "%d %s", h.owners[l.Func], text)
	}
	return b.String()
}

func (h *history) valueKey(b *strings.Builder, v *ir.Value) {
	fmt.Fprintf(b, "%d %v = %s", h.numbers[v], h.further[v], v.Op.Name)
	h.list(b, v.Args)
	for _, a := range v.Attrs {
		b.WriteByte(' ')
		if a.Kind == ir.KTensor && a.Tensor != nil {
			fmt.Fprintf(b, "tensor %d", h.tensor(a.Tensor))
			continue
		}
		b.WriteString(a.String())
	}
	fmt.Fprintf(b, " : %s %v %d", v.Type, v.Annots, len(v.Bodies))
}

func (h *history) list(b *strings.Builder, vs []*ir.Value) {
	for _, v := range vs {
		fmt.Fprintf(b, " %d", h.numbers[v])
		if v != nil && v.Index() > 0 {
			fmt.Fprintf(b, ".%d", v.Index())
		}
	}
}

// tensor numbers constants: comparing them element by element after each pass
// would cost more than the passes.
func (h *history) tensor(t *tensor.T) int {
	if h.tensors[t] == 0 {
		h.tensors[t] = len(h.tensors) + 1
	}
	return h.tensors[t]
}

// compareSteps notes for each line of a step which line of the one before says
// the same, so that both go down, and reports whether all of them do.
func compareSteps(before, s *Snapshot) bool {
	at := map[string][]int{}
	for i, k := range before.keys {
		at[k] = append(at[k], i)
	}
	var lines, found []int
	for i, k := range s.keys {
		s.Lines[i].Same = -1
		if list := at[k]; len(list) > 0 {
			at[k] = list[1:]
			lines, found = append(lines, i), append(found, list[0])
		}
	}
	rising := longestRising(found)
	for _, i := range rising {
		s.Lines[lines[i]].Same = found[i]
	}
	return len(rising) == len(s.Lines) && len(s.Lines) == len(before.Lines)
}

// longestRising returns the places of a longest rising subsequence (patience
// sorting: the top of each pile is the least end of a sequence of its length).
func longestRising(list []int) []int {
	var piles []int // places
	from := make([]int, len(list))
	for i, n := range list {
		k := sort.Search(len(piles), func(k int) bool { return list[piles[k]] >= n })
		from[i] = -1
		if k > 0 {
			from[i] = piles[k-1]
		}
		if k == len(piles) {
			piles = append(piles, i)
		} else {
			piles[k] = i
		}
	}
	var places []int
	if len(piles) > 0 {
		for i := piles[len(piles)-1]; i >= 0; i = from[i] {
			places = append(places, i)
		}
	}
	slices.Reverse(places)
	return places
}
