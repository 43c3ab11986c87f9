package vec

import (
	"strings"
	"unsafe"
)

// A chain is a code that computes up to four cheap codes of one number each in turn: what
// takes as long to jump to as to compute. It has no operands: its numbers stand in the
// program, in the place of an instruction behind it.

// links are the codes of a chain, the digits of its number to the base of four.
var links = [...]struct {
	code Code
	f    func(x, a float32) float32
}{
	{Mul, func(x, a float32) float32 { return x * a }},
	{Add, func(x, a float32) float32 { return x + a }},
	{MaxPlain, maxPlain},
	{MinPlain, minPlain},
}

// How many codes a chain has, and how many chains there are.
const (
	chainMin = 2
	ChainMax = 4
	chains   = 4*4 + 4*4*4 + 4*4*4*4
)

// Chain gives the code that computes codes in turn: from two to ChainMax of Mul, Add,
// MaxPlain and MinPlain.
func Chain(codes ...Code) Code {
	first, at := Chains, 0
	for n := chainMin; n < len(codes); n++ {
		first += 1 << (2 * n)
	}
	for _, c := range codes {
		at = at*len(links) + link(c)
	}
	return first + Code(at)
}

// Numbers are those of a chain as what follows its instruction.
func Numbers(numbers [ChainMax]float32) Inst { return *(*Inst)(unsafe.Pointer(&numbers)) }

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
	first := Chains
	for n := chainMin; n <= ChainMax; n++ {
		for i := range 1 << (2 * n) {
			var r row
			var names []string
			var fs []func(x, a float32) float32
			for j := n - 1; j >= 0; j-- {
				l := links[i>>(2*j)&3]
				names, fs = append(names, rows[l.code].name), append(fs, l.f)
			}
			r.name = strings.Join(names, ", ") + " of numbers"
			r.run = func(acc *Block, a, _ unsafe.Pointer) { chain(acc, fs, (*[ChainMax]float32)(a)) }
			rows[first] = r
			first++
		}
	}
}

// chain is the portable form of chains.
func chain(acc *Block, fs []func(x, a float32) float32, numbers *[ChainMax]float32) {
	for i, f := range fs {
		for j, x := range acc {
			acc[j] = f(x, numbers[i])
		}
	}
}
