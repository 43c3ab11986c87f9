package main

import "github.com/npulang/npu"

// kernelFlags say which code runs the tasks.
type kernelFlags struct {
	Kernels string `help:"Run tasks by fast kernels (default), by generic ones in portable Go, or by the reference, whose bits are the same on every machine." placeholder:"KIND"`
	ISA     string `name:"isa" help:"Instruction set of fast kernels: auto (default), portable, avx2, avx512 or neon." placeholder:"NAME"`
}

// add puts the flags into the compiler's options.
func (f *kernelFlags) add(opts *npu.Options) error {
	opts.Kernels, opts.ISA = npu.Kernels(f.Kernels), f.ISA
	if err := opts.CheckKernels(); err != nil {
		return flagError("--kernels, --isa", err)
	}
	return nil
}
