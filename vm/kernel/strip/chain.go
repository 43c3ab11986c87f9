package strip

import (
	"math"

	"github.com/npulang/npu/vm/kernel/vec"
)

// A step is an instruction as part of a chain: a cheap code and its number.
type step struct {
	code   vec.Code
	number float32
}

// chain makes one instruction of several cheap ones that have numbers for operands.
func (c *compiler) chain() {
	list := make([]instr, 0, len(c.code))
	for at := 0; at < len(c.code); {
		steps, n := c.run(c.code[at:])
		if n < 2 {
			list = append(list, c.code[at])
			at++
			continue
		}
		list = append(list, chained(steps)...)
		at += n
	}
	c.code = list
}

// run finds the steps of the instructions before the first that is none, and how many
// these are.
func (c *compiler) run(code []instr) (steps []step, n int) {
	for n < len(code) {
		some := c.steps(code[n])
		if some == nil {
			break
		}
		steps = append(steps, some...)
		n++
	}
	return steps, n
}

// chained shares steps out to as few instructions as can be.
func chained(steps []step) (list []instr) {
	for len(steps) > 0 {
		size := min(len(steps), vec.ChainMax)
		codes := make([]vec.Code, size)
		var in instr
		for i, s := range steps[:size] {
			codes[i], in.numbers[i] = s.code, s.number
		}
		in.code = vec.Chain(codes...)
		list, steps = append(list, in), steps[size:]
	}
	return list
}

// asSteps are instructions that give, to the bit, what one or two links of a chain do: by
// the number that is their operand. A NaN is no bound.
var asSteps = map[vec.Code]func(v float32) []step{
	vec.Add:      func(v float32) []step { return []step{{vec.Add, v}} },
	vec.Sub:      func(v float32) []step { return []step{{vec.Add, -v}} },
	vec.SubFrom:  func(v float32) []step { return []step{{vec.Mul, -1}, {vec.Add, v}} },
	vec.Mul:      func(v float32) []step { return []step{{vec.Mul, v}} },
	vec.Div:      byInverse,
	vec.MaxPlain: func(v float32) []step { return []step{{vec.MaxPlain, v}} },
	vec.MinPlain: func(v float32) []step { return []step{{vec.MinPlain, v}} },
	vec.ClipLo:   func(v float32) []step { return bound(vec.MaxPlain, v) },
	vec.ClipHi:   func(v float32) []step { return bound(vec.MinPlain, v) },
	vec.Abs:      func(float32) []step { return []step{{vec.And, math.Float32frombits(1<<31 - 1)}} },
	vec.Neg:      func(float32) []step { return []step{{vec.Xor, math.Float32frombits(1 << 31)}} },
	vec.Square:   func(float32) []step { return []step{{vec.Square, 0}} },
	vec.Relu:     func(float32) []step { return []step{{vec.MaxPlain, 0}} },
	vec.Relu6:    func(float32) []step { return []step{{vec.MaxPlain, 0}, {vec.MinPlain, 6}} },
}

// steps are those of an instruction: nil if it may be no part of a chain.
func (c *compiler) steps(in instr) []step {
	f := asSteps[in.code]
	if f == nil {
		return nil
	}
	if in.code.Args() == 0 {
		return f(0)
	}
	if i := in.a - c.constAt(0); i >= 0 && i < len(c.consts) {
		return f(c.blocks[i][0])
	}
	return nil
}

func bound(code vec.Code, v float32) []step {
	if v != v {
		return nil
	}
	return []step{{code, v}}
}

// byInverse multiplies where that is exact: by powers of two.
func byInverse(v float32) []step {
	if frac, _ := math.Frexp(float64(v)); math.Abs(frac) != 0.5 {
		return nil
	}
	if inverse := 1 / v; 1/inverse == v {
		return []step{{vec.Mul, inverse}}
	}
	return nil
}
