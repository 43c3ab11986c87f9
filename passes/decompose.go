package passes

import (
	"sync"

	"github.com/npulang/npu/passes/rewrite"
)

var decomposeRules = sync.OnceValue(func() []*rewrite.Rule {
	return []*rewrite.Rule{}
})
