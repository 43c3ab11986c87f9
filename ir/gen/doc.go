// Gen writes what follows from the operator table and is committed:
//
//	builder_gen.go   a method of npu.Graph for each operator, and a function for each attribute
//	docs/ops.md      the operator reference
//
// Run it from the project's root after a change of the table:
//
//	go run ./ir/gen
//
// The package's test generates both again and compares.
package main
