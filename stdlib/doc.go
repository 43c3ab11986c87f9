// Package stdlib is the standard library of the .npu language: modules written
// in the language itself and embedded as text, so that reading one shows what a
// layer computes.
//
//	import "nn"      layers with PyTorch's parameter names      nn.npu
//	import "act"     activations beyond the operators           act.npu
//	import "loss"    losses, each the mean over its elements    loss.npu
//	import "math"    constants, statistics, small algebra       math.npu
//
// A script that says
//
//	import "nn"
//	fc = nn.Linear(784, 10)
//
// has the weights fc.weight [10, 784] and fc.bias [10], as the state dict of a
// torch.nn.Linear of that name would have.
//
// What holds in every file: a layer's parameters have no init, so a weight that
// is missing from the weights file is an error and never a silent zero; a
// function takes any float dtype through a dtype variable; batch comes first
// but where PyTorch has time first (GRU, LSTM, RNN); everything is inference,
// so there is no dropout and batch norm uses its running statistics.
//
// Tests stand in the files themselves, and for layers with weights in
// nn_test.npu beside its weights in testdata. Their expected values are computed
// by NumPy and SciPy in testdata/gen_stdlib.py, which also writes them into the
// files; none comes from this compiler.
//
// Absent on purpose: Go code but for the embedded files, and anything that an
// operator already is (see `npu ops`).
package stdlib
