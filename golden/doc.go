// Package golden holds the golden files of the compiler and the one test that
// runs them.
//
// A golden file is a txtar archive of one topic: prose that says what to look
// at, an input, and what the compiler makes of it.
//
//	A relu between two products.
//	option: dim=B=8
//	-- in.npu --
//	graph main(x: f32[B, 4]) -> f32[B, 4] { return relu(x) }
//	-- ir --
//	func @main(%x: f32[B,4]) -> f32[B,4] {
//	  ...
//
// The first section is the program: in.npu, in.ir, or another name with one of
// these endings. Further sections whose name has a dot are files beside it, for
// imports and data. A section called weights gives parameters their values, one
// a line (net.fc1.weight f32[2] [0.5, 1]); without it they are random, from the
// seed. Every other section is an output:
//
//	ast ir opt ...   a stage of npu emit
//	errors           the diagnostics of npu check, warnings too
//	json             the same by --errors=json
//	run              the outputs of npu run, or why there are none
//	test             the results of npu test
//	fmt              the script as npu fmt lays it out
//	rewrites         what the compiler rewrote, as npu emit --trace shows it
//	fusion           the table of npu fusion
//
// Lines of the prose that begin with "option:" steer the compiler: graph=NAME,
// level=O0, dim=NAME=N, input=NAME=VALUE, seed=N, locations=true, format=svg,
// strict=true, weights-prefix=P, rename=OLD=NEW, random-weights=false,
// random-inputs=false; and the optimiser as the flags of the command line do:
// fusion=all_safe,-NAME, passes=A,B, after=PASS, fuel=N, fast-math=true,
// device=NAME, save-memory=true, precision=NAME, and scale=NAME MIN MAX, a line of a
// file of scales; and the planner: mapping=NAME, streams=N, stream-strategy=NAME,
// memory=MODE, align=N, keep=VALUE, plan-effort=N, max=NAME=N. An input that no option
// gives and that has no default is random, from the seed. With failing=true the run, or
// a test block, fails and is meant to. check-dim=NAME=N is a smaller size for the
// comparison of numbers, of a file whose listings are of large ones.
//
// # What a file proves
//
// Sections are snapshots: go test ./golden -update rewrites those that differ, and
// git shows what changed. What -update cannot bless away are runs and test blocks
// that fail, stages of a program that does not check, and the checks that every
// program which compiles gets for nothing, at O0 and at O2: the IR is verified
// after each pass, printed and parsed back, the bytecode is verified, and the
// program computes on the virtual machine what the interpreter computes from the IR
// as the front end made it, and the same bits in several other plans: of one and of
// many streams, with memory that is used again and not. Symbols that no option binds
// have small sizes there. Every output is produced twice and must come out the same.
//
// A directive above a graph, // fires: RULE or // silent: RULE, asks that a rule
// is applied in it under the options of the file, or is not. Every rule has a
// file of its name (lower case, - for _) in opt if it rewrites, in fusion if it
// fuses, with at least one of each for that rule.
//
// # What is absent
//
// Nothing here knows the compiler's inside: the package sees the facade only.
// There are no patterns to match against parts of an output; a file that shows
// too much is split.
package golden
