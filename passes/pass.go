package passes

import (
	"sync"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/passes/rewrite"
)

// A Pass is one row of the pipeline: it applies a table of rules, or it runs code
// of its own.
type Pass struct {
	Name  string
	Doc   string // one line: what is different afterwards
	Level Level  // the lowest level that runs it

	// Rules are applied until none matches; see sweep.
	Rules func(*Options) []*rewrite.Rule
	// Code rewrites one function. Run calls it for the graph and for each
	// region inside, outer ones first; a pass looks into regions itself only where what
	// it finds there changes their arguments (Trace.inside).
	// It asks the trace before each rewrite, and leaves what the trace refuses.
	Code func(*ir.Func, *Trace)
}

// Pipeline holds every pass, in the order in which they run.
var Pipeline = []Pass{
	{"fold-const", "operators whose arguments are all constants are constants", O1, nil, foldConst},
	{"merge-equal", "what is computed twice is computed once (cse)", O1, nil, mergeEqual},
	{"user-rules", "the user's rewrites are applied", O1, userRules, nil},
	{"canonicalise", "of several ways to write one thing one is left", O1, table(canonicalRules), nil},
	{"simplify", "algebra that is exact, casts and moves that cancel out", O1,
		table(canonicalRules, algebraRules, logicRules, castRules, broadcastRules, shapeRules, sliceRules, fastMathRules), nil},
	{"raise", "what exporters take apart is one operator again", O1, table(raiseRules), nil},
	{"sink-transposes", "transposes meet, cancel out, or ride in a product", O1, table(transposeRules, shapeRules), nil},
	{"merge-products", "fewer and larger products", O1, table(productRules), nil},
	{"join-products", "products of one input with constants are computed side by side", O1, nil, joinProducts},
	{"precision", "products are computed in the dtypes that are asked for", O0, nil, lowerPrecision},
	{"fold-again", "what the rules have left constant is computed", O1, nil, foldConst},
	{"merge-again", "what the rules have made equal is computed once", O1, nil, mergeEqual},
	{"drop-dead", "what no result needs is gone (dce)", O1, nil, dropDead},
	{"make-weights", "what depends on weights alone is computed once, when they are bound", O1, nil, makeWeights},
	{"fuse", "operators share kernels", O2, nil, fuse},
	{"decompose", "composed operators are taken apart, for targets without them", Asked, table(decomposeRules), nil},
}

// order documents why a pass stands before another; a test checks that it does.
var order = []struct{ Before, After, Why string }{
	{"fold-const", "merge-equal", "folding makes equal constants out of unequal expressions"},
	{"merge-equal", "raise", "a decomposed form reads one value in several places; written twice, it is none"},
	{"user-rules", "canonicalise", "a user's pattern means what the script says, not what the compiler makes of it"},
	{"canonicalise", "raise", "patterns are written for the canonical form only"},
	{"simplify", "raise", "casts and reshapes that do nothing stand between the parts of a form"},
	{"raise", "sink-transposes", "attention is found with its transposes around it"},
	{"sink-transposes", "join-products", "a product with a transposed matrix is the linear that its neighbours are"},
	{"sink-transposes", "fold-again", "a constant beside a transpose that sinks is transposed"},
	{"raise", "precision", "attention is found among products that are alike"},
	{"join-products", "precision", "an input that several products read is converted once"},
	{"precision", "fold-again", "constants are converted when the program is compiled"},
	{"precision", "merge-again", "operands of several products are measured once"},
	{"precision", "make-weights", "weights are converted before the runs"},
	{"fold-again", "drop-dead", "a folded operator leaves arguments that nothing reads"},
	{"merge-again", "drop-dead", "the second of two equal values is dead once its readers are moved"},
	{"drop-dead", "make-weights", "what nobody reads would be made into weights"},
	{"make-weights", "fuse", "what is computed once shares no kernel"},
	{"drop-dead", "fuse", "a reader that is dead would keep a value from being fused"},
}

// table makes the rules of a row of one or more tables.
func table(tables ...func() []*rewrite.Rule) func(*Options) []*rewrite.Rule {
	all := sync.OnceValue(func() []*rewrite.Rule {
		var rules []*rewrite.Rule
		for _, t := range tables {
			rules = append(rules, t()...)
		}
		indexes.Store(&rules[0], newIndex(rules))
		return rules
	})
	return func(*Options) []*rewrite.Rule { return all() }
}

func userRules(o *Options) []*rewrite.Rule { return o.Rules }

// fuse hands the function to package fusion, which lies above this one.
func fuse(f *ir.Func, t *Trace) {
	if t.Options.Fuse != nil {
		t.Options.Fuse(f, t)
	}
}

func (p *Pass) run(f *ir.Func, t *Trace) {
	if p.Code != nil {
		p.Code(f, t)
		return
	}
	sweep(f, t, p.Rules(t.Options))
}

// Names lists the passes in the order of the pipeline.
func Names() []string {
	names := make([]string, len(Pipeline))
	for i := range Pipeline {
		names[i] = Pipeline[i].Name
	}
	return names
}
