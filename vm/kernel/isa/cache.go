package isa

// The sizes of second-level caches that are believed, and the one that stands for any
// other: that of processors for servers, most of which have as much or more. What a
// hypervisor makes up may be anything.
const (
	leastSecond = 256 << 10
	usualSecond = 1 << 20
	mostSecond  = 8 << 20
)

// SecondCache is the bytes of a core's second-level cache, as the processor tells, else
// the usual 1 MB. It decides how work is cut, never about bits.
func SecondCache() int { return second }

var second = believed(secondCache())

func believed(told int) int {
	if told < leastSecond || told > mostSecond {
		return usualSecond
	}
	return told
}

// StreamsBySecond reports whether what is read once had better come by way of the second
// cache. On Intel's processors what is asked for as such (PREFETCHNTA) is brought by the
// first cache alone, past the second (Optimization Reference Manual, software prefetch),
// which has fewer buffers for what is under way.
func StreamsBySecond() bool { return byIntel }

// byIntel is asked once: a guest of a hypervisor waits for the answer of CPUID.
var byIntel = maker() == "GenuineIntel"

// ThirdIsFar reports whether a core reads and writes what lies in the third cache about as
// slowly as memory. That is so on Intel's processors with AVX-512, most of them for servers,
// whose third cache lies in pieces on a mesh and holds what the second has dropped. Seen on
// an Emerald Rapids with 2 MB of second cache, six operators whose result is then read: 8 MB
// took 1.46 ms written around the caches, 1.96 into them, 2 MB the same by both.
func ThirdIsFar() bool { return byIntel && has[AVX512] }

// StreamFrom is the size of results in bytes from which they are written around the
// caches: what is written would no longer be there when it is read, or not sooner than
// from memory.
func StreamFrom() int { return streamFrom }

var streamFrom = func() int {
	if ThirdIsFar() {
		return 2 * second
	}
	return 32 << 20
}()
