package ir_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/irtest"
)

// FuzzIRText: any text ends in functions or errors; functions that were read
// are printed, read and printed to the same text; an error of code internal is
// a row that panicked. What is verified also gets its inputs bound, or an
// error.
func FuzzIRText(f *testing.F) {
	files, _ := filepath.Glob("testdata/text/*.ir")
	for _, file := range append(files, "testdata/text_errors.txtar") {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
	}
	f.Add(loopText)
	f.Add(verifiedText)
	for seed := range uint64(30) {
		g, _ := irtest.Func(rand.New(rand.NewPCG(seed, 7)), 12)
		f.Add(g.String())
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<16 {
			return
		}
		fs, errs := ir.ParseFuncs(diag.NewSource("fuzz.ir", text))
		for _, e := range errs {
			if e.Code == "internal" {
				t.Fatal(e.Headline())
			}
		}
		for _, g := range fs {
			roundTrip(t, g)
		}
	})
}

func roundTrip(t *testing.T, f *ir.Func) {
	opt := ir.PrintOptions{Locs: true}
	first := printAll([]*ir.Func{f}, opt)
	back, errs := ir.ParseFuncs(diag.NewSource("back.ir", first))
	if len(errs) > 0 || len(back) != 1 {
		t.Fatalf("does not read back: %v\n%s", errs.Err(), first)
	}
	if again := printAll(back, opt); again != first {
		t.Fatalf("the text changes:\n%s\n%s", first, again)
	}
	var v *ir.Violation
	if err := ir.Verify(f); err != nil && (!errors.As(err, &v) || v.Invariant == "") {
		t.Fatal(err)
	}
}

// FuzzDim: any text is a dimension or an error, and a dimension reads back.
func FuzzDim(f *testing.F) {
	for _, s := range []string{"2*B*S+1", "max(S-1,0)", "floordiv(S+3,4)/2", `"odd"*-1`, "(A+B)*(C+D)/(A+B)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := ir.ParseDim(text)
		if err != nil || !d.Equal(d) {
			return
		}
		back, err := ir.ParseDim(d.String())
		if err != nil || !back.Equal(d) {
			t.Fatalf("%s reads back as %s (%v)", d, back, err)
		}
	})
}
