package lang

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/npulang/npu/ir/diag"
)

func TestProbe(t *testing.T) {
	for _, f := range strings.Fields(os.Getenv("PROBE")) {
		data, _ := os.ReadFile(f)
		u, l := Load(diag.NewSource(f, string(data)), Options{ReadFile: os.ReadFile})
		for _, d := range l {
			fmt.Println(d.String())
		}
		for _, g := range u.Graphs {
			fmt.Println(g.Func.String())
		}
	}
}
