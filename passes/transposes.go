package passes

import (
	"sync"

	"github.com/npulang/npu/passes/rewrite"
)

// transposeRules let transposes meet, and cancel out.
var transposeRules = sync.OnceValue(func() []*rewrite.Rule {
	return []*rewrite.Rule{
		rewrite.Own("merge-transposes", "two transposes in a row are one",
			`transpose(transpose(x, p), q)  =>  transpose(x, compose(p, q))`),
	}
})
