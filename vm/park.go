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

const (
	// spinTime is how long an executor looks for work before it sleeps. Waking a
	// thread takes from 5 microseconds to more than 100 on virtual processors that
	// have gone to sleep, so that about as long bounds what is lost by a wrong guess to
	// what the right one would have cost.
	spinTime = 100 * time.Microsecond
	// yieldTime is how long it keeps a thread to itself at a time. Other goroutines
	// wait for it at most so long; to ask for them costs more than the usual wait.
	yieldTime = 20 * time.Microsecond
	// looks is how often a reason is looked for between two looks at the clock.
	looks = 32
)

// spin looks for a reason to go on until there is one or limit has passed.
func spin(limit time.Duration, reason func() bool) bool {
	if look(reason) {
		return true
	}
	start, yielded := time.Now(), time.Duration(0)
	for {
		if look(reason) {
			return true
		}
		waited := time.Since(start)
		if waited >= limit {
			return reason()
		}
		if waited-yielded >= yieldTime {
			runtime.Gosched()
			yielded = waited
		}
	}
}

// look looks for a reason a few times.
func look(reason func() bool) bool {
	for range looks {
		if reason() {
			return true
		}
		pause()
	}
	return false
}
