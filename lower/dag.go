package lower

// A dag is what sharing tasks out looks at: how long each takes and who reads
// what. Tasks stand in an order in which each comes after those that it reads.
type dag struct {
	n     int
	ns    []int64
	pin   []int32   // by task: 0 for any stream, else the number of its name, from 1
	tasks []Task    // for what each occupies, and reads
	first []int32   // where the readers of each task begin in list
	list  []int32   // readers, ascending
	back  [][]int32 // by task: those that it reads
}

func (p *Plan) dag(pins map[string]int32) *dag {
	n := len(p.Tasks)
	g := &dag{n: n, tasks: p.Tasks, ns: make([]int64, n), pin: make([]int32, n), first: make([]int32, n+1), back: make([][]int32, n)}
	edges := 0
	for i := range p.Tasks {
		t := &p.Tasks[i]
		g.ns[i], g.pin[i] = t.ns, pins[t.Pin]
		edges += len(t.After)
		for _, d := range t.After {
			g.first[d+1]++
		}
	}
	for i := range n {
		g.first[i+1] += g.first[i]
	}
	g.list = make([]int32, edges)
	all := make([]int32, 0, edges)
	at := append([]int32(nil), g.first[:n]...)
	for i := range p.Tasks {
		from := len(all)
		for _, d := range p.Tasks[i].After {
			g.list[at[d]] = int32(i)
			at[d]++
			all = append(all, int32(d))
		}
		g.back[i] = all[from:]
	}
	return g
}

func (g *dag) readers(t int32) []int32 { return g.list[g.first[t]:g.first[t+1]] }
func (g *dag) reads(t int32) []int32   { return g.back[t] }

// heads is by task the longest time until it is done, with streams and units
// without end.
func (g *dag) heads() []int64 {
	head := make([]int64, g.n)
	for t := range int32(g.n) {
		for _, d := range g.reads(t) {
			head[t] = max(head[t], head[d])
		}
		head[t] += g.ns[t]
	}
	return head
}

// tails is by task the longest time from its start to the end of all that needs
// it.
func (g *dag) tails() []int64 {
	tail := make([]int64, g.n)
	for t := int32(g.n) - 1; t >= 0; t-- {
		for _, r := range g.readers(t) {
			tail[t] = max(tail[t], tail[r])
		}
		tail[t] += g.ns[t]
	}
	return tail
}
