package passes

import (
	"sync"

	"github.com/npulang/npu/passes/rewrite"
)

var raiseRules = sync.OnceValue(func() []*rewrite.Rule {
	return []*rewrite.Rule{}
})
