package passes

import "github.com/npulang/npu/passes/rewrite"

// A row of a table for each index.
//
//	%0 = gather %table, %ids {axis=0}   =>   %0 = embedding %table, %ids
//
// Both read the same rows and refuse the same indices. A table is a float matrix
// from which more than one row is taken: a single row is a slice.
func embeddingForms() []*rewrite.Rule {
	return []*rewrite.Rule{
		guarded(exactly(rewrite.Own("raise-embedding", "the rows of a table",
			"gather(x, i, axis=0)  =>  embedding(x, i)")), isTable),
	}
}

func isTable(m *rewrite.Match) bool {
	x := m.Value("x")
	return x.Type.Rank() == 2 && x.Type.DType.IsFloat() && m.Value("i").Type.Rank() > 0
}
