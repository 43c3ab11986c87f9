package isa_test

import (
	"strings"
	"testing"

	"github.com/npulang/npu/vm/kernel/isa"
)

func TestParse(t *testing.T) {
	for _, l := range isa.Levels() {
		if got, err := isa.Parse(l.String()); err != nil || got != l {
			t.Errorf("%v is read as %v, %v", l, got, err)
		}
	}
	for _, name := range []string{"", "auto"} {
		if got, err := isa.Parse(name); err != nil || got != isa.Best() {
			t.Errorf("%q is read as %v, %v; the best is %v", name, got, err, isa.Best())
		}
	}
	if _, err := isa.Parse("avx3"); err == nil || !strings.Contains(err.Error(), `"avx3"`) {
		t.Errorf("avx3 is answered with %v", err)
	}
	for _, l := range []isa.Level{isa.AVX2, isa.AVX512, isa.NEON} {
		if _, err := isa.Parse(l.String()); (err == nil) != isa.Has(l) {
			t.Errorf("%v: has %v, error %v", l, isa.Has(l), err)
		}
	}
}
