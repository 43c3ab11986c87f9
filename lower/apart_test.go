package lower_test

import (
	"fmt"
	"testing"

	"github.com/npulang/npu/codegen"
	"github.com/npulang/npu/codegen/bytecode"
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/lower"
)

// TestStreamsApart plans chains that do not wait for each other, too long for
// looking at pairs: each has a part of the arena as large as it takes alone.
func TestStreamsApart(t *testing.T) {
	const chains, length = 4, 1000
	f := &ir.Func{Name: "chains"}
	alone := int64(0)
	for i := range chains {
		n := int64(100_000 + 1000*i)
		v := f.NewInput(fmt.Sprint("x", i), ir.T(tensor.F32, ir.N(n)))
		for range length {
			v = unary(f, "softmax", v)
		}
		f.Results = append(f.Results, v)
		alone += 2 * (4*n + 63) / 64 * 64
	}
	p, err := lower.Lower(f, nil, lower.Options{Streams: chains})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Streams) != chains || p.Arena > alone || p.MaxLive > p.Arena {
		t.Errorf("%d streams, an arena of %d bytes, %d live; want at most %d", len(p.Streams), p.Arena, p.MaxLive, alone)
	}
	program, _, err := codegen.Emit(p)
	if err == nil {
		err = bytecode.Verify(program)
	}
	if err != nil {
		t.Error(err)
	}
}
