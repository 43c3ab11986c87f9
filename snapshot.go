package npu

import (
	"fmt"
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/passes"
)

// An Exploration is the way of one graph through the passes, as npu report shows
// it: the text of the graph after each pass, with what is the same value in all
// of them.
type Exploration struct {
	Graph    string
	Within   float64 // how far results may be off from the source's; 0: not a bit
	Record   *Record
	Files    []SourceText // the script, then its imports that values come from; none for IR
	Steps    []Snapshot   // the graph as the front end made it, then after each pass that changed it
	Rewrites []FoundRewrite

	// Before and After are the graph as the front end made it, and after all passes.
	Before, After *Picture
}

// A SourceText is a file that values come from.
type SourceText struct{ Name, Text string }

// A Snapshot is the graph at one time.
type Snapshot struct {
	Pass  string // that made it; empty: the front end
	Lines []SnapshotLine
	Names []SnapshotName
	// Scopes holds, for each function, the scope that holds its operator: -1 for the
	// graph, which is the first.
	Scopes []int

	keys []string // of the lines: equal for lines that say the same
}

// A SnapshotLine is one line of the IR's text form.
type SnapshotLine struct {
	Text  string
	Value int      // number of the value that the line computes, the same in all steps; 0: none
	Scope int      // whose line it is
	Place Location // where the source computes the value
	Same  int      // the line of the step before that says the same; -1: none does
}

// A SnapshotName is the name of a value in one function.
type SnapshotName struct {
	Scope int
	Name  string // as printed, with %
	Value int
}

// A Location is a place in a source: file, line and column.
type Location = diag.Loc

// A FoundRewrite is a rewrite with the value that it changes.
type FoundRewrite struct {
	Rewrite
	Step  int // in which the value has the rewrite's name: the last one before the pass
	Value int // 0: the value was made and rewritten by the same pass
}

// PassDoc says what is different after a pass; of none that is known it is empty.
func PassDoc(pass string) string {
	i := slices.IndexFunc(passes.Pipeline, func(p passes.Pass) bool { return p.Name == pass })
	if i < 0 {
		return ""
	}
	return passes.Pipeline[i].Doc
}

const (
	// mostLines bounds the graphs that can be explored: a page of more opens on no
	// machine.
	mostLines = 200_000
	// mostStepLines bounds the lines of all steps together. Where there are more,
	// only the first and the last step are kept.
	mostStepLines = 400_000
)

// Explore optimises a graph and keeps what each pass makes of it. It needs no
// weights.
func Explore(src Source, opts Options) (*Exploration, Diagnostics, error) {
	c, g, err := loadGraph(src, opts)
	if err != nil {
		return nil, nil, err
	}
	defer c.close()
	e, err := c.explore(g.Func)
	if err != nil {
		return nil, nil, asDiagnostics(err)
	}
	return e, c.warnings, nil
}

func (c *compilation) explore(f *ir.Func) (*Exploration, error) {
	f, _ = f.Clone()
	h := newHistory()
	h.look("", f)
	if n := len(h.steps[0].Lines); n > mostLines {
		return nil, Diagnostics{{Code: "limit", Subject: f.Name, Message: fmt.Sprintf("the graph has %d lines, and a report shows at most %d", n, mostLines),
			Helps: []string{"npu emit --after PASS shows the graph after one pass"}}}
	}
	before := h.picture(f)
	o, err := c.optimiseInPlace(f, h.look)
	if err != nil {
		return nil, err
	}
	found := h.bound(h.find(o.record), mostStepLines)
	return &Exploration{
		Graph: o.fn.Name, Within: o.within, Record: o.record, Files: c.files(h),
		Steps: h.steps, Rewrites: found, Before: before, After: h.picture(o.fn),
	}, nil
}

// files are the texts of a script that values come from.
func (c *compilation) files(h *history) []SourceText {
	if c.unit == nil {
		return nil
	}
	files := []SourceText{{c.text.name, c.text.content}}
	seen := map[string]bool{c.text.name: true, "": true}
	for _, s := range h.steps {
		for _, l := range s.Lines {
			if seen[l.Place.File] {
				continue
			}
			seen[l.Place.File] = true
			// A file that is gone meanwhile is not shown, its places are.
			if b, err := c.text.read(l.Place.File); err == nil {
				files = append(files, SourceText{l.Place.File, string(b)})
			}
		}
	}
	return files
}

// bound leaves the first and the last step where all together have more lines
// than most. Rewrites are shown in the first one then, or, if they came after the
// last, in that.
func (h *history) bound(found []FoundRewrite, most int) []FoundRewrite {
	lines, last := 0, len(h.steps)-1
	for _, s := range h.steps {
		lines += len(s.Lines)
	}
	if lines <= most || last < 2 {
		return found
	}
	h.steps = []Snapshot{h.steps[0], h.steps[last]}
	compareSteps(&h.steps[0], &h.steps[1])
	for i := range found {
		found[i].Step /= last // 1 for the last one only
	}
	return found
}

// find looks the values of the rewrites up in the steps. The rewrites stand in
// the order of the passes, which say how many each has made.
func (h *history) find(r *Record) []FoundRewrite {
	found := make([]FoundRewrite, 0, len(r.Rewrites))
	index := make([]map[string][]SnapshotName, len(h.steps))
	for i, p := range r.Passes {
		step := h.before[min(i, len(h.before)-1)]
		if index[step] == nil {
			index[step] = h.steps[step].byName()
		}
		for range p.Rewrites {
			w := r.Rewrites[len(found)]
			found = append(found, FoundRewrite{w, step, h.lookup(index[step][w.Value], w.Pos)})
		}
	}
	return found
}

func (s *Snapshot) byName() map[string][]SnapshotName {
	names := make(map[string][]SnapshotName, len(s.Names))
	for _, n := range s.Names {
		names[n.Name] = append(names[n.Name], n)
	}
	return names
}

// lookup chooses among values of one name, in different functions, the one that
// comes from a place.
func (h *history) lookup(names []SnapshotName, at Location) int {
	for _, n := range names {
		if h.places[n.Value] == at {
			return n.Value
		}
	}
	if len(names) == 0 {
		return 0
	}
	return names[0].Value
}
