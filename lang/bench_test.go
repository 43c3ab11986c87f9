package lang

import (
	"fmt"
	"testing"
)

// BenchmarkLoad shows that loading is linear in the length of a script: the
// time for each statement stays.
func BenchmarkLoad(b *testing.B) {
	for _, name := range []string{"statements", "independent", "binary chain"} {
		for _, n := range []int{10_000, 30_000, 100_000} {
			src := long[name](n)
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				for range b.N {
					if _, ds := loadScript(src); ds.Err() != nil {
						b.Fatal(ds)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/statement")
			})
		}
	}
}
