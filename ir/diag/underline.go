package diag

import "sort"

// A stroke is a mark on the cells of one line.
type stroke struct {
	from, to int // cells, at least one
	label    string
	culprit  bool
}

func (s stroke) style() style {
	if s.culprit {
		return culpritStyle
	}
	return witnessStyle
}

// underline prints the marks of a line and their labels: the last label behind
// its mark, the others below, each under the start of its mark:
//
//   - ^ -- the last label
//     | |
//     | the second
//     the first
func (p *printer) underline(shown *ruler, marks []mark) {
	strokes := make([]stroke, len(marks))
	for i, m := range marks {
		from := shown.at(m.span.Start)
		strokes[i] = stroke{from, max(from+1, shown.at(m.span.End)), m.label, m.culprit}
	}
	sort.SliceStable(strokes, func(i, j int) bool { return strokes[i].from < strokes[j].from })
	row := paint(strokes)
	last := strokes[len(strokes)-1]
	below := strokes
	if last.label != "" && last.to == len(row) {
		below = strokes[:len(strokes)-1]
	}
	p.bar().cells(row)
	if len(below) < len(strokes) {
		p.add(last.style(), " "+brief(last.label))
	}
	p.end()
	p.below(labelled(below))
}

// paint draws marks into a row; a shorter one lies above a longer one, the
// culprit above a witness.
func paint(strokes []stroke) []cell {
	order := append([]stroke(nil), strokes...)
	sort.SliceStable(order, func(i, j int) bool {
		a, b := order[i].to-order[i].from, order[j].to-order[j].from
		return a > b || a == b && !order[i].culprit && order[j].culprit
	})
	var row []cell
	for _, s := range order {
		for len(row) < s.to {
			row = append(row, cell{' ', plainStyle})
		}
		sign := '-'
		if s.culprit {
			sign = '^'
		}
		for i := s.from; i < s.to; i++ {
			row[i] = cell{sign, s.style()}
		}
	}
	return row
}

func labelled(strokes []stroke) []stroke {
	var list []stroke
	for _, s := range strokes {
		if s.label != "" {
			list = append(list, s)
		}
	}
	return list
}

// below prints labels under their marks, from the right to the left, with bars
// from those that are still to come.
func (p *printer) below(strokes []stroke) {
	if len(strokes) == 0 {
		return
	}
	p.bar().cells(bars(strokes, -1)).end()
	for i := len(strokes) - 1; i >= 0; i-- {
		s := strokes[i]
		row := bars(strokes[:i], s.from)
		for len(row) < s.from {
			row = append(row, cell{' ', plainStyle})
		}
		p.bar().cells(row).add(s.style(), brief(s.label)).end()
	}
}

// bars draws a bar under the start of each mark, but for those that start at
// the cell not.
func bars(strokes []stroke, not int) []cell {
	var row []cell
	for _, s := range strokes {
		if s.from == not {
			continue
		}
		for len(row) <= s.from {
			row = append(row, cell{' ', plainStyle})
		}
		row[s.from] = cell{'|', s.style()}
	}
	return row
}
