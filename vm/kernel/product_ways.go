package kernel

import (
	"fmt"

	"github.com/npulang/npu/vm/kernel/gemm"
)

// A productWay is one way through products of matrices: the pieces in which they go
// through the caches, and how they are shared out among threads.
type productWay struct {
	blocks gemm.Blocks
	share  sharing
}

// Sharing says along what a product is cut into parts.
type sharing uint8

const (
	byBest sharing = iota // what makes the largest part smallest
	byRows                // each part reads all of B
	byCols                // each part reads all of A
)

// productWays are those that are worth a try. The first is that of products that no
// estimate speaks against.
var productWays = []productWay{
	{gemm.Default, byBest},
	{blocksOf(72, 512, 256), byBest},
	{blocksOf(72, 256, 256), byBest},
	{blocksOf(36, 1024, 256), byBest},
	{blocksOf(144, 1024, 256), byBest},
	{blocksOf(144, 512, 256), byBest},
	{blocksOf(144, 256, 256), byBest},
	{blocksOf(288, 512, 256), byBest},
	{blocksOf(288, 256, 256), byBest},
	{blocksOf(72, 1024, 64), byBest},
	{blocksOf(72, 1024, 1024), byBest},
	{gemm.Default, byRows},
	{gemm.Default, byCols},
}

func blocksOf(rows, deep, cols int) gemm.Blocks {
	b := gemm.Default
	b.Rows, b.Deep, b.Cols = rows, deep, cols
	return b
}

// productWayNames are the names of the ways.
var productWayNames = func() (names []string) {
	shares := [...]string{byBest: "", byRows: " share=rows", byCols: " share=cols"}
	for _, w := range productWays {
		names = append(names, fmt.Sprintf("rows=%d deep=%d cols=%d%s", w.blocks.Rows, w.blocks.Deep, w.blocks.Cols, shares[w.share]))
	}
	return names
}()

// wayLead is how much less another way than the first must be estimated to take, in
// percent.
const wayLead = 95

// takeWay gives all products the way that is wanted, or that is estimated to take least.
func (t *productTask) takeWay(o *Options) {
	if t.own = o.way - 1; o.way == 0 {
		t.own = t.cheapest(o)
	}
	for _, p := range t.products {
		p.way = &productWays[t.own]
	}
}

// cheapest is the first way, or one that is estimated to take clearly less.
func (t *productTask) cheapest(o *Options) (best int) {
	least := t.estimate(o, 0) * wayLead / 100
	for i := range productWays {
		if productWays[i].share != byBest {
			break
		}
		if w := t.estimate(o, i); w < least {
			best, least = i, w
		}
	}
	return best
}

func (t *productTask) way() int { return t.own }

// sharedWork is how many nanoseconds of work are worth to be shared out.
const sharedWork = 20_000

// works estimates every way, but for those that make the same pieces as one before, and
// for ways of sharing out where nobody shares.
func (t *productTask) works(o *Options) []int64 {
	works := make([]int64, len(productWays))
	shares := o.Threads > 1 && t.estimate(o, t.own) >= sharedWork
	seen := map[productWay]bool{t.pieces(t.own): true}
	for i, w := range productWays {
		if at := t.pieces(i); seen[at] || w.share != byBest && !shares {
			continue
		}
		seen[t.pieces(i)] = true
		works[i] = t.estimate(o, i)
	}
	return works
}

// estimate is the nanoseconds of a way.
func (t *productTask) estimate(o *Options, way int) (work int64) {
	for _, p := range t.products {
		work += p.workBy(o.Level, &productWays[way].blocks)
	}
	return work
}

// pieces is what a way comes to for the largest of the products.
func (t *productTask) pieces(way int) productWay {
	w, most := productWays[way], [3]int{}
	for _, p := range t.products {
		depth, _ := p.depth()
		most = [3]int{max(most[0], p.m), max(most[1], depth), max(most[2], p.n)}
	}
	w.blocks.Rows = min(w.blocks.Rows, most[0])
	w.blocks.Deep = min(w.blocks.Deep, most[1])
	w.blocks.Cols = min(w.blocks.Cols, most[2])
	return w
}
