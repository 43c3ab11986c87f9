// Package codegen writes a plan as bytecode.
//
//	t0  vector  layernorm            %n <- %x %g %b    =>    code s0
//	t1  cube    matmul     after t0  %u <- %n %w               00  exec   k0 b3 <- b0 b1 b2
//	                                                           09  exec   k1 b5 <- b3 b4
//	                                                           11  end
//
// A task becomes an exec of a kernel (tasks of one operator, attributes and
// types share one), a copy, or an instruction with bodies. Bodies become
// functions; their buffers get their final addresses, since each body is run
// from one place, and their parameters are simply the buffers of the code
// around them: nothing is passed or copied at a call, but for the initial
// values of a loop.
//
// Invariants: the program has the plan's buffers and events in the plan's
// order, the same plan gives the same program, and the program passes the
// verifier. There is no choice in here: what to run where and when is lower's,
// which code a kernel has is the VM's.
package codegen
