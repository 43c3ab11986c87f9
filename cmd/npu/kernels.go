package main

import "github.com/npulang/npu"

// kernelFlags say which code runs the tasks, on how many processors.
type kernelFlags struct {
	Kernels string `help:"Run tasks by fast kernels (default), by generic ones in portable Go, or by the reference, whose bits are the same on every machine." placeholder:"KIND"`
	ISA     string `name:"isa" help:"Instruction set of fast kernels: auto (default), portable, avx2, avx512 or neon." placeholder:"NAME"`
	Bank    string `help:"Choose kernels by what npu tune FILE has measured and kept in this file; off: by estimates alone. Default: the file of this machine, if there is one." placeholder:"FILE"`
	Threads *int   `help:"Use at most N processors for a run; default, and most: those that this process may use." placeholder:"N"`
}

// add puts the flags into the compiler's options.
func (f *kernelFlags) add(opts *npu.Options) error {
	opts.Kernels = npu.Kernels(f.Kernels)
	if err := opts.CheckKernels(); err != nil {
		return flagError("--kernels "+f.Kernels, err)
	}
	opts.ISA, opts.Bank = f.ISA, f.Bank
	if err := opts.CheckKernels(); err != nil {
		return flagError("--isa "+f.ISA, err)
	}
	if f.Threads == nil {
		return nil
	}
	if *f.Threads < 1 {
		return usage("--threads %d: write a number from 1 on", *f.Threads)
	}
	opts.Threads = *f.Threads
	return nil
}
