package diag

// Codes is the table of everything that can be reported, in the order of a
// script's way through the compiler: text, names, types, declarations, files,
// limits, running. A row's Wrong gives its code, and nothing else; its Right
// does not.
var Codes = []Code{
	{
		Name: "syntax",
		Doc: `
The text is not a script: a word, an operator or a bracket stands where the
grammar has no place for it. The mark shows the first thing that did not fit;
the mistake is there or shortly before.

There is one such error per declaration at file level; the others are checked
as usual. A bracket that is never closed is reported where it was opened, with
the token that did not fit as witness.`,
		Wrong: `
graph main(x: f32[4]) -> f32[4] {
    let y = relu(x)
    return y
}`,
		Right: `
graph main(x: f32[4]) -> f32[4] {
    y = relu(x)
    return y
}`,
	},
	{
		Name: "unknown-name",
		Doc: `
A name is used that nothing declares: no local, no parameter of the function,
no member of the module, nothing at file level, no import and no built-in
operator. When a name is near, the help says which.

A name that a loop binds for the first time ends with the loop; bind it before
the loop to keep it. A name from a library is written with the library's name:
nn.Linear.`,
		Wrong: `
graph main(x: f32[4]) -> f32[4] {
    return sofmax(x)
}`,
		Right: `
graph main(x: f32[4]) -> f32[4] {
    return softmax(x)
}`,
	},
	{
		Name: "duplicate-name",
		Doc: `
Two declarations of one scope have the same name: two parameters of a function,
two members of a module, two declarations of a file. The witness shows the first.

Binding a local again is no error (x = relu(x) is a new value under the old
name), nor is a local that hides a name of an outer scope.`,
		Wrong: `
param w: f32[4]
param w: f32[8]

graph main(x: f32[4]) -> f32[4] { return x + w }`,
		Right: `
param w: f32[4]
param w2: f32[8]

graph main(x: f32[4]) -> f32[4] { return x + w }`,
	},
	{
		Name: "unused-name", Severity: Warning,
		Doc: `
A local is bound and never used, so that its value is computed for nothing; the
compiler drops it. Remove the line, or use the name. A name that begins with _
is never reported.`,
		Wrong: `
graph main(x: f32[4]) -> f32[4] {
    y = exp(x)
    return relu(x)
}`,
		Right: `
graph main(x: f32[4]) -> f32[4] {
    y = exp(x)
    return relu(y)
}`,
	},
	{
		Name: "not-carried",
		Doc: `
The body of a run-time loop binds a name of outside that the loop does not carry.
Each round begins with the carried values only, so that the new value would be
lost: after the loop, and in the next round, the name would have its old value.
Put it under carry, or bind another name when the value is for this round only.
A loop that is unrolled (for without carry and collect) may bind any name.`,
		Wrong: `
graph main(x: f32[S, 4]) -> f32[4] {
    h = x[0]
    n = 0.0
    for t in 0..S carry h {
        n = n + 1
        h = h + x[t] / n
    }
    return h
}`,
		Right: `
graph main(x: f32[S, 4]) -> f32[4] {
    h = x[0]
    n = 0.0
    for t in 0..S carry h, n {
        n = n + 1
        h = h + x[t] / n
    }
    return h
}`,
	},
	{
		Name: "wrong-arguments",
		Doc: `
A call does not fit what is called: too many arguments, a name that it does not
have, one argument given twice, or a value of the wrong sort (a text where a
number is wanted, a tensor where a compile-time value is). Positional arguments
come first, then those by name. The note shows the declaration; npu ops NAME
describes an operator.`,
		Wrong: `
graph main(x: f32[4]) -> f32[4] {
    return softmax(x, dim=-1)
}`,
		Right: `
graph main(x: f32[4]) -> f32[4] {
    return softmax(x, axis=-1)
}`,
	},
	{
		Name: "missing-argument",
		Doc: `
A call lacks an argument that has no default. The note shows the declaration.`,
		Wrong: `
graph main(x: f32[4]) -> f32[4] {
    return x + maximum(x)
}`,
		Right: `
graph main(x: f32[4]) -> f32[4] {
    return x + maximum(x, 0.0)
}`,
	},
	{
		Name: "shape-mismatch",
		Doc: `
Two sizes that must be equal are not, or cannot be proved equal. Sizes are
compared when the program is compiled, symbolic ones too: B equals B, never C,
even if both should be 4 when the program runs. Broadcasting pairs equal sizes,
and a literal 1 with anything; a symbol never broadcasts by accident.

When you know more than the compiler can prove, say it with reshape to the
shape that you want: it is checked when the sizes are known.`,
		Wrong: `
param w: f32[512, 10]

graph main(x: f32[B, 256]) -> f32[B, 10] { return x @ w }`,
		Right: `
param w: f32[256, 10]

graph main(x: f32[B, 256]) -> f32[B, 10] { return x @ w }`,
	},
	{
		Name: "rank-mismatch",
		Doc: `
A tensor has more or fewer dimensions than the place wants: a matrix where a
vector is declared, more subscripts than dimensions, an axis beyond the last.
unsqueeze, x[:, None], squeeze and reshape change the rank.`,
		Wrong: `
graph main(x: f32[4]) -> f32[1, 4] { return x }`,
		Right: `
graph main(x: f32[4]) -> f32[1, 4] { return x[None, :] }`,
	},
	{
		Name: "dtype-mismatch",
		Doc: `
Operands have different dtypes, or one that the operator does not take. Dtypes
never convert by themselves; cast(x, f32), or f32(x), converts. A number in the
script takes the dtype of the tensor beside it, but a number with a point does
not become an integer.`,
		Wrong: `
graph main(x: f32[4], i: i32[4]) -> f32[4] { return x + i }`,
		Right: `
graph main(x: f32[4], i: i32[4]) -> f32[4] { return x + cast(i, f32) }`,
	},
	{
		Name: "not-constant",
		Doc: `
A value is needed when the program is compiled, and is known only when it runs:
an axis, the size of a declared shape, the condition of an if that is a value,
what a for without carry runs over.

Sizes (x.shape[0], a dimension variable) are known to the compiler; the elements
of a tensor are not. For a choice between elements there is where(c, a, b); a
loop whose number of rounds is known only at run time names what it carries:
for t in 0..S carry h { ... }.`,
		Wrong: `
graph main(x: f32[4], n: i64[]) -> f32[] { return sum(x, axis=n) }`,
		Right: `
graph main(x: f32[4]) -> f32[] { return sum(x, axis=0) }`,
	},
	{
		Name: "out-of-range",
		Doc: `
A number does not fit where it stands: a literal its dtype, an axis the rank, a
subscript the size, an attribute its bounds.`,
		Wrong: `
graph main(x: i8[4]) -> i8[4] { return x + 300 }`,
		Right: `
graph main(x: i8[4]) -> i8[4] { return x + 100 }`,
	},
	{
		Name: "recursion",
		Doc: `
A function calls itself, by itself or through others, or a module holds itself.
Calls are inlined, so that this would never end. Write a loop.`,
		Wrong: `
fn f(x: f32[4]) -> f32[4] { return f(x) + 1.0 }

graph main(x: f32[4]) -> f32[4] { return f(x) }`,
		Right: `
fn f(x: f32[4]) -> f32[4] { return x + 1.0 }

graph main(x: f32[4]) -> f32[4] { return f(x) }`,
	},
	{
		Name: "bad-annotation",
		Doc: `
An annotation is not known, has the wrong arguments, or stands where it means
nothing. There are @stream("name"), @unit(cube|vector|auto), @device(n),
@stage(n), @fuse(off) or @fuse("name"), and @precision(dtype).`,
		Wrong: `
graph main(x: f32[4]) -> f32[4] {
    @unit(gpu) y = relu(x)
    return y
}`,
		Right: `
graph main(x: f32[4]) -> f32[4] {
    @unit(vector) y = relu(x)
    return y
}`,
	},
	{
		Name: "cannot-fuse",
		Doc: `
@fuse("name") asks that all values of one name in a graph, or in the body of a loop
or branch, run as one kernel, and they cannot: something that is not of the name
would have to run between two of them, or an operator is no part of a kernel, as a
loop is. The message says which. It is looked at where operators are fused, with
-O2; without fusion the annotation means nothing.`,
		Wrong: `
graph main(x: f32[4, 4]) -> f32[4, 4] {
    @fuse("ends") a = exp(x)
    b = a @ x
    @fuse("ends") c = a + b
    return c
}`,
		Right: `
graph main(x: f32[4, 4]) -> f32[4, 4] {
    @fuse("all") {
        a = exp(x)
        b = a @ x
        c = a + b
    }
    return c
}`,
	},
	{
		Name: "too-many-streams",
		Doc: `
@stream("name") puts values on a stream of that name, and every name is a stream. A
plan has at most as many as --streams says, or else as the device's row does
(default_streams in npu devices). Let values share names, or raise the limit: 64
is the most, and with 1 all values are on one stream, whatever they ask for. It is
looked at when a graph is planned, which npu check does not do.`,
		Wrong: `
graph main(x: f32[4]) -> f32[4] {
    @stream("a") p = sort(x)
    @stream("b") q = sort(-x)
    @stream("c") r = sort(x * x)
    @stream("d") s = sort(x + 1.0)
    @stream("e") t = sort(x - 1.0)
    return p + q + r + s + t
}`,
		Right: `
graph main(x: f32[4]) -> f32[4] {
    @stream("a") p = sort(x)
    @stream("b") q = sort(-x)
    @stream("a") r = sort(x * x)
    @stream("b") s = sort(x + 1.0)
    @stream("a") t = sort(x - 1.0)
    return p + q + r + s + t
}`,
	},
	{
		Name: "not-followed", Severity: Warning,
		Doc: `
An annotation or a rule is right, but the compiler does not follow it here. The
program computes the same without it; only where, or how fast, may differ.

A rewrite or fusion of yours is applied by default if it says safe, below its
pattern, and if npu finds graphs on which that can be checked. One that does not is
applied when it is named, --fusion all_safe,NAME, or with --fusion all.

A fusion matches nothing if simplification, which comes before, leaves one operator
of its pattern, or something that no pattern says. The note shows what is left; npu
emit opt shows what is left of a program.`,
		Wrong: `
rewrite mul_one {
    x * 1  =>  x
}

graph main(x: f32[4]) -> f32[4] { return x * 1 }`,
		Right: `
rewrite mul_one {
    x * 1  =>  x
    safe
}

graph main(x: f32[4]) -> f32[4] { return x * 1 }`,
	},
	{
		Name: "bad-rule",
		Doc: `
A rewrite or fusion cannot be used: its pattern names no operator, a name of the
replacement is not in the pattern, a test behind where is not one of dtype, rank,
shape, is_const, value and uses, or it says safe and its two sides do not compute
the same. Rewrites that say safe are tried on random graphs before they are
applied; the note shows a small one on which the sides differ. npu rules check
FILE tries more of them.`,
		Wrong: `
rewrite mul_one {
    x * 1  =>  y
}`,
		Right: `
rewrite mul_one {
    x * 1  =>  x
}`,
	},
	{
		Name: "bad-import",
		Doc: `
An import cannot be followed: there is no such library or file, it lies above
the folder of the script that the command line names (or above --root), it does
not parse, or files import each other in a circle. import "nn" is a library,
import "./layers.npu" as layers a file relative to the script.`,
		Wrong: `
import "nnn"

head = nnn.Linear(4, 2)

graph main(x: f32[4]) -> f32[2] { return head(x) }`,
		Right: `
import "nn"

head = nn.Linear(4, 2)

graph main(x: f32[4]) -> f32[2] { return head(x) }`,
	},
	{
		Name: "bad-file",
		Doc: `
A file that is named on the command line or in the script cannot be read or
written, or is not of the kind that its place wants.`,
	},
	{
		Name: "missing-weight",
		Doc: `
Parameters of the graph have no value: no weights file holds their names, and no
init gives them one. All of them are listed in one error, by their full names,
which are paths: net.fc1.weight.

Name the file with --weights or with weights "file" in the script. When its names
differ, --weights-prefix p. puts p. before each, and --rename old=new renames one.
--random-weights gives random ones, for trying and measuring.`,
	},
	{
		Name: "bad-weight",
		Doc: `
A weight does not fit its parameter, in shape or dtype, or the weights file is
damaged: cut off, offsets that overlap or point outside, a header that is not
JSON, a name twice. All weights that do not fit are listed in one error.`,
	},
	{
		Name: "unused-weight", Severity: Warning,
		Doc: `
The weights file holds tensors that the graph does not ask for. That is usual
for a file with more than one model in it, and a sign of a wrong prefix else.
With --strict it is an error.`,
	},
	{
		Name: "unused-bank", Severity: Warning,
		Doc: `
The bank of kernels that npu tune has measured can't be used: the file is damaged,
of another machine or another version of npu, or not there. The program runs with
the kernels that are estimated to be fastest, and gives the same results.`,
	},
	{
		Name: "bad-input",
		Doc: `
An input of the run is missing, is not one of the graph's, or does not fit its
declaration in dtype or shape; or a value on the command line cannot be read. A
value that begins with [, a digit, - or a quote is a literal, random is random,
everything else names a .npy file or FILE.npz:KEY.`,
	},
	{
		Name: "dimension-mismatch",
		Doc: `
While the program was started, a dimension got two values: f32[B, 4] and
f32[B, 8] were given arrays with different B, or a size that was to divide
another does not. The error names both places.`,
	},
	{
		Name: "limit",
		Doc: `
The program is larger than npu is willing to handle: brackets more than 1,000
deep, a source of more than 64 MiB, a constant or a folded value beyond the
memory cap (--max-memory), a shape whose number of elements overflows. Or an input
is larger than the bound (--max) that its program was planned for. Or a rule of
yours does not come to an end: what it makes is rewritten again, by itself or by
another one, as in a + b => b + a. Let the replacement be something that none of
them matches.`,
	},
	{
		Name: "bad-ir",
		Doc: `
A text in the form of npu emit ir does not parse, or breaks an invariant of the
IR: a value used before it is defined, a type that is not the one its operator
infers, a name defined twice.`,
		Wrong: `
func @main(%x: f32[4]) -> f32[4] {
  return %y
}`,
		Right: `
func @main(%x: f32[4]) -> f32[4] {
  return %x
}`,
	},
	{
		Name: "bad-bytecode",
		Doc: `
A .npuc file is not one, is of another version, is damaged (its checksum does
not fit), or breaks a rule of the verifier: a buffer outside of the arena, two
tasks that run at the same time and touch the same bytes. Build it again. The
checksum of the weights is compared by npu check alone, since that reads all of
the file. Of a listing of bytecode: a line that is not as npu emit bytecode
writes it.`,
	},
	{
		Name: "division-by-zero",
		Doc: `
An integer was divided by zero while the program ran. Floats divide by zero to
inf or nan instead. where(b == 0, 1, b) as divisor avoids it.`,
	},
	{
		Name: "index-out-of-range",
		Doc: `
An index was outside of the dimension that it points into while the program ran:
gather, x[i] with a tensor, embedding, scatter. Indices run from -size to size-1.`,
	},
	{
		Name: "expectation",
		Doc: `
An expect of a test does not hold. The labels show both values, and for ~= the
largest difference and where it is.`,
	},
	{
		Name: "cancelled",
		Doc: `
The run was ended from outside before it was done: by an interrupt, or by the
context that a Go program handed to Run.`,
	},
	{
		Name: "use-after-free",
		Doc: `
A Go program used what it had given back: it freed a block of memory or a tensor
twice, handed a freed tensor to an operator, or used a stream, an event or a pool
that was closed. Free each of them once, when nothing uses it any more; work that
is still queued on a stream does not count, memory stays until it is done.`,
	},
	{
		Name: "unordered",
		Doc: `
Two streams use one tensor, one of them to write it, and nothing says which comes
first. Record an event on the stream that is to be first, behind its work, and let
the other stream wait for it; or synchronize with the first stream in between. An
npu.Runtime looks for this when its option CheckOrder is set.`,
	},
	{
		Name: "run-time",
		Doc: `
Something else went wrong while the program ran. The error names the operator,
the value and the line of the script.`,
	},
	{
		Name: "internal",
		Doc: `
A bug in npu, not in your program. Please report it with the script, if you can
share it, and the whole message.`,
	},
}
