package ir_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/npulang/npu/ir"
)

func TestSignature(t *testing.T) {
	for name, want := range map[string]string{
		"softmax":   "softmax(x, axis=-1)",
		"clip":      "clip(x, lo=None, hi=None)",
		"concat":    "concat(...xs, axis=0)",
		"einsum":    "einsum(spec, ...xs)",
		"groupnorm": "groupnorm(x, groups, weight=None, bias=None, eps=1e-05)",
		"conv":      `conv(x, w, b=None, stride=1, pad=0, dilation=1, groups=1, auto_pad="")`,
		"loop":      "loop(...args, from=0, to=None, carry=0, collect=0)",
	} {
		if got := ir.Lookup(name).Signature(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestOps: the table is listed by group and name, whatever the order of
// initialisation.
func TestOps(t *testing.T) {
	ops := ir.Ops()
	for i, op := range ops[1:] {
		before := ops[i]
		a, b := slices.Index(ir.Groups, before.Group), slices.Index(ir.Groups, op.Group)
		if a > b || a == b && before.Name >= op.Name {
			t.Errorf("%s (%s) is listed behind %s (%s)", op.Name, op.Group, before.Name, before.Group)
		}
	}
}

// TestReference: every row has a page that says something of all its parts.
func TestReference(t *testing.T) {
	for _, op := range ir.Ops() {
		page := ir.Reference(op)
		if op.Doc == "" || !slices.Contains(ir.Groups, op.Group) {
			t.Errorf("%s has no doc or no group of the reference", op.Name)
		}
		for _, a := range op.Attrs {
			if a.Doc == "" {
				t.Errorf("%s: %s has no doc", op.Name, a.Name)
			}
			if !strings.Contains(page, "- `"+a.Name+"`: ") {
				t.Errorf("%s: nothing on %s", op.Name, a.Name)
			}
		}
		if page != ir.Reference(op) {
			t.Errorf("%s: the page changes", op.Name)
		}
		if strings.Contains(page, "..\n") || strings.Contains(page, "`: \n") {
			t.Errorf("%s:\n%s", op.Name, page)
		}
	}
}
