package lower

import (
	"math"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/device"
)

// longest is the most that one task counts for, a little above an hour in
// nanoseconds, so that sums over a million tasks stay in range.
const longest = 1 << 42

// measureTasks estimates how long each task takes, and what it occupies.
func (p *Plan) measureTasks() {
	for i := range p.Tasks {
		t := &p.Tasks[i]
		t.ns = min(t.time(p.device), longest)
		t.occupies = t.units()
		p.occupies |= t.occupies
	}
}

// span is how long the tasks take one after the other.
func (p *Plan) span() int64 {
	sum := int64(0)
	for i := range p.Tasks {
		sum += p.Tasks[i].ns
	}
	return min(sum, longest)
}

// time is the roofline time of a task in nanoseconds by the device's row: one
// launch, and the longer of its arithmetic and its traffic.
func (t *Task) time(dev *device.Device) int64 {
	ns := int64(dev.LaunchNs)
	switch {
	case t.Region == nil:
		return ns + t.kernelTime(dev)
	case t.Region.Kind == Fused:
		return ns + t.fusedTime(dev)
	}
	return ns + t.Region.time()
}

// kernelTime is the time of one operator, or of a copy.
func (t *Task) kernelTime(dev *device.Device) int64 {
	bytes := t.Cost.In + t.Cost.Out
	if t.Unit == ir.Cube {
		return dev.CubeNs(t.cubeFlops(dev), bytes, t.elementSize())
	}
	return dev.VectorNs(t.Cost.Flops, bytes, t.elementSize())
}

// elementSize is the bytes of an element of what a task computes with: of a product its
// larger operand, whatever it adds up in. Copies move bytes; any size does.
func (t *Task) elementSize() int {
	switch {
	case t.Call == nil || len(t.Call.Out) == 0:
		return 4
	case t.Call.Op.Class == ir.Contract && len(t.Call.In) > 1:
		return max(t.Call.In[0].DType.Size(), t.Call.In[1].DType.Size())
	}
	return t.Call.Out[0].DType.Size()
}

// cubeFlops is the work of the cube for a product, of which each dimension is
// padded to whole blocks where the operator has them: in matmul and linear.
func (t *Task) cubeFlops(dev *device.Device) int64 {
	op := t.Call.Op
	if op != ir.MatMul && op != ir.Linear || t.Call.Out[0].Rank() < 2 {
		return t.Cost.Flops
	}
	out, x := t.Call.Out[0].Ints(), t.Call.In[0].Ints()
	m, n, k := out[len(out)-2], out[len(out)-1], x[len(x)-1]
	batch := 1
	for _, d := range out[:len(out)-2] {
		batch *= d
	}
	if op == ir.Linear { // the rows of all batches are one matrix
		m, batch = m*batch, 1
	}
	return max(int64(batch)*dev.Padded(int64(m), int64(n), int64(k), t.elementSize()), t.Cost.Flops)
}

// fusedTime is the time of a region, which reads its arguments and writes its
// results once. What the cube and the vector unit do of it goes on at one time
// if both take part, else one after the other.
func (t *Task) fusedTime(dev *device.Device) int64 {
	var cube, vector, size int64
	for _, k := range t.kernels() {
		size = max(size, int64(k.elementSize()))
		switch {
		case t.Unit == ir.Cube && k.Call.Op.Class == ir.Contract:
			cube = plus(cube, k.cubeFlops(dev))
		case t.Unit != ir.Cube || !dev.Rides(k.Call.Op.Name):
			vector = plus(vector, k.Cost.Flops)
		}
	}
	bytes := t.Cost.In + t.Cost.Out
	switch {
	case t.Unit != ir.Cube:
		return dev.VectorNs(vector, bytes, int(size))
	case t.Mixed:
		return max(dev.CubeNs(cube, bytes, int(size)), dev.VectorNs(vector, 0, int(size)))
	}
	return dev.CubeNs(cube, bytes, int(size)) + dev.BesideNs(vector, int(size))
}

// plus is a sum of what is not negative that stops at the largest number.
func plus(a, b int64) int64 { return a + min(b, math.MaxInt64-a) }

// time is that of the longer branch, or of all rounds of a loop; of a loop that
// only its condition ends, of one.
func (r *Region) time() int64 {
	if r.Kind == If {
		return max(r.Bodies[0].span(), r.Bodies[1].span())
	}
	round := int64(0)
	for _, body := range r.Bodies {
		round += body.span()
	}
	rounds := int64(1)
	if r.To != Unbounded {
		rounds = max(r.To-r.From, 0)
	}
	if round > 0 && rounds > longest/round {
		return longest
	}
	return round * rounds
}
