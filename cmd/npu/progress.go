package main

import (
	"io"
	"os"
	"sync"
	"time"
)

// patience is how long a command works in silence.
const patience = 300 * time.Millisecond

// A progress says on one line of a terminal what a command is about, if that
// takes long; the line is gone when it is done. Elsewhere, and when it is nil,
// it says nothing.
type progress struct {
	w     io.Writer
	mu    sync.Mutex
	timer *time.Timer
	shown bool
}

// newProgress returns nil when w is no terminal.
func newProgress(w io.Writer) *progress {
	if !isTerminal(w) || os.Getenv("TERM") == "dumb" {
		return nil
	}
	return &progress{w: w}
}

// start begins a step: "compiling mlp.npu".
func (p *progress) start(step string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
	var t *time.Timer
	t = time.AfterFunc(patience, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.timer == t {
			io.WriteString(p.w, step+" ...")
			p.shown = true
		}
	})
	p.timer = t
}

// stop ends the last step. It may be called at any time.
func (p *progress) stop() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
}

// erase drops the step that is under way, and its line.
func (p *progress) erase() {
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
	if p.shown {
		io.WriteString(p.w, "\r\x1b[K")
		p.shown = false
	}
}
