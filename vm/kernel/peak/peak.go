package peak

import (
	"time"

	"github.com/npulang/npu/vm/kernel/isa"
)

// A loop runs rounds of products and sums of floats of four bytes, of which one
// round has flops operations.
type loop struct {
	run   func(rounds int)
	flops int
}

// FMA is the rate at which one thread multiplies and adds floats of four bytes at a
// level, in GFLOP/s: the best of thirty runs of about a tenth of a millisecond
// each. The processor must have the level.
func FMA(level isa.Level) float64 { return best(fma[level]) }

// BF16 is the rate of products of bf16 with sums of four bytes, in GFLOP/s: that of
// FMA where there is no faster instruction for it.
func BF16(level isa.Level) float64 { return best(bf16(level)) }

// Int8 is the rate of products of bytes with integer sums of four bytes, in
// thousands of millions of operations a second.
func Int8(level isa.Level) float64 { return best(int8(level)) }

// FMAFor is the rate of FMA over so long a time, in GFLOP/s: with all that stops or slows
// the thread on the way, as it does a kernel that is measured in turns with it.
func FMAFor(level isa.Level, long time.Duration) float64 { return over(fma[level], long) }

// BF16For is that of BF16.
func BF16For(level isa.Level, long time.Duration) float64 { return over(bf16(level), long) }

// Int8For is that of Int8.
func Int8For(level isa.Level, long time.Duration) float64 { return over(int8(level), long) }

func best(l loop) float64 {
	const runs, long = 30, 100 * time.Microsecond
	rounds := lasting(l, long)
	least := took(l, rounds)
	for range runs {
		least = min(least, took(l, rounds))
	}
	return float64(l.flops) * float64(rounds) / float64(max(least, 1))
}

// over runs a loop for so long, by pieces that are short beside what is measured.
func over(l loop, long time.Duration) float64 {
	rounds := lasting(l, min(long/8, 20*time.Microsecond))
	for start, n := time.Now(), 0; ; {
		l.run(rounds)
		n += rounds
		if t := time.Since(start); t >= long {
			return float64(l.flops) * float64(n) / float64(max(t, 1))
		}
	}
}

// lasting is how many rounds take so long, up to twice as many.
func lasting(l loop, long time.Duration) int {
	rounds := 1 << 6
	for took(l, rounds) < long {
		rounds *= 2
	}
	return rounds
}

func took(l loop, rounds int) time.Duration {
	start := time.Now()
	l.run(rounds)
	return time.Since(start)
}

// kept is where the portable loop leaves its sums, so that it is not optimised
// away.
var kept float32

// fmaPortable runs rounds of eight independent products and sums.
func fmaPortable(rounds int) {
	x := kept
	var a, b, c, d, e, f, g, h float32
	for range rounds {
		a, b, c, d = a*x+x, b*x+x, c*x+x, d*x+x
		e, f, g, h = e*x+x, f*x+x, g*x+x, h*x+x
	}
	kept = (a + b + c + d + e + f + g + h) * 0
}

// int8Portable runs rounds of eight independent products and sums of integers.
func int8Portable(rounds int) {
	x := int32(kept)
	var a, b, c, d, e, f, g, h int32
	for range rounds {
		a, b, c, d = a+x*a, b+x*b, c+x*c, d+x*d
		e, f, g, h = e+x*e, f+x*f, g+x*g, h+x*h
	}
	kept = float32(a+b+c+d+e+f+g+h) * 0
}
