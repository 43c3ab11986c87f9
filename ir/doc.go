// Package ir holds the compiler's graphs: types with symbolic dimensions,
// values, functions, regions, and the table of operators with their meaning.
//
//	text or builder calls  =>  *Func  =>  text, or results
//
//	func @ffn(%x: f32[B,256]) -> (out: f32[B,64]) {
//	  assert B % 4 "reshape"
//	  %w = param {key=up.weight} : f32[256,64]
//	  %c = const [1.0 ...] : f32[64]
//	  %0 = matmul %x, %w : f32[B,64]
//	  %v, _ = topk %0 {k=5} : f32[B,5], i64[B,5]
//	  %u = fused %0, %c {rule=Add_ReLU} : f32[B,64] !stream(io) {
//	    %1 = add %0, %c : f32[B,64]
//	    %2 = relu %1 : f32[B,64]
//	    yield %2
//	  }
//	  return %u
//	}
//
// # The table
//
// An Op is a row: argument and attribute declarations, inference, cost,
// reference evaluation, and a generator of legal calls. A Value points at its
// row. Adding an operator is adding a row, var Exp = row(Op{...}), in the file
// of its group; the language, the text form, folding, the interpreter, the
// reference pages and the random functions of tests follow. A row's functions
// see a Call (types, attributes), never values or other rows.
//
// # The text form
//
// Print writes it and ParseFuncs reads it back to the same text. Names come
// from the source; a repeat gets .1, a value without a name a number in print
// order, a name that is not plain quotes: %"odd name". Attributes that have
// their default are left out. What stands for itself: _ for an optional
// argument that is absent, and for a further result that nothing reads; none
// for an attribute that is absent against its default. A constant of up to 16
// elements is a list, one of equal elements [x ...], any other the base64 of
// its bytes (little-endian): each reads back bit for bit. A body without a list
// of parameters has one for each argument that it may read, under the
// argument's name; its operators see nothing else of the outside. The types
// after the colon may be left out by hand, but for param and const. Locations
// are printed on request, @LINE:COLUMN, with the file where it is not the one
// named after the function's name: func @f in "mlp.npu" (...). Behind the body,
// weights { ... yield %w.t } makes weights of the graph of others; see Func.Weights.
//
// # Invariants
//
// Verify proves them, and Invariants lists them: definitions come before uses,
// calls are legal, stored types are the inferred ones, bodies are closed,
// symbols are bound by inputs. Dimensions are equal when their normal forms
// are; what a call needs and could not be proved is an Assert of its function,
// checked by BindSymbols when the sizes are known. Evaluation writes to no
// argument. No map order, address or clock reaches any text.
//
// # What is absent on purpose
//
// Control flow between values, memory and side effects (order in a Func is only
// for reading), implicit conversion and broadcasting of symbols, operators
// known by number, recursion over the length of a graph (only over regions,
// which are nested at most MaxNesting deep), and passes: what builds or changes
// graphs lives above this package.
package ir
