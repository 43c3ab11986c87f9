package attn

// lone computes the group's scores query by query, of keys where they lie. Where there are
// fewer than it takes at a time, it takes further ones, before them at the end of all.
func (g *group) lone() {
	p, k := g.p, &g.a.K
	n := max(g.n, loneKeys)
	from := min(g.from, p.T-n)
	keys := &k.Data[k.at(g.batch, g.head/(p.Heads/p.Groups), from)]
	for r := range g.rows {
		row := g.x.scores[r*g.ld:][:g.ld]
		p.loops.lone(&row[0], &g.q[(g.row+r)*g.ldQ], keys, k.Row, n, p.D)
		if from < g.from {
			copy(row, row[g.from-from:n])
		}
	}
}
