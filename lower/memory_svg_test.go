package lower_test

import (
	"strings"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/lower"
)

// TestMemoryIsDrawn: the picture has a rectangle for every value of the arena, and
// the figures of the listing.
func TestMemoryIsDrawn(t *testing.T) {
	p, err := lower.Lower(fifty(t), ir.Env{"B": 32}, lower.Options{Streams: 1, Memory: lower.MemoryConservative})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := p.WriteMemorySVG(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"memory @net  with B=32  arena 24576  sum 401408", "%h3, 8192 bytes at ", "lower bound 24576"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in the picture", want)
		}
	}
	if n := strings.Count(b.String(), `class="b"`); n != 49 {
		t.Errorf("%d values are drawn, want 49", n)
	}
}
