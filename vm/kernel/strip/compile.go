package strip

import (
	"fmt"
	"math"
	"slices"

	"github.com/npulang/npu/vm/kernel/isa"
	"github.com/npulang/npu/vm/kernel/vec"
)

// A Program computes results of operands, element by element. It is immutable: any
// number of goroutines may run it, each with its own Scratch.
type Program struct {
	level   isa.Level
	code    []vec.Inst // saves results through the caches
	stream  []vec.Inst // around them; nil if an element has other than four bytes
	elems   []Elem     // of the views: inputs, then results
	inputs  int
	consts  []vec.Block
	temps   int
	instrs  int
	entries int // of the table: views, constants, temps
}

// Inputs is how many operands the program has; the views of its results follow
// theirs.
func (p *Program) Inputs() int { return p.inputs }

// Views is how many views Box takes.
func (p *Program) Views() int { return len(p.elems) }

// Ops is how many instructions the program has for a block, End not counted.
func (p *Program) Ops() int { return p.instrs }

// nowhere is the temp of a value that lies in none.
const nowhere = -1

// A compiler writes a program. At each point a value may be in the accumulator, in
// a temp, or both.
type compiler struct {
	b      *Builder
	level  isa.Level
	consts map[Value]int
	blocks []vec.Block // of the constants
	uses   []int       // by value: how many readers are still to come, results included
	temp   []int       // by value: the block it is in
	free   []int
	temps  int
	acc    Value // what the accumulator holds, or -1
	last   int   // the last node that reads a view
	late   []int // results that are saved when all operands have been read
	code   []instr
}

// Compile makes the program. The error says what is wrong with the builder's calls, or
// that they are too many for one program.
func (b *Builder) Compile() (*Program, error) {
	if err := b.check(); err != nil {
		return nil, err
	}
	b.unround()
	blocks, at := b.blocksOf()
	c := &compiler{b: b, level: b.level, consts: at, blocks: blocks, acc: -1, last: -1}
	c.count()
	for v := range b.nodes {
		if b.nodes[v].kind == operator && c.uses[v] > 0 {
			c.operate(Value(v))
		}
	}
	c.finish()
	c.chain()
	c.pair()
	p := &Program{level: b.level, code: c.link(false), inputs: len(b.inputs), consts: blocks, temps: c.temps, instrs: len(c.code) - 1}
	p.elems = append(p.elems, b.inputs...)
	for _, r := range b.results {
		p.elems = append(p.elems, r.elem)
	}
	p.entries = c.tempAt(c.temps)
	if p.entries > vec.MaxOperands {
		return nil, fmt.Errorf("%d operands, constants and values are more than the %d of one program", p.entries, vec.MaxOperands)
	}
	if c.streams() {
		p.stream = c.link(true)
	}
	return p, nil
}

// count finds each value's readers, from the results back: what nobody reads is not
// computed.
func (c *compiler) count() {
	nodes := c.b.nodes
	c.uses, c.temp = make([]int, len(nodes)), make([]int, len(nodes))
	for i := range c.temp {
		c.temp[i] = nowhere
	}
	for _, r := range c.b.results {
		c.uses[r.value]++
		if nodes[r.value].kind == input {
			c.last = len(nodes) // it is read when the operators are through
		}
	}
	for v := len(nodes) - 1; v >= 0; v-- {
		if nodes[v].kind != operator || c.uses[v] == 0 {
			continue
		}
		for _, a := range nodes[v].args[:nodes[v].n] {
			c.uses[a]++
			if nodes[a].kind == input {
				c.last = max(c.last, v)
			}
		}
	}
}

// The table has the views, the constants, the temps.
func (c *compiler) viewAt(i int) int  { return i }
func (c *compiler) constAt(i int) int { return len(c.b.inputs) + len(c.b.results) + i }
func (c *compiler) tempAt(i int) int  { return c.constAt(len(c.consts)) + i }

// place is where a value lies in memory, if it does.
func (c *compiler) place(v Value) (int, bool) {
	n := &c.b.nodes[v]
	switch {
	case n.kind == constant:
		return c.constAt(c.consts[v]), true
	case c.temp[v] != nowhere:
		return c.tempAt(c.temp[v]), true
	case n.kind == input && n.elem.Size() == 4:
		return c.viewAt(n.view), true
	}
	return 0, false
}

func (c *compiler) emit(code vec.Code, a, b int) {
	c.code = append(c.code, instr{code: code, a: a, b: b})
}

// leave puts the accumulator's value aside if somebody reads it later and it is
// nowhere else.
func (c *compiler) leave() {
	if c.acc < 0 || c.uses[c.acc] == 0 {
		return
	}
	if _, ok := c.place(c.acc); !ok {
		c.save(c.acc)
	}
}

func (c *compiler) save(v Value) {
	if n := len(c.free); n > 0 {
		c.temp[v], c.free = c.free[n-1], c.free[:n-1]
	} else {
		c.temp[v] = c.temps
		c.temps++
	}
	c.emit(vec.Save, c.tempAt(c.temp[v]), 0)
}

// bring loads a value into the accumulator.
func (c *compiler) bring(v Value) {
	if c.acc == v {
		return
	}
	c.leave()
	c.acc = v
	if at, ok := c.place(v); ok {
		c.emit(vec.Load, at, 0)
		return
	}
	n := &c.b.nodes[v] // an input of a type that has to be widened
	c.emit(elems[n.elem].load, c.viewAt(n.view), 0)
}

// fetch sees to it that a value lies in memory.
func (c *compiler) fetch(v Value) {
	if _, ok := c.place(v); ok {
		return
	}
	c.bring(v)
	c.save(v)
}

// operate computes an operator: one argument in the accumulator, the others in
// memory.
func (c *compiler) operate(v Value) {
	n := &c.b.nodes[v]
	args := n.args[:n.n]
	code, args := c.turn(n.code, args)
	code = c.plain(code, args)
	for _, a := range args[1:] {
		c.fetch(a)
	}
	c.bring(args[0])
	var at [3]int
	for i, a := range args[1:] {
		at[i], _ = c.place(a)
	}
	for _, a := range args {
		c.uses[a]--
	}
	c.leave()
	c.emit(code, at[0], at[1])
	for _, a := range args {
		c.release(a)
	}
	c.acc = v
	c.results(v, int(v) >= c.last)
}

// turn chooses the argument that is taken from the accumulator: the one that is
// there, and rather not a constant. The others keep their order.
func (c *compiler) turn(code vec.Code, args []Value) (vec.Code, []Value) {
	turned := append([]Value{}, args...)
	if args[0] == c.acc {
		return code, turned
	}
	for i, a := range args[1:] {
		if to, ok := code.Moved(i + 1); ok && (a == c.acc || i == 0 && c.b.nodes[args[0]].kind == constant) {
			return to, slices.Insert(slices.Delete(turned, i+1, i+2), 0, a)
		}
	}
	return code, turned
}

// plainer are codes that are cheaper if their operand is a constant other than 0 and
// NaN.
var plainer = map[vec.Code]vec.Code{vec.Max: vec.MaxPlain, vec.Min: vec.MinPlain}

func (c *compiler) plain(code vec.Code, args []Value) vec.Code {
	to, ok := plainer[code]
	if !ok || c.b.nodes[args[1]].kind != constant {
		return code
	}
	if v := math.Float32frombits(c.b.nodes[args[1]].bits); v != 0 && v == v {
		return to
	}
	return code
}

// release frees the temp of a value that nobody reads any more.
func (c *compiler) release(v Value) {
	if c.uses[v] == 0 && c.temp[v] != nowhere {
		c.free = append(c.free, c.temp[v])
		c.temp[v] = nowhere
	}
}

// results saves the results that are the value in the accumulator, or keeps them for
// later while an operand is still to be read.
func (c *compiler) results(v Value, now bool) {
	for i, r := range c.b.results {
		switch {
		case r.value != v:
		case now:
			c.result(i)
		default:
			c.late = append(c.late, i)
		}
	}
}

// result saves the accumulator as a result.
func (c *compiler) result(i int) {
	r := c.b.results[i]
	c.emit(elems[r.elem].save, c.viewAt(len(c.b.inputs)+i), 0)
	c.code[len(c.code)-1].result = true
	c.uses[r.value]--
	c.release(r.value)
}

// finish saves what is left: first what has to be read from operands, since results
// may lie where they do, then the results.
func (c *compiler) finish() {
	for i, r := range c.b.results {
		if c.b.nodes[r.value].kind != operator {
			c.late = append(c.late, i)
		}
	}
	if c.mixed() {
		for _, i := range c.late {
			if v := c.b.results[i].value; c.b.nodes[v].kind == input && c.temp[v] == nowhere {
				c.bring(v)
				c.save(v)
			}
		}
	}
	for _, i := range c.late {
		c.bring(c.b.results[i].value)
		c.result(i)
	}
	c.emit(vec.End, 0, 0)
}

// mixed reports whether the results that are left are several values.
func (c *compiler) mixed() bool {
	of := func(i int) Value { return c.b.results[i].value }
	return slices.ContainsFunc(c.late, func(i int) bool { return of(i) != of(c.late[0]) })
}

// unround leaves to saving what it does anyway: a result that is a value rounded to the type of
// its elements, which nothing else reads, is that value.
func (b *Builder) unround() {
	readers := make([]int, len(b.nodes))
	for _, n := range b.nodes {
		for _, a := range n.args[:n.n] {
			readers[a]++
		}
	}
	for i := range b.results {
		r := &b.results[i]
		if n := b.nodes[r.value]; n.kind == operator && n.code == elems[r.elem].round && readers[r.value] == 0 {
			r.value = n.args[0]
		}
	}
}
