package strip

import (
	"slices"

	"github.com/npulang/npu/vm/kernel/vec"
)

// An instr is an instruction before it is bound to a level.
type instr struct {
	code   vec.Code
	a, b   int
	result bool // it saves a result

	numbers [vec.ChainMax]float32 // of a chain
}

// pair makes one instruction of two where there is a code for both.
func (c *compiler) pair() {
	list := c.code[:0]
	for i := 0; i < len(c.code); i++ {
		in := c.code[i]
		if i+1 < len(c.code) {
			if both, ok := c.both(in, c.code[i+1]); ok {
				in = both
				i++
			}
		}
		list = append(list, in)
	}
	c.code = list
}

// both is two instructions as one.
func (c *compiler) both(first, second instr) (instr, bool) {
	at := [2]int{}
	n := 0
	for _, in := range []instr{first, second} {
		if in.code.Args() > 0 {
			at[n] = in.a
			n++
		}
	}
	code, ok := vec.Pair(first.code, second.code)
	return instr{code: code, a: at[0], b: at[1]}, ok
}

// streams reports whether all results can go around the caches.
func (c *compiler) streams() bool {
	for _, r := range c.b.results {
		if r.elem.Size() != 4 {
			return false
		}
	}
	return true
}

// link makes the program for the level; codes that come several times take turns.
func (c *compiler) link(stream bool) []vec.Inst {
	list := slices.Clone(c.code)
	if stream {
		for i := range list {
			c.streamed(&list[i])
		}
	}
	c.loop(list)
	var turns [vec.Codes]int
	var code []vec.Inst
	for _, in := range list {
		code = append(code, vec.NewInst(c.level, in.code, in.a, in.b, turns[in.code]))
		turns[in.code]++
		if in.code.IsChain() {
			code = append(code, vec.Numbers(in.numbers))
		}
	}
	return code
}

// streamed goes around the caches.
func (c *compiler) streamed(in *instr) {
	switch {
	case in.result:
		in.code = vec.Stream
	case in.code == vec.Load && in.a < c.constAt(0):
		in.code = vec.Ahead()
	}
}

// loops are the codes that do what the end of a program and the start of it for the next
// block do: of any operands, and where there are only the two.
var loops = map[[2]vec.Code][2]vec.Code{
	{vec.Save, vec.Load}:              {vec.SaveLoad, vec.SaveLoadTwo},
	{vec.Stream, vec.LoadAhead}:       {vec.StreamLoad, vec.StreamLoadTwo},
	{vec.Stream, vec.LoadAheadSecond}: {vec.StreamLoadSecond, vec.StreamLoadSecondTwo},
}

// loop lets the last instruction do what the first one does for the next block.
func (c *compiler) loop(list []instr) {
	if len(list) < 3 {
		return
	}
	first, last := list[0], &list[len(list)-2]
	codes, ok := loops[[2]vec.Code{last.code, first.code}]
	if !ok {
		return
	}
	last.code, last.b = codes[0], first.a
	if c.constAt(0) == 2 && first.a < 2 && last.a < 2 {
		last.code = codes[1]
	}
}
