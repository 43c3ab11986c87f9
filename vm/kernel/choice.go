package kernel

import (
	"slices"
	"strings"

	"github.com/npulang/npu/vm/kernel/isa"
)

// A Candidate is one way to compute a body. Candidates differ in speed and in no bit,
// but for those of NaN, so that a choice among them is free.
type Candidate struct {
	Name string // the row's, and its way: "product/f32 rows=144 deep=512 cols=256"
	Work int64  // estimated nanoseconds
}

// Several is what Runners implement whose row has several ways.
type several interface {
	// way is the index of the runner's way in the row's.
	way() int
	// works estimates the nanoseconds of each way of the row; 0: for this body it is no
	// other than the runner's.
	works(o *Options) []int64
}

// Prepare makes a body ready by the candidate that Options.Choose names, else by
// the one that is estimated to take least; nil if no row takes it, as happens with
// more than one operator. Rows are rivals only if both give the reference's bits;
// else the first of the table is the only one.
func Prepare(b *Body, o *Options) *Prepared {
	p, _ := ask(b, o)
	return p
}

// Refusals says why no kernel runs a body of several operators as one: what the rows
// of the table said. It is empty for a body that a kernel takes, or if the options
// leave no kernel to ask.
func Refusals(b *Body, o *Options) string {
	p, why := ask(b, o)
	switch {
	case p != nil || o.Kind == Reference:
		return ""
	case why == "":
		return "no kernel is for such operators together"
	}
	return why
}

// ask finds the candidate for a body, and says why there is none.
func ask(b *Body, o *Options) (p *Prepared, why string) {
	with := o.settled()
	c, wanted := choice{b: b, o: &with}, ""
	if o.Choose != nil && o.Kind != Reference {
		wanted = o.Choose(b)
		c.row, c.way = named(wanted)
	}
	p, why = c.ask()
	if p == nil {
		return nil, why
	}
	p.Why, p.body = why, b
	if p.Chosen = c.row != "" && p.row.Name == c.row && p.Way == c.way; !p.Chosen {
		p.Unknown = wanted
	}
	return p, ""
}

// settled are the options that rows see: generic kernels are those of portable Go.
func (o *Options) settled() Options {
	with := *o
	if o.Kind == Generic {
		with.Level = isa.Portable
	}
	return with
}

// named parts the name of a candidate; both are empty if no row has such a way.
func named(candidate string) (row, way string) {
	row, way, _ = strings.Cut(candidate, " ")
	for _, r := range table {
		if r.Name == row && (way == "" || slices.Contains(r.ways, way)) {
			return row, way
		}
	}
	return "", ""
}

// A choice is on its way through the table.
type choice struct {
	b        *Body
	o        *Options
	row, way string // what is wanted; empty: what takes least
	best     *Prepared
	why      string
}

// ask asks the rows within whose reach the body is, in the order of the table, for
// as long as another may be better.
func (c *choice) ask() (*Prepared, string) {
	var room [16]traits
	profile := profileOf(c.b, room[:])
	for _, row := range table {
		if c.best != nil && (c.best.Within > 0 || row == reference && c.row != row.Name) {
			break
		}
		if !row.reach.holds(&profile) {
			continue
		}
		p, not := c.try(row)
		switch {
		case p == nil:
			c.note(row, not)
		case c.best == nil || p.Within == 0 && c.better(p):
			c.best = p
		}
	}
	return c.best, c.why
}

// try makes the body ready by a row, in the way that is wanted of it.
func (c *choice) try(row *Row) (p *Prepared, not string) {
	c.o.way = 0
	if row.Name == c.row {
		c.o.way = 1 + slices.Index(row.ways, c.way)
	}
	if p, not = row.prepare(c.b, c.o); p == nil {
		return nil, not
	}
	p.by(row)
	return p, ""
}

// by notes the row that has made the body ready, and in which of its ways.
func (p *Prepared) by(row *Row) {
	p.row = row
	if s, ok := p.Runner.(several); ok && row.ways != nil {
		p.Way = row.ways[s.way()]
	}
}

// lead is how much less a later row must be estimated to take, in percent: estimates
// are coarse.
const lead = 75

// better reports whether a later row is preferred.
func (c *choice) better(p *Prepared) bool {
	switch c.row {
	case p.row.Name:
		return true
	case c.best.row.Name:
		return false
	}
	return p.Work*100 < c.best.Work*lead
}

// note keeps what a row said before any took the body.
func (c *choice) note(row *Row, not string) {
	if c.best == nil && not != "" && not != notMine {
		c.why = join(c.why, row.Name+": "+not)
	}
}

// Candidates lists what could run the task's body with the same bits, the one that it
// has first.
func (p *Prepared) Candidates(o *Options) []Candidate {
	with := o.settled()
	with.Choose = nil
	list := []Candidate{{Name: p.Candidate(), Work: p.Work}}
	if p.body == nil {
		return list
	}
	list = p.otherWays(&with, list)
	if p.Within > 0 || o.Kind == Reference {
		return list
	}
	var room [16]traits
	profile := profileOf(p.body, room[:])
	for _, row := range table {
		if row == p.row || !row.reach.holds(&profile) {
			continue
		}
		if q, _ := row.prepare(p.body, &with); q != nil && q.Within == 0 {
			q.by(row)
			list = append(list, Candidate{q.Candidate(), q.Work})
		}
	}
	return list
}

// otherWays appends the other ways of the task's row.
func (p *Prepared) otherWays(o *Options, list []Candidate) []Candidate {
	s, ok := p.Runner.(several)
	if !ok || p.row.ways == nil {
		return list
	}
	for i, w := range s.works(o) {
		if i != s.way() && w > 0 {
			list = append(list, Candidate{p.row.Name + " " + p.row.ways[i], w})
		}
	}
	return list
}

// Candidate is the name of the candidate that the task has.
func (p *Prepared) Candidate() string {
	switch {
	case p.row == nil:
		return p.Name
	case p.Way == "":
		return p.row.Name
	}
	return p.row.Name + " " + p.Way
}

// Body is what the task computes.
func (p *Prepared) Body() *Body { return p.body }
