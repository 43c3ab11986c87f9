package kernel

import (
	"sync"
	"unsafe"

	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel/isa"
	"github.com/npulang/npu/vm/pages"
)

// Packs keeps constants in the layouts that kernels want, each made once for all
// tasks and machines that share it. Its zero value is empty and ready for use by
// several goroutines.
type Packs struct {
	// Hold, if set, is told of a constant before it is packed, and Release, if set, when
	// it has been, since its own memory is read seldom from then on. Both may be told of
	// one several times, and by several goroutines.
	Hold, Release func(*tensor.T)
	// Dry notes what is asked for, and packs nothing: tasks that are prepared with it
	// must not run. See Wanted.
	Dry bool

	mu     sync.Mutex
	packs  map[packKey]*pack
	wanted []Want
	room   pages.Room
	later  backlog
}

// A Want is a constant that a kernel has asked for in a layout.
type Want struct {
	Of *tensor.T
	At func(isa.Level) Layout // what it is at each level, also of other processors
}

// A Layout is a form in which a kernel reads a constant.
type Layout struct {
	Name   string              // all that it depends on besides the constant: "f32 panels/16 of 64x32 ..."
	Floats int                 // its size, in times of four bytes; 0: the constant is read as it is
	Pack   func(dst []float32) // writes all of them
}

// A packKey is a constant and a layout.
type packKey struct {
	data   *byte
	size   int
	layout string
}

type pack struct {
	mu     sync.Mutex
	stored []float32 // what Add has given
	room   []float32 // where it is packed to
	data   any       // nil: it is not packed, or that has failed, and is tried again
}

// forget takes back what was put off and has failed.
func (e *pack) forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.data = nil
}

func keyOf(of *tensor.T, layout string) packKey {
	return packKey{unsafe.SliceData(of.Data), len(of.Data), layout}
}

// packed is a constant in the layout of the level that o asks for: as it was added, or
// packed now. It is nil where the constant is read as it is.
func packed(o *Options, of *tensor.T, at func(isa.Level) Layout) []float32 {
	p, l := o.Packs, at(o.Level)
	if p != nil && p.Dry {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.wanted = append(p.wanted, Want{of, at})
		return nil
	}
	if l.Floats == 0 {
		return nil
	}
	if p == nil {
		data := pages.Floats(l.Floats)
		l.Pack(data)
		return data
	}
	e := p.entry(keyOf(of, l.Name))
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.data == nil {
		e.data = p.laidOut(o, of, &l, e)
	}
	return e.data.([]float32)
}

// laidOut is a constant in a layout: as it was added, or packed, now or by Finish.
func (p *Packs) laidOut(o *Options, of *tensor.T, l *Layout, e *pack) []float32 {
	// Who adds is not believed to know the size.
	if len(e.stored) == l.Floats {
		p.reading(of, func() {})
		return e.stored
	}
	if e.room == nil {
		e.room = p.room.Floats(l.Floats)
	}
	data, pack := e.room, l.Pack
	job := func() { p.reading(of, func() { pack(data) }) }
	if o.Later {
		p.later.add(job, e.forget)
	} else {
		job()
	}
	return data
}

// Begin comes before tasks are prepared with Options.Later, and Finish behind.
func (p *Packs) Begin() {
	if p != nil {
		p.later.begin()
	}
}

// Finish packs what such tasks have asked for, by so many goroutines, and waits for those
// of others. A panic of one becomes that of all who had begun; who begins when they have
// ended finds the constant not packed yet.
func (p *Packs) Finish(threads int) {
	if p != nil {
		p.later.finish(threads)
	}
}

// reading lets f read a constant.
func (p *Packs) reading(of *tensor.T, f func()) {
	if p.Hold != nil {
		p.Hold(of)
	}
	if p.Release != nil {
		defer p.Release(of)
	}
	f()
}

// Add gives a constant in a layout, as a file holds it. The data are used in place, and
// must begin at a multiple of 64 bytes; data of another size than the layout has are
// passed over. It must come before the first task is prepared.
func (p *Packs) Add(of *tensor.T, layout string, data []float32) {
	p.entry(keyOf(of, layout)).stored = data
}

// Wanted lists what tasks have asked for since Dry was set.
func (p *Packs) Wanted() []Want {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.wanted
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
