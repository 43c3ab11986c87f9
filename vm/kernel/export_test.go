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
