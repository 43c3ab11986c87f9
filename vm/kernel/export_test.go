package kernel

// Unindexed runs f while every row is asked for every body.
func Unindexed(f func()) {
	kept := map[*Row]reach{}
	for _, row := range table {
		kept[row], row.reach = row.reach, reach{}
	}
	defer func() {
		for row, r := range kept {
			row.reach = r
		}
	}()
	f()
}

// ScaledSteps counts the steps behind the product of bytes of a task that its kernel does
// where the sums stand.
func ScaledSteps(p *Prepared) (n int) {
	t, ok := p.Runner.(*productTask)
	if !ok || t.products[0].scale == nil {
		return 0
	}
	s := t.products[0].scale
	for _, o := range []scaleOperand{s.rows, s.cols, s.bias} {
		if o.input != Absent {
			n++
		}
	}
	return n + 1
}

// Ways is in how many ways a row computes a body.
func Ways(r *Row) int { return max(1, len(r.ways)) }

// LongNames are the loops of package long that operators have.
func LongNames() map[string]bool {
	names := map[string]bool{}
	for _, n := range longNames {
		names[n.name] = true
	}
	return names
}

// LongFunctions are the functions of package long, with their definitions.
func LongFunctions() map[string]func(float64) float64 { return longFunctions }
