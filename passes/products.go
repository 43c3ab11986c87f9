package passes

import (
	"sync"

	"github.com/npulang/npu/passes/rewrite"
)

var productRules = sync.OnceValue(func() []*rewrite.Rule {
	return []*rewrite.Rule{}
})
