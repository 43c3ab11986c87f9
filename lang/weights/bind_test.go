package weights

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
)

// set makes an open file of f32 tensors out of name:size pairs.
func set(t *testing.T, tensors ...tensor.Named) *Set {
	t.Helper()
	var b bytes.Buffer
	if err := Encode(&b, tensors, nil); err != nil {
		t.Fatal(err)
	}
	s, err := Decode("w.safetensors", b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func f32(name string, shape ...int) tensor.Named {
	return tensor.Named{Name: name, Tensor: tensor.New(tensor.F32, shape...)}
}

func want(name string, shape ...int) Wanted {
	return Wanted{Name: name, DType: tensor.F32, Shape: shape}
}

func text(d *diag.Diagnostic) string {
	if d == nil {
		return ""
	}
	return fmt.Sprintf("%s [%s]\n%s\n%s", d.Message, d.Code, strings.Join(d.Notes, "\n"), strings.Join(d.Helps, "\n"))
}

func TestBind(t *testing.T) {
	s := set(t, f32("fc1.weight", 3, 2), f32("fc1.bias", 3), f32("fc2.weight", 2, 3), f32("old", 1))
	opt := want("start", 1)
	opt.Optional = true
	b := Bind(s, []Wanted{want("fc2.weight", 3, 2), want("fc1.weight", 3, -1), want("fc2.bias", 2), want("fc1.bias", 3), opt}, "", nil)
	if got := fmt.Sprintf("%d %s %s %v", len(b.Tensors), b.Tensors["fc1.weight"].Type(), b.Tensors["fc1.bias"].Type(), b.Unused); got != "2 f32[3,2] f32[3] [old]" {
		t.Error(got)
	}
	wantText := "1 of 5 is missing, 1 of 5 does not fit [missing-weight]\nfc2.bias: f32[2] is missing\nfc2.weight: want f32[3,2], fc2.weight is f32[2,3]\n"
	if got := text(b.Problem()); got != wantText {
		t.Errorf("got\n%s\nwant\n%s", got, wantText)
	}
	if got := text(b.Extra(false)); got != "1 tensor of the file is asked for by nothing [unused-weight]\nold\n" || b.Extra(false).Severity != diag.Warning || b.Extra(true).Severity != diag.Error {
		t.Error(got)
	}
}

func TestBindNothing(t *testing.T) {
	if got := text(Bind(nil, []Wanted{want("b", 1), want("a", 1)}, "", nil).Problem()); got != "2 of 2 are missing [missing-weight]\na: f32[1] is missing\nb: f32[1] is missing\n" {
		t.Error(got)
	}
	b := Bind(set(t, f32("a", 1)), []Wanted{want("a", 1)}, "", nil)
	if b.Problem() != nil || b.Extra(true) != nil {
		t.Error(text(b.Problem()), text(b.Extra(true)))
	}
}

func TestBindPrefixAndRename(t *testing.T) {
	s := set(t, f32("bert.layer.0.attention.self.query.weight", 2), f32("bert.layer.1.attention.self.query.weight", 2), f32("head.weight", 1))
	wanted := []Wanted{want("layer.0.query.weight", 2), want("layer.1.query.weight", 2)}
	b := Bind(s, wanted, "bert.", []Rename{{"attention.self", ""}, {"gamma", "weight"}})
	if b.Problem() != nil || len(b.Tensors) != 2 || fmt.Sprint(b.Unused) != "[head.weight]" || fmt.Sprint(b.Idle) != "[{gamma weight}]" {
		t.Error(text(b.Problem()), b.Unused, b.Idle)
	}
	b = Bind(s, []Wanted{want("layer.0.attention.self.query.weight", 2)}, "", []Rename{{"x", "y"}})
	if got := text(b.Problem()); !strings.HasSuffix(got, "the file has such names behind \"bert.\": try --weights-prefix bert.\n--rename x=y matched no name of the file") {
		t.Error(got)
	}
	b = Bind(s, []Wanted{want("layer.0.attention.self.query.weight", 2)}, "bert.", []Rename{{"1", "0"}})
	if got := text(b.Problem()); !strings.Contains(got, "bert.layer.0.attention.self.query.weight, bert.layer.1.attention.self.query.weight all became this name") {
		t.Error(got)
	}
}

func TestRename(t *testing.T) {
	for _, c := range []struct{ old, new, name, want string }{
		{"a.b", "c", "x.a.b.y", "x.c.y"}, {"a", "b", "aa.a.ba", "aa.b.ba"}, {"a.a", "b", "a.a.a", "b.a"}, {"x.y", "z", "x.y", "z"}, {"a", "", "a.w", "w"}, {"long.name", "s", "n", "n"}, {"gamma", "weight", "ln.gamma", "ln.weight"},
	} {
		if got := (Rename{c.old, c.new}).apply(c.name); got != c.want {
			t.Errorf("%s=%s on %s gives %s, want %s", c.old, c.new, c.name, got, c.want)
		}
	}
}
