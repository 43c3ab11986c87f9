package kernel

import (
	"unsafe"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel/isa"
	"github.com/npulang/npu/vm/kernel/long"
)

// A longKey is an operator from a dtype, its last argument's, to another.
type longKey struct {
	op       string
	from, to tensor.DType
}

// A longName is a loop of package long, with the arguments in the other order or not.
type longName struct {
	name    string
	swapped bool
}

// longNames are the operators that package long has loops for.
var longNames = func() map[longKey]longName {
	of := map[longKey]longName{}
	add := func(op string, from, to tensor.DType, name string) { of[longKey{op, from, to}] = longName{name: name} }
	for _, d := range []tensor.DType{tensor.I64, tensor.U64} {
		for op, name := range map[string]string{
			"add": "addLongs", "bias_add": "addLongs", "sub": "subLongs", "mul": "mulLongs", "neg": "negLongs",
			"bit_and": "andLongs", "bit_or": "orLongs", "bit_xor": "xorLongs", "bit_not": "notLongs", "where": "whereLongs",
		} {
			add(op, d, d, name)
		}
		add("equal", d, tensor.Bool, "equalLongs")
		add("not_equal", d, tensor.Bool, "unequalLongs")
		add("cast", d, tensor.Bool, "truthLongs")
		add("cast", d, tensor.I32, "intsOfLongs")
		add("cast", d, tensor.U32, "intsOfLongs")
		add("cast", tensor.I32, d, "longsOfInts")
		add("cast", tensor.U32, d, "longsOfUints")
	}
	for op, name := range map[string]string{"abs": "absLongs", "relu": "reluLongs", "maximum": "maxLongs", "minimum": "minLongs"} {
		add(op, tensor.I64, tensor.I64, name)
	}
	for op, name := range map[string]string{
		"add": "addDoubles", "bias_add": "addDoubles", "sub": "subDoubles", "mul": "mulDoubles", "div": "divDoubles", "where": "whereLongs",
		"neg": "negDoubles", "abs": "absDoubles", "sqrt": "sqrtDoubles", "rsqrt": "rsqrtDoubles", "reciprocal": "reciprocalDoubles",
		"square": "squareDoubles", "relu": "reluDoubles", "sign": "signDoubles",
		"round": "roundDoubles", "floor": "floorDoubles", "ceil": "ceilDoubles", "trunc": "truncDoubles",
	} {
		add(op, tensor.F64, tensor.F64, name)
	}
	add("cast", tensor.I32, tensor.F64, "doublesOfInts")
	add("cast", tensor.F32, tensor.F64, "doublesOfFloats")
	add("cast", tensor.F64, tensor.F32, "floatsOfDoubles")
	add("equal", tensor.F64, tensor.Bool, "equalDoubles")
	add("not_equal", tensor.F64, tensor.Bool, "unequalDoubles")
	for d, kind := range map[tensor.DType]string{tensor.I64: "Longs", tensor.F64: "Doubles"} {
		for _, turned := range []bool{false, true} {
			less, lessSame := "less", "less_equal"
			if turned {
				less, lessSame = "greater", "greater_equal"
			}
			of[longKey{less, d, tensor.Bool}] = longName{"less" + kind, turned}
			of[longKey{lessSame, d, tensor.Bool}] = longName{"lessSame" + kind, turned}
		}
	}
	return of
}()

// longLoopOf is a call's loop of a level, with rest for the last elements; rest if there is
// none.
func longLoopOf(level isa.Level, c *ir.Call, rest plainLoop) plainLoop {
	is := longNames[longKey{c.Op.Name, c.In[len(c.In)-1].DType, c.Out[0].DType}]
	f := long.Of(level, is.name)
	if f == nil {
		return longCastOf(level, c, rest)
	}
	if is.swapped {
		plain := f
		f = func(d, a, b, c *byte, n int) { plain(d, b, a, c, n) }
	}
	var sizes [3]int
	for i, t := range c.In {
		sizes[i] = t.DType.Size()
	}
	size := c.Out[0].DType.Size()
	return func(d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
		whole := n &^ 7
		if whole > 0 {
			f((*byte)(d), (*byte)(in[0]), (*byte)(in[1]), (*byte)(in[2]), whole)
		}
		if whole == n {
			return
		}
		for i := range in {
			in[i] = unsafe.Add(in[i], whole*sizes[i])
		}
		rest(unsafe.Add(d, whole*size), in, n-whole)
	}
}

// longCasts are the casts that package long does as far as numbers fit four bytes.
var longCasts = map[longKey]string{
	{"cast", tensor.F32, tensor.I64}: "longsOfFloats",
	{"cast", tensor.I64, tensor.F32}: "floatsOfLongs",
}

// longCastOf is longLoopOf for these: rest does eight elements with one that does not fit.
func longCastOf(level isa.Level, c *ir.Call, rest plainLoop) plainLoop {
	from, to := c.In[0].DType, c.Out[0].DType
	f := long.CastOf(level, longCasts[longKey{c.Op.Name, from, to}])
	if f == nil {
		return rest
	}
	return func(d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
		for i := 0; i < n; {
			if whole := (n - i) &^ 7; whole > 0 {
				i += f((*byte)(unsafe.Add(d, i*to.Size())), (*byte)(unsafe.Add(in[0], i*from.Size())), whole)
			}
			if some := min(8, n-i); some > 0 {
				rest(unsafe.Add(d, i*to.Size()), [3]unsafe.Pointer{unsafe.Add(in[0], i*from.Size())}, some)
				i += some
			}
		}
	}
}
