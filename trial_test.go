package npu

import (
	"context"
	"strings"
	"testing"
)

// faulty has a rewrite that changes the numbers, among others that do not.
const faulty = `rewrite wrong_rule {
    exp(neg(x))  =>  exp(x)
}

graph main(x: f32[B, 4], w: f32[4, 3], b: f32[3]) -> (f32[B, 3], f32[B, 4]) {
    h = relu(x @ w + b)
    k = x * 1.0
    g = exp(-k)
    y = sum(g, axis=-1, keepdims=true) + h
    return y, tanh(k)
}
`

func faultyOptions() TrialOptions {
	return TrialOptions{Options: Options{Fusion: FuseAll, Dims: map[string]int64{"B": 2}}}
}

func TestBisect(t *testing.T) {
	b, err := Bisect(Script("in.npu", faulty), faultyOptions())
	if err != nil {
		t.Fatal(err)
	}
	if b.Number == 0 || b.Rewrite.Rule != "wrong_rule" || b.Rewrite.Value != "%g" || b.Rewrite.Pos.Line != 8 {
		t.Fatalf("found rewrite %d of %d: %+v: %s", b.Number, b.Total, b.Rewrite, b.Difference)
	}
	if !strings.Contains(b.Difference, "result out: 6 of 6 elements differ: at [") {
		t.Errorf("difference: %s", b.Difference)
	}
	if !strings.Contains(b.Before, "neg") || b.Before == b.After {
		t.Errorf("before and after are wrong:\n%s\n%s", b.Before, b.After)
	}
}

// unfusable asks for a kernel that cannot be.
const unfusable = `graph main(x: f32[B, 4], w: f32[4, 4]) -> f32[B, 4] {
    u = tanh(x)
    @fuse("one") h = u @ w
    k = h @ w
    @fuse("one") z = k + h
    return exp(z)
}
`

// A graph that does not compile has no guilty rewrite, and is cut to what does not.
func TestTrialsOfWhatDoesNotCompile(t *testing.T) {
	src := Script("in.npu", unfusable)
	if b, err := Bisect(src, TrialOptions{}); err == nil || AsDiagnostic(err).Code != "cannot-fuse" {
		t.Errorf("%+v, %v", b, err)
	}
	s, err := Shrink(context.Background(), src, TrialOptions{})
	if err != nil || s.After != 3 || !strings.Contains(s.IR, "cannot-fuse") {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestBisectFindsNothing(t *testing.T) {
	opts := faultyOptions()
	opts.Fusion = FuseAllSafe
	b, err := Bisect(Script("in.npu", faulty), opts)
	if err != nil || b.Number != 0 || b.Difference != "" || b.Total == 0 {
		t.Errorf("%+v, %v", b, err)
	}
	if len(b.Warnings) != 1 || !strings.Contains(b.Warnings[0].Message, "wrong_rule is not applied") {
		t.Errorf("warnings: %v", b.Warnings)
	}
}

func TestShrink(t *testing.T) {
	s, err := Shrink(context.Background(), Script("in.npu", faulty), faultyOptions())
	if err != nil {
		t.Fatal(err)
	}
	if s.After > 2 || s.Before < 8 {
		t.Errorf("from %d values to %d:\n%s", s.Before, s.After, s.IR)
	}
	if !strings.HasPrefix(s.IR, "// result out: ") || !strings.Contains(s.IR, "= exp ") {
		t.Errorf("reduced to\n%s", s.IR)
	}
	// What is left fails by itself, with the rule at hand.
	if _, err := Shrink(context.Background(), IRText("reduced.ir", s.IR), TrialOptions{}); err == nil {
		t.Error("a graph without the rule does not fail, and is shrunk")
	}
}

func TestCompare(t *testing.T) {
	src := Script("in.npu", faulty)
	opts := faultyOptions()
	wrong := Side{src, opts.Options}
	right := wrong
	right.Options.Fusion = FuseAllSafe
	c, err := Compare(wrong, right, opts)
	if err != nil {
		t.Fatal(err)
	}
	if c.Differs == nil || c.Differs.Name != "g" || c.Differs.Result || !strings.HasPrefix(c.Differs.Pos[0], "in.npu:8:") {
		t.Errorf("%+v", c.Differs)
	}
	unoptimised := right
	unoptimised.Options.Level = O0
	c, err = Compare(right, unoptimised, opts)
	if err != nil || c.Differs != nil || c.Values < 3 || c.Results != 2 {
		t.Errorf("%+v, %v", c, err)
	}
	_, err = Compare(right, Side{Script("b.npu", "graph main(y: f32[3]) -> f32[3] { return relu(y) }\n"), Options{}}, opts)
	if err == nil || !strings.Contains(err.Error(), "do not take the same inputs") {
		t.Errorf("err = %v", err)
	} else if notes := AsDiagnostic(err).Notes; notes[0] != "the first takes (x: f32[B,4], w: f32[4,3], b: f32[3])" {
		t.Errorf("notes = %q", notes)
	}
}

// TestCompareCalls: values of a fn that is called twice are compared call by call,
// and one that differs within a loop is found.
func TestCompareCalls(t *testing.T) {
	side := func(third string) Side {
		return Side{Script("in.npu", `fn twice(x: f32[N]) -> f32[N] {
    h = x + 1.0
    return h * 2.0
}
graph main(x: f32[3]) -> f32[3] {
    y = twice(twice(x))
    for t in 0..3 carry y { y = y * `+third+` }
    return y
}
`), Options{}}
	}
	c, err := Compare(side("0.5"), side("0.5"), TrialOptions{})
	if err != nil || c.Differs != nil || c.Values < 4 {
		t.Errorf("%+v, %v", c, err)
	}
	c, err = Compare(side("0.5"), side("0.6"), TrialOptions{})
	if err != nil || c.Differs == nil || c.Differs.Name != "y" || c.Differs.Result || !strings.HasPrefix(c.Differs.Pos[0], "in.npu:7:") {
		t.Errorf("%+v, %v", c.Differs, err)
	}
}
