package lang

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
)

// interpreter runs tests by the reference evaluation.
type interpreter struct{ read func(string) ([]byte, error) }

func (i interpreter) Run(f *ir.Func, inputs []*tensor.T) ([]*tensor.T, error) {
	if err := ir.Verify(f); err != nil {
		return nil, err
	}
	in := ir.Interp{Budget: &ir.Budget{Bytes: 1 << 30}, Param: func(v *ir.Value) (*tensor.T, error) {
		return InitTensor(v, 1, i.read)
	}}
	return in.Run(f, inputs...)
}

func TestProbe(t *testing.T) {
	for _, f := range strings.Fields(os.Getenv("PROBE")) {
		data, _ := os.ReadFile(f)
		u, l := Load(diag.NewSource(f, string(data)), Options{ReadFile: os.ReadFile, Stdlib: os.DirFS("../stdlib")})
		for _, d := range l {
			fmt.Println(d.String())
		}
		for _, g := range u.Graphs {
			if err := ir.Verify(g.Func); err != nil {
				fmt.Println(err)
			}
			if os.Getenv("IR") != "" {
				fmt.Println(g.Func.String())
			}
		}
		if l.Err() != nil {
			continue
		}
		for _, tt := range u.Tests {
			for _, d := range tt.Run(interpreter{os.ReadFile}) {
				fmt.Println(d.String())
			}
			fmt.Println("ran", filepath.Base(f), tt.Name)
		}
	}
}
