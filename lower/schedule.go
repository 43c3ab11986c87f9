package lower

import (
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/device"
)

// A schedule is when each task would begin if every task took as long as the
// device's row says. It is an estimate for reading, not a promise: nothing in a
// plan depends on it.
type schedule struct {
	start    []int64 // by task, nanoseconds
	busy     []int64 // by stream, nanoseconds
	makespan int64   // nanoseconds
}

// schedule lets the streams run against the row of the device.
func (p *Plan) schedule() *schedule {
	dev := p.device
	if dev == nil {
		dev = device.Lookup("cpu")
	}
	s := &schedule{start: make([]int64, len(p.Tasks)), busy: make([]int64, len(p.Streams))}
	free := make([]int64, len(p.Streams)) // when each stream has done its last task
	done := make([]int64, len(p.Tasks))
	for i := range p.Tasks {
		t := &p.Tasks[i]
		begin := free[t.Stream]
		for _, e := range t.Waits {
			begin = max(begin, done[p.Events[e]])
		}
		took := taskNs(dev, t)
		s.start[i], done[i] = begin, begin+took
		free[t.Stream] = done[i]
		s.busy[t.Stream] += took
		s.makespan = max(s.makespan, done[i])
	}
	return s
}

// taskNs is the roofline time of a task on its unit, with the launch.
func taskNs(dev *device.Device, t *Task) int64 {
	size := 4 // copies move bytes; any size does
	if t.Call != nil && len(t.Call.Out) > 0 {
		size = t.Call.Out[0].DType.Size()
	}
	bytes := t.Cost.In + t.Cost.Out
	if t.Unit == ir.Cube {
		return int64(dev.LaunchNs) + dev.CubeNs(t.Cost.Flops, bytes, size)
	}
	return int64(dev.LaunchNs) + dev.VectorNs(t.Cost.Flops, bytes, size)
}
