package npu

import (
	"github.com/npulang/npu/vm/kernel"
	"github.com/npulang/npu/vm/kernel/isa"
)

// Kernels say which code runs the tasks of a program.
type Kernels string

// The choices. The empty one is KernelsFast. Results of fast and generic kernels are
// off from those of the reference by what docs/kernels.md says; none of the three
// depends on streams, threads or plans.
const (
	KernelsFast      Kernels = "fast"      // the best for this processor, in assembly where there is any
	KernelsGeneric   Kernels = "generic"   // the same algorithms in portable Go
	KernelsReference Kernels = "reference" // the operators' own evaluations, the same bits on every machine
)

// AllKernels lists them, from the fastest.
var AllKernels = []Kernels{KernelsFast, KernelsGeneric, KernelsReference}

// kernelKinds are the choices as package kernel knows them.
var kernelKinds = map[Kernels]kernel.Kind{
	"": kernel.Fast, KernelsFast: kernel.Fast, KernelsGeneric: kernel.Generic, KernelsReference: kernel.Reference,
}

// ISAs lists the instruction sets of this processor that there are kernels for, the
// portable one first and the best last: what Options.ISA may say.
func ISAs() []string {
	var names []string
	for _, l := range isa.Levels() {
		names = append(names, l.String())
	}
	return names
}

// CheckKernels refuses kernels that there are not, and instruction sets that this
// processor does not have. Compile asks it first.
func (o *Options) CheckKernels() error {
	if err := checkName("kernels", o.Kernels, AllKernels); err != nil {
		return err
	}
	if _, err := isa.Parse(o.ISA); err != nil {
		return planError("%v", err)
	}
	return nil
}

// kernelOptions are what the options ask for; they have been checked.
func (o *Options) kernelOptions() kernel.Options {
	level, err := isa.Parse(o.ISA)
	if err != nil {
		level = isa.Best()
	}
	return kernel.Options{Kind: kernelKinds[o.Kernels], Level: level, Packs: new(kernel.Packs), Threads: threadsOf(o.Threads)}
}
