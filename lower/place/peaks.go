package place

// Peaks answer for any range of sections what the largest load in it is, in log n.
type peaks []int64

func newPeaks(load []int64) peaks {
	n := len(load)
	p := make(peaks, 2*n)
	copy(p[n:], load)
	for i := n - 1; i > 0; i-- {
		p[i] = max(p[2*i], p[2*i+1])
	}
	return p
}

// most is the largest load in sections lo up to hi; 0 if there are none.
func (p peaks) most(lo, hi int32) (most int64) {
	n := int32(len(p) / 2)
	for l, h := lo+n, hi+n; l < h; l, h = l/2, h/2 {
		if l&1 == 1 {
			most = max(most, p[l])
			l++
		}
		if h&1 == 1 {
			h--
			most = max(most, p[h])
		}
	}
	return most
}
