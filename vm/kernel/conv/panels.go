package conv

// An octet is eight places of a block, as columns of a panel: how they lie in what
// is staged, or in the input. Places go row by row, so that eight of them are
// neighbours, or lie in two runs, or, where rows are short, in more.
type octet struct {
	kind   octetKind
	a, b   int // bytes
	places [8]int32
	masks  *[16]int32
}

type octetKind uint8

const (
	oneRun octetKind = iota
	twoRuns
	eachByItself
)

// runs has, for n places of a first run and m of a second, masks for both.
var runs = func() (t [9][9][16]int32) {
	for n := range t {
		for m := range t {
			for i := range 8 {
				if i < n {
					t[n][m][i] = -1
				} else if i < n+m {
					t[n][m][8+i] = -1
				}
			}
		}
	}
	return t
}()

// octetsOf lays out n places in rows of cols, which are pitch floats apart. Those
// beyond n are never read.
func octetsOf(n, cols, pitch int) []octet {
	list := make([]octet, (n+7)/8)
	for i := range list {
		list[i] = octetOf(8*i, min(8, n-8*i), cols, pitch)
	}
	return list
}

func octetOf(first, n, cols, pitch int) octet {
	var o octet
	lies := func(p int) int { return p/cols*pitch + p%cols }
	cut, kinks := n, 0 // where the second run begins, how many there are behind the first
	for i := range n {
		o.places[i] = int32(lies(first + i))
		if i > 0 && o.places[i] != o.places[i-1]+1 {
			kinks++
			cut = min(cut, i)
		}
	}
	o.a = 4 * int(o.places[0])
	o.masks = &runs[cut][n-cut]
	switch {
	case kinks == 0 && n == 8:
		o.kind = oneRun
	case kinks == 0:
		o.kind, o.b = twoRuns, o.a
	case kinks == 1:
		o.kind, o.b = twoRuns, 4*(int(o.places[cut])-cut)
	default:
		o.kind, o.masks = eachByItself, &runs[n][0]
	}
	return o
}

// put lays out k rows of the octet, step bytes apart.
func (o *octet) put(fast *kernels, dst *float32, step int, offsets []int, src *float32) {
	switch o.kind {
	case oneRun:
		fast.run(dst, step, &offsets[0], len(offsets), behind(src, o.a))
	case twoRuns:
		fast.pair(dst, step, &offsets[0], len(offsets), src, o.a, o.b, o.masks)
	default:
		fast.each(dst, step, &offsets[0], len(offsets), src, &o.places, o.masks)
	}
}

// putAll lays out k rows of some octets side by side.
func putAll(octets []octet, fast *kernels, dst []float32, step int, offsets []int, src *float32) {
	for i := 0; i < len(octets); i++ {
		o, to := &octets[i], &dst[8*i]
		if i+1 < len(octets) && o.kind == oneRun && octets[i+1].kind == oneRun {
			fast.runs(to, step, &offsets[0], len(offsets), behind(src, o.a), behind(src, octets[i+1].a))
			i++
			continue
		}
		o.put(fast, to, step, offsets, src)
	}
}
