package gen

import (
	"strings"
	"testing"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/reg"
)

// TestPlain: a float that is loaded by SSE is refused while the upper parts of registers are in
// use, and only then, an argument where it lies is not; nor may they be in use in the end.
func TestPlain(t *testing.T) {
	for _, c := range []struct {
		what  string
		write func(c *build.Context, x, y reg.VecVirtual)
		fault string
	}{
		{"behind", func(c *build.Context, x, y reg.VecVirtual) {
			c.VPXOR(y, y, y)
			c.Load(c.Param("x"), x)
			c.VADDPS(x.AsY(), y, y)
		}, "fAVX2 has MOVSS among instructions of AVX"},
		{"before", func(c *build.Context, x, y reg.VecVirtual) {
			c.Load(c.Param("x"), x)
			c.VADDPS(x.AsY(), x.AsY(), y)
			c.VZEROUPPER()
		}, ""},
		{"to the end", func(c *build.Context, x, y reg.VecVirtual) {
			c.VPXOR(y, y, y)
		}, "fAVX2 returns without VZEROUPPER"},
		{"after", func(c *build.Context, x, y reg.VecVirtual) {
			c.VPXOR(y, y, y)
			c.VZEROUPPER()
			c.Load(c.Param("x"), x)
			c.MOVAPS(x, x)
		}, ""},
		{"in place", func(c *build.Context, x, y reg.VecVirtual) {
			c.VPXOR(y, y, y)
			c.VBROADCASTSS(Argument(c, "x"), x.AsY())
			c.VADDPS(x.AsY(), y, y)
			c.VZEROUPPER()
		}, ""},
	} {
		ctx := build.NewContext()
		ctx.Function("fAVX2")
		ctx.SignatureExpr("func(x float32)")
		c.write(ctx, ctx.XMM(), ctx.YMM())
		ctx.RET()
		file, err := ctx.Result()
		if err == nil {
			err = pass.Compile.Execute(file)
		}
		if err != nil {
			t.Fatal(c.what, err)
		}
		got := ""
		if err := plain(file); err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.fault) || c.fault == "" && got != "" {
			t.Errorf("%s: %q, not %q", c.what, got, c.fault)
		}
	}
}
