package ir_test

import (
	"strings"
	"testing"

	"github.com/npulang/npu/ir"
)

func TestSignature(t *testing.T) {
	for name, want := range map[string]string{
		"softmax": "softmax(x, axis=-1)",
		"clip":    "clip(x, lo=None, hi=None)",
		"concat":  "concat(...xs, axis=0)",
		"einsum":  "einsum(spec, ...xs)",
		"conv":    `conv(x, w, b=None, stride=1, pad=0, dilation=1, groups=1, auto_pad="")`,
		"loop":    "loop(...args, from=0, to=None, carry=0, collect=0)",
	} {
		if got := ir.Lookup(name).Signature(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestReference: every row has a page that says something of all its parts.
func TestReference(t *testing.T) {
	for _, op := range ir.Ops() {
		page := ir.Reference(op)
		if op.Doc == "" || op.Group == "" {
			t.Errorf("%s has no doc or group", op.Name)
		}
		for _, a := range op.Attrs {
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
