// Package lower turns a function of the IR into a plan: which unit does the
// work of each value, on which stream and in which order, where each value
// lies in memory, and who waits for whom.
//
//	func @ffn(%x: f32[B,256]) -> f32[B,1024] {       tasks @ffn  with B=64
//	  %n = layernorm %x, %g, %b : f32[B,256]     =>    t0  vector  layernorm            %n <- %x %g %b
//	  %u = matmul %n, %w : f32[B,1024]                 t1  cube    matmul     after t0  %u <- %n %w
//	  return %u                                      streams @ffn  with B=64
//	}                                                  s0: t0, t1
//
// A plan is for one binding of the symbols: all sizes in it are numbers.
//
// Every value is one task on the unit of its operator's row, but for inputs,
// parameters and constants, which are there already, and views (reshape, a
// slice of whole rows, the parts of a split), which are parts of their argument as
// they lie there. The parts of a concat are made in its place where nothing else
// asks for another. Results are made in the caller's memory; only where that can't
// be (an input that is returned, one value returned twice) does a copy follow. A
// region is one task; its bodies are plans of their own whose arenas share a
// buffer, the frame, that lives as long as the task.
//
// Memory is planned last, for the order that streams and events give: a place is
// used again when all who used it are known to be done, and a result is made where
// an argument lies if the operator can do that and nobody looks at the argument
// afterwards. Buffers that hand a place on to each other so are one slot; which
// slots share memory, and at which offsets, is place's work.
//
// A unit is what a task occupies; a stream is an order of tasks of any units. The
// graph is parted into the fewest paths along its edges (a largest matching), the
// paths are put on streams by the strategy, and a simulation against the device's
// row says how many streams are worth having, and, where their number is left open,
// whether they are worth their memory. Events come last, one for each task
// that another stream waits for, and no wait that follows from others: the
// transitive reduction of what is read and of the streams' order.
//
// Invariants:
//   - tasks stand in an order that their results allow, as do those of each
//     stream, and every wait is for an earlier task, so that no plan can deadlock;
//   - two slots overlap only if all tasks that use the one are done, by the order
//     of streams and events, before any that writes the other begins; memory adds
//     no event;
//   - every event has a waiter, and none can be left out;
//   - by the simulation no plan takes longer than one stream does, but where
//     @stream asks for it;
//   - the time is n log n in the number of values, and nothing recurses but
//     over nested regions;
//   - nothing depends on map order, so that a function has one plan.
//
// Absent on purpose: rewriting (a plan computes exactly the IR that it was
// given), kernels and their choice (the VM binds them), and trust: the
// bytecode's verifier proves the plan again without this package.
package lower
