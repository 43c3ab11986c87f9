// Package passes rewrites a graph into a better one that means the same: the
// part of the optimizer that simplifies, one operator or a few at a time.
//
//	func @f(%x: f32[2]) -> f32[2] {           func @f(%x: f32[2]) -> f32[2] {
//	  %a = const [1.0, 4.0] : f32[2]
//	  %b = sqrt %a : f32[2]                     %b = const [1.0, 2.0] : f32[2]
//	  %c = add %x, %b : f32[2]          =>      %c = add %x, %b : f32[2]
//	  %d = add %b, %x : f32[2]                  %e = mul %c, %c : f32[2]
//	  %e = mul %c, %d : f32[2]                  return %e
//	  return %e                               }
//	}
//
// The pipeline is one literal, Pipeline. Run goes through it, over the graph and
// the regions inside, and gives a report: every rewrite with pass, rule, value
// and place, and what each pass cost.
//
// What holds for every pass:
//
//   - The function is legal before and after (Options.Verify checks it), its
//     parameters, results and their names stay.
//   - Results are the same bit for bit, but for rules that state a tolerance; and
//     those of fast-math, which run only if they are asked for, state the liberty
//     that they take.
//   - What runs without error before runs without error after. A run-time error
//     never becomes a compile error; a value that nobody needs may go, with the
//     error that it would have raised.
//   - Cost is linear in the graph. There is no recursion but over the nesting of
//     regions, so chains of any length compile.
//   - Nothing depends on map order, time or the machine.
//
// Patterns are compiled and matched by package passes/rewrite; sweep applies a
// table of rules until none matches. The tables are named after what they are
// about: canonical forms, algebra, logic, casts, broadcasts, shapes, slices, raised
// forms, transposes, products, fast-math. A new rule is a row of one of them, and a
// golden file of its name. Fusing operators into one kernel is package fusion's.
package passes
