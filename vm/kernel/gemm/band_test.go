package gemm

import (
	"math/rand"
	"testing"

	"github.com/npulang/npu/vm/kernel/isa"
)

// cut draws small blocks.
func cut(rnd *rand.Rand) Blocks {
	return Blocks{
		Rows: 1 + rnd.Intn(30), Deep: 1 + rnd.Intn(40), Cols: 1 + rnd.Intn(90),
		Packed: rnd.Intn(4000), Copied: rnd.Intn(4000), Tall: 1 + rnd.Intn(50),
	}
}

// inRuns draws the sizes of a product and blocks so that these go in runs along k.
func inRuns(rnd *rand.Rand) (m, n, k int, b Blocks) {
	b = Blocks{
		Rows: 128 + rnd.Intn(40), Deep: 128 + rnd.Intn(16), Cols: 1 + rnd.Intn(64),
		Packed: rnd.Intn(40000), Copied: rnd.Intn(80000), Tall: 1 + rnd.Intn(200),
	}
	return 120 + rnd.Intn(60), 100 + rnd.Intn(100), 2*b.Deep + 1 + rnd.Intn(b.Deep), b
}

// TestOrder: every block has all of its steps once and in ascending order; it goes in a run
// with others only if there are more steps than the second cache holds, and then with so many
// that their C is at most as wide as A's copy.
func TestOrder(t *testing.T) {
	rnd := rand.New(rand.NewSource(13))
	for range 500 {
		rows, n, k, blocks := inRuns(rnd)
		k, n = rnd.Intn(k), 1+rnd.Intn(n)
		for _, level := range isa.Levels() {
			m := mul{p: &Product{}, set: at(level), blocks: blocks}
			w := piece{ks: Range{7, 7 + k}, cols: Range{32, 32 + n}}
			o := m.order(&w, even(rows, blocks.Rows, bandRows(m.set.rows)))
			if runs := o.run > 1; runs && (o.steps <= heldSteps || o.run*o.wide > blocks.Deep) {
				t.Fatalf("%d steps of %+v: %+v", o.steps, blocks, o)
			}
			next := make([]int, o.blocks)
			for i := range o.all() {
				block, step, inRun := o.at(i)
				if step != next[block] || inRun != block%o.run {
					t.Fatalf("%+v: number %d is step %d of block %d, place %d of a run", o, i, step, block, inRun)
				}
				next[block]++
			}
		}
	}
}

// TestOrderOfDefault: a product that is deep goes in runs with any cache, one of two steps in
// none.
func TestOrderOfDefault(t *testing.T) {
	for l2 := 128 << 10; l2 <= 8<<20; l2 *= 2 {
		for _, level := range isa.Levels() {
			m := mul{p: &Product{}, set: at(level), blocks: BlocksFor(l2)}
			deep := func(steps int) order {
				return m.order(&piece{ks: Range{0, steps * m.blocks.Deep}, cols: Range{0, 4096}}, m.blocks.Rows)
			}
			if o := deep(heldSteps); o.run != 1 {
				t.Errorf("%d bytes: %+v", l2, o)
			}
			if o := deep(heldSteps + 1); (o.run > 1) != (m.blocks.Deep >= 2*o.wide) {
				t.Errorf("%d bytes: %+v", l2, o)
			}
		}
	}
	if o := (&mul{p: &Product{}, set: at(isa.Portable), blocks: BlocksFor(1 << 20)}).order(&piece{ks: Range{0, 4096}, cols: Range{0, 1024}}, 72); o.run != 4 {
		t.Errorf("1 MB: %+v", o)
	}
}
