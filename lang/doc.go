// Package lang is the front end for scripts: from syntax trees to checked IR.
//
//	param w: f32[4, 2]
//	graph main(x: f32[B, 4]) -> f32[B, 2] {
//	    h = relu(x)
//	    return h @ w
//	}
//
// becomes
//
//	func @main(%x: f32[B,4]) -> (out: f32[B,2]) {
//	  %w = param : f32[4,2]
//	  %h = relu %x : f32[B,4]
//	  %0 = matmul %h, %w : f32[B,2]
//	  return %0
//	}
//
// Load parses a script and what it imports, resolves all names as they stand
// (also in branches that are never taken), and then elaborates: it runs each
// graph at compile time. An expression gives a value that is known now (a
// number, a list, a dtype, an instance of a module, a function) or adds
// operators to the function under construction and gives a tensor. A fn is
// elaborated anew at every call, so it is inlined; a module makes an instance
// whose path names its weights; a loop over a list is unrolled; a loop that
// carries something, and an if on a tensor, become regions of the IR.
//
// Invariants:
//
//   - One cause is one error. A failed expression gives poison, and what uses
//     poison is silent. Errors of operators come from their rows (package ir)
//     and are laid beside the source here.
//   - An error in the standard library points at the user's call.
//   - A weight that is read twice is one value; weights stand first in a
//     function, named by their path.
//   - Work is bounded (Options.MaxSteps, MaxValues), and nothing recurses over
//     the length of a chain, only over nesting, which is bounded too.
//   - The same source gives the same IR, byte for byte.
//
// Besides, the package makes the values that weights have before any file is
// read (InitTensor, Bind), and runs test blocks with a Runner that the caller
// provides (Test.Run).
//
// Absent on purpose: the meaning of operators and the inference of types (rows
// of package ir), rewriting and fusion rules (parsed and carried in Unit.Rules,
// checked by package passes/rewrite), reading of files but through
// Options, and a list of the operators.
package lang
