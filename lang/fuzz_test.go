package lang

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
)

// FuzzLoad loads any text: it must end soon, without a panic, and what has no
// errors must be legal IR that prints and reads back.
func FuzzLoad(f *testing.F) {
	cases, _ := filepath.Glob("testdata/*.txtar")
	for _, file := range cases {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, s := range ar.Files {
			if filepath.Ext(s.Name) == ".npu" {
				f.Add(string(s.Data))
			}
		}
	}
	for _, pattern := range []string{"../stdlib/*.npu", "../examples/*.npu"} {
		files, _ := filepath.Glob(pattern)
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(data))
		}
	}
	std := os.DirFS("../stdlib")
	none := func(string) ([]byte, error) { return nil, os.ErrNotExist }
	f.Fuzz(func(t *testing.T, src string) {
		unit, ds := Load(diag.NewSource("in.npu", src), Options{Stdlib: std, ReadFile: none, MaxSteps: 100_000, MaxValues: 10_000})
		for _, d := range ds {
			if d.Code == "internal" || diag.FindCode(d.Code) == nil {
				t.Errorf("%s", d)
			}
			_ = d.String()
		}
		if ds.Err() != nil {
			return
		}
		for _, g := range unit.Graphs {
			if err := ir.Verify(g.Func); err != nil {
				t.Fatal(err)
			}
			text := g.Func.String()
			back, bad := ir.ParseFuncs(diag.NewSource("ir", text))
			if bad.Err() != nil {
				t.Fatalf("%v\n%s", bad, text)
			}
			if len(back) != 1 || back[0].String() != text {
				t.Fatalf("does not read back:\n%s\n%s", text, back)
			}
		}
	})
}
