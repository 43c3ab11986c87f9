// Package irtest makes random legal functions and tensors for tests: round
// trips of the text form, passes, and the machine against the interpreter.
//
//	Func(r, 20)            =>  a function of about 20 values, and inputs for it
//	FuncOf(r, 20, idioms)  =>  one with forms in it that rules look for
//	Near(r, f)             =>  f, but for one thing
//	Bind(f, B=2)           =>  f with numbers for its symbols
//
// Functions are built from the samples of the operator table, so a new operator
// takes part by its row. They have shared values, values with several readers,
// several results, results that are inner values, repeats or inputs, constants,
// regions, empty tensors, and names of all kinds. All sizes are numbers.
//
// The same seed gives the same function as long as the table is the same.
package irtest
