// Package diag is what every part of the compiler says to its user: where
// something is wrong, what, and what to do.
//
// A Diagnostic in, its text out:
//
//	mlp.npu:9:14: error: matmul: inner dimensions differ: 256 and 512 [shape-mismatch]
//	  |
//	9 |     return h @ w2
//	  |            - ^ -- f32[512,10], K = 512
//	  |            |
//	  |            f32[B,256], K = 256
//	  = note: matmul(a: [..., M, K], b: [..., K, N]) -> [..., M, N]
//	  = help: w2 is declared at mlp.npu:4:1; did you mean f32[256,10]?
//
// The first line stands alone for editors, grep and CI. ^ marks the culprit, -
// up to three witnesses. Marks of another file, and the library lines that a
// call led to, follow behind an arrow with their place.
//
// What holds:
//   - Positions are bytes in the source, turned into lines and columns only here;
//     what a terminal shows (tabs, wide and combining characters, lines of a
//     megabyte) is dealt with here and nowhere else.
//   - No character of the source or of a message reaches the terminal as a control.
//   - Codes is the one table of what can be reported; a code that is not in it
//     is a bug.
//   - The order of a sorted list depends on the sources alone.
//
// Absent on purpose: logging, Go errors as texts (Cause is for errors.Is alone),
// translation, and any knowledge of the language or the IR.
package diag
