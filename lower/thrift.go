package lower

import "slices"

// arrange puts the tasks on streams and the buffers into memory. On a host, where the
// options leave the number of streams open, every percent by which several shorten the
// run may cost two of memory. Values live longer where tasks run side by side, and the
// workers share out the tasks of one stream too, so that large tasks gain nothing by
// streams. Who asks for a number of streams, and a device whose units are what tasks
// wait for, has them for time alone.
func (p *Plan) arrange(o *Options) {
	if o.Streams != 0 || o.streams() == 1 || o.Device.Workers == 0 || p.pins() > 0 {
		p.settle(o)
		return
	}
	bare := p.copied()
	p.settle(o)
	if len(p.Streams) == 1 {
		return
	}
	alone, few := bare.copied(), *o
	few.Streams = 1
	alone.settle(&few)
	for len(p.Streams) > 1 && !p.worth(alone) {
		if few.Streams = fewer(len(p.Streams)); few.Streams == 1 {
			*p = *alone
			return
		}
		*p = *bare.copied()
		p.settle(&few)
	}
}

// fewer is the number of streams to try after n, as more goes up.
func fewer(n int) int { return min(n-1, max(n/2, 3)) }

// settle decides on streams, events and places by the options.
func (p *Plan) settle(o *Options) {
	p.spread(o)
	p.placeBuffers(o)
}

// spread decides on streams and events. Each event of a plan is posted once a run, and
// all are there from its start: where they are more than the device has at a time, fewer
// streams need fewer. One stream needs none, and is also where the names that @stream
// gives leave no other way.
func (p *Plan) spread(o *Options) {
	if len(p.Tasks) <= o.Device.Events { // each posts one at most
		p.assignStreams(o)
		p.placeEvents()
		return
	}
	bare, few := p.copied(), *o
	for {
		p.assignStreams(&few)
		p.placeEvents()
		if len(p.Events) <= o.Device.Events {
			return
		}
		if few.Streams = fewer(len(p.Streams)); few.Streams < bare.pins() {
			few.Streams = 1
		}
		*p = *bare.copied()
	}
}

// pins is how many streams @stream asks for.
func (p *Plan) pins() int {
	names := map[string]bool{}
	for i := range p.Tasks {
		if pin := p.Tasks[i].Pin; pin != "" {
			names[pin] = true
		}
	}
	return len(names)
}

// copied is the plan before anything is settled, for another try.
func (p *Plan) copied() *Plan {
	q := *p
	q.Tasks, q.Buffers, q.order = slices.Clone(p.Tasks), slices.Clone(p.Buffers), slices.Clone(p.order)
	for i := range q.Tasks {
		q.Tasks[i].After = slices.Clone(q.Tasks[i].After) // to change the order numbers them anew
	}
	return &q
}

// worth reports whether the plan takes no more memory than its time is worth, beside
// that of one stream.
func (p *Plan) worth(alone *Plan) bool {
	growth := float64(p.Arena-alone.Arena) / float64(max(alone.Arena, 1))
	gain := float64(alone.shared())/float64(max(p.shared(), 1)) - 1
	return growth <= 2*gain
}

// leastPart is how many nanoseconds each part of a task takes at least where the
// virtual machine divides it.
const leastPart = 1500

// shared is about how long the plan takes where idle workers take part in tasks: not
// less than all work shared out evenly, nor than the streams take with each task
// divided among all.
func (p *Plan) shared() int64 {
	g := p.dag(nil)
	workers, sum := int64(p.device.Workers), int64(0)
	for i, ns := range g.ns {
		sum += ns
		g.ns[i] = ns / min(workers, max(ns/leastPart, 1))
	}
	return max(sum/workers, p.scheduleOf(g).makespan)
}
