package kernel

import (
	"sync"
	"unsafe"

	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/pages"
)

// Packs keeps constants in the layouts that kernels want, each made once for all
// tasks and machines that share it. Its zero value is empty and ready for use by
// several goroutines.
type Packs struct {
	// Release, if set, is told of constants that have been packed, since their own
	// memory is read seldom from then on. It may be told of one several times.
	Release func(*tensor.T)

	mu    sync.Mutex
	packs map[packKey]*pack
	room  pages.Room
}

// A packKey is a constant and a layout.
type packKey struct {
	data   *byte
	size   int
	layout string
}

type pack struct {
	once sync.Once
	data any
}

// Pack returns what pack makes of a constant, from the last time if there has been
// one. The layout names all that it depends on besides: "panels/16 of [n,k]". A nil
// *Packs keeps nothing.
func Pack[T any](p *Packs, of *tensor.T, layout string, make func() T) T {
	if p == nil {
		return make()
	}
	e := p.entry(packKey{unsafe.SliceData(of.Data), len(of.Data), layout})
	e.once.Do(func() {
		e.data = make()
		if p.Release != nil {
			p.Release(of)
		}
	})
	return e.data.(T)
}

// floats is memory for n floats of a pack; small ones share large pages.
func (p *Packs) floats(n int) []float32 {
	if p == nil {
		return pages.Floats(n)
	}
	return p.room.Floats(n)
}

func (p *Packs) entry(k packKey) *pack {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.packs == nil {
		p.packs = map[packKey]*pack{}
	}
	e := p.packs[k]
	if e == nil {
		e = new(pack)
		p.packs[k] = e
	}
	return e
}
