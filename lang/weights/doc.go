// Package weights opens files of named tensors and matches them with what a
// program asks for.
//
//	model.safetensors                       wanted
//	  bert.fc1.weight  F32 [128, 784]         fc1.weight  f32[128,784]
//	  bert.fc1.bias    F32 [128]              fc1.bias    f32[64]
//	  bert.position    I64 [512]              fc2.bias    f32[10]
//
//	Open, then Bind with prefix "bert." =>
//
//	  Tensors     fc1.weight, in place in the mapped file
//	  Mismatched  fc1.bias: want f32[64], bert.fc1.bias is f32[128]
//	  Missing     fc2.bias
//	  Unused      bert.position
//
// Open reads .safetensors and .npz, and tells them apart by their first bytes.
// A file is mapped into memory where the system can do that, and its tensors
// are views of the mapping: a model of any size opens in the time that its
// header takes. Only a tensor that the file leaves at an address its elements
// cannot have, or that is compressed, is copied, once, when it is asked for.
//
// # Invariants
//
//   - A Set that opened is whole: every tensor of a known dtype has the bytes
//     that its type needs, within the file; none overlap, nothing lies between.
//   - A dtype that npu lacks (8-bit floats, say) is an error only for whoever
//     asks for that tensor.
//   - Whatever the file holds, reading it takes memory in proportion to its size
//     (compressed arrays: up to tensor.DefaultNpzBytes each), and never panics.
//   - Errors are *diag.Diagnostic: bad-file if the file cannot be read,
//     bad-weight if what is in it is not right. A Binding makes one error out
//     of all that is missing or does not fit (missing-weight, bad-weight), and
//     one warning out of what is not used (unused-weight).
//   - Every list is sorted; what Write writes depends only on its arguments.
//   - The tensors of a Set are read-only, and gone after Close. A file that
//     another process shortens while it is mapped takes its pages along: replace
//     files by renaming, as Write does.
//
// # Absent on purpose
//
// The header is read here and not by github.com/nlpodyssey/safetensors: that
// decodes into maps, where duplicate names and keys disappear and the first of
// several errors depends on map order, and it refuses a whole file for one
// tensor of an unknown dtype. Both reject holes and overlaps.
//
// PyTorch's own .pt files are pickles, programs that run when they are read;
// they are not opened. Sharded models (an index and many files) are not joined
// here. Conversions between dtypes never happen: a weight has the dtype that the
// program declares, or it is a mismatch.
package weights
