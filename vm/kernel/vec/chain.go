package vec

import (
	"math"
	"strings"
	"unsafe"
)

// A chain is a code that computes one or two cheap codes of a number each in turn: what
// takes as long to jump to as to compute. It has no operands: its numbers stand in the
// program, in the place of an instruction behind it. Two are enough: twelve codes of
// numbers in chains of two take the time that their elements need to come from memory and
// to go there, and longer chains, of which there are many more, take no less.

// links are the codes of a chain, the digits of its number.
var links = [...]struct {
	code Code
	f    func(x, a float32) float32
}{
	{Mul, func(x, a float32) float32 { return x * a }},
	{Add, func(x, a float32) float32 { return x + a }},
	{MaxPlain, maxPlain},
	{MinPlain, minPlain},
	{And, func(x, a float32) float32 { return math.Float32frombits(math.Float32bits(x) & math.Float32bits(a)) }},
	{Xor, func(x, a float32) float32 { return math.Float32frombits(math.Float32bits(x) ^ math.Float32bits(a)) }},
	{Square, func(x, _ float32) float32 { return x * x }},
}

// How many codes a chain has at most, and how many chains there are.
const (
	ChainMax = 2
	chains   = Code(len(links) + len(links)*len(links))
)

// Chain gives the code that computes codes in turn, one or ChainMax of links.
func Chain(codes ...Code) Code {
	at := link(codes[0])
	if len(codes) > 1 {
		at = (at+1)*len(links) + link(codes[1])
	}
	return Chains + Code(at)
}

// Numbers are those of a chain as what follows its instruction.
func Numbers(numbers [ChainMax]float32) Inst {
	var in Inst
	*(*[ChainMax]float32)(unsafe.Pointer(&in)) = numbers
	return in
}

// IsChain reports whether a code is a chain.
func (c Code) IsChain() bool { return c >= Chains }

func link(c Code) int {
	for i, l := range links {
		if l.code == c {
			return i
		}
	}
	panic("vec: " + c.Name() + " is no part of a chain")
}

func init() {
	for i, l := range links {
		rows[Chain(l.code)] = chainRow(i)
		for j, m := range links {
			rows[Chain(l.code, m.code)] = chainRow(i, j)
		}
	}
}

// chainRow is the portable form of a chain.
func chainRow(steps ...int) row {
	names := make([]string, len(steps))
	for i, s := range steps {
		names[i] = rows[links[s].code].name
	}
	return row{name: strings.Join(names, ", ") + " of numbers", run: func(acc *Block, a, _ unsafe.Pointer) {
		for i, s := range steps {
			f, number := links[s].f, (*[ChainMax]float32)(a)[i]
			for j, x := range acc {
				acc[j] = f(x, number)
			}
		}
	}}
}
