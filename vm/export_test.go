package vm

import (
	"math/bits"
	"runtime"
	"sync/atomic"
	"time"
)

// Together makes the streams of a machine run at the same time, however small
// the program is.
func (m *Machine) Together() { m.handover = 0 }

// AwaitCollection waits until no collection that runs have asked for is under way.
func (y *Memory) AwaitCollection() {
	for y.collector.busy.Load() {
		runtime.Gosched()
	}
}

// Disturb makes the runs of a machine as unlucky as can be: work is given away
// at every step, tasks that can be are done in parts however small they are, and
// executors take any stream, after any delay.
func (m *Machine) Disturb(seed uint64, parts int) {
	m.Together()
	for f := range m.code {
		for s := range m.code[f] {
			for i := range m.code[f][s] {
				if st := &m.code[f][s][i]; st.task != nil && m.maySplit(st) {
					if st.parts = st.task.Parts(parts); st.parts < 2 {
						st.parts = 0
					}
				}
			}
		}
	}
	var draws atomic.Uint64
	m.choose = func(c *crew) int {
		x := mix(seed + draws.Add(1))
		switch {
		case x%8 == 0:
			runtime.Gosched()
		case x%512 == 1:
			time.Sleep(20 * time.Microsecond)
		}
		return takeAny(c, x>>10)
	}
}

// takeAny takes one of the streams that are ready.
func takeAny(c *crew, x uint64) int {
	for {
		set := c.ready.Load()
		if set == 0 {
			return -1
		}
		rest := set
		for range x % uint64(bits.OnesCount64(set)) {
			rest &= rest - 1
		}
		i := bits.TrailingZeros64(rest)
		if c.ready.CompareAndSwap(set, set&^(1<<i)) {
			return i
		}
	}
}

// mix is the finaliser of SplitMix64.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
