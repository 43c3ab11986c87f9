package fusion

// A growthRow is a way in which regions grow by the kinds of their operators,
// without a pattern.
type growthRow struct {
	name  string
	doc   string
	joins string
}

// growth holds the rows; a region that grew in several ways goes by the first of
// them.
var growth = []*growthRow{}

// A rowSet is a set of rows by their place in growth.
type rowSet uint32

// name is that of the first row of the set.
func (s rowSet) name() string {
	for i, r := range growth {
		if s&(1<<i) != 0 {
			return r.name
		}
	}
	return ""
}

// grows reports whether a row of growth takes part: it keeps the bits by nature.
func (o *Options) grows(r *growthRow) bool {
	if on, set := o.Switches[r.name]; set {
		return on
	}
	return o.Mode != None
}

func (w *fusing) grow() {}

func (w *fusing) raises(m *merge) *reason { return nil }

// Names lists the compiler's own rules that a switch may name, those of growth
// too.
func Names() []string {
	var names []string
	for _, r := range Rules() {
		names = append(names, r.Name)
	}
	for _, r := range growth {
		names = append(names, r.name)
	}
	return names
}
