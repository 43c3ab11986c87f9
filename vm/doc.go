// Package vm runs bytecode.
//
//	a program that passes the verifier     m, err := vm.Load(p, weights, vm.Options{})
//	and the tensors of its weights    =>   out, err := m.Run(ctx, inputs)
//	                                       err := m.RunInto(ctx, inputs, outputs)
//	without weights                    =>  err := vm.Check(p)
//
// Load proves the program safe (bytecode.Verify), finds a kernel for each exec
// (vm/kernel), estimates how long each step takes, splits those that are worth it,
// and fetches the weights. Options.Calls saves it the parsing of kernels when the
// program has just been made.
//
// A run has a frame: a tensor for each buffer and the state of its streams. The
// caller of Run is an executor, and so are the Workers that help it. An executor
// takes a stream that can go on, runs its steps, and where the next one waits for
// an event that is not posted, sets the stream aside and takes another. Nobody
// blocks for an event, so that any number of streams runs on any number of
// executors, even on one. Events are words that hold the number of the run that
// posted them, sets of streams are words with a bit each: a task is begun, and
// an event posted, without a lock.
//
// Work is given away only where that pays: an executor that has done two
// microseconds of work while another stream could go on says so, and wakes a
// worker if none is looking for work anyway. A chain stays where it is, a small
// program on its caller. A task of three microseconds or more whose kernel can
// compute rows by themselves is done in parts by whoever is awake: each executor
// has parts of its own, the same in each run, and those who are ready earlier take
// from the others. Workers are woken behind 40 microseconds of work that nobody
// shared. Within a run, and behind it, they look for work for 100 microseconds
// before they sleep.
//
// The goroutines are those of the process (SharedWorkers); runs that ask for help
// are on a board, and share the processors evenly.
//
// RunInto computes into the caller's tensors, and once the machine is warm it
// allocates nothing but for einsum. Run is the same with new tensors. Options.Reads is
// told which weights runs read where they are: others are packed, and their own memory
// may be given back.
//
// A Memory bounds what the runs of all machines that share it hold: arenas,
// which any machine uses that they are large enough for, outputs and scratch
// memory. A run waits until what it begins with fits. Info tells what there is.
//
// An Error tells the stream, task, operator, value and place in the source. The
// first error stops all streams before their next task, and long kernels on the way;
// so does a cancelled context, for which executors look before each task. A kernel
// that panics is such an error, and the machine stays usable. Of a task that fails
// in parts the whole is run again, so that its error is that of the whole.
//
// Invariants:
//   - Run is safe for concurrent callers; they share weights and code only;
//   - arenas, outputs and scratch memory of all runs stay below Memory.Limit:
//     a run waits for what others have, and fails where it would fail alone;
//   - Close returns only when every Run has; no goroutine outlives Workers.Close of
//     the last who use it, which a machine calls for workers of its own; those of a
//     machine that nobody closes it gives up when it is collected;
//   - the results do not depend on the number of streams, workers or parts, bit
//     for bit, nor on the order in which executors happen to come.
//
// Options.Poison fills memory with NaN that holds nothing, which the stress tests
// do on random graphs, with streams taken in any order, and on spoilt plans that
// the verifier accepts; go test -run 'Stress|Mutants' -stress 1m lets them go on
// for longer, and so does go test -run ManyCallers -stress 1m of the root package.
//
// Absent on purpose: bounds checks (the verifier has made them), knowledge of
// operators (kernels have it) and of the planner; priorities and affinity, which
// Go has no say in.
package vm
