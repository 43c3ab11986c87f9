package vm

import (
	"context"
	"runtime"
	"slices"
	"sync"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/vm/pool"
)

// A Memory is what the runs of one or several machines share. Its zero value is
// ready for use; it must not be copied.
//
// A run begins when its arena, its outputs and the scratch memory that the run
// before it took fit beside what other runs have; until then it waits, first
// come, first served. Scratch memory that is wanted later never waits, since two
// runs that wait for each other's memory would do so for ever. If there is none
// left, the run gives everything back and begins once more, alone. So a run
// fails for want of memory only where it would fail by itself, whatever else is
// under way.
//
// Between runs the arenas used last stay, as far as nobody needs their memory,
// and serve the runs of any machine that they are large enough for.
type Memory struct {
	// Limit bounds the bytes of arenas, outputs and scratch memory of all runs
	// under way and of the arenas kept for later ones; 0 means 16 GiB. Weights
	// and inputs belong to the caller, and outputs too once Run has returned.
	Limit int64
	// Runs bounds how many runs are under way at once; others wait. 0 means one
	// for each processor.
	Runs int
	// Fresh takes the arena of each run from Go's own memory and leaves it to the
	// garbage collector behind the run: nothing is pooled. It is there to be measured.
	Fresh bool

	mu      sync.Mutex
	used    int64     // bytes of the runs under way
	running int       // how many
	begun   uint64    // how many ever
	peak    int64     // the largest sum of used and kept
	idle    []*arena  // the one used last comes last
	kept    int64     // bytes of them
	hands   []*hand   // of callers that wait for their next run
	queue   []*waiter // in order of arrival

	machines int // that take their memory here and are not closed

	pool   sync.Once
	arenas *pool.Pool // see blocks

	collector collector // of results
}

const (
	// defaultMemory bounds programs when the caller says nothing: more than any
	// example needs, and less than a server has.
	defaultMemory = 16 << 30
	// maxKept bounds the arenas that are kept. The one used last is kept whatever
	// its size, so that equal runs in a row allocate none, but then by itself.
	maxKept = 256 << 20
	// maxIdle bounds their number.
	maxIdle = 64
	// grain is the least by which a run's share of scratch memory grows, so that
	// small kernels seldom have to ask.
	grain = 64 << 10
)

func (y *Memory) limit() int64 {
	if y.Limit > 0 {
		return y.Limit
	}
	return defaultMemory
}

func (y *Memory) runs() int {
	if y.Runs > 0 {
		return y.Runs
	}
	return runtime.GOMAXPROCS(0)
}

// A ticket is the right to run, and what goes with it.
type ticket struct {
	m       *Machine
	fixed   int64 // arena, outputs, copies of inputs
	alone   bool
	frame   *frame // one that was kept, or nil
	arena   *arena // one that was kept, or nil
	hand    *hand  // of the caller
	held    int64  // bytes taken from the memory: fixed and scratch
	scratch int64  // bytes of it that the kernels may use
	shared  bool   // another run was under way when this one began
	begun   uint64 // Memory.begun then
}

// A waiter is a ticket that is not granted yet.
type waiter struct {
	ticket
	ready chan struct{} // closed when it is
}

// take waits for the right to run and for the memory.
func (y *Memory) take(ctx context.Context, m *Machine, fixed int64, alone bool) (ticket, error) {
	t := ticket{m: m, fixed: fixed, alone: alone}
	y.mu.Lock()
	if len(y.queue) == 0 && y.fits(&t) {
		y.grant(&t)
		y.mu.Unlock()
		return t, nil
	}
	w := &waiter{t, make(chan struct{})}
	y.queue = append(y.queue, w)
	y.mu.Unlock()
	var err error
	select {
	case <-w.ready:
		return w.ticket, nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-m.users.shut:
		err = errClosed
	}
	y.mu.Lock()
	defer y.mu.Unlock()
	if i := slices.Index(y.queue, w); i >= 0 {
		y.queue = slices.Delete(y.queue, i, i+1)
		y.wake() // those behind may be smaller
	} else {
		y.put(&w.ticket, w.frame, w.arena, w.hand) // it was granted meanwhile
	}
	return ticket{}, err
}

// need is what a ticket takes of the memory.
func (y *Memory) need(t *ticket) int64 {
	if t.alone {
		return y.limit()
	}
	return min(t.fixed+t.m.scratch, y.limit())
}

// fits reports whether a run may begin. Arenas that are kept make room for it.
func (y *Memory) fits(t *ticket) bool {
	if t.alone {
		return y.running == 0
	}
	return y.running < y.runs() && y.used+y.need(t) <= y.limit()
}

// grant lets a run begin that fits.
func (y *Memory) grant(t *ticket) {
	t.held = y.need(t)
	t.scratch = min(t.m.scratch, t.held-t.fixed)
	y.used += t.held
	y.running++
	y.begun++
	t.begun, t.shared = y.begun, y.running > 1
	t.frame = t.m.takeFrame()
	t.hand = y.takeHand()
	y.pick(t)
	if f := t.frame; f != nil && f.arena != nil && f.arena != t.arena && f.arena.last == f {
		f.arena.last = nil // from now on nobody else looks at the frame
	}
	y.evict(y.limit() - y.used)
	y.peak = max(y.peak, y.used+y.kept)
}

// takeHand takes what a caller works with; there are as many as runs at once.
func (y *Memory) takeHand() *hand {
	n := len(y.hands)
	if n == 0 {
		return new(hand)
	}
	h := y.hands[n-1]
	y.hands = y.hands[:n-1]
	return h
}

// takeFrame takes out the frame that was used last, or nil.
func (m *Machine) takeFrame() *frame {
	n := len(m.frames)
	if n == 0 {
		return nil
	}
	f := m.frames[n-1]
	m.frames = m.frames[:n-1]
	return f
}

// pick finds a run an arena among those that are kept: the one that its frame
// shows, or else the smallest that is large enough. What it is too large by
// counts as the run's.
func (y *Memory) pick(t *ticket) {
	need := t.m.arena
	if need == 0 {
		return
	}
	best := -1
	for i, a := range y.idle {
		if a.size() < need || !y.mayTake(t, a.size()-need) {
			continue
		}
		if t.frame != nil && t.frame.arena == a {
			best = i
			break
		}
		if best < 0 || a.size() < y.idle[best].size() {
			best = i
		}
	}
	if best < 0 {
		return
	}
	a := y.idle[best]
	y.remove(best)
	t.fixed += a.size() - need
	if !t.alone {
		t.held += a.size() - need
		y.used += a.size() - need
	}
	if t.frame != a.last {
		a.orphan()
	}
	t.arena = a
}

// mayTake reports whether a run may have more bytes than it needs.
func (y *Memory) mayTake(t *ticket, more int64) bool {
	if t.alone {
		return t.fixed+more <= t.held
	}
	return y.used+more <= y.limit()
}

// remove takes an arena off those that are kept.
func (y *Memory) remove(i int) {
	y.kept -= y.idle[i].size()
	y.idle = slices.Delete(y.idle, i, i+1)
}

// drop gives up an arena.
func (y *Memory) drop(i int) {
	a := y.idle[i]
	y.remove(i)
	y.free(a)
}

// evict drops the arenas that were not used for longest until the others take
// no more than most.
func (y *Memory) evict(most int64) {
	for y.kept > most {
		y.drop(0)
	}
}

// put ends a run. Its frame and arena, if not nil, are kept for later ones.
func (y *Memory) put(t *ticket, f *frame, a *arena, h *hand) {
	y.hands = append(y.hands, h)
	y.used -= t.held
	y.running--
	if f != nil {
		y.keepFrame(f)
	}
	switch {
	case a == nil:
	case y.Fresh || t.m.users.isShut():
		y.free(a)
	default:
		y.keep(a)
	}
	y.wake()
}

// keepFrame keeps a frame for the next run of its machine; there are no more of
// them than runs at once.
func (y *Memory) keepFrame(f *frame) {
	if m := f.m; !m.users.isShut() && len(m.frames) < y.runs() {
		m.frames = append(m.frames, f)
	} else if f.arena != nil {
		f.arena.orphan()
	}
}

// keep keeps an arena, within the bounds.
func (y *Memory) keep(a *arena) {
	y.idle = append(y.idle, a)
	y.kept += a.size()
	y.evict(min(max(maxKept, a.size()), y.limit()-y.used))
	if len(y.idle) > maxIdle {
		y.drop(0)
	}
}

// wake lets runs begin as long as the first in the queue fits. The first is not
// passed over: a large run would wait for ever behind small ones.
func (y *Memory) wake() {
	for len(y.queue) > 0 && y.fits(&y.queue[0].ticket) {
		w := y.queue[0]
		y.queue = slices.Delete(y.queue, 0, 1)
		y.grant(&w.ticket)
		close(w.ready)
	}
}

// give ends a run and keeps its frame and arena; without a frame, what the
// ticket came with.
func (y *Memory) give(t *ticket, f *frame) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if f == nil {
		y.put(t, t.frame, t.arena, t.hand)
		return
	}
	y.put(t, f, f.arena, f.hand)
}

// grow makes a run's share of scratch memory at least want bytes and returns
// how much it is.
func (y *Memory) grow(t *ticket, want int64) (int64, error) {
	y.mu.Lock()
	defer y.mu.Unlock()
	for _, size := range []int64{(want + want/4 + grain) / grain * grain, want} {
		more := size - t.scratch
		if more <= 0 {
			return t.scratch, nil
		}
		if t.alone { // it holds all already
			if t.fixed+size > t.held {
				continue
			}
		} else if y.used+more > y.limit() {
			continue
		} else {
			t.held += more
			y.used += more
			y.evict(y.limit() - y.used)
			y.peak = max(y.peak, y.used+y.kept)
		}
		t.scratch = size
		// The next run asks for as much before it begins.
		t.m.scratch = max(t.m.scratch, size)
		return size, nil
	}
	return 0, ir.Errorf("limit", "a run needs %d bytes, %d of them for work on the way, and the limit is %d", t.fixed+want, want, y.limit()).
		Help("allow more with --max-memory, or run a smaller batch")
}

// wasAlone reports whether no other run was under way at any time since a run
// began.
func (y *Memory) wasAlone(t *ticket) bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	return t.alone || !t.shared && y.begun == t.begun
}

// join counts a machine that takes its memory here.
func (y *Memory) join(m *Machine) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.machines++
	m.joined = true
}

// forget drops the frames of a machine that is closed, and the arenas if they
// are nobody else's: those that it used last, and behind the last machine all, also
// those that a run was given and gave back unused.
func (y *Memory) forget(m *Machine) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if m.joined {
		m.joined = false
		y.machines--
	}
	for i := len(y.idle) - 1; i >= 0; i-- {
		if f := y.idle[i].last; f != nil && f.m == m || y.machines == 0 {
			y.drop(i)
		}
	}
	m.frames, y.hands = nil, nil
	y.blocks().Trim()
}
