package passes

import (
	"sync"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/passes/rewrite"
)

// canonicalRules leave one of several ways to write one thing, so that later
// rules need to know that one only.
var canonicalRules = sync.OnceValue(func() []*rewrite.Rule {
	return []*rewrite.Rule{
		{
			Name: "bias-add", Doc: "a vector that is added along the last axis of a product is its bias", Safe: true,
			Match: rewrite.Must("add(matmul(a, b), c)"), Also: []*rewrite.Pattern{rewrite.Must("add(linear(a, b), c)")},
			// Build refuses a c that is no vector along the last axis: no legal call.
			Build: func(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
				product, c := m.Inside[1], m.Value("c")
				return b.Call(ir.BiasAdd, []*ir.Value{product, c})
			},
		},
	}
})
