package npu

import (
	"cmp"

	"github.com/npulang/npu/vm/kernel"
	"github.com/npulang/npu/vm/kernel/isa"
)

// sideKernels are the kernels of one side of a comparison: those of the reference, where
// nothing is said that has a meaning for others alone, and fast ones where precisions
// are measured.
func (o *Options) sideKernels(measured bool) Kernels {
	if measured || o.ISA != "" || o.Bank != "" {
		return cmp.Or(o.Kernels, KernelsFast)
	}
	return cmp.Or(o.Kernels, KernelsReference)
}

// kernelBits are what the bits of results depend on beside the graph.
type kernelBits struct {
	kind  kernel.Kind
	level isa.Level // of fast kernels
}

func (o *Options) kernelBits() kernelBits {
	of := *o
	of.Kernels = o.sideKernels(false)
	k := of.kernelOptions()
	if k.Kind != kernel.Fast {
		k.Level = isa.Portable
	}
	return kernelBits{k.Kind, k.Level}
}

// kernelsDiffer reports whether two sides compute in other bits.
func kernelsDiffer(a, b *Options) bool { return a.kernelBits() != b.kernelBits() }

// compareKernels holds the results of the side with faster kernels against the other's.
func compareKernels(sides [2]*compared, opts *TrialOptions) (*Comparison, error) {
	a, b := sides[0].opts.kernelBits(), sides[1].opts.kernelBits()
	if cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.level, b.level)) > 0 {
		sides[0], sides[1] = sides[1], sides[0]
	}
	return sides[0].errorsOf(sides[1], opts)
}
