// Package rewrite is the pattern engine: it compiles a rule, written in the
// expression syntax of the language, and finds where a graph matches it.
//
//	fusion MatMul_BiasAdd_ReLU {              %0 = matmul %x, %w : f32[B,4]
//	    relu(bias_add(matmul(a, b), c))       %1 = bias_add %0, %v : f32[B,4]
//	    where rank(c) == 1                    %y = relu %1 : f32[B,4]
//	    safe
//	}                                   =>    match at %y: a=%x b=%w c=%v
//
// A pattern means what the same expression means in a script: an attribute that
// it does not mention has its default value, an optional argument that it leaves
// out is absent. Beyond that
//
//   - a lower-case name stands for any value, or any value of an attribute; the
//     same name twice for the same one;
//   - a number stands for a constant whose every element is that number as its
//     dtype stores it, and never for one that is near;
//   - an operator that commutes matches both ways round;
//   - op?(x, ...) matches op(x, ...) and x alone; x + m? matches x + m and x
//     alone; in an optional argument's place, m? may be absent;
//   - where-tests are proved for every binding of the symbols, or they fail.
//
// What no rule can forget, because the engine sees to it: of an operator with
// several results only the first is used; all that is matched carries the same
// annotations; in a fusion no value inside is read outside or is a result, so
// that no cycle can arise; operators with effects and regions are no part of a
// pattern. A match takes a bounded number of steps.
//
// Rules of the compiler's own are Go literals whose patterns are compiled by
// Must, and a user's are compiled by Compile from the syntax tree; both are the
// same Rule. All mistakes of a rule are reported, under the code bad-rule.
//
// Apply makes what a rewrite puts in a match's place. It refuses what would be no
// legal call, have another type, or take something on trust that the function
// does not assert yet: a rewrite never adds a way to fail. Which matches are
// rewritten, and in what order, is the passes' business.
//
// Instances are small graphs that a rule matches, and Read makes a pattern again of
// what passes have made of one: so a user's fusion is found in a graph that has
// been simplified.
//
// Check tests a rule on random graphs that its pattern fits, and shows a small one
// on which its sides differ.
package rewrite
