package vm

import (
	"sync"
	"sync/atomic"
)

// A gate counts who is inside, and can be shut for good. Its zero value is open.
type gate struct {
	inside atomic.Int64 // how many, and shutBit once it is shut

	once  sync.Once
	shut  chan struct{} // closed when the gate is
	empty chan struct{} // closed when nobody is inside of a shut gate
}

// shutBit is above every count.
const shutBit = 1 << 62

// init makes the channels; it must be called before the gate is shared.
func (g *gate) init() {
	g.shut, g.empty = make(chan struct{}), make(chan struct{})
}

// enter counts one more, unless the gate is shut.
func (g *gate) enter() bool {
	if g.inside.Add(1)&shutBit == 0 {
		return true
	}
	g.leave()
	return false
}

// leave ends what enter began.
func (g *gate) leave() {
	if g.inside.Add(-1) == shutBit {
		g.once.Do(func() { close(g.empty) })
	}
}

// isShut reports whether nobody may enter.
func (g *gate) isShut() bool { return g.inside.Load()&shutBit != 0 }

// close shuts the gate and waits until nobody is inside.
func (g *gate) close() {
	for {
		n := g.inside.Load()
		if n&shutBit != 0 {
			break
		}
		if g.inside.CompareAndSwap(n, n|shutBit) {
			close(g.shut)
			break
		}
	}
	if g.inside.Load() == shutBit {
		g.once.Do(func() { close(g.empty) })
	}
	<-g.empty
}
