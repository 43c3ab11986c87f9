package ir

import (
	"slices"

	"github.com/npulang/npu/ir/tensor"
)

func evalFused(c *Call, args ...*tensor.T) ([]*tensor.T, error) {
	return runBody(c, c.Bodies[0], args)
}

func evalIf(c *Call, args ...*tensor.T) ([]*tensor.T, error) {
	body := c.Bodies[1]
	if args[0].BoolAt(0) {
		body = c.Bodies[0]
	}
	return runBody(c, body, args[1:])
}

func runBody(c *Call, body *Func, args []*tensor.T) ([]*tensor.T, error) {
	b, err := bind(body, c.Env, c.Budget)
	if err != nil {
		return nil, err
	}
	out, err := b.run(nil, args)
	if err != nil {
		return nil, err
	}
	return fresh(out, args), nil
}

// fresh copies results that are arguments handed on, or one value twice: an
// operator's results are its own.
func fresh(out, args []*tensor.T) []*tensor.T {
	for i, t := range out {
		if slices.ContainsFunc(args, t.SameMemory) || slices.ContainsFunc(out[:i], t.SameMemory) {
			out[i] = t.Clone()
		}
	}
	return out
}

// evalLoop binds the bodies once, whatever the number of rounds.
func evalLoop(c *Call, args ...*tensor.T) ([]*tensor.T, error) {
	l := &looping{call: c, counter: c.Dims("from")[0].c, captures: args[c.Int("carry"):]}
	l.carried = append(l.carried, args[:c.Int("carry")]...)
	var err error
	if l.body, err = bind(c.Bodies[0], c.Env, c.Budget); err != nil {
		return nil, err
	}
	if len(c.Bodies) > 1 {
		if l.cond, err = bind(c.Bodies[1], c.Env, c.Budget); err != nil {
			return nil, err
		}
	}
	for _, t := range c.Out[c.Int("carry"):] {
		l.stacks = append(l.stacks, tensor.New(t.DType, t.Ints()...))
	}
	for {
		more, err := l.more()
		if err != nil {
			return nil, err
		}
		if !more {
			return append(fresh(l.carried, args), l.stacks...), nil
		}
		if err := l.round(); err != nil {
			return nil, err
		}
	}
}

// A looping is the state of one run of a loop.
type looping struct {
	call       *Call
	body, cond *boundFunc
	counter    int64
	done       int // rounds
	carried    []*tensor.T
	captures   []*tensor.T
	stacks     []*tensor.T
}

// more tells whether there is another round.
func (l *looping) more() (bool, error) {
	if err := l.call.Budget.stop(); err != nil {
		return false, err
	}
	if to := l.call.Attr("to"); !to.IsNone() && l.counter >= to.Dims[0].c {
		return false, nil
	}
	if l.cond == nil {
		return true, nil
	}
	out, err := l.cond.run(nil, l.inputs())
	if err != nil {
		return false, err
	}
	return out[0].BoolAt(0), nil
}

func (l *looping) inputs(first ...*tensor.T) []*tensor.T {
	return append(append(first, l.carried...), l.captures...)
}

func (l *looping) round() error {
	out, err := l.body.run(nil, l.inputs(tensor.Scalar(l.counter)))
	if err != nil {
		return err
	}
	n := len(l.carried)
	copy(l.carried, out[:n])
	for i, t := range out[n:] {
		copy(l.stacks[i].Data[l.done*len(t.Data):], t.Data)
	}
	l.counter++
	l.done++
	return nil
}

// bodyCost sums the work of a body's calls, at the sizes of the call's binding.
func bodyCost(c *Call, body *Func) Cost {
	var sum Cost
	b, err := bind(body, c.Env, nil)
	if err != nil {
		return sum // a fault that running it reports
	}
	for _, s := range b.steps {
		sum = sum.Plus(s.call.Cost())
	}
	return sum
}

// Plus is the work of both.
func (c Cost) Plus(d Cost) Cost {
	return Cost{satAdd(c.Flops, d.Flops), satAdd(c.In, d.In), satAdd(c.Out, d.Out)}
}

func (c Cost) times(n int64) Cost {
	return Cost{satMul(c.Flops, n), satMul(c.In, n), satMul(c.Out, n)}
}

// costFused counts the bytes at the border only: what passes between the
// operators inside stays on the chip.
func costFused(c *Call) Cost {
	cost := DefaultCost(c, 0)
	cost.Flops = bodyCost(c, c.Bodies[0]).Flops
	return cost
}

// costIf takes the dearer side.
func costIf(c *Call) Cost {
	a, b := bodyCost(c, c.Bodies[0]), bodyCost(c, c.Bodies[1])
	return Cost{max(a.Flops, b.Flops), max(a.In, b.In), max(a.Out, b.Out)}
}

// costLoop multiplies by the rounds. A loop that only its condition ends counts
// as one round: how many there will be is not known.
func costLoop(c *Call) Cost {
	round := Cost{}
	for _, b := range c.Bodies {
		round = round.Plus(bodyCost(c, b))
	}
	if c.Attr("to").IsNone() {
		return round
	}
	n, _ := loopRounds(c).Const()
	return round.times(n)
}
