// Package bytecode is the form in which a planned function is stored, checked
// and run: its tables and code, the encoder and decoder, the container file
// .npuc, the disassembler, and the verifier.
//
//	program @ffn  with B=64  version 1  arena 327680  events 1
//	kernels
//	  k0  vector  layernorm  f32[64,256] f32[256] f32[256] -> f32[64,256]
//	  k1  cube    matmul     f32[64,256] f32[256,1024] -> f32[64,1024]
//	buffers
//	  b0  input0    65536  f32[64,256]  %x
//	  ...
//	code cube0
//	  00  wait   e0
//	  02  exec   k1 b5 <- b4 b3                  // %u ffn.npu:3:9
//	  0b  end
//
// There are nine opcodes. exec runs a kernel, which is an operator by name with
// its attributes and types as text: a new operator leaves the format as it is.
// copy moves a tensor, wait and post order streams, branch, loop and call run
// bodies, row stores one round's result of a loop, end ends.
//
// A buffer is a range of memory with a type. Inputs, outputs and weights are
// slots that are filled from outside; all else lies in one arena. A view is a
// buffer that names the buffer whose memory it shows.
//
// Bodies of regions are functions that the instruction of the region names.
// Each is run from exactly one place, so that its buffers have fixed addresses:
// they lie in its frame, a buffer of the function around it. What a body takes
// from outside it declares. Carried values are buffers of the loop that the
// body reads, and copies to at its end.
//
// Invariants:
//   - Decode never allocates more than a multiple of its input, whatever that
//     holds; what it returns is well-formed but not yet trusted.
//   - Verify knows nothing of the planner. What it lets through can be run
//     without a bounds check, a race, a deadlock or a read of stale memory.
//   - Encode and Disassemble are deterministic; Decode(Encode(p)) is p.
//
// Absent on purpose: jumps (structured control is easier to prove safe),
// numbers for operators, arithmetic on addresses, anything about operators'
// meaning: this package does not import ir.
package bytecode
