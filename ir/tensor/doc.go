// Package tensor holds tensors in the host's memory, converts, compares and
// prints them, and reads and writes them as text, .npy and .npz.
//
//	t := tensor.FromSlice([]int{2, 2}, []float32{1, 2.5, -3, 4})
//	tensor.Cast(t, tensor.I8)                 => i8[2,2] [[1, 2], [-3, 4]]
//	tensor.ParseLiteral("[1, nan]", F16, nil) => f16[2] [1, nan]
//	tensor.Compare(got, want, 1e-5)           => 1 of 4 elements differ: at [1, 0]
//	                                             got -3, want 3, off by 6 (tolerance 1e-05)
//	t.Pretty()                                => f32[2,2]
//	                                             [[  1, 2.5],
//	                                              [ -3,   4]]
//
// # Reading and writing elements
//
// There are three ways. Of views the memory as a Go slice, for code that knows
// the dtype. LoadFloats and StoreFloats, and their like for Ints and Uints,
// convert runs of elements of any dtype, with one table look-up a run; FloatAt
// and SetFloat do so for one element. Floats, Ints, Uints and Bools copy out
// the whole tensor. float64 holds every float dtype exactly, int64 every signed
// one and bool, uint64 every unsigned one: pick by Kind, and nothing is lost.
//
// # Invariants
//
//   - A tensor is dense, row-major and little-endian, as every machine is that
//     the compiler supports.
//   - Data made by New, Clone, Cast, FromSlice and the like begins at a multiple
//     of 64 bytes. Data from a file may be the file's own memory; it is aligned
//     to its elements, and must not be written to.
//   - A bool is one byte. What is read from files is brought to 0 and 1, and the
//     conversions take any other byte for true.
//   - The rules of conversion are those at the head of cast.go, on every machine.
//     Numbers in text are rounded once, to the dtype they are for.
//   - Text and files never panic, hang, or take more memory than in proportion
//     to their size (compressed arrays: up to Npz.MaxBytes). A programmer's
//     mistake does panic: a wrong E in Of, a run outside of the tensor, a shape
//     that does not hold the elements.
//
// # Absent on purpose
//
// Arithmetic: it is the operators' business. Strides and views other than
// Reshape: an operator that moves data writes a new tensor, and layouts are the
// compiler's to choose. Broadcasting. Complex numbers, strings, objects.
package tensor
