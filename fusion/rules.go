package fusion

import (
	"slices"
	"sync"
)

// Rules lists the compiler's own fusions, the most valuable first: of two that
// match the same operator the earlier one has it. What is large stands before its
// parts, and what rides in a product's epilogue before what only saves a trip to
// memory. The table is made at its first use.
var Rules = sync.OnceValue(func() []*Rule {
	return slices.Concat(attentionRules(), productRules(), convRules(), normRules())
})
