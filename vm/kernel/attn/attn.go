package attn

import (
	"math"

	"github.com/npulang/npu/vm/kernel/gemm"
	"github.com/npulang/npu/vm/kernel/isa"
	"github.com/npulang/npu/vm/kernel/norm"
)

// A Shape says how large an attention is: q [Batch, Heads, S, D], k [Batch, Groups, T,
// D], v [Batch, Groups, T, E], a result of [Batch, Heads, S, E]. Groups divides
// Heads; neighbouring heads share one of k and v.
type Shape struct{ Batch, Heads, Groups, S, T, D, E int }

// Strides are the distances of elements along the axes, in elements.
type Strides struct{ Batch, Head, Row, Col int }

func (s Strides) at(batch, head, row int) int { return batch*s.Batch + head*s.Head + row*s.Row }

// An Operand is a tensor; of halves, if the plan is.
type Operand struct {
	Data   []float32
	Halves []uint16
	Strides
}

// A Mask is added to the scores [Batch, Heads, S, T], or says by bytes that are not 0
// which of them count. Strides are 0 where it is broadcast. Without either there is
// none.
type Mask struct {
	Add    []float32
	Halves []uint16 // are added too
	Allow  []byte
	Strides
}

// adds reports whether the mask is added, is whether there is one.
func (m *Mask) adds() bool { return m.Add != nil || m.Halves != nil }
func (m *Mask) is() bool   { return m.adds() || m.Allow != nil }

// Args are the operands of one run.
type Args struct {
	Q, K, V, Out Operand
	Mask         Mask
}

// A Plan is an attention that is ready for a level. It may be used by several
// goroutines at once.
type Plan struct {
	Shape
	scale  float32
	causal bool
	half   *Half // nil: all is of four bytes
	level  isa.Level
	loops  *loops

	tile    int // rows of the products' largest tiles
	queries int // in a block
	keys    int // in a block
	blocks  int // of queries
	whole   bool
}

const (
	// mostQueries is a multiple of the rows of every level's tile.
	mostQueries, tileRows = 96, 12
	// mostKeys are not cut into blocks; more are, into blocks of someKeys.
	mostKeys, someKeys = 1024, 512
	// packed is how many floats of keys and values are kept at a time: 16 MB.
	packed = 4 << 20
)

// New makes a plan. scale is the factor of the scores; causal hides keys behind the
// query's own position.
func New(level isa.Level, s Shape, scale float32, causal bool) *Plan {
	p := &Plan{
		Shape: s, scale: float32(float64(scale) * math.Log2E), causal: causal,
		level: level, loops: at(level), tile: gemm.Rows(level), keys: max(s.T, 1),
	}
	if s.T > mostKeys {
		p.keys = someKeys
	}
	p.queries = mostQueries
	p.whole = gemm.PackedLen(level, s.D, s.T)+gemm.PackedLen(level, s.T, s.E) <= packed
	if !p.whole {
		p.queries *= 2 // blocks of keys are packed for each block of queries
	}
	p.blocks = (s.S + p.queries - 1) / p.queries
	if even := (s.S + p.blocks - 1) / max(p.blocks, 1); even < p.queries {
		p.queries = (even + tileRows - 1) / tileRows * tileRows
	}
	return p
}

// InBlocks lets blocks have so many queries instead of what New finds best; 0 leaves
// that. Results don't depend on it, not by a bit.
func (p *Plan) InBlocks(queries int) *Plan {
	if queries > 0 {
		p.queries = min(queries, max(p.S, 1))
		p.blocks = (p.S + p.queries - 1) / p.queries
	}
	return p
}

// Queries is how many queries a block has.
func (p *Plan) Queries() int { return p.queries }

// Units is how many pieces the work has: blocks of queries of each head, those of heads
// that share keys next to each other.
func (p *Plan) Units() int { return p.Batch * p.Heads * p.blocks }

// Scratch is memory on the way, for one goroutine at a time. Its zero value is ready;
// it grows.
type Scratch struct {
	products  gemm.Scratch
	q, scores []float32
	k, v      []float32
	out, mask []float32
	rest      []float32 // what tops have been raised by
	rows      [6][]float32
	weighing  weightTile
	mixing    valueTile
	magic     []float32 // by row of a block, as the kernels of tiles want them
	sums      []float32
	again     []span       // rows that are to be computed anew
	wide      [3][]float32 // rows of queries, keys and values that are halves
	narrow    []uint16
	block     gemm.Block
	head      int  // of k and v that is packed; its batch counts
	skips     bool // whether hidden values may be left out
	ahead     outlook
}

func grown(buffer *[]float32, n int) []float32 {
	if len(*buffer) < n {
		*buffer = gemm.Aligned(n)
	}
	return (*buffer)[:n]
}

// unlike is a distance of rows of n floats at which they don't share sets of the first
// cache.
func unlike(n int) int { return (n+47)/64*64 + 16 }

// Begin forgets the keys and values of the run before.
func (x *Scratch) Begin() { x.head = -1 }

// Run computes units lo to before hi. Keys and values that it packs serve the calls
// that follow, with the same plan and operands, until Begin.
func (x *Scratch) Run(p *Plan, a *Args, lo, hi int) {
	for u := lo; u < hi && p.E > 0; u++ {
		head, first := u/p.blocks, u%p.blocks*p.queries
		b := block{x: x, p: p, a: a, batch: head / p.Heads, head: head % p.Heads, first: first, rows: min(p.queries, p.S-first)}
		x.load(p, a, b.batch, b.head/(p.Heads/p.Groups))
		x.ahead.after(p, a, u)
		b.run()
	}
	x.block = gemm.Block{}
}

// load packs the keys and values of a head, if they are not there.
func (x *Scratch) load(p *Plan, a *Args, batch, head int) {
	if n := batch*p.Groups + head; n != x.head {
		x.head = n
		x.skips = p.causal && x.finite(p, &a.V, batch, head)
		if p.whole {
			x.pack(p, a, batch, head, 0, p.T)
		}
	}
}

// pack packs n keys and values from one on.
func (x *Scratch) pack(p *Plan, a *Args, batch, head, from, n int) {
	if !p.lone(&a.K, n) {
		k := p.rows(&a.K, batch, head, from, n, p.D, &x.wide[1])
		p.packTurned(grown(&x.k, gemm.PackedLen(p.level, p.D, n)), gemm.Matrix{Data: k.Data, Row: k.Col, Col: k.Row}, n)
	}
	if !p.inPlace(&a.V) {
		p.packRows(grown(&x.v, gemm.PackedLen(p.level, n, p.E)), p.rows(&a.V, batch, head, from, n, p.E, &x.wide[2]), n)
	}
}

// few reports whether an operand's rows might be read where they lie, since the queries of
// all heads that share them are too few for packing to pay.
func (p *Plan) few(o *Operand, most int) bool {
	return p.S*(p.Heads/p.Groups) <= most && p.half == nil && o.Col == 1
}

// inPlace reports whether values are read where they lie: their rows are whole lines of
// panels.
func (p *Plan) inPlace(v *Operand) bool {
	return p.few(v, p.tile) && p.E%gemm.Width(p.level) == 0
}

// lone reports whether blocks of n keys are read where they lie, by each query.
func (p *Plan) lone(k *Operand, n int) bool {
	return p.loops.lone != nil && p.few(k, 2) && p.D > 0 && p.D%loneDeep == 0 && n >= loneKeys
}

// values are those of a head as panels, from one on; packed are the ones from first on,
// n of them.
func (x *Scratch) values(p *Plan, v *Operand, batch, head, from, first, n int) gemm.Panels {
	if p.inPlace(v) {
		return gemm.Panels{Data: v.Data[v.at(batch, head, from):], Panel: gemm.Width(p.level), Line: v.Row}
	}
	return gemm.PackedPanels(p.level, x.v, n).From(0, from-first)
}

// packTurned packs n keys, which become columns. What panels have behind the last of
// them is left as it is.
func (p *Plan) packTurned(dst []float32, k gemm.Matrix, n int) {
	if k.Row != 1 || p.D == 0 {
		gemm.Pack(p.level, dst, k, p.D, n)
		return
	}
	width := gemm.Width(p.level)
	for j := 0; j < n; j += width {
		norm.Turn(p.level, dst[j*p.D:], width, k.Data[j*k.Col:], k.Col, min(width, n-j), p.D)
	}
}

// packRows packs n rows of values. Those of heads that lie beside each other in long
// rows are read row by row, not panel by panel.
func (p *Plan) packRows(dst []float32, v gemm.Matrix, n int) {
	width := gemm.Width(p.level)
	whole := p.E / width
	if p.loops.panels == nil || v.Col != 1 || whole == 0 || n == 0 {
		whole = 0
	} else {
		p.loops.panels(&dst[0], n*width, &v.Data[0], v.Row, n, whole)
	}
	if rest := p.E - whole*width; rest > 0 {
		gemm.Pack(p.level, dst[whole*n*width:], v.From(0, whole*width), n, rest)
	}
}

// finite reports whether the values of a head are, so that hidden ones, which count 0
// times, may be left out.
func (x *Scratch) finite(p *Plan, v *Operand, batch, head int) bool {
	for t := range p.T {
		row := p.rows(v, batch, head, t, 1, p.E, &x.wide[2])
		if row.Col == 1 {
			if !norm.Finite(p.level, row.Data[:p.E]) {
				return false
			}
			continue
		}
		for e := range p.E {
			if f := row.Data[e*row.Col]; f-f != 0 {
				return false
			}
		}
	}
	return true
}
