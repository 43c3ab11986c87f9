package vm

import (
	"runtime"
	"sync/atomic"
	"time"
)

// A parker lets one goroutine sleep until another wakes it. A wake-up that
// comes while nobody sleeps is dropped: who wants to sleep says so (about), looks
// once more whether there is a reason to stay, and only then sleeps.
type parker struct {
	asleep atomic.Bool
	wakeup chan struct{} // has room for one
}

func (p *parker) init() { p.wakeup = make(chan struct{}, 1) }

// about announces sleep. stay or sleep must follow.
func (p *parker) about() { p.asleep.Store(true) }

// stay takes the announcement back.
func (p *parker) stay() {
	if !p.asleep.CompareAndSwap(true, false) {
		<-p.wakeup // somebody has woken it already
	}
}

// sleep returns when somebody wakes the sleeper, or done is closed.
func (p *parker) sleep(done <-chan struct{}) {
	select {
	case <-p.wakeup:
	case <-done:
		p.stay()
	}
}

// wake wakes the sleeper; it reports whether there was one.
func (p *parker) wake() bool {
	if !p.asleep.Load() || !p.asleep.CompareAndSwap(true, false) {
		return false
	}
	p.wakeup <- struct{}{}
	return true
}

// How long an executor looks for work before it sleeps. Waking a goroutine takes
// some five microseconds until it runs, and two of the one that wakes it, so
// that ten times as long bounds what is lost by a wrong guess to a tenth.
const spinTime = 50 * time.Microsecond

// spin looks for a reason to go on: often at first, then giving way to other
// goroutines between looks, until there is one or spinTime has passed.
func spin(reason func() bool) bool {
	for range 100 {
		if reason() {
			return true
		}
	}
	for start := time.Now(); time.Since(start) < spinTime; {
		for range 8 {
			if reason() {
				return true
			}
			pause()
		}
		runtime.Gosched()
	}
	return reason()
}

// pause keeps a processor busy for some ten nanoseconds without touching
// memory that others write.
func pause() {
	for i := range 30 {
		relax(i)
	}
}

//go:noinline
func relax(int) {}
