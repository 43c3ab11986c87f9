package page

import (
	"strings"

	"github.com/npulang/npu"
)

// data is what the page shows, as its scripts read it. Lists stand side by side
// rather than in objects, and a text that several columns hold is there once: a
// report of 3,000 values takes a few megabytes.
type data struct {
	Graph   string  `json:"graph"`
	Within  float64 `json:"within"`
	Version string  `json:"version"`

	Texts  []string  `json:"texts"`  // lines and names, by number
	Places []place   `json:"places"` // by number
	Files  []file    `json:"files"`
	Steps  []step    `json:"steps"`
	Passes []passRow `json:"passes"` // all that ran

	Rewrites []rewrite          `json:"rewrites"`
	Fusions  []npu.FusionStatus `json:"fusions"`
	Reasons  map[string]string  `json:"reasons"`

	Before string `json:"before"` // pictures; empty: the graph is too large for one
	After  string `json:"after"`
}

type place struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Col  int    `json:"col"`
}

type file struct {
	Name  string   `json:"name"`
	Lines []string `json:"lines"`
}

// A step is one column. The lists of lines are as long as each other, and so are
// those of names.
type step struct {
	Pass string `json:"pass"` // empty: the front end
	Doc  string `json:"doc"`

	Text  []int `json:"text"`
	Value []int `json:"value"`
	Scope []int `json:"scope"`
	Place []int `json:"place"` // -1: nowhere
	Same  []int `json:"same"`  // the line of the column before that says the same; -1: none

	Scopes []int `json:"scopes"` // which scope holds each one
	Names  names `json:"names"`
}

type names struct {
	Scope []int `json:"scope"`
	Name  []int `json:"name"` // of Texts
	Value []int `json:"value"`
}

type passRow struct {
	Name     string `json:"name"`
	Rewrites int    `json:"rewrites"`
	Before   int    `json:"before"`
	After    int    `json:"after"`
	Time     int64  `json:"ns"`
}

type rewrite struct {
	Pass   string  `json:"pass"`
	Rule   string  `json:"rule"`
	Name   string  `json:"name"`
	Value  int     `json:"value"`
	Step   int     `json:"step"`
	Place  int     `json:"place"`
	Within float64 `json:"within"`
}

// mostDrawn bounds the nodes of a picture: a browser shows more, but nobody pans
// over them.
const mostDrawn = 10_000

func newData(e *npu.Exploration) *data {
	t := &tables{texts: map[string]int{}, places: map[npu.Location]int{}}
	d := &data{
		Graph: e.Graph, Within: e.Within, Version: npu.Version(),
		Fusions: e.Record.Fusions, Reasons: map[string]string{},
		Files: []file{}, Passes: []passRow{}, Rewrites: []rewrite{},
	}
	for _, r := range npu.FusionReasons() {
		d.Reasons[r.Code] = r.Doc
	}
	for _, f := range e.Files {
		d.Files = append(d.Files, file{f.Name, sourceLines(f.Text)})
	}
	for i := range e.Steps {
		d.Steps = append(d.Steps, t.step(&e.Steps[i]))
	}
	for _, p := range e.Record.Passes {
		d.Passes = append(d.Passes, passRow{p.Pass, p.Rewrites, p.Before, p.After, p.Time.Nanoseconds()})
	}
	for _, w := range e.Rewrites {
		d.Rewrites = append(d.Rewrites, rewrite{w.Pass, w.Rule, w.Rewrite.Value, w.Value, w.Step, t.place(w.Pos), w.Within})
	}
	d.Before, d.After = picture(e.Before), picture(e.After)
	d.Texts, d.Places = t.textList, t.placeList
	return d
}

// sourceLines parts a script as editors count its lines.
func sourceLines(text string) []string {
	text = strings.TrimPrefix(text, "\ufeff")
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimSuffix(l, "\r")
	}
	return lines
}

func picture(p *npu.Picture) string {
	if p.Values() > mostDrawn {
		return ""
	}
	var b strings.Builder
	_ = p.WriteSVG(&b) // a Builder does not fail
	return b.String()
}

// tables number texts and places.
type tables struct {
	texts     map[string]int
	textList  []string
	places    map[npu.Location]int
	placeList []place
}

func (t *tables) text(s string) int {
	i, ok := t.texts[s]
	if !ok {
		i = len(t.textList)
		t.texts[s], t.textList = i, append(t.textList, s)
	}
	return i
}

func (t *tables) place(l npu.Location) int {
	if l.Line == 0 {
		return -1
	}
	i, ok := t.places[l]
	if !ok {
		i = len(t.placeList)
		t.places[l], t.placeList = i, append(t.placeList, place(l))
	}
	return i
}

func (t *tables) step(s *npu.Snapshot) step {
	out := step{Pass: s.Pass, Doc: npu.PassDoc(s.Pass), Scopes: s.Scopes}
	for _, l := range s.Lines {
		out.Text = append(out.Text, t.text(l.Text))
		out.Value = append(out.Value, l.Value)
		out.Scope = append(out.Scope, l.Scope)
		out.Place = append(out.Place, t.place(l.Place))
		out.Same = append(out.Same, l.Same)
	}
	for _, n := range s.Names {
		out.Names.Scope = append(out.Names.Scope, n.Scope)
		out.Names.Name = append(out.Names.Name, t.text(n.Name))
		out.Names.Value = append(out.Names.Value, n.Value)
	}
	return out
}
