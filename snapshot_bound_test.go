package npu

import "testing"

// TestBound leaves out the steps between where all together are too long.
func TestBound(t *testing.T) {
	c, err := load(Script("in.npu", "graph main(x: f32[2]) -> f32[2] { return exp(x) * 1.0 + exp(x) * 1.0 }"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	f, _ := c.graphs[0].Func.Clone()
	h := newHistory()
	h.look("", f)
	o, err := c.optimiseInPlace(f, h.look)
	if err != nil {
		t.Fatal(err)
	}
	steps := h.steps
	found := h.bound(h.find(o.record), 1)
	last := steps[len(steps)-1]
	if len(steps) < 3 || len(h.steps) != 2 || h.steps[1].Pass != last.Pass || len(found) != len(o.record.Rewrites) {
		t.Fatalf("of %d steps %d are left, with %d rewrites", len(steps), len(h.steps), len(found))
	}
	for i, l := range h.steps[1].Lines {
		if l.Same >= len(h.steps[0].Lines) || l.Same >= 0 && h.steps[0].keys[l.Same] != h.steps[1].keys[i] {
			t.Errorf("line %s is said to be line %d of the first step", l.Text, l.Same)
		}
	}
	for _, w := range found {
		if w.Step != 0 && w.Step != 1 || w.Value == 0 && w.Pass != "fuse" {
			t.Errorf("%+v", w)
		}
	}
}
