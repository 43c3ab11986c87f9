// Package kernel is the table of code that runs operators.
//
//	"matmul", axis and types of the bytecode   =>   a *ir.Call and the first
//	                                                row of the table that accepts it
//
// Each operator may have kernels of three kinds: reference (the evaluation in
// the operator's own row, which works for every legal call), generic (portable
// Go) and fast (assembly). The rows of one operator stand in the order of
// preference; the first that accepts a call runs it. A kernel must give what the
// reference gives; a test walks the table to see that it does.
//
// Invariants: Run writes the whole of every result and nothing else; results
// do not overlap arguments; Run may be called from several goroutines at once.
//
// Absent on purpose: choosing by measurement (the table's order is the choice,
// so that two machines of a kind run the same code), and operators' meaning.
package kernel
