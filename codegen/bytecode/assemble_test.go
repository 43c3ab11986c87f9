package bytecode_test

import (
	"bytes"
	"math"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/npulang/npu/codegen/bytecode"
	"github.com/npulang/npu/golden/expect"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
)

// text reads a listing of testdata.
func text(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name + ".npuasm")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// assemble makes a program of a listing that is right.
func assemble(t testing.TB, text string) *bytecode.Program {
	t.Helper()
	p, faults := bytecode.Assemble(diag.NewSource("listing", text))
	if err := faults.Err(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return p
}

func TestAssembleRoundTrips(t *testing.T) {
	for _, text := range []string{straight, regions, chained} {
		p := build(t, text)
		q := assemble(t, listing(p))
		if got, want := bytecode.Encode(q), bytecode.Encode(p); !bytes.Equal(got, want) || listing(q) != listing(p) {
			t.Errorf("the program changes:\n%s\n%s", listing(p), listing(q))
		}
	}
}

// anyText draws names that hold what could confuse a reader.
func anyText(t *rapid.T, label string) string {
	return rapid.OneOf(
		rapid.SampledFrom([]string{
			"", "x", "fc.weight", "%h", "%12", `%"odd name"`, "%", "frame(t3)", "frame(", "views", "in", "_", "->", "//", "k0", "b0",
			"a b", "a\nb", `"`, `\`, "%h.1", "é", "=", "\xff", "{", "1", "@", "with", "version", "frame", "f32[4]", "\u202e", "\r", `%"a//b"`,
		}),
		rapid.String(),
	).Draw(t, label)
}

func anyType(t *rapid.T, label string) bytecode.Type {
	if rapid.IntRange(0, 9).Draw(t, label+" absent") == 0 {
		return bytecode.Type{Shape: []int{}}
	}
	return bytecode.Type{
		DType: rapid.SampledFrom(tensor.DTypes[:]).Draw(t, label+" dtype"),
		Shape: rapid.SliceOfN(rapid.IntRange(0, 5), 0, 3).Draw(t, label+" shape"),
	}
}

func anyIndexes(t *rapid.T, label string) []int {
	list := rapid.SliceOfN(rapid.IntRange(-1, 9), 0, 4).Draw(t, label)
	if len(list) == 0 {
		return nil
	}
	return list
}

func anyWeight(t *rapid.T) bytecode.Weight {
	w := bytecode.Weight{Name: anyText(t, "weight"), Type: anyType(t, "weight")}
	n, ok := w.Type.SizeBytes()
	if !ok || rapid.Bool().Draw(t, "param") {
		return w
	}
	w.Data = rapid.SliceOfN(rapid.Byte(), int(n), int(n)).Draw(t, "data")
	if rapid.Bool().Draw(t, "uniform") {
		clear(w.Data)
	}
	return w
}

func anyLoc(t *rapid.T) diag.Loc {
	count := rapid.SampledFrom([]int{0, 1, 7, math.MaxInt32})
	return diag.Loc{
		File: rapid.OneOf(rapid.SampledFrom([]string{"", "in.npu", "dir/in-1.npu", `C:\in.npu`, "3", "3:4", "a b", "é", `"`}), rapid.String()).Draw(t, "file"),
		Line: count.Draw(t, "line"), Col: count.Draw(t, "col"),
	}
}

func anyInstr(t *rapid.T) bytecode.Instr {
	index := rapid.IntRange(0, 9)
	i := func(label string) int { return index.Draw(t, label) }
	site := bytecode.Instr{Task: rapid.IntRange(-1, 9).Draw(t, "task"), Pos: anyLoc(t)}
	switch op := bytecode.Opcode(rapid.IntRange(0, int(bytecode.Call)).Draw(t, "opcode")); op {
	case bytecode.Exec:
		site.Op, site.Index, site.Out, site.In = op, i("kernel"), anyIndexes(t, "out"), anyIndexes(t, "in")
	case bytecode.Copy, bytecode.Row:
		site.Op, site.Out, site.In = op, []int{i("to")}, []int{i("from")}
	case bytecode.Branch:
		site.Op, site.In, site.Bodies = op, []int{i("condition")}, []int{i("then"), i("else")}
	case bytecode.Call:
		site.Op, site.Bodies = op, []int{i("body")}
	case bytecode.Loop:
		site.Op, site.Out, site.Bodies = op, []int{i("counter")}, []int{i("body"), bytecode.NoBody}
		site.From = rapid.Int64().Draw(t, "from")
		site.To = rapid.OneOf(rapid.Int64(), rapid.Just(int64(bytecode.Unbounded))).Draw(t, "to")
		if rapid.Bool().Draw(t, "while") {
			site.Bodies[1], site.In = i("condition's body"), []int{i("condition")}
		}
	case bytecode.Wait, bytecode.Post:
		return bytecode.Instr{Op: op, Index: i("event")}
	default:
		return bytecode.Instr{Op: bytecode.End}
	}
	return site
}

// anyProgram draws programs that have the shape of one and no sense.
func anyProgram(t *rapid.T) *bytecode.Program {
	size := rapid.Int64Range(0, bytecode.MaxBytes)
	few := func(label string) int { return rapid.IntRange(0, 3).Draw(t, label) }
	p := &bytecode.Program{
		Name: anyText(t, "name"), Arena: size.Draw(t, "arena"), Align: size.Draw(t, "align"), Events: rapid.IntRange(0, 9).Draw(t, "events"),
	}
	for range few("symbols") {
		p.Env = append(p.Env, bytecode.Binding{Symbol: anyText(t, "symbol"), Size: rapid.Int64().Draw(t, "size")})
	}
	for range few("kernels") {
		k := bytecode.Kernel{Op: anyText(t, "op"), Attrs: anyAttrs(t), Unit: anyText(t, "unit"), InPlace: rapid.IntRange(-1, 3).Draw(t, "in place")}
		for range few("arguments") {
			k.In = append(k.In, anyType(t, "argument"))
		}
		for range few("results") {
			k.Out = append(k.Out, anyType(t, "result"))
		}
		p.Kernels = append(p.Kernels, k)
	}
	for range few("buffers") {
		p.Buffers = append(p.Buffers, bytecode.Buffer{
			Space: bytecode.Space(rapid.IntRange(0, 3).Draw(t, "space")), Slot: few("slot"), Offset: size.Draw(t, "offset"), Size: size.Draw(t, "size"),
			Type: anyType(t, "buffer"), Base: rapid.IntRange(-1, 5).Draw(t, "base"), Name: anyText(t, "value"),
		})
	}
	for range few("weights") {
		p.Weights = append(p.Weights, anyWeight(t))
	}
	for range few("inputs") {
		p.Inputs = append(p.Inputs, bytecode.Port{Name: anyText(t, "input"), Buffer: few("buffer") - 1})
	}
	for range few("outputs") {
		p.Outputs = append(p.Outputs, bytecode.Port{Name: anyText(t, "output"), Buffer: few("buffer") - 1})
	}
	p.Functions = []bytecode.Function{{Name: p.Name, Frame: -1}}
	for range few("streams") {
		p.Functions[0].Streams = append(p.Functions[0].Streams, bytecode.Stream{Name: anyText(t, "stream"), Code: anyCode(t)})
	}
	for range few("bodies") {
		f := bytecode.Function{Name: anyText(t, "body"), Frame: few("frame") - 1, Reads: anyIndexes(t, "reads"), Writes: anyIndexes(t, "writes")}
		f.Streams = []bytecode.Stream{{Name: f.Name, Code: anyCode(t)}}
		p.Functions = append(p.Functions, f)
	}
	return p
}

func anyAttrs(t *rapid.T) string {
	return rapid.OneOf(rapid.SampledFrom([]string{
		"", "axis=-1, eps=1e-05", `spec="ij,kj->ik"`, "}", "{", "a={b}", `s="}"`, `"`, `"x"`, "a\nb", "//", `"\"}"`, "  x ", "\"\n\"", "\"\\\r\"",
	}), rapid.String()).Draw(t, "attributes")
}

func anyCode(t *rapid.T) (code []bytecode.Instr) {
	for range rapid.IntRange(0, 4).Draw(t, "instructions") {
		code = append(code, anyInstr(t))
	}
	return code
}

// TestAnyProgramRoundTrips takes programs, whatever is in them, through the
// encoding and through the listing.
func TestAnyProgramRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyProgram(t)
		data := bytecode.Encode(p)
		q, err := bytecode.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(bytecode.Encode(q), data) {
			t.Fatal("the encoding loses something")
		}
		text := listing(p)
		r, faults := bytecode.Assemble(diag.NewSource("listing", text))
		if err := faults.Err(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if !bytes.Equal(bytecode.Encode(r), data) {
			t.Fatalf("the listing loses something:\n%s\n%s", text, listing(r))
		}
	})
}

// TestAssembleErrors shows what is said about listings that can't be read: each
// case replaces a part of one that can.
func TestAssembleErrors(t *testing.T) {
	good := text(t, "regions")
	var out strings.Builder
	for _, c := range [][2]string{
		{good, ""},
		{"program @regions", "kernels\nprogram @regions"},
		{"program @regions", "func @regions"},
		{"program @regions", "program regions"},
		{"kernels\n", "program @again\n"},
		{"kernels\n", "k0 vector neg f32[4] -> f32[4]\nkernels\n"},
		{"version 2", "version 1"},
		{"version 2", "version two"},
		{"arena ", "arena -"},
		{"align 64", "align 64 64"},
		{"events 1", "events"},
		{"events 1", "events 99999999999999999999"},
		{"input0", "input1"},
		{"input0   b0", "input0   k0"},
		{"input0   b0", "input0   b2147483647"},
		{"k0  ", "k7  "},
		{"neg  ", `neg  {slope="}`},
		{"f32[4] -> f32[4]", "f32[4], f32[4] -> f32[4]"},
		{"f32[4] -> f32[4]", "f33[4] -> f32[4]"},
		{"f32[4] -> f32[4]", "f32[-4] -> f32[4]"},
		{"f32[4] -> f32[4]", "f32[99999999999,9999999999] -> f32[4]"},
		{"f32[4] -> f32[4]", "f32[4] => f32[4]"},
		{"b0   input0", "b0   inputs"},
		{"b0   input0", "b0   0xfg"},
		{"b0   input0   1", "b0   input0   x"},
		{"%c\n", "%c views k1\n"},
		{"%c\n", `"open` + "\n"},
		{"%c\n", `"\q"` + "\n"},
		{"= 0.0", ""},
		{"= 0.0", "= zero"},
		{"= 0.0", "= [0.0, 1.0]"},
		{"= 0.0", "= [...]"},
		{"= 0.0", `= "AAAA"`},
		{"= 0.0", `= "A"`},
		{"code s0", "code"},
		{"branch b0", "jump b0"},
		{"branch b0", "branch _"},
		{"f1 f2", "f1"},
		{"loop   b", "loop   t"},
		{"0..3", "0-3"},
		{"0..3", "0..x"},
		{"copy   b", "copy   k"},
		{"<-", "->"},
		{"  end\n", "  end now\n"},
		{"body f1  then", "body f1"},
		{"body f1  then", "body f3  then"},
		{"frame b", "frame f"},
		{"t0  //", "t-2  //"},
		{"%c\n", "\xff\n"},
	} {
		if !strings.Contains(good, c[0]) {
			t.Fatalf("the listing has no %q:\n%s", c[0], good)
		}
		_, faults := bytecode.Assemble(diag.NewSource("r.npuasm", strings.Replace(good, c[0], c[1], 1)))
		for _, d := range faults {
			out.WriteString(d.Headline() + "\n")
		}
		if len(faults) == 0 {
			t.Errorf("%q instead of %q is accepted", c[1], c[0])
		}
	}
	expect.File(t, "testdata/assemble.txt", out.String())
}

func FuzzAssemble(f *testing.F) {
	for _, text := range []string{straight, regions, chained} {
		f.Add(listing(build(f, text)))
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, faults := bytecode.Assemble(diag.NewSource("listing", text))
		if faults.Err() != nil {
			return
		}
		data := bytecode.Encode(p)
		q, err := bytecode.Decode(data)
		if err != nil {
			t.Fatalf("an assembled program does not decode: %v", err)
		}
		again, faults := bytecode.Assemble(diag.NewSource("listing", listing(q)))
		if err := faults.Err(); err != nil {
			t.Fatalf("%v\n%s", err, listing(q))
		}
		if !bytes.Equal(bytecode.Encode(again), data) {
			t.Fatalf("the program changes:\n%s", listing(q))
		}
		_ = bytecode.Verify(p)
	})
}
