package npu_test

import (
	"testing"

	"github.com/npulang/npu"
)

// A rewrite that matches what it makes, or undoes another one, has no end.
func TestCheckEnd(t *testing.T) {
	for text, want := range map[string]bool{
		"rewrite r {\n    x + y  =>  y + x\n}\n": false,
		"rewrite r {\n    neg(abs(x))  =>  abs(x) * -1\n}\nrewrite s {\n    abs(x) * -1  =>  neg(abs(x))\n}\n": false,
		"rewrite r {\n    relu(x)  =>  relu(x + 1 - 1)\n    where dtype(x) == i32\n}\n":                        false,
		"rewrite r {\n    neg(neg(x))  =>  x\n}\nfusion s {\n    relu(neg(x))\n}\n":                            true,
	} {
		rules, _, err := npu.ParseRules(npu.Script("rules.npu", text))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rules {
			if err := npu.CheckEnd(r, rules); (err == nil) != want {
				t.Errorf("%s: %v", r, err)
			}
		}
	}
}

// Survive tells of a fusion what the passes leave of it, and nothing of others.
func TestSurvive(t *testing.T) {
	rules, _, err := npu.ParseRules(npu.Script("rules.npu", doubled+"fusion f {\n    exp(x * x)\n}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if s := (&npu.Options{}).Survive(rules[0]); s.Graphs != 0 {
		t.Errorf("a rewrite: %+v", s)
	}
	if s := (&npu.Options{}).Survive(rules[1]); s.Read == 0 || len(s.Forms) != 1 || s.Forms[0].String() != "exp(square(x))" {
		t.Errorf("a fusion: %+v", s)
	}
	if s := (&npu.Options{Level: npu.O1}).Survive(rules[1]); s.Graphs != 0 {
		t.Errorf("without fusion: %+v", s)
	}
}
