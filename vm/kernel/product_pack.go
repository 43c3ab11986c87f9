package kernel

import (
	"fmt"
	"sync"
	"unsafe"

	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel/gemm"
	"github.com/npulang/npu/vm/kernel/isa"
)

// packedMatrices are the different matrices of a constant B as panels, one behind
// the other.
type packedMatrices struct {
	level isa.Level
	data  []float32
	// finite says whether there are neither infinities nor NaN in data, which it reads when it
	// is asked for the first time.
	finite func() bool
	k      int
	size   int   // floats of one
	steps  []int // by axis of the batch: matrices from one index to the next

	layout func(b *tensor.T, level isa.Level) Layout // of all of them
}

// take packs the matrices of b.
func (q *packedMatrices) take(o *Options, b *tensor.T) {
	q.data = packed(o, b, func(level isa.Level) Layout { return q.layout(b, level) })
	q.finite = sync.OnceValue(func() bool { return gemm.Finite(q.data) })
}

// at are the panels of an index of the batch.
func (q *packedMatrices) at(p *product, i int) gemm.Panels {
	return gemm.PackedPanels(q.level, q.matrix(p, i), q.k)
}

// matrix is the packed matrix of an index of the batch.
func (q *packedMatrices) matrix(p *product, i int) []float32 {
	which := 0
	for j := len(p.batch) - 1; j >= 0; j-- {
		which += i % p.batch[j].size * q.steps[j]
		i /= p.batch[j].size
	}
	return q.data[which*q.size : (which+1)*q.size]
}

// pack packs B, a constant.
func (p *product) pack(o *Options, b *tensor.T) {
	switch {
	case p.format != nil:
		p.packNarrow(o, b)
		return
	case p.wide != nil:
		p.packWide(o, b)
		return
	}
	p.packWith(o, b, func(level isa.Level) packer {
		return packer{
			name: fmt.Sprintf("f32 panels/%d", gemm.Width(level)),
			size: gemm.PackedLen(level, p.k, p.n),
			pack: func(dst []float32, b *tensor.T, at int) {
				gemm.Pack(level, dst, gemm.Matrix{Data: floats(b)[at:], Row: p.b.row, Col: p.b.col}, p.k, p.n)
			},
		}
	})
}

// A packer lays out one matrix of B.
type packer struct {
	name string
	size int                                      // floats
	pack func(dst []float32, b *tensor.T, at int) // told where in B the matrix begins
}

// packWith packs the matrices of B.
func (p *product) packWith(o *Options, b *tensor.T, of func(isa.Level) packer) {
	q := &packedMatrices{level: o.Level, k: p.k, size: of(o.Level).size, steps: make([]int, len(p.batch))}
	count, places := 1, []int{p.b.at}
	batch := []batchAxis{}
	for j := len(p.batch) - 1; j >= 0; j-- {
		x := p.batch[j]
		if x.b == 0 {
			continue
		}
		batch = append(batch, batchAxis{size: x.size, b: x.b})
		q.steps[j] = count
		count *= x.size
		var all []int
		for i := range x.size {
			for _, at := range places {
				all = append(all, at+i*x.b)
			}
		}
		places = all
	}
	form := fmt.Sprintf(" v%d of %dx%d by %d,%d from %d at %v", gemm.LayoutVersion, p.k, p.n, p.b.row, p.b.col, p.b.at, batch)
	q.layout = func(b *tensor.T, level isa.Level) Layout {
		one := of(level)
		return Layout{one.name + form, count * one.size, func(dst []float32) {
			for i, at := range places {
				one.pack(dst[i*one.size:(i+1)*one.size], b, at)
			}
		}}
	}
	q.take(o, b)
	p.packs = q
}

// floats are a tensor's elements of f32.
func floats(t *tensor.T) []float32 {
	if len(t.Data) == 0 {
		return nil // there need not be memory of a float
	}
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(t.Data))), len(t.Data)/4)
}
