package npu_test

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/npulang/npu"
	"github.com/npulang/npu/ir/irtest"
)

const explored = `param w: f32[8, 8]
param b: f32[8]

graph main(x: f32[B, 8]) -> (y: f32[B, 8], z: f32[B, 8]) {
    h = relu(x @ w + b)
    k = sqrt(f32(0.25))
    g = h * k + relu(x @ w + b)
    for i in 0..3 carry g { g = tanh(g) * 1.0 }
    e = exp(g - max(g, axis=-1, keepdims=true))
    return e / sum(e, axis=-1, keepdims=true), h
}
`

func explore(t *testing.T, src npu.Source, opts npu.Options) *npu.Exploration {
	t.Helper()
	e, _, err := npu.Explore(src, opts)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// line finds the line of a step that begins with a text.
func line(t *testing.T, s *npu.Snapshot, begin string) npu.SnapshotLine {
	t.Helper()
	for _, l := range s.Lines {
		if strings.HasPrefix(strings.TrimSpace(l.Text), begin) {
			return l
		}
	}
	t.Fatalf("after %q no line begins with %q", s.Pass, begin)
	return npu.SnapshotLine{}
}

// TestExplore follows values through the passes: what keeps its name, what is
// folded, and what takes the place of several.
func TestExplore(t *testing.T) {
	e := explore(t, npu.Script("in.npu", explored), npu.Options{Verify: true})
	first, last := &e.Steps[0], &e.Steps[len(e.Steps)-1]
	if first.Pass != "" || len(e.Steps) < 5 || e.Files[0].Text != explored {
		t.Fatalf("%d steps, the first after %q", len(e.Steps), first.Pass)
	}
	number := line(t, first, "%h = relu").Value
	for _, s := range e.Steps {
		if l := line(t, &s, "%h"); l.Value != number || l.Place.Line != 5 {
			t.Errorf("after %s %%h has number %d and place %v, want %d", s.Pass, l.Value, l.Place, number)
		}
	}
	var folded *npu.Snapshot
	for i := range e.Steps {
		if e.Steps[i].Pass == "fold-const" {
			folded = &e.Steps[i]
		}
	}
	if now := line(t, folded, "%k = const 0.5"); now.Value != line(t, first, "%k = sqrt").Value || now.Same >= 0 {
		t.Errorf("what %%k is folded to: %+v", now)
	}
	root := 0
	for _, l := range first.Lines {
		if strings.Contains(l.Text, " = div ") {
			root = l.Value
		}
	}
	found := false
	for _, l := range last.Lines {
		found = found || l.Value == root && root > 0
	}
	if !found {
		t.Errorf("value %d, the first result, is nowhere in the last step", root)
	}
	for _, w := range e.Rewrites {
		if w.Pass != "fuse" && w.Value == 0 {
			t.Errorf("%+v has no value", w)
		}
	}
}

// reference matches what names a value in the text form.
var reference = regexp.MustCompile(`%("(\\.|[^"\\])*"|[^\s,(){}=:"]+)`)

// nameless is what a line says, without names of values and how deep it stands.
func nameless(line string) string {
	return reference.ReplaceAllString(strings.TrimSpace(line), "%")
}

// TestExploreRandom explores random functions. Lines that are said to be the
// same are in order, and differ in the names of values at most; a value has its
// number in every step that it is in, and no other line of a function has it.
func TestExploreRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 60 {
		f, _ := irtest.Func(r, 30)
		e := explore(t, npu.IRText("in.ir", f.String()), npu.Options{})
		for k := range e.Steps {
			s := &e.Steps[k]
			seen := map[[2]int]bool{}
			after := -1
			for _, l := range s.Lines {
				if id := [2]int{l.Scope, l.Value}; l.Value > 0 {
					if seen[id] && !strings.Contains(l.Text, " = fused ") {
						t.Fatalf("after %s a second line has number %d: %s\n%s", s.Pass, l.Value, l.Text, f)
					}
					seen[id] = true
				}
				if l.Same < 0 {
					continue
				}
				before := e.Steps[k-1].Lines[l.Same]
				if l.Same <= after || before.Value != l.Value || nameless(before.Text) != nameless(l.Text) {
					t.Fatalf("after %s the lines\n%s\n%s\nare said to be the same in\n%s", s.Pass, before.Text, l.Text, f)
				}
				after = l.Same
			}
		}
	}
}

// TestExploreFiles shows the imports that values come from, and no other file.
func TestExploreFiles(t *testing.T) {
	files := fstest.MapFS{
		"in.npu":     {Data: []byte("import \"./layers.npu\"\nimport \"nn\"\ngraph main(x: f32[4]) -> f32[4] { return layers.twice(relu(x)) }\n")},
		"layers.npu": {Data: []byte("fn twice(x: f32[N]) -> f32[N] { return x + x }\n")},
	}
	e := explore(t, npu.FS(files, "in.npu"), npu.Options{})
	var names []string
	for _, f := range e.Files {
		names = append(names, f.Name)
	}
	if got := strings.Join(names, " "); got != "in.npu layers.npu" {
		t.Errorf("the files are %s", got)
	}
}
