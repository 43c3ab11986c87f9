package passes

import (
	"testing"

	"github.com/npulang/npu/passes/rewrite"
)

// The patterns of a table are parsed at its first use: some milliseconds of the
// first compilation for all of them.
func BenchmarkPatterns(b *testing.B) {
	var texts []string
	for _, row := range Rules() {
		for _, p := range row.Rule.Forms() {
			if !p.Open() {
				texts = append(texts, p.String())
			}
		}
	}
	for b.Loop() {
		for _, text := range texts {
			rewrite.Must(text)
		}
	}
	b.ReportMetric(float64(len(texts)), "patterns")
}
