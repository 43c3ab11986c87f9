package lower

// A strategist is a rule by which the paths of a graph come to streams.
type strategist struct {
	name Strategy
	// better compares two streams for a path that is about to begin.
	better func(a, b seat) bool
	// urgent: tasks change their order too, where that makes the run shorter.
	urgent bool
	// slack is by how many parts in a thousand a plan may take longer than the
	// best one if it has fewer streams.
	slack int64
}

var strategists = []*strategist{
	{Latency, sooner, true, 0},
	{Throughput, lighter, false, 0},
	{Balanced, fair, false, 10},
}

// A seat is what a path would find on a stream.
type seat struct {
	stream int
	begin  int64 // when its first task would begin, what is ahead on the stream done
	load   int64 // the work of the stream, the path included, nanoseconds
	share  int64 // the work of a stream if all had the same
}

// sooner is for a path to go where it can begin first.
func sooner(a, b seat) bool {
	return a.begin < b.begin || a.begin == b.begin && a.load < b.load
}

// lighter is for it to go to the stream with the least work.
func lighter(a, b seat) bool {
	return a.load < b.load || a.load == b.load && a.begin < b.begin
}

// fair is sooner among the streams that have not more than a quarter above their
// share of all work, and lighter among the others.
func fair(a, b seat) bool {
	if a.full() != b.full() {
		return b.full()
	}
	if a.full() {
		return lighter(a, b)
	}
	return sooner(a, b)
}

func (s seat) full() bool { return s.load > s.share+s.share/4 }

// strategist finds the rule of a name; nil if there is none.
func (s Strategy) strategist() *strategist {
	for _, row := range strategists {
		if row.name == s || s == "" && row.name == Balanced {
			return row
		}
	}
	return nil
}
