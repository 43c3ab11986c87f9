// Package npu is a graph compiler for tensor programs, made to be embedded.
//
// A program is a script in the npu language, a graph built in Go, IR text, or a
// compiled file. Compile checks it, optimises it and binds its weights; the
// Program then runs it on any number of goroutines, for any size of its symbolic
// dimensions:
//
//	p, err := npu.Compile(npu.File("mlp.npu"), npu.Options{})
//	if err != nil {
//		return err // a npu.Diagnostics: every mistake, with its place
//	}
//	defer p.Close()
//	out, err := p.Run(ctx, map[string]*npu.Tensor{"x": x})
//
// The road of a program, each stage of which Emit shows as text:
//
//	script -> ast -> ir -> opt -> fused -> tasks -> memory -> streams -> bytecode
//
// Everything below this package is reached through it: the language (lang), the
// operator table and the IR (ir), passes, fusion, lowering (lower), bytecode
// (codegen) and the virtual machine (vm).
//
// What holds: bad input gives an error, never a panic, and takes bounded time
// and memory; results do not depend on the number of streams; a Program never
// changes after Compile. What is absent on purpose: cgo, global state,
// environment switches, training.
package npu
