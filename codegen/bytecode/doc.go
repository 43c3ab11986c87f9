// Package bytecode is the form in which a planned function is stored, checked
// and run: its tables and code, the encoder and decoder, the container file
// .npuc, the disassembler, the assembler, and the verifier.
//
//	program @ffn  with B=64  version 2  arena 327680  align 64  events 1
//	ports
//	  input0   b0  x
//	  ...
//	kernels
//	  k0  vector  layernorm  f32[64,256] f32[256] f32[256] -> f32[64,256]
//	  k1  cube    matmul     f32[64,256] f32[256,1024] -> f32[64,1024]
//	buffers
//	  b0  input0    65536  f32[64,256]  %x
//	  ...
//	code s0
//	  00  wait   e0
//	  02  exec   k1 b5 <- b4 b3                   t1 @ffn.npu:3:9  // %u
//	  0a  end
//
// There are nine opcodes. exec runs a kernel, which is an operator by name with
// its attributes and types as text: a new operator leaves the format as it is.
// copy moves a tensor, wait and post order streams, branch, loop and call run
// bodies, row stores one round's result of a loop, end ends.
//
// A buffer is a range of memory with a type. Inputs, outputs and weights are
// slots that are filled from outside; all else lies in one arena. A view is a
// buffer that names the buffer whose memory, or a part of it, it shows: the parts
// of a concat are written one by one, and read as a whole. A kernel may compute
// in place: its row names the argument that its result replaces.
//
// In a file, what a program is made of lies in sections of its own (see
// sections.go): strings and types are in each, so that it is read by itself, and
// can be left out if it is only for people, as the source positions are. Only the
// bytes of weights are not read when a file is opened: at 1.3 GB that would take
// longer than all the rest by far. Their checksum is compared on demand
// (File.Check, npu check); a flipped bit there can give a wrong number, and
// nothing worse. The same holds for weights in further layouts (File.Packs), whose
// lengths alone are checked: their bytes are beside the plain ones, so that a file
// runs on every machine.
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
//   - Encode and Disassemble are deterministic; Decode(Encode(p)) is p, and so is
//     what Assemble makes of its listing.
//
// Absent on purpose: jumps. branch, loop, row and call are structured: that a
// loop makes progress, and that a body touches only its frame and what it
// declares, is seen from the code, where jumps would need a proof. Further:
// numbers for operators, arithmetic on addresses, anything about operators'
// meaning: this package does not import ir.
package bytecode
