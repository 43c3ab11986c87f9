package syntax

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/npulang/npu/ir/diag"
)

// FuzzParse checks that any text is parsed to an end without a panic, that its
// diagnostics can be rendered, and that what parses survives formatting.
func FuzzParse(f *testing.F) {
	for _, text := range seeds(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		file, errs := Parse(diag.NewSource("fuzz.npu", text))
		for _, d := range errs {
			if d.Span.Start < 0 || d.Span.End > len(text) || d.Span.Start > d.Span.End {
				t.Fatalf("%s has the span %d to %d of %d bytes", d.Headline(), d.Span.Start, d.Span.End, len(text))
			}
			if diag.FindCode(d.Code) == nil {
				t.Fatalf("no such code: %s", d.Headline())
			}
		}
		rendered(errs)
		if len(errs) == 0 {
			checkFormat(t, file)
		} else {
			Format(file)
			Print(file)
		}
	})
}

// FuzzParseExpr does the same for expressions alone.
func FuzzParseExpr(f *testing.F) {
	for _, text := range []string{
		"relu?(bias_add(matmul(a, b), c))", "x * 1", "softmax(q @ k.T * s + mask?, axis=-1)",
		"2 ** -3 ** 4", "a[..., ::2, None]", "if a { b } else { c }", "[i for i in 0..3]", "f32[..., 2]", "(((", "a\n+ b",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, errs := ParseExpr(diag.NewSource("fuzz", text))
		rendered(errs)
		if (e == nil) != (len(errs) > 0) {
			t.Fatalf("expression %v and errors %v", e, errs)
		}
		if e != nil {
			PrintExpr(e)
		}
	})
}

// seeds are the inputs of all cases.
func seeds(tb testing.TB) (list []string) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		tb.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		for _, part := range split(string(data)) {
			if part.name == "in.npu" || part.name == "fmt" {
				list = append(list, part.text)
			}
		}
	}
	return list
}
