// Package fusion decides which operators share a kernel.
//
//	%0 = matmul %x, %w : f32[B,4]         rule MatMul_BiasAdd_ReLU matches at %y:
//	%1 = bias_add %0, %v : f32[B,4]   =>  operators %y %1 %0, unit cube
//	%y = relu %1 : f32[B,4]
//
// Today the package is the first half of that: NewSet gathers and checks the
// rules, the compiler's own (Rules) and those that a user wrote, and Candidates
// finds where they match. Nothing is fused yet: no rule is enabled, the graph
// stays as it is, and every operator is a task of its own.
//
// What holds already, because the pattern engine guarantees it for each
// candidate: nothing outside reads a value inside but the root, so the operators
// can be outlined into one region without a cycle; and where candidates overlap
// the earlier rule of the set has the operator, since rules stand in order of
// priority.
//
// Absent: outlining into a fused region, growth of regions by the class of
// operators, the budget of a device's on-chip memory, the switches of rules.
package fusion
