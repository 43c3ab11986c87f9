package kernel

// A reader is a Runner that knows which inputs its runs read.
type reader interface{ reads(input int) bool }

// Reads reports whether runs read the elements of an input. Those of a constant that was
// packed they need not, so that its own memory may hold anything from then on.
func (p *Prepared) Reads(input int) bool {
	r, ok := p.Runner.(reader)
	return !ok || r.reads(input)
}

func (t *productTask) reads(input int) bool {
	for _, p := range t.products {
		if p.reads(input) {
			return true
		}
	}
	return false
}

func (t *gatedTask) reads(input int) bool { return t.first.reads(input) || t.last.reads(input) }

func (p *product) reads(input int) bool {
	return p.a.input == input || p.b.input == input && p.packs == nil || p.bias == input ||
		p.scale != nil && p.scale.reads(input) || p.tail != nil && p.tail.sheet.reads(input)
}

func (s *productScale) reads(input int) bool {
	return s.rows.input == input || s.cols.input == input || s.bias.input == input
}

func (s *sheet) reads(input int) bool {
	for _, o := range s.views {
		if o.kind == ofInput && o.index == input {
			return true
		}
	}
	return false
}
