// Package strip compiles element-wise operators to programs of package vec and runs
// them on operands with rows.
//
//	b := strip.New(isa.Best())
//	x, bias := b.Input(strip.F32), b.Input(strip.F32)
//	b.Result(b.Op(vec.Relu, b.Op(vec.Add, x, bias)), strip.F32)
//	p, err := b.Compile()
//	p.Box(&scratch, []strip.View{tile, biases, to}, 12, 64)
//
// Compile orders the operators' codes around the machine's accumulator: a value that
// only the next operator reads never leaves it, what is read later is put aside in a
// block, whose memory serves others when the last reader is through.
//
// Box computes a box of rows and columns. A View says where an operand's elements
// lie: behind each other along the columns, one for a whole row or for all (a
// broadcast), or any number of bytes apart. Rows that lie behind each other in all
// views are one row. What does not fill a block (the end of a row, short rows) or
// does not lie behind each other goes through blocks in the scratch memory, and through
// the same code.
//
// Invariants: Box reads no byte outside of the views' elements and writes none outside
// of the results'; results are written when all operands of their block have been read,
// so that a result may lie exactly where an operand lies; what is computed does
// not depend on how boxes are cut.
//
// Absent on purpose: more than two axes, and choosing what is computed together
// (package kernel).
package strip
