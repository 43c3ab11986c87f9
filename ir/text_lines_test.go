package ir_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/irtest"
)

// TestLines holds the lines against the text, and each value's name against its
// line.
func TestLines(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		f, _ := irtest.Func(r, 30)
		lines, names := ir.Lines(f, ir.PrintOptions{})
		var text strings.Builder
		values := 0
		for _, l := range lines {
			text.WriteString(l.Text + "\n")
			if l.Func == nil {
				t.Fatalf("no function for the line %s", l.Text)
			}
			if l.Value == nil {
				continue
			}
			values++
			if begin := strings.TrimLeft(l.Text, " "); !strings.HasPrefix(begin, names[l.Value]+" =") && !strings.HasPrefix(begin, names[l.Value]+",") {
				t.Fatalf("the line of %s is %s", names[l.Value], l.Text)
			}
		}
		if text.String() != f.String() {
			t.Fatalf("lines\n%s\ntext\n%s", text.String(), f)
		}
		for v := range f.All() {
			if names[v] == "" {
				t.Fatalf("a %s has no name in\n%s", v.Op.Name, f)
			}
			if v.Op != ir.Input && v.Op != ir.Result {
				values--
			}
		}
		if values != 0 {
			t.Fatalf("%d values too many have lines in\n%s", values, f)
		}
	}
}
