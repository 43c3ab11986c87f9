package tensor

import (
	"bytes"
	"fmt"
	"math"
)

// A Tolerance t lets got differ from want by t * max(1, |want|). NaN matches
// NaN, an infinity only itself, and 0 matches -0, whatever the tolerance.
type Tolerance float64

// Exact asks for equal values.
const Exact Tolerance = 0

// DefaultTolerance is what `expect a ~= b` takes for a dtype when it says
// nothing: some ten roundings of a number near 1.
func DefaultTolerance(d DType) Tolerance { return tolerances[d] }

var tolerances = [...]Tolerance{F64: 1e-12, F32: 1e-5, F16: 1e-3, BF16: 1e-2, Bool: 0}

// A Difference says how two tensors disagree.
type Difference struct {
	// Reason is set when the tensors cannot be compared: their dtypes or
	// shapes differ. Then nothing else is.
	Reason string

	Count, Total int       // elements that differ, of how many
	First        Mismatch  // the first in memory order
	Worst        Mismatch  // the one furthest outside of the tolerance
	Tolerance    Tolerance // what was allowed
}

// A Mismatch is one element that differs.
type Mismatch struct {
	Index     []int
	Got, Want string  // in the shortest form of their dtype
	By        float64 // |got - want|; infinite beside NaN or an infinity
}

func (d *Difference) Error() string {
	if d.Reason != "" {
		return d.Reason
	}
	text := fmt.Sprintf("%d of %d elements differ", d.Count, d.Total)
	if d.Total == 1 {
		text = "the values differ"
	}
	text += ": " + d.First.String()
	if d.Count > 1 && fmt.Sprint(d.First.Index) != fmt.Sprint(d.Worst.Index) {
		text = fmt.Sprintf("%s; the worst %v", text, d.Worst)
	}
	if d.Tolerance != Exact {
		text += fmt.Sprintf(" (tolerance %g)", float64(d.Tolerance))
	}
	return text
}

func (m Mismatch) String() string {
	at := ""
	if len(m.Index) > 0 {
		at = "at " + bracket(m.Index, ", ") + " "
	}
	by := ""
	if !math.IsInf(m.By, 0) {
		by = fmt.Sprintf(", off by %.3g", m.By)
	}
	return fmt.Sprintf("%sgot %s, want %s%s", at, m.Got, m.Want, by)
}

// Compare checks got against want: same dtype, same shape, and each element
// within tol. It returns nil if they agree: test that before making an error of
// it, a nil *Difference in an error is not a nil error.
func Compare(got, want *T, tol Tolerance) *Difference {
	return compare(got, want, tol, 1)
}

// CompareWhole is Compare with the tolerance taken of the largest finite element
// of want, at least 1, instead of each element's own size: what holds of sums
// whose terms cancel.
func CompareWhole(got, want *T, tol Tolerance) *Difference {
	if BitEqual(got, want) {
		return nil
	}
	return compare(got, want, tol, max(1, want.Largest()))
}

// Largest is the size of the largest finite float; 0 if there is none.
func (t *T) Largest() float64 {
	if !t.DType.IsFloat() {
		return 0
	}
	most := 0.0
	var buf [run]float64
	for at, n := 0, t.Len(); at < n; at += run {
		part := buf[:min(run, n-at)]
		t.LoadFloats(part, at)
		for _, f := range part {
			if f = math.Abs(f); f > most && f <= math.MaxFloat64 {
				most = f
			}
		}
	}
	return most
}

func compare(got, want *T, tol Tolerance, least float64) *Difference {
	if got.DType != want.DType {
		return &Difference{Reason: fmt.Sprintf("dtypes differ: got %s, want %s", got.Type(), want.Type())}
	}
	if !SameShape(got.Shape, want.Shape) {
		return &Difference{Reason: fmt.Sprintf("shapes differ: got %s, want %s", got.Type(), want.Type())}
	}
	if bytes.Equal(got.Data, want.Data) {
		return nil
	}
	c := comparison{got: got, want: want, tol: float64(tol), least: least, worst: -1}
	compareBy[got.DType.Kind()](&c)
	return c.difference()
}

// A comparison gathers what differs as its loop goes along.
type comparison struct {
	got, want *T
	tol       float64
	least     float64 // the size of which the tolerance is taken at least

	count, first, worst int
	firstBy, worstBy    float64
	excess              float64 // by how much the worst one is outside
}

var compareBy = [...]func(*comparison){
	None:     func(*comparison) {},
	Float:    compareAs((*T).LoadFloats, floatDistance),
	Signed:   compareAs((*T).LoadInts, intDistance),
	Unsigned: compareAs((*T).LoadUints, uintDistance),
	Logical:  compareAs((*T).LoadInts, intDistance),
}

func compareAs[W wide](load func(*T, []W, int), distance func(a, b W) float64) func(*comparison) {
	return func(c *comparison) {
		var a, b [run]W
		for at, n := 0, c.got.Len(); at < n; at += run {
			k := min(run, n-at)
			load(c.got, a[:k], at)
			load(c.want, b[:k], at)
			for i, w := range b[:k] {
				if a[i] != w {
					c.note(at+i, distance(a[i], w), math.Abs(float64(w)))
				}
			}
		}
	}
}

// note records element i, which is off by a distance from a value of the
// given size, if that is too much.
func (c *comparison) note(i int, by, size float64) {
	allowed := c.tol * math.Max(c.least, size)
	if math.IsNaN(by) {
		return // NaN against NaN
	}
	if by <= allowed && !math.IsInf(by, 1) {
		return
	}
	excess := by
	if allowed > 0 && !math.IsInf(by, 1) {
		excess = by / allowed
	}
	if c.count == 0 {
		c.first, c.firstBy = i, by
	}
	if c.count == 0 || excess > c.excess {
		c.worst, c.worstBy, c.excess = i, by, excess
	}
	c.count++
}

func (c *comparison) difference() *Difference {
	if c.count == 0 {
		return nil
	}
	return &Difference{
		Count: c.count, Total: c.got.Len(), Tolerance: Tolerance(c.tol),
		First: c.mismatch(c.first, c.firstBy),
		Worst: c.mismatch(c.worst, c.worstBy),
	}
}

func (c *comparison) mismatch(i int, by float64) Mismatch {
	return Mismatch{Index(c.want.Shape, i), c.got.Text(i), c.want.Text(i), by}
}

// floatDistance is |a - b|, infinite if just one is NaN or infinite, and NaN
// if both are NaN.
func floatDistance(a, b float64) float64 {
	switch {
	case a != a && b != b:
		return math.NaN()
	case a == b:
		return 0
	case a != a || b != b:
		return math.Inf(1)
	}
	return math.Abs(a - b)
}

func intDistance(a, b int64) float64 {
	if a < b {
		a, b = b, a
	}
	return float64(uint64(a) - uint64(b)) // the difference may exceed int64
}

func uintDistance(a, b uint64) float64 {
	if a < b {
		a, b = b, a
	}
	return float64(a - b)
}

// BitEqual reports whether two tensors have the same dtype, shape and bits.
func BitEqual(a, b *T) bool {
	return a.DType == b.DType && SameShape(a.Shape, b.Shape) && bytes.Equal(a.Data, b.Data)
}

// ULP counts the steps from x to y among the numbers of the float dtype d.
// 0 and -0 are one number, as are all NaN; from a NaN to a number it is
// 2**64-1.
func ULP(d DType, x, y float64) uint64 {
	if x != x || y != y {
		if x != x && y != y {
			return 0
		}
		return math.MaxUint64
	}
	i, j := ordinal(d, x), ordinal(d, y)
	if i < j {
		i, j = j, i
	}
	return uint64(i) - uint64(j)
}

// ordinal numbers the values of a float dtype in ascending order, 0 being 0.
func ordinal(d DType, v float64) int64 {
	var magnitude uint64
	switch a := math.Abs(v); d {
	case F64:
		magnitude = math.Float64bits(a)
	case F32:
		magnitude = uint64(math.Float32bits(float32(a)))
	case F16:
		magnitude = uint64(ToF16(a))
	case BF16:
		magnitude = uint64(ToBF16(a))
	}
	if v < 0 {
		return -int64(magnitude)
	}
	return int64(magnitude)
}
