package kernel_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/npulang/npu/vm/kernel"
	"github.com/npulang/npu/vm/kernel/isa"
	"github.com/npulang/npu/vm/kernel/long"
)

// TestLongFunctions compares them with their definitions, bit for bit, for numbers of all
// magnitudes, and among them those that are left to the definition.
func TestLongFunctions(t *testing.T) {
	for name, of := range kernel.LongFunctions() {
		for _, level := range isa.Levels() {
			r := rand.New(rand.NewPCG(1, uint64(level)))
			for round := range 3000 {
				a := make([]float64, r.IntN(40))
				for i := range a {
					switch a[i] = r.NormFloat64() * math.Exp(float64(r.IntN(9))); {
					case round%3 == 1 && r.IntN(6) == 0:
						a[i] = oddDoubles[r.IntN(len(oddDoubles))]
					case round%3 == 2:
						a[i] = math.Float64frombits(r.Uint64())
					}
				}
				d := make([]float64, len(a))
				long.Compute(level, name, d, a, of)
				for i, x := range a {
					if want := of(x); math.Float64bits(d[i]) != math.Float64bits(want) && (d[i] == d[i] || want == want) {
						t.Fatalf("%v: %s of %v is %v, want %v", level, name, x, d[i], want)
					}
				}
				long.Compute(level, name, a, a, of)
				for i := range a {
					if math.Float64bits(d[i]) != math.Float64bits(a[i]) && (d[i] == d[i] || a[i] == a[i]) {
						t.Fatalf("%v: %s where it lies: %v, want %v", level, name, a[i], d[i])
					}
				}
			}
		}
	}
}
