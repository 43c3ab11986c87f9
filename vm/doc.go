// Package vm runs bytecode.
//
//	a program that passes the verifier     m, err := vm.Load(p, weights, vm.Options{})
//	and the tensors of its weights    =>   out, err := m.Run(ctx, inputs)
//
// Load proves the program safe (bytecode.Verify), finds a kernel for each exec
// (vm/kernel) and fetches the weights. A Run takes a frame, the memory of one
// run, from a Memory that machines share, starts a goroutine for each stream but
// the first, which stays with the caller, and gives out new tensors; a program
// too small to gain by that has its streams take turns. Streams meet only at
// events, which are counters that a run sets to its own number: nothing is reset
// between runs. Waiting is by a short spin, then by a condition variable.
//
// An Error tells the stream, task, operator, value and place in the source. The
// first error stops all streams before their next task, and long kernels on the way;
// so does a cancelled context. A kernel that panics is such an error, and the machine stays usable.
//
// Invariants:
//   - Run is safe for concurrent callers; they share weights and code only;
//   - arenas, outputs and scratch memory of all runs stay below Memory.Limit:
//     a run waits for what others have, and fails where it would fail alone;
//   - no goroutine outlives the Run that started it, and Close returns only
//     when every Run has;
//   - the results do not depend on the number of streams, bit for bit.
//
// Absent on purpose: bounds checks (the verifier has made them), knowledge of
// operators (kernels have it) and of the planner.
package vm
