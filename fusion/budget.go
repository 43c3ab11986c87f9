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
	if d.Host() {
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
	border := g.border(parts, t)
	needs := x.needs(border, t.temps)
	if needs > x.has && x.needs(border, 0) <= x.has && g.count(parts) {
		border = g.border(parts, t)
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

// border counts what would pass the border of one kernel of the parts. It also says
// in t how many values such a kernel holds at once, at most.
func (g *graph) border(parts []int32, t *traits) [loads]int {
	c := &crossing{graph: g}
	temps := 0
	for _, p := range parts {
		temps = max(temps, g.groups[p].temps)
	}
	if len(parts) == 2 {
		c.pair(parts[0], parts[1], t.cubes)
	} else {
		c.all(parts)
	}
	t.temps = max(temps+c.early, temps+c.late, c.inside)
	return c.border
}

// A crossing counts what goes between groups.
type crossing struct {
	*graph
	border [loads]int
	inside int // values that nobody outside reads any more
	early  int // those of them that are not made last, and are held while others are made
	late   int // those that are not read first alone
}

// pair counts what two groups have, less what goes between them: growth asks that
// again and again of a large group and a small one, and pays for the small one.
func (c *crossing) pair(p, q int32, cubes int) {
	for k := range c.border {
		c.border[k] = c.groups[p].load[k] + c.groups[q].load[k]
	}
	c.between(q, p)
	c.between(p, q)
	c.shared(p, q)
	if cubes > 0 {
		// A product's operands lie beside the cube.
		c.border[wide] = max(c.border[wide]-2*cubes, 0)
	}
}

// all counts each value once that passes the border of any number of groups.
func (c *crossing) all(parts []int32) {
	reads := map[int32]int{} // of values that no part has been found to make
	for _, p := range parts {
		for _, e := range c.groups[p].ins.list {
			reads[e.key] += e.count
		}
	}
	for _, p := range parts {
		for _, e := range c.groups[p].outs.list {
			n := reads[e.key]
			delete(reads, e.key)
			if n == e.count {
				c.keep(e.key, &c.groups[p])
			} else {
				c.border[c.vals[e.key].load]++
			}
		}
	}
	for _, p := range parts {
		for _, id := range c.groups[p].members {
			if x := &c.vals[id]; x.kind == product { // its operands lie beside the cube
				for _, a := range x.v.Args[:min(2, len(x.v.Args))] { // an einsum may have one
					delete(reads, c.number[a])
				}
			}
		}
	}
	for value := range reads {
		c.border[c.vals[value].load]++
	}
}

// between takes off the border what p gives to q.
func (c *crossing) between(p, q int32) {
	from, to := &c.groups[p], &c.groups[q]
	if from.outs.size() > to.ins.size() {
		for _, e := range to.ins.list {
			if made := from.outs.count(e.key); made > 0 {
				c.cross(e.key, made-e.count, from)
			}
		}
		return
	}
	for _, e := range from.outs.list {
		if read := to.ins.count(e.key); read > 0 {
			c.cross(e.key, e.count-read, from)
		}
	}
}

// cross counts a value that goes from one group to another and is read left times
// outside of both.
func (c *crossing) cross(value int32, left int, from *group) {
	x := &c.vals[value]
	c.border[x.load]-- // as what one of them reads
	if left > 0 {
		return
	}
	c.border[x.load]--
	c.keep(value, from)
}

// keep counts a value that a group makes and that nobody reads outside.
func (c *crossing) keep(value int32, from *group) {
	x := &c.vals[value]
	c.inside++
	if x.owner != from.last {
		c.early++
	}
	if len(x.readers) > 1 || x.readers[0] != c.groups[c.group(x.readers[0])].first {
		c.late++
	}
}

// shared takes off what both read.
func (c *crossing) shared(p, q int32) {
	a, b := &c.groups[p].ins, &c.groups[q].ins
	if a.size() > b.size() {
		a, b = b, a
	}
	for _, e := range a.list {
		if b.count(e.key) > 0 {
			c.border[c.vals[e.key].load]--
		}
	}
}

// count replaces what is known roughly of the parts by what is so, and reports
// whether that changes anything. A group is counted once, until it grows.
func (g *graph) count(parts []int32) bool {
	changed := false
	for _, p := range parts {
		t := &g.groups[p].traits
		if !t.counted && t.temps > 0 {
			t.temps, t.counted = g.held(p), true
			changed = true
		}
	}
	return changed
}

// held counts the values that the kernel of a group holds at once besides those
// that pass its border.
func (g *graph) held(group int32) int {
	ops := slices.Clone(g.groups[group].members)
	slices.Sort(ops)
	g.epoch += 4
	for _, id := range ops {
		g.mark[id] = g.epoch
	}
	ends := make(map[int32]int) // how many values are read last there
	most, now := 0, 0
	for _, id := range ops {
		if last := g.lastInside(id); last != none {
			ends[last]++
			now++
			most = max(most, now)
		}
		if n := ends[id]; n > 0 {
			now -= n
			delete(ends, id)
		}
	}
	return most
}

// lastInside is the last reader of what an operator makes, among those that are
// marked; none if a reader is not, or there is no reader.
func (g *graph) lastInside(id int32) (last int32) {
	x := &g.vals[id]
	last = none
	for _, r := range x.readers {
		if g.mark[r] != g.epoch {
			return none
		}
		last = max(last, r)
	}
	if x.result {
		return none
	}
	return last
}
