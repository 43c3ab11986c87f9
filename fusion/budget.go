package fusion

import (
	"fmt"
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/device"
)

// Whether a kernel fits: the working set of its smallest tile, in bytes,
// against the device's on-chip memory. What does not fit in the smallest tile
// fits in none.
//
// A vector kernel takes a tile of each value that it reads, computes, and writes
// a tile of each value that is wanted outside, all in the unified buffer (UB).
// While one tile is computed, the next is loaded and the last one is stored, so
// that whatever passes the border is there twice:
//
//	needs = 2 * (wide + out) * unit + steady * unit + 2 * narrow * block + temps * unit
//
//	wide    values read or written that differ from row to row
//	steady  those read that are one row, such as weights: loaded once
//	narrow  those of one element a row, or one in all
//	block   the unit of access to the UB (UBBlock)
//	temps   the largest number of values inside that are held at the same time
//	unit    of an element-wise kernel: a block, times as much as its widest element
//	        is wider than its narrowest one;
//	        with a reduction along the last axis, a row: width * element, up to the
//	        next block, since a row is kept until its reduction is known
//
// A cube kernel keeps a tile of each operand beside the cube, the depth K in
// blocks, each twice, and accumulates in 32 bits. What rides in front and behind
// is a vector kernel on one tile of the result:
//
//	L0A = 2 * CubeM * CubeK * element      L0B = 2 * CubeK * CubeN * element
//	L0C = 2 * CubeM * CubeN * 4            unit = CubeM * CubeN * element
//
// On the host, which has no memory of its own kind beside the core, what does
// not fit the first-level cache is in the second: both count as room.

// A load says how a value that passes a kernel's border counts.
type load uint8

const (
	wide load = iota
	steady
	narrow
	loads // how many there are
)

func loadOf(t ir.Type) load {
	switch n := t.Rank(); {
	case n == 0 || t.Shape[n-1].Is(1):
		return narrow
	case n == 1:
		return steady
	}
	return wide
}

// A tile is the model's smallest one for a group.
type tile struct {
	block, unit int64
	has         int64
}

func (g *graph) tile(t *traits, d *device.Device) tile {
	x := tile{block: int64(d.UBBlock), has: d.UB}
	if host(d) {
		x.has += d.L1
	}
	switch {
	case t.cubes > 0:
		x.unit = alignUp(int64(d.CubeM)*int64(d.CubeN)*int64(t.large), int64(d.AlignUB))
	case t.rows:
		x.unit = alignUp(times(g.size.of(t.shape[len(t.shape)-1]), int64(t.large)), x.block)
	default:
		x.unit = x.block * int64(max(t.large/max(t.small, 1), 1))
	}
	return x
}

// host reports whether the device is the machine that the VM runs on.
func host(d *device.Device) bool { return d.Memory == 0 }

// needs is the working set with that many values held at once.
func (x tile) needs(border [loads]int, temps int) int64 {
	n := times(int64(2*border[wide]+border[steady]+temps), x.unit)
	return n + 2*int64(border[narrow])*x.block
}

// fits reports whether the kernel of a group that parts become fits; if not,
// detail has the numbers. The number of values that are held at once is known
// roughly from the parts; it is counted only if that decides.
func (g *graph) fits(parts []int32, t *traits, d *device.Device) (ok bool, detail string) {
	if detail := cubeTiles(t, d); detail != "" {
		return false, detail
	}
	x := g.tile(t, d)
	border := g.border(parts)
	if t.cubes > 0 {
		// A product's operands lie beside the cube.
		border[wide] = max(border[wide]-2*t.cubes, 0)
	}
	needs := x.needs(border, t.temps)
	if needs <= x.has {
		return true, ""
	}
	if needs = x.needs(border, 0); needs <= x.has {
		t.temps = g.held(parts)
		needs = x.needs(border, t.temps)
	}
	return needs <= x.has, fmt.Sprintf("needs %d, has %d", needs, x.has)
}

// cubeTiles checks the memories beside the cube.
func cubeTiles(t *traits, d *device.Device) (detail string) {
	if t.cubes == 0 {
		return ""
	}
	m, n, k, size := int64(d.CubeM), int64(d.CubeN), int64(d.CubeK), int64(t.large)
	for _, c := range []struct{ needs, has int64 }{
		{2 * m * k * size, d.L0A}, {2 * k * n * size, d.L0B}, {2 * m * n * 4, d.L0C},
	} {
		if c.needs > c.has {
			return fmt.Sprintf("needs %d, has %d", c.needs, c.has)
		}
	}
	return ""
}

// border counts what would pass the border of one kernel of the parts: what they
// have, less what goes between them.
func (g *graph) border(parts []int32) [loads]int {
	var n [loads]int
	for i, p := range parts {
		s := &g.groups[p]
		for k := range n {
			n[k] += s.load[k]
		}
		for _, q := range parts[:i] {
			g.between(p, q, &n)
			g.between(q, p, &n)
			g.shared(p, q, &n)
		}
	}
	return n
}

// between takes off n what p gives to q.
func (g *graph) between(p, q int32, n *[loads]int) {
	from, to := &g.groups[p].outs, &g.groups[q].ins
	if from.size() > to.size() {
		for _, e := range to.list {
			if made := from.count(e.key); made > 0 {
				g.crosses(e.key, made-e.count, n)
			}
		}
		return
	}
	for _, e := range from.list {
		if read := to.count(e.key); read > 0 {
			g.crosses(e.key, e.count-read, n)
		}
	}
}

// crosses takes off n a value that is read inside, and left times outside.
func (g *graph) crosses(value int32, left int, n *[loads]int) {
	n[g.vals[value].load]-- // as what one of them reads
	if left <= 0 {
		n[g.vals[value].load]--
	}
}

// shared takes off n what both read.
func (g *graph) shared(p, q int32, n *[loads]int) {
	a, b := &g.groups[p].ins, &g.groups[q].ins
	if a.size() > b.size() {
		a, b = b, a
	}
	for _, e := range a.list {
		if b.count(e.key) > 0 {
			n[g.vals[e.key].load]--
		}
	}
}

// held counts the values that one kernel of the parts holds at once besides
// those that pass its border.
func (g *graph) held(parts []int32) int {
	inside := map[int32]bool{}
	var ops []int32
	for _, p := range parts {
		for _, id := range g.groups[p].members {
			inside[id] = true
			ops = append(ops, id)
		}
	}
	slices.Sort(ops)
	ends := map[int32]int{} // how many values are read last there
	most, now := 0, 0
	for _, id := range ops {
		if last, ok := g.lastInside(id, inside); ok {
			ends[last]++
			now++
			most = max(most, now)
		}
		now -= ends[id]
	}
	return most
}

// lastInside is the last reader of what an operator makes; not ok: some reader is
// outside, or there is none.
func (g *graph) lastInside(id int32, inside map[int32]bool) (last int32, ok bool) {
	x := &g.vals[id]
	if x.result {
		return none, false
	}
	last = none
	for _, r := range x.readers {
		if !inside[r] {
			return none, false
		}
		last = max(last, r)
	}
	return last, last != none
}
