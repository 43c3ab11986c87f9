// Package device describes the machines that npu plans for: one row of numbers
// each, in one table.
//
//	ascend910b3 => 20 cube cores and 40 vector cores at 1800 MHz,
//	               192 KiB of unified buffer, 512 KiB of L1, ...
//
// A row is data. Fusion asks it whether a region's working set fits, lowering
// how to tile and how long a task takes, the simulator for its clock. A user's
// own row is JSON with the same fields, on top of a base row if it likes:
//
//	{"name": "small", "base": "ascend910b4", "cube_cores": 8, "vector_cores": 16}
//
// Facts lists the numbers of a row with what each means and where it comes from,
// which a user's row may say itself (Sources).
//
// What holds: every row of the table passes Check, as do rows that Parse
// returns; a size of 0 means that the device has no such path or unit, never
// "unknown"; sizes are bytes, and bandwidths bytes a cycle and core, so that a
// row scales with its clock.
//
// The numbers of the Ascend rows were read in the vendor's public runtime
// sources (the platform_config/*.ini files of the CANN runtime) and its public
// documentation, or derived from those where the row says so.
//
// Absent on purpose: what a kernel costs on a device. That is the operator's
// cost (flops and bytes, from package ir) divided by these numbers.
package device
