package move

import "unsafe"

// Where elements lie in groups of few, as the colours of an image do, bytes are shuffled
// within registers: a block of 16 bytes of each column makes, or is made of, as many
// registers. The functions are told by a table of masks which byte goes where:
//
//	[3,N] of [N,3]      groups into columns                   3 registers of 3
//	[N,3] of [3,N]      columns into groups                   3 of 3
//	[N] in steps of 3   one element of each group             1 of 3
//	[N,3] of [N]        each element three times              3 of 1
//	[N] backwards       blocks backwards, the last one first  1 of 1
//	[N,3] backwards     the groups stay, each is turned       3 of 3

// A shuffler makes registers at d of others at s, a block of 16 bytes each in the lower
// and one in the upper half of 32 bytes, n times. masks says for each register that is
// made, and each of those that it is made of, which byte goes where, for both halves.
type shuffler func(d, s *byte, p *paces, masks *byte, n int)

// paces are distances in bytes, three of the destination and then three of the source:
// from one register of a block to the next, from the lower block to the upper one, and
// from one pair of blocks to the next.
type paces = [6]int

// half is the bytes of a register's block.
const half = 16

// shortRow is how many times what is done at once rows of their own must have: a call for
// each row takes longer than the loops for shorter ones.
const shortRow = 4

// mostGroup is the elements of the largest group.
const mostGroup = 4

// A dealing is a way of shuffling groups.
type dealing struct {
	// group is the size of a leaf's groups; 0: it is no such leaf.
	group func(l *leaf) int
	// registers are those of a block.
	registers func(group int) registers
	// source says of which element of the source's block element i of the destination's
	// is made, both counted through all of the block's registers.
	source func(group, per, i int) int
	paces  func(l *leaf, group int) paces
	// shift is where the source's first block begins, beside the first element.
	shift func(l *leaf, group int) int
	walk  dealt
}

// dealt says along what groups follow each other.
type dealt uint8

const (
	alongRows dealt = iota // each row is one
	along                  // all rows at once
	eachRow                // row by row
)

var (
	square  = func(group int) registers { return registers{group, group} }
	noShift = func(*leaf, int) int { return 0 }
)

// dealings are tried in this order.
var dealings = []*dealing{
	{ // groups into columns
		group: func(l *leaf) int {
			if l.rows.from == l.size && l.row.from == l.rows.n*l.size {
				return l.rows.n
			}
			return 0
		},
		registers: square,
		source:    func(group, per, i int) int { return i%per*group + i/per },
		paces: func(l *leaf, group int) paces {
			return paces{l.rows.to, half, 2 * half, half, half * group, 2 * half * group}
		},
		shift: noShift,
		walk:  along,
	},
	{ // one element, several times
		group: func(l *leaf) int {
			if l.rows.from == l.size && l.row.from == 0 && l.rows.to == l.row.n*l.size {
				return l.row.n
			}
			return 0
		},
		registers: func(group int) registers { return registers{1, group} },
		source:    func(group, per, i int) int { return i / group },
		paces: func(l *leaf, group int) paces {
			return paces{half, half * group, 2 * half * group, 0, half, 2 * half}
		},
		shift: noShift,
	},
	{ // columns into groups
		group: func(l *leaf) int {
			if l.rows.from == l.size && l.rows.to == l.row.n*l.size {
				return l.row.n
			}
			return 0
		},
		registers: square,
		source:    func(group, per, i int) int { return i%group*per + i/group },
		paces: func(l *leaf, group int) paces {
			return paces{half, half * group, 2 * half * group, l.row.from, half, 2 * half}
		},
		shift: noShift,
	},
	{ // groups, each backwards
		group: func(l *leaf) int {
			if l.row.from == -l.size && l.rows.to == l.row.n*l.size && l.rows.from == l.rows.to {
				return l.row.n
			}
			return 0
		},
		registers: square,
		source:    func(group, per, i int) int { return i/group*group + group - 1 - i%group },
		paces: func(l *leaf, group int) paces {
			return paces{half, half * group, 2 * half * group, half, half * group, 2 * half * group}
		},
		shift: func(l *leaf, group int) int { return -(group - 1) * l.size },
	},
	{ // backwards
		group: func(l *leaf) int {
			if l.row.from == -l.size {
				return 1
			}
			return 0
		},
		registers: square,
		source:    func(_, per, i int) int { return per - 1 - i },
		paces:     func(*leaf, int) paces { return paces{0, half, 2 * half, 0, -half, -2 * half} },
		shift:     func(l *leaf, _ int) int { return l.size - half },
		walk:      eachRow,
	},
	{ // one of each group
		group: func(l *leaf) int {
			if l.row.from == l.size || l.size == 8 {
				return 0 // runs, and what loads of words pick as fast
			}
			return l.row.from / l.size
		},
		registers: func(group int) registers { return registers{group, 1} },
		source:    func(group, per, i int) int { return i * group },
		paces: func(_ *leaf, group int) paces {
			return paces{0, half, 2 * half, half, half * group, 2 * half * group}
		},
		shift: noShift,
		walk:  eachRow,
	},
}

// A shuffle is a dealing of a leaf's groups.
type shuffle struct {
	*dealing
	group int
	run   shuffler
	masks []byte
	// last has the masks of blocks that begin so many bytes earlier: one of each group is
	// its last element, and what is behind that is not read. nil: blocks read nothing else.
	last    []byte
	earlier int
	paces   paces
	at      int // the shift
	least   int // groups that are done at once
}

// shuffleOf finds a dealing for a leaf; nil: there is none.
func (m *machine) shuffleOf(l *leaf) *shuffle {
	if l.row.to != l.size || l.size > half/2 || len(m.shuffles) == 0 {
		return nil
	}
	for _, d := range dealings {
		group := d.group(l)
		if group < 1 || group > mostGroup {
			continue
		}
		r := d.registers(group)
		x := &shuffle{dealing: d, group: group, run: m.shuffles[r], least: 2 * half / l.size, paces: d.paces(l, group), at: d.shift(l, group)}
		x.masks = masksOf(r, l.size, func(per, i int) int { return d.source(group, per, i) })
		if r.in > r.out {
			x.earlier = (group - 1) * l.size
			x.last = masksOf(r, l.size, func(per, i int) int { return d.source(group, per, i) + group - 1 })
		}
		return x
	}
	return nil
}

// masksOf writes the masks of a block: source says of which element of the block of the
// source each element is made. A byte of 0x80 in a mask makes a zero.
func masksOf(r registers, size int, source func(per, i int) int) []byte {
	per := half / size
	masks := make([]byte, 2*half*r.in*r.out)
	for i := range masks {
		masks[i] = 0x80
	}
	for j := range r.out {
		for i := range per {
			from := source(per, j*per+i)
			for b := range size {
				at := 2*half*(j*r.in+from/per) + i*size + b
				masks[at] = byte(from%per*size + b)
				masks[at+half] = masks[at]
			}
		}
	}
	return masks
}

// shuffleLoop copies a leaf by its shuffle, but for few groups.
func shuffleLoop(d, s unsafe.Pointer, l *leaf, rows, n int) {
	x := l.shuffle
	count := n
	if x.walk == alongRows {
		count = rows
	}
	if count < x.least || x.last != nil && count == x.least || x.walk == eachRow && rows > 1 && count < shortRow*x.least {
		l.kind.loops[l.log()](d, s, l, rows, n)
		return
	}
	if x.walk != eachRow {
		rows = 1
	}
	for i := range rows {
		x.deal(unsafe.Add(d, i*l.rows.to), unsafe.Add(s, i*l.rows.from+x.at), count)
	}
}

// deal does count groups, at least as many as at once. The last ones are done so that
// they end where the groups do, some of them again.
func (x *shuffle) deal(d, s unsafe.Pointer, count int) {
	whole, last := count/x.least, x.masks
	if x.last != nil {
		whole, last = (count-1)/x.least, x.last
	}
	x.run((*byte)(d), (*byte)(s), &x.paces, &x.masks[0], whole)
	if rest := count - x.least; rest > (whole-1)*x.least {
		to, from := x.paces[2]/x.least*rest, x.paces[5]/x.least*rest-x.earlier
		x.run((*byte)(unsafe.Add(d, to)), (*byte)(unsafe.Add(s, from)), &x.paces, &last[0], 1)
	}
}
