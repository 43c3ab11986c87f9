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
// A kernel that says which Rows of a result can be computed by themselves can be
// Split:
//
//	softmax f32[6,4], three parts              =>   softmax f32[2,4] of rows 0 and 1,
//	                                                of 2 and 3, of 4 and 5
//
// Parts are calls of the same operator on slices of the operands, made when a
// program is loaded. rowsOf is the table for the reference kernel: every axis of
// elementwise operators, the axes before those that reductions and norms work
// along, the batch and the left rows of products. An operator that is not in there
// is done as a whole.
//
// Invariants: Run writes the whole of every result and nothing else; results
// do not overlap arguments, but for one that InPlace allows; Run may be called from
// several goroutines at once; parts give what the whole gives, bit for bit.
//
// Absent on purpose: choosing by measurement (the table's order is the choice,
// so that two machines of a kind run the same code), and operators' meaning.
package kernel
