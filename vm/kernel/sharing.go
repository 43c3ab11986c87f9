package kernel

import "github.com/npulang/npu/ir/tensor"

// A Sharer is a Runner that lays out parts for executors who take one after the other,
// as long as there are any, each from a range of its own at first.
type Sharer interface {
	// Share is Parts where so many executors take parts, of which more than most are not
	// worth their while. Neighbours have in common what an executor keeps from one part to
	// the next (Exec.Again). It is called once, before the first run, in the place of Parts.
	Share(executors, most int) int
}

// Share lays out parts for executors, at most as many as said and at least 1.
func (p *Prepared) Share(executors, most int) int {
	if s, ok := p.Runner.(Sharer); ok {
		return s.Share(executors, most)
	}
	return p.Parts(most)
}

// A Joiner is a Runner that computes some parts beside each other in less time than one by
// one. The bits are the same.
type Joiner interface {
	// RunSome computes the first of the parts from one to before another, and what can be
	// computed together with it; n is how many that were.
	RunSome(x *Exec, from, to, parts int, out, in []*tensor.T) (n int, err error)
}

// DoRange computes the parts from one to before another with fresh memory on the way.
func (p *Prepared) DoRange(x *Exec, from, to, parts int, out, in []*tensor.T) (err error) {
	j, joins := p.Runner.(Joiner)
	for from < to && err == nil {
		x.begin()
		n := 1
		if joins {
			n, err = j.RunSome(x, from, to, parts, out, in)
		} else {
			err = p.Run(x, from, parts, out, in)
		}
		from += n
		x.Again = true
	}
	return err
}

// coarse is how many parts executors take where parts next to each other have much in
// common that each makes anew: one each, and of long tasks up to coarseEach.
func coarse(executors, most int) int {
	return min(most, executors*min(max(most/(executors*coarseFrom), 1), coarseEach))
}

const (
	coarseEach = 4
	coarseFrom = 20 // fine parts
)

// Share: reads of right operands and copies of left ones are shared by neighbours.
func (t *gatedTask) Share(executors, most int) int { return t.Parts(coarse(executors, most)) }

// Share: a part packs the keys and values of its heads.
func (t *scoresTask) Share(executors, most int) int { return t.Parts(coarse(executors, most)) }

// Share: a part is a call of its own.
func (e *evaluation) Share(executors, most int) int { return e.Parts(coarse(executors, most)) }

// Share cuts the convolution for executors, who take its units one by one, of which those
// that see the same places follow each other.
func (t *convTask) Share(executors, most int) int {
	t.Divide(executors)
	return max(1, min(t.Units(), most))
}

// Share is that of convolutions.
func (p *windowPool) Share(executors, most int) int {
	p.Divide(coarse(executors, most))
	return max(1, min(p.Units(), most))
}
