package npu

import (
	"slices"
	"sync"
)

// An order knows which work is ordered after which, by vector clocks: the n-th
// work submitted to a stream comes after the work that the stream's clock held
// then. A clock takes in others where a stream waits for an event, and where the
// host has seen that something is done. Host goroutines have one clock together,
// so that what one of them has waited for counts as known to all: nothing that
// is ordered is refused, but an order that is missing between goroutines is not
// found. All methods do nothing on a nil order.
type order struct {
	mu   sync.Mutex
	of   []clock // by slot: what comes before the stream's next work
	host clock   // what comes before all that is submitted from now on
	free []int   // slots of streams that are closed
}

// A clock says for each slot how many of its stream's works it holds.
type clock []uint64

func (c clock) at(slot int) uint64 {
	if slot < len(c) {
		return c[slot]
	}
	return 0
}

func (c *clock) take(other clock) {
	for slot, n := range other {
		c.reach(slot, n)
	}
}

func (c *clock) reach(slot int, n uint64) {
	for len(*c) <= slot {
		*c = append(*c, 0)
	}
	(*c)[slot] = max((*c)[slot], n)
}

// A use is one work that read or wrote a tensor.
type use struct {
	stream *Stream
	n      uint64
	what   string
	site   *site
}

// A trail is who used a tensor: the last writer, and the readers since, one for
// each stream.
type trail struct {
	write use
	reads []use
}

// newSlot is the place of a new stream in clocks.
func (o *order) newSlot() int {
	if o == nil {
		return 0
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if n := len(o.free); n > 0 {
		slot := o.free[n-1]
		o.free = o.free[:n-1]
		return slot
	}
	o.of = append(o.of, nil)
	return len(o.of) - 1
}

// freeSlot ends a stream whose work is all done. Its count stays, in the host's
// clock, from which the next stream in the slot goes on.
func (o *order) freeSlot(s *Stream) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.host.take(o.of[s.slot])
	o.free = append(o.free, s.slot)
}

// now is all that comes before the next work of a stream.
func (o *order) now(s *Stream) clock {
	if o == nil {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.of[s.slot])
}

// seen tells that the host knows what a clock holds to be done.
func (o *order) seen(c clock) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.host.take(c)
}

// join lets the work of a stream from now on come after what a clock holds.
func (o *order) join(s *Stream, c clock) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.of[s.slot].take(c)
}

// allows refuses a work of a stream that uses a tensor which is used elsewhere at
// what may be the same time.
func (o *order) allows(s *Stream, what string, reads, writes []*DeviceTensor) error {
	if o == nil {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	c := &o.of[s.slot]
	c.take(o.host)
	return conflict(*c, what, reads, writes)
}

// note counts a work of a stream that is submitted.
func (o *order) note(s *Stream, what string, reads, writes []*DeviceTensor) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	c := &o.of[s.slot]
	c.reach(s.slot, c.at(s.slot)+1)
	u := use{s, c.at(s.slot), what, here()}
	for _, t := range reads {
		if t != nil {
			t.trail.read(u)
		}
	}
	for _, t := range writes {
		t.trail = trail{write: u}
	}
}

func (r *trail) read(u use) {
	if i := slices.IndexFunc(r.reads, func(v use) bool { return v.stream == u.stream }); i >= 0 {
		r.reads[i] = u
		return
	}
	r.reads = append(r.reads, u)
}

// conflict finds a use of the tensors that a work with clock c does not come
// after.
func conflict(c clock, what string, reads, writes []*DeviceTensor) error {
	for _, t := range reads {
		if t != nil && !c.holds(t.trail.write) {
			return unordered(what, "reads", t, "writes", t.trail.write)
		}
	}
	for _, t := range writes {
		if !c.holds(t.trail.write) {
			return unordered(what, "writes", t, "writes", t.trail.write)
		}
		for _, u := range t.trail.reads {
			if !c.holds(u) {
				return unordered(what, "writes", t, "reads", u)
			}
		}
	}
	return nil
}

func (c clock) holds(u use) bool { return u.stream == nil || u.n <= c.at(u.stream.slot) }

func unordered(what, does string, t *DeviceTensor, did string, u use) Diagnostics {
	ds := faults("unordered", what, "%s %s, which %s on stream %s %s, and nothing orders the two",
		does, t.called("a tensor"), u.what, u.stream.name, did)
	ds[0].Notes = []string{u.what + " was submitted at " + u.site.loc().String()}
	ds[0].Helps = []string{"record an event on stream " + u.stream.name + " behind it and wait for that, or synchronize in between"}
	return ds
}

// check refuses that the host reads a tensor which a stream may be writing.
func (o *order) check(t *DeviceTensor, what string) error {
	if o == nil {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return conflict(o.host, what, []*DeviceTensor{t}, nil)
}
