package pool_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/npulang/npu/golden/expect"
	"github.com/npulang/npu/vm/pool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newPool(t testing.TB, opts pool.Options) *pool.Pool {
	t.Helper()
	p, err := pool.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func allocate(t testing.TB, p *pool.Pool, size int64) pool.Block {
	t.Helper()
	b, err := p.Allocate(size)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func free(t testing.TB, p *pool.Pool, b pool.Block) {
	t.Helper()
	if err := p.Free(b); err != nil {
		t.Fatal(err)
	}
}

func address(b pool.Block) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b.Data))) }

// TestRefusals shows every error.
func TestRefusals(t *testing.T) {
	var text strings.Builder
	show := func(what string, err error) {
		if err == nil {
			t.Errorf("%s: accepted", what)
			return
		}
		fmt.Fprintf(&text, "%s\n    %v\n", what, err)
	}
	for _, o := range []pool.Options{{Align: 48}, {Align: -64}, {Align: 2 << 20}, {Limit: -1}, {Threshold: -1}, {Chunk: -1}} {
		_, err := pool.New(o)
		show(fmt.Sprintf("align %d, limit %d, threshold %d, chunk %d", o.Align, o.Limit, o.Threshold, o.Chunk), err)
	}
	p, other := newPool(t, pool.Options{Limit: 4096, Chunk: 1024}), newPool(t, pool.Options{})
	_, err := p.Allocate(-1)
	show("a negative size", err)
	_, err = p.Allocate(1 << 50)
	show("a size that no machine has", err)
	_, err = p.Allocate(5000)
	show("more than the limit", err)

	var blocks []pool.Block
	for range 16 {
		blocks = append(blocks, allocate(t, p, 256))
	}
	_, err = p.Allocate(1)
	show("when all is given out", err)
	for i := 0; i < 16; i += 2 {
		free(t, p, blocks[i])
	}
	_, err = p.Allocate(257)
	show("when what is free lies in pieces", err)

	show("a block of none", p.Free(pool.Block{}))
	show("a block of another pool", other.Free(blocks[1]))
	show("a block twice", p.Free(blocks[0]))
	again := allocate(t, p, 256)
	show("a block whose memory was given out again", p.Free(blocks[14]))
	free(t, p, again)
	p.Close()
	p.Close()
	_, err = p.Allocate(1)
	show("from a closed pool", err)
	free(t, p, blocks[1])
	show("twice to a closed pool", p.Free(blocks[1]))
	expect.File(t, "testdata/refused.txt", text.String())
}

// TestLevels shows what each switch does to the same allocations.
func TestLevels(t *testing.T) {
	var text strings.Builder
	for _, c := range []struct {
		name string
		opts pool.Options
	}{
		{"all levels", pool.Options{}},
		{"no pool", pool.Options{NoPool: true}},
		{"no reuse", pool.Options{NoReuse: true}},
		{"no alignment", pool.Options{NoAlign: true}},
		{"no pool and no reuse", pool.Options{NoPool: true, NoReuse: true}},
		{"aligned to 512", pool.Options{Align: 512}},
	} {
		c.opts.Chunk, c.opts.Threshold = 64<<10, 16<<10
		p := newPool(t, c.opts)
		fmt.Fprintf(&text, "%s\n", c.name)
		a, b, d := allocate(t, p, 1000), allocate(t, p, 5000), allocate(t, p, 100_000)
		line(&text, "three blocks", p)
		free(t, p, a)
		free(t, p, d)
		line(&text, "two freed", p)
		a = allocate(t, p, 990)
		line(&text, "one again", p)
		free(t, p, a)
		free(t, p, b)
		line(&text, "all freed", p)
		p.Trim()
		line(&text, "trimmed", p)
	}
	expect.File(t, "testdata/levels.txt", text.String())
}

func line(text *strings.Builder, when string, p *pool.Pool) {
	i := p.Info()
	fmt.Fprintf(text, "    %-13s total %6d  pool %5d  system %6d  used %6d  free %5d  lost %4d  peak %6d  fragmentation %.3f  chunks %d  reuses %d  requests %d\n",
		when, i.Total, i.Pool, i.System, i.Used, i.Free, i.Lost, i.Peak, i.Fragmentation, i.Chunks, i.Reuses, i.Requests)
}

// A model is what a pool must look like from outside.
type model struct {
	opts      pool.Options
	live      []pool.Block
	requested int64
	used      int64
	peak      int64
	frees     int64
	count     int64
	freed     []pool.Block
	grain     int64
}

func (m *model) round(n int) int64 { return (max(int64(n), 1) + m.grain - 1) / m.grain * m.grain }

// TestModel makes random calls and compares with the model: no two blocks
// overlap, what is written in a block stays there, the figures add up.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &model{opts: pool.Options{
			Align:     rapid.SampledFrom([]int64{0, 1, 8, 32, 64, 512}).Draw(t, "align"),
			Limit:     rapid.SampledFrom([]int64{0, 8 << 10, 20_000, 64 << 10}).Draw(t, "limit"),
			Chunk:     rapid.SampledFrom([]int64{0, 100, 4096, 10_000}).Draw(t, "chunk"),
			Threshold: rapid.SampledFrom([]int64{0, 1000, 1 << 20}).Draw(t, "threshold"),
			NoPool:    rapid.Bool().Draw(t, "noPool"),
			NoReuse:   rapid.Bool().Draw(t, "noReuse"),
			NoAlign:   rapid.Bool().Draw(t, "noAlign"),
			Poison:    rapid.Bool().Draw(t, "poison"),
		}}
		p, err := pool.New(m.opts)
		if err != nil {
			t.Fatal(err)
		}
		m.grain = max(8, m.opts.Align)
		switch {
		case m.opts.NoAlign:
			m.grain = 8
		case m.opts.Align == 0:
			m.grain = 64
		}
		t.Repeat(map[string]func(*rapid.T){
			"allocate": func(t *rapid.T) { m.allocate(t, p) },
			"free":     func(t *rapid.T) { m.free(t, p) },
			"twice":    func(t *rapid.T) { m.freeTwice(t, p) },
			"trim":     func(*rapid.T) { p.Trim() },
			"":         func(t *rapid.T) { m.check(t, p) },
		})
		for len(m.live) > 0 {
			m.drop(t, p, len(m.live)-1)
		}
		m.check(t, p)
		p.Trim()
		if i := p.Info(); i.Total != 0 || i.Blocks != 0 || i.Allocations != i.Frees {
			t.Fatalf("something is left: %+v", i)
		}
	})
}

func (m *model) allocate(t *rapid.T, p *pool.Pool) {
	size := rapid.OneOf(rapid.IntRange(0, 300), rapid.IntRange(0, 12_000)).Draw(t, "size")
	b, err := p.Allocate(int64(size))
	if err != nil {
		if m.opts.Limit == 0 || !strings.Contains(err.Error(), "[limit]") {
			t.Fatalf("%d bytes: %v", size, err)
		}
		// All that could be given back has been, so that the block did not fit.
		if i := p.Info(); i.Total+m.round(size) <= i.Limit {
			t.Fatalf("%d bytes refused with %+v", size, i)
		}
		return
	}
	if len(b.Data) != size || int64(cap(b.Data)) != m.round(size) || address(b)%uintptr(m.grain) != 0 {
		t.Fatalf("asked for %d at a multiple of %d, got %d of %d at %x", size, m.grain, len(b.Data), cap(b.Data), address(b))
	}
	for _, other := range m.live {
		if a, o := address(b), address(other); a < o+uintptr(m.round(len(other.Data))) && o < a+uintptr(m.round(size)) {
			t.Fatalf("blocks of %d and %d bytes overlap", size, len(other.Data))
		}
	}
	if m.opts.Poison && bytes.Count(b.Data, []byte{0xff}) != size {
		t.Fatal("the block is not filled")
	}
	m.count++
	for i := range b.Data {
		b.Data[i] = mark(b)
	}
	m.live = append(m.live, b)
	m.requested += int64(size)
	m.used += m.round(size)
	m.peak = max(m.peak, m.used)
}

// mark is what a block is filled with: a number of its place and size.
func mark(b pool.Block) byte { return byte(uintptr(len(b.Data))*31 + address(b)/8) }

func (m *model) free(t *rapid.T, p *pool.Pool) {
	if len(m.live) > 0 {
		m.drop(t, p, rapid.IntRange(0, len(m.live)-1).Draw(t, "block"))
	}
}

func (m *model) drop(t *rapid.T, p *pool.Pool, i int) {
	b := m.live[i]
	for _, v := range b.Data {
		if v != mark(b) {
			t.Fatal("a block was written by others")
		}
	}
	if err := p.Free(b); err != nil {
		t.Fatal(err)
	}
	m.live = append(m.live[:i:i], m.live[i+1:]...)
	m.freed = append(m.freed, b)
	m.frees++
	m.requested -= int64(len(b.Data))
	m.used -= m.round(len(b.Data))
}

func (m *model) freeTwice(t *rapid.T, p *pool.Pool) {
	if len(m.freed) == 0 {
		return
	}
	b := m.freed[rapid.IntRange(0, len(m.freed)-1).Draw(t, "freed")]
	if err := p.Free(b); err == nil || !strings.Contains(err.Error(), "[use-after-free]") {
		t.Fatalf("freed twice: %v", err)
	}
}

func (m *model) check(t *rapid.T, p *pool.Pool) {
	i := p.Info()
	switch {
	case i.Blocks != len(m.live), i.Allocations != m.count, i.Frees != m.frees,
		i.Requested != m.requested, i.Used != m.used, i.Peak != m.peak:
		t.Fatalf("%+v is not %+v", i, m)
	case i.Total != i.Pool+i.System, i.Total != i.Used+i.Free+i.Lost, i.Free != p.FreeBytes(), i.PeakTotal < i.Total:
		t.Fatalf("the figures do not add up: %+v", i)
	case m.opts.Limit > 0 && i.PeakTotal > m.opts.Limit, i.Limit != m.opts.Limit:
		t.Fatalf("the limit is %d: %+v", m.opts.Limit, i)
	case m.opts.NoPool && i.Pool != 0, m.opts.NoReuse && i.Reuses != 0, !m.opts.NoReuse && i.Lost != 0:
		t.Fatalf("a switch does not switch: %+v", i)
	case i.Fragmentation < 0 || i.Fragmentation >= 1:
		t.Fatalf("fragmentation: %+v", i)
	}
}

// TestOneBlock frees blocks of one chunk in many orders: what is left is one free
// block.
func TestOneBlock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, err := pool.New(pool.Options{Chunk: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		var blocks []pool.Block
		for _, n := range rapid.SliceOfN(rapid.Int64Range(0, 5000), 1, 100).Draw(t, "sizes") {
			b, err := p.Allocate(n)
			if err != nil {
				t.Fatal(err)
			}
			blocks = append(blocks, b)
		}
		for _, b := range rapid.Permutation(blocks).Draw(t, "order") {
			if err := p.Free(b); err != nil {
				t.Fatal(err)
			}
		}
		if i := p.Info(); i.Free != 1<<20 || i.Fragmentation != 0 || i.Chunks != 1 {
			t.Fatalf("%+v", i)
		}
		if b, err := p.Allocate(1 << 18); err != nil || p.Info().Requests != 1 || p.Free(b) != nil {
			t.Fatalf("the chunk is not whole: %v", err)
		}
	})
}

// TestTogether has goroutines that each write what they own.
func TestTogether(t *testing.T) {
	p := newPool(t, pool.Options{Chunk: 64 << 10})
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			var mine []pool.Block
			for i := range 500 {
				b, err := p.Allocate(int64(i * 37 % 3000))
				if err != nil {
					t.Error(err)
					return
				}
				for j := range b.Data {
					b.Data[j] = byte(g)
				}
				mine = append(mine, b)
				if len(mine) > 10 {
					b = mine[i%10]
					mine[i%10], mine = mine[10], mine[:10]
					if bytes.Count(b.Data, []byte{byte(g)}) != len(b.Data) {
						t.Error("written by another goroutine")
					}
					if err := p.Free(b); err != nil {
						t.Error(err)
					}
				}
			}
			for _, b := range mine {
				if err := p.Free(b); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if i := p.Info(); i.Used != 0 || i.Blocks != 0 {
		t.Errorf("%+v", i)
	}
}

// TestSteady holds blocks that come back to allocating nothing.
func TestSteady(t *testing.T) {
	p := newPool(t, pool.Options{})
	if n := testing.AllocsPerRun(100, func() {
		a, b := allocate(t, p, 1000), allocate(t, p, 2000)
		free(t, p, a)
		free(t, p, b)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkPool(b *testing.B) {
	for _, c := range []struct {
		name  string
		opts  pool.Options
		kept  int
		sizes []int64
	}{
		{"same", pool.Options{}, 0, []int64{4096}},
		{"no-pool", pool.Options{NoPool: true}, 0, []int64{4096}},
		{"no-reuse", pool.Options{NoReuse: true}, 0, []int64{4096}},
		{"mixed", pool.Options{}, 1000, []int64{64, 1000, 30_000, 256, 8000, 100, 120_000, 5000}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			p := newPool(b, c.opts)
			kept := make([]pool.Block, c.kept+1)
			for i := range kept {
				kept[i] = allocate(b, p, c.sizes[i%len(c.sizes)])
			}
			i := 0
			for b.Loop() {
				k := i * 7919 % len(kept)
				err := p.Free(kept[k])
				if err == nil {
					kept[k], err = p.Allocate(c.sizes[i%len(c.sizes)])
				}
				if err != nil {
					b.Fatal(err)
				}
				i++
			}
		})
	}
}
