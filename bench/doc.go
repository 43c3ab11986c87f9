// Bench measures npu and ONNX Runtime on the same networks, with the same weights
// and inputs, in turns, and prints the ratios of their times. README.md tells how
// to use it and how to read what it prints.
//
// A network is written down once in Go (networks.go and the files beside it) and
// comes out twice: as a script with a .safetensors file, and as an ONNX model
// (onnx.go). Two processes that live as long as the measurement hold one of them
// each; the parent lets them run one after the other, so that what disturbs the
// machine disturbs both.
package main
