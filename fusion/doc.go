// Package fusion decides which operators share a kernel.
//
//	%0 = matmul %x, %w : f32[B,4]        %y = fused %x, %w, %v {rule=MatMul_BiasAdd_ReLU, unit=cube} : f32[B,4] {
//	%1 = bias_add %0, %v : f32[B,4]        %0 = matmul %x, %w : f32[B,4]
//	%y = relu %1 : f32[B,4]          =>    %1 = bias_add %0, %v : f32[B,4]
//	                                       %y = relu %1 : f32[B,4]
//	                                       yield %y
//	                                     }
//
// A fusion only outlines values into a fused region, whose body is its meaning: a
// wrong rule can cost time, never correctness.
//
// Every operator begins as a group of its own (graph), and groups are merged in
// three steps: what the script names by @fuse (script), what the rules with a
// pattern match (named, rules), and what goes together by the way in which it walks
// its data (growth, kind). A merge asks whether a cycle would arise (order),
// whether the smallest tile fits the device's on-chip memory (budget), whether the
// device has the path and the dtype (device), and whether it pays (cost, peak).
// Groups of more than one operator become regions in the end (outline, steps).
//
// What holds:
//
//   - Values keep their names, places and annotations, inside a region and as its
//     results, so that an error names the operator that it comes from.
//   - No value of a region is read outside but its results; weights and all but
//     one-element constants are arguments.
//   - A candidate that is turned down has a code of Reasons, with its numbers.
//   - Everything is near-linear, 100,000 operators in a few seconds, and comes out
//     the same each time.
//
// Absent on purpose: reordering of sums, recomputation, or any other change of what
// is computed. That is what package passes does before.
package fusion
