package vec_test

import (
	"testing"

	"github.com/npulang/npu/vm/kernel/isa"
	"github.com/npulang/npu/vm/kernel/peak"
	"github.com/npulang/npu/vm/kernel/vec"
)

// BenchmarkCodes is every code, sixteen times behind each other on 1024 elements,
// in nanoseconds an element; and what a product and sum takes at the peak, measured in
// the same process.
func BenchmarkCodes(b *testing.B) {
	for _, level := range isa.Levels() {
		peak := peak.FMA(level)
		for c := vec.Code(0); c < vec.Codes; c++ {
			b.Run(level.String()+"/"+c.Name(), func(b *testing.B) { benchmark(b, level, c, peak) })
		}
	}
}

func benchmark(b *testing.B, level isa.Level, c vec.Code, peak float64) {
	const blocks, times = 16, 16
	data := vec.Aligned(3 * blocks)
	for i := range data {
		for j := range data[i] {
			data[i][j] = 0.1 + float32(j)/64
		}
	}
	program := []vec.Inst{vec.NewInst(level, vec.Load, 0, 0, 0)}
	for range times {
		if c != vec.End {
			program = append(program, vec.NewInst(level, c, 1, 2, 0))
			if c.IsChain() {
				program = append(program, vec.Numbers([vec.ChainMax]float32{1, 2}))
			}
		}
		program = append(program, vec.NewInst(level, vec.Load, 0, 0, 0))
	}
	program = append(program, vec.NewInst(level, vec.End, 0, 0, 0))
	var s vec.State
	for b.Loop() {
		// A run leaves them at its last block.
		table := []vec.Operand{vec.Walks(data[0].Pointer(), 4), vec.Walks(data[blocks].Pointer(), 4), vec.Walks(data[2*blocks].Pointer(), 4), {}}
		vec.Run(level, &s, program, table, len(table)-1, blocks)
	}
	each := float64(b.Elapsed().Nanoseconds()) / float64(b.N) / (blocks * times * vec.Lanes)
	b.ReportMetric(1000*each, "ps/element")
	b.ReportMetric(each*peak/2, "products") // that the peak has in the same time
}
