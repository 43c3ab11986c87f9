package vec_test

import (
	"flag"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/npulang/npu/vm/kernel/isa"
	"github.com/npulang/npu/vm/kernel/vec"
)

var every = flag.Uint64("every", 8191, "try functions of one float on each of so many: 1 takes minutes for each function")

// floors are sizes below which results may be off by as much, where a factor is so small
// that it has lost digits, or terms cancel.
var floors = map[vec.Code]float64{
	vec.Gelu: 0x1p-125, vec.GeluTanh: 0x1p-26, vec.Silu: 0x1p-121, vec.Sigmoid: 0x1p-127, vec.Mish: 0x1p-119, vec.LogAddExp: 0x1p-36,
}

// bound is how far a code may be from the portable one, which rounds a float64 once, in
// units in the last place.
func bound(c vec.Code) uint32 { return uint32(vec.Within(c) * 0x1p23) }

// oddities are values at which functions change their ways.
var oddities = []float32{0, float32(math.Copysign(0, -1)), 1, -1, 0.5, -0.5, 2, -2, 3, -3, 6, -6, 88, -88, 89, -89, 104, -104, 1e-45, -1e-45, 1e-40, -1e-40,
	1.17549435e-38, -1.17549435e-38, math.MaxFloat32, -math.MaxFloat32, 1 << 23, -1 << 23, 1<<31 - 128, 1 << 31, -1 << 31, 1 << 28, 3e9, -3e9, 0.49999997, 1.5, 2.5, -2.5,
	float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), 65504, 65519, 65520, 6e-8, 3.4e38, 16777216}

// fast are the levels that have assembly of their own here.
func fast() (levels []isa.Level) {
	for _, l := range isa.Levels() {
		if l != isa.Portable {
			levels = append(levels, l)
		}
	}
	return levels
}

// run applies a code to blocks.
func run(level isa.Level, c vec.Code, out, x, a, b []vec.Block) {
	table := []vec.Operand{vec.Walks(x[0].Pointer(), 4), vec.Walks(out[0].Pointer(), 4), vec.Walks(a[0].Pointer(), 4), vec.Walks(b[0].Pointer(), 4)}
	program := []vec.Inst{vec.NewInst(level, vec.Load, 0, 0, 0), vec.NewInst(level, c, 2, 3, 0)}
	if c.IsChain() {
		program = append(program, vec.Numbers([vec.ChainMax]float32(a[0][:])))
	}
	program = append(program, vec.NewInst(level, vec.Save, 1, 0, 0), vec.NewInst(level, vec.End, 0, 0, 0))
	var s vec.State
	vec.Run(level, &s, program, table, len(table), len(x))
}

// TestCodesOfOne compares the levels with the portable machine over samples of all
// floats.
func TestCodesOfOne(t *testing.T) {
	step := *every
	if testing.Short() {
		step = 262139
	}
	for c := vec.Abs; c < vec.Codes; c++ {
		if c.Args() > 0 || c.IsChain() {
			continue
		}
		for _, level := range fast() {
			w := newWorst(c, level)
			for at := uint64(0); at < 1<<32; {
				for i := range w.x {
					for j := range w.x[i] {
						w.x[i][j] = math.Float32frombits(uint32(at))
						at += step
					}
				}
				if at < step*uint64(len(w.x)*vec.Lanes)+1 {
					w.odd()
				}
				w.compare(t)
			}
			w.report(t)
		}
	}
}

// TestCodesOfMore compares them over pairs and triples, of oddities and of any floats.
func TestCodesOfMore(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for c := vec.Abs; c < vec.Codes; c++ {
		if c.Args() == 0 && !c.IsChain() {
			continue
		}
		for _, level := range fast() {
			w := newWorst(c, level)
			for round := range rounds() {
				w.draw(r, round)
				w.compare(t)
			}
			w.report(t)
		}
	}
}

func rounds() int {
	if testing.Short() {
		return 3
	}
	return 60
}

// TestLevels: the levels with assembly agree on every bit but those of a NaN.
func TestLevels(t *testing.T) {
	levels := fast()
	if len(levels) < 2 {
		t.Skip("this processor has no two of them")
	}
	r := rand.New(rand.NewPCG(5, 6))
	for c := vec.Abs; c < vec.Codes; c++ {
		for _, level := range levels[1:] {
			w := newWorst(c, level)
			for round := range rounds() {
				w.draw(r, round)
				run(levels[0], c, w.want, w.x, w.a, w.b)
				run(level, c, w.got, w.x, w.a, w.b)
				for i := range w.got {
					for j, got := range w.got[i] {
						if want := w.want[i][j]; math.Float32bits(got) != math.Float32bits(want) && (got == got || want == want) {
							t.Fatalf("%s of %v, %v, %v: %v is %v, %v is %v", c.Name(), w.x[i][j], w.a[i][j], w.b[i][j], levels[0], want, level, got)
						}
					}
				}
			}
		}
	}
}

// TestLanes: an element's bits, also those of a NaN, are the same alone as beside any others.
func TestLanes(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for c := vec.Abs; c < vec.Codes; c++ {
		if c.IsChain() {
			continue // what a chain's block of numbers holds is one for all lanes
		}
		for _, level := range isa.Levels() {
			w := newWorst(c, level)
			for round := range rounds() {
				w.draw(r, round)
				run(level, c, w.got, w.x, w.a, w.b)
				lane := r.IntN(vec.Lanes)
				for _, list := range [][]vec.Block{w.x, w.a, w.b} {
					for i := range list {
						list[i].Fill(list[i][lane])
					}
				}
				run(level, c, w.want, w.x, w.a, w.b)
				for i := range w.got {
					for j, want := range w.want[i] {
						if got := w.got[i][lane]; math.Float32bits(got) != math.Float32bits(want) {
							t.Fatalf("%s of %v, %v, %v on %v: %x beside others, %x alone in lane %d", c.Name(), w.x[i][j], w.a[i][j], w.b[i][j],
								level, math.Float32bits(got), math.Float32bits(want), j)
						}
					}
				}
			}
		}
	}
}

// TestZeros: 0 and -0 give what the portable machine says, with the sign.
func TestZeros(t *testing.T) {
	for c := vec.Abs; c < vec.Codes; c++ {
		if c.Args() > 0 || c.IsChain() {
			continue
		}
		for _, level := range fast() {
			w := newWorst(c, level)
			for _, x := range oddities[:2] {
				w.x[0].Fill(x)
				run(level, c, w.got[:1], w.x[:1], w.a, w.b)
				run(isa.Portable, c, w.want[:1], w.x[:1], w.a, w.b)
				if got, want := w.got[0][0], w.want[0][0]; want == 0 && math.Float32bits(got) != math.Float32bits(want) {
					t.Errorf("%s of %v on %v: %v, want %v", c.Name(), x, level, got, want)
				}
			}
		}
	}
}

// draw fills the arguments.
func (w *worst) draw(r *rand.Rand, round int) {
	for _, list := range [][]vec.Block{w.x, w.a, w.b} {
		for i := range list {
			for j := range list[i] {
				list[i][j] = draw(r, round)
			}
		}
	}
	w.truths()
}

// truths makes the operands of codes that ask for bools these.
func (w *worst) truths() {
	list := map[vec.Code][]vec.Block{vec.Where: w.x, vec.WhereA: w.a, vec.WhereB: w.a}[w.code]
	for i := range list {
		for j, v := range list[i] {
			list[i][j] = 0
			if v > 0 {
				list[i][j] = math.Float32frombits(vec.Ones)
			}
		}
	}
}

func draw(r *rand.Rand, round int) float32 {
	switch {
	case round%3 == 0 || r.IntN(20) == 0:
		return oddities[r.IntN(len(oddities))]
	case round%3 == 1:
		return float32(r.NormFloat64() * 4)
	}
	return math.Float32frombits(r.Uint32())
}

// A worst is the largest difference of a code on a level so far.
type worst struct {
	code          vec.Code
	level         isa.Level
	x, a, b       []vec.Block
	got, want     []vec.Block
	ulps          uint32
	at            [3]float32
	gave, awaited float32
}

func newWorst(c vec.Code, level isa.Level) *worst {
	const blocks = 64
	return &worst{code: c, level: level, x: vec.Aligned(blocks), a: vec.Aligned(blocks), b: vec.Aligned(blocks), got: vec.Aligned(blocks), want: vec.Aligned(blocks)}
}

func (w *worst) odd() {
	copy(w.x[0][:], oddities)
}

func (w *worst) compare(t *testing.T) {
	run(w.level, w.code, w.got, w.x, w.a, w.b)
	run(isa.Portable, w.code, w.want, w.x, w.a, w.b)
	floor := floors[w.code]
	for i := range w.got {
		for j, got := range w.got[i] {
			want := w.want[i][j]
			d := ulps(got, want)
			if d <= w.ulps || math.Abs(float64(got)-float64(want)) <= floor {
				continue
			}
			w.ulps, w.at, w.gave, w.awaited = d, [3]float32{w.x[i][j], w.a[i][j], w.b[i][j]}, got, want
		}
	}
}

func (w *worst) report(t *testing.T) {
	if w.ulps > bound(w.code) {
		t.Errorf("%s on %v: of %v (%#x) %v (%#x), want %v (%#x): %d ulp", w.code.Name(), w.level, w.at[:w.code.Args()+1], math.Float32bits(w.at[0]),
			w.gave, math.Float32bits(w.gave), w.awaited, math.Float32bits(w.awaited), w.ulps)
	} else if *every < 8191 {
		t.Logf("%s on %v: %d ulp at %v", w.code.Name(), w.level, w.ulps, w.at)
	}
}

// ulps counts the floats between two; any NaN is any other.
func ulps(a, b float32) uint32 {
	if a != a || b != b {
		if a != a && b != b {
			return 0
		}
		return math.MaxUint32
	}
	x, y := line(a), line(b)
	if x < y {
		x, y = y, x
	}
	return uint32(min(x-y, math.MaxUint32))
}

// line is a float's place on the line of all floats; -0 lies below +0.
func line(v float32) int64 {
	b := int64(math.Float32bits(v))
	if b >= 1<<31 {
		return 1<<31 - 1 - b
	}
	return b
}

// TestMoves loads and saves elements of all sizes, and writes no byte behind them.
func TestMoves(t *testing.T) {
	for _, level := range isa.Levels() {
		for _, m := range []struct {
			load, save vec.Code
			size       int
		}{{vec.LoadBool, vec.SaveBool, 1}, {vec.LoadF16, vec.SaveF16, 2}, {vec.LoadBF16, vec.SaveBF16, 2}, {vec.LoadI8, vec.SaveByte, 1}, {vec.LoadU8, vec.SaveByte, 1}, {vec.Load, vec.Save, 4}, {vec.LoadAhead, vec.Stream, 4}, {vec.LoadAheadSecond, vec.Stream, 4}} {
			const blocks = 3
			in, out := vec.Aligned(blocks+1), vec.Aligned(blocks+1)
			from := unsafe.Slice((*byte)(in[0].Pointer()), blocks*vec.Lanes*m.size)
			to := unsafe.Slice((*byte)(out[0].Pointer()), blocks*vec.Lanes*m.size+8)
			for i := range from {
				switch {
				case m.load == vec.LoadBool:
					from[i] = byte(i * 7 / 3 & 1)
				case m.size == 1:
					from[i] = byte(i * 11)
				default:
					from[i] = byte(i*31) & 0x3f // no NaN
				}
			}
			for i := range to {
				to[i] = 0xa5
			}
			program := []vec.Inst{vec.NewInst(level, m.load, 0, 0, 0), vec.NewInst(level, m.save, 1, 0, 0), vec.NewInst(level, vec.End, 0, 0, 0)}
			var s vec.State
			vec.Run(level, &s, program, []vec.Operand{vec.Walks(in[0].Pointer(), m.size), vec.Walks(out[0].Pointer(), m.size)}, 2, blocks)
			for i := range from {
				if from[i] != to[i] {
					t.Fatalf("%v, %s and %s: byte %d is %#x, want %#x", level, m.load.Name(), m.save.Name(), i, to[i], from[i])
				}
			}
			for i := len(from); i < len(to); i++ {
				if to[i] != 0xa5 {
					t.Fatalf("%v, %s: wrote byte %d behind", level, m.save.Name(), i-len(from))
				}
			}
		}
	}
}

// TestLoops goes on with the next block in the last instruction, by every code that does.
func TestLoops(t *testing.T) {
	for _, level := range isa.Levels() {
		for _, c := range []struct {
			load, loop vec.Code
			two        bool
		}{
			{vec.Load, vec.SaveLoad, false}, {vec.Load, vec.SaveLoadTwo, true},
			{vec.LoadAhead, vec.StreamLoad, false}, {vec.LoadAhead, vec.StreamLoadTwo, true},
			{vec.LoadAheadSecond, vec.StreamLoadSecond, false}, {vec.LoadAheadSecond, vec.StreamLoadSecondTwo, true},
		} {
			const blocks = 5
			in, more, out := vec.Aligned(blocks), vec.Aligned(blocks), vec.Aligned(blocks+1)
			for i := range in {
				for j := range in[i] {
					in[i][j], more[i][j] = float32(i*vec.Lanes+j), float32(i)
				}
			}
			table := []vec.Operand{vec.Walks(in[0].Pointer(), 4), vec.Walks(out[0].Pointer(), 4), vec.Walks(more[0].Pointer(), 4), {}}
			walkers := 3
			if c.two {
				table[2], walkers = vec.Stays(more[1].Pointer()), 2
			}
			program := []vec.Inst{vec.NewInst(level, c.load, 0, 0, 0), vec.NewInst(level, vec.Add, 2, 0, 0), vec.NewInst(level, c.loop, 1, 0, 0), vec.NewInst(level, vec.End, 0, 0, 0)}
			var s vec.State
			vec.Run(level, &s, program, table, walkers, blocks)
			for i := range out {
				for j, got := range out[i] {
					want := float32(0)
					switch {
					case i == blocks: // behind the last
					case c.two:
						want = in[i][j] + 1
					default:
						want = in[i][j] + float32(i)
					}
					if got != want {
						t.Fatalf("%v, %s: element %d of block %d is %v, not %v", level, c.loop.Name(), j, i, got, want)
					}
				}
			}
		}
	}
}

// TestBytes widens bytes, and keeps the lowest byte of any integer.
func TestBytes(t *testing.T) {
	for _, level := range isa.Levels() {
		wide, bytes := vec.Aligned(4), vec.Aligned(1)
		ints := unsafe.Slice((*int32)(wide[0].Pointer()), 4*vec.Lanes)
		narrow := unsafe.Slice((*byte)(bytes[0].Pointer()), 4*vec.Lanes)
		through := func(load, save vec.Code, from, to unsafe.Pointer, by, size int) {
			program := []vec.Inst{vec.NewInst(level, load, 0, 0, 0), vec.NewInst(level, save, 1, 0, 0), vec.NewInst(level, vec.End, 0, 0, 0)}
			var s vec.State
			vec.Run(level, &s, program, []vec.Operand{vec.Walks(from, by), vec.Walks(to, size)}, 2, 4)
		}
		for i := range ints {
			ints[i] = int32(uint32(i) * 0x9e3779b1)
		}
		through(vec.Load, vec.SaveByte, wide[0].Pointer(), bytes[0].Pointer(), 4, 1)
		for i, x := range ints {
			if narrow[i] != byte(x) {
				t.Fatalf("%v: %d is saved as %d", level, x, narrow[i])
			}
		}
		for i := range narrow {
			narrow[i] = byte(i)
		}
		for load, of := range map[vec.Code]func(byte) int32{
			vec.LoadI8: func(b byte) int32 { return int32(int8(b)) }, vec.LoadU8: func(b byte) int32 { return int32(b) },
		} {
			through(load, vec.Save, bytes[0].Pointer(), wide[0].Pointer(), 1, 4)
			for i, x := range ints {
				if x != of(byte(i)) {
					t.Fatalf("%v: %s of %d is %d", level, load.Name(), i, x)
				}
			}
		}
	}
}

// TestRounding saves floats as smaller ones by every level.
func TestRounding(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, level := range fast() {
		for _, save := range []vec.Code{vec.SaveF16, vec.SaveBF16} {
			for round := range 300 {
				x := vec.Aligned(1)
				for i := range x[0] {
					x[0][i] = draw(r, round)
				}
				var got, want [vec.Lanes]uint16
				for i, l := range []isa.Level{level, isa.Portable} {
					to := []*[vec.Lanes]uint16{&got, &want}[i]
					program := []vec.Inst{vec.NewInst(l, vec.Load, 0, 0, 0), vec.NewInst(l, save, 1, 0, 0), vec.NewInst(l, vec.End, 0, 0, 0)}
					var s vec.State
					vec.Run(l, &s, program, []vec.Operand{vec.Stays(x[0].Pointer()), vec.Stays(unsafe.Pointer(to))}, 2, 1)
				}
				for i := range got {
					if x[0][i] == x[0][i] && got[i] != want[i] {
						t.Fatalf("%v, %s: %v becomes %#x, want %#x", level, save.Name(), x[0][i], got[i], want[i])
					}
				}
			}
		}
	}
}

// TestGeluFarBelow0: where nothing is left of it, gelu is -0, so that its product with an
// infinity is NaN, as it is with that of the definition.
func TestGeluFarBelow0(t *testing.T) {
	var x, out [1]vec.Block
	for i := range x[0] {
		x[0][i] = -15 * float32(i+1)
	}
	for _, level := range isa.Levels() {
		run(level, vec.Gelu, out[:], x[:], x[:], x[:])
		for i, y := range out[0] {
			if math.Float32bits(y) != 1<<31 {
				t.Errorf("%v: gelu of %v is %v", level, x[0][i], y)
			}
		}
	}
}
