package npu

import (
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/pool"
)

// A DeviceTensor is a dense, row-major tensor in the memory of a device. It takes
// its memory until Free, or until the runtime is closed.
type DeviceTensor struct {
	rt    *Runtime
	dev   *board
	name  atomic.Pointer[string]
	t     tensor.T
	block pool.Block
	state atomic.Int64 // work that uses it, and isFreed
	trail trail        // who uses it, for CheckOrder
}

// isFreed is the bit of DeviceTensor.state that says so.
const isFreed = 1 << 62

// NewTensor makes a tensor of zeros on the current device.
func (rt *Runtime) NewTensor(d DType, shape ...int) (*DeviceTensor, error) {
	t, err := rt.newTensor(rt.here(), d, shape)
	if err != nil {
		return nil, located(err)
	}
	clear(t.t.Data)
	return t, nil
}

// newTensor makes a tensor of any content.
func (rt *Runtime) newTensor(dev *board, d DType, shape []int) (*DeviceTensor, error) {
	if err := rt.check("NewTensor"); err != nil {
		return nil, err
	}
	if d.Size() == 0 {
		return nil, faults("dtype-mismatch", "NewTensor", "dtype %v is none", d)
	}
	typ := ir.T(d, ir.Dims(shape...)...)
	if err := typ.Check(); err != nil {
		ds := asDiagnostics(err)
		ds[0].Subject = "NewTensor"
		return nil, ds
	}
	size, _ := typ.Bytes().Const()
	b, err := dev.pool.Allocate(size)
	if err != nil {
		return nil, err
	}
	return &DeviceTensor{
		rt: rt, dev: dev, block: b,
		t: tensor.T{DType: d, Shape: append([]int{}, shape...), Data: b.Data},
	}, nil
}

// WithName names the tensor in messages, and returns it. A tensor without a name
// is called by the argument that it is: a, b.
func (d *DeviceTensor) WithName(name string) *DeviceTensor {
	d.name.Store(&name)
	return d
}

// Name is what WithName said.
func (d *DeviceTensor) Name() string {
	if name := d.name.Load(); name != nil {
		return *name
	}
	return ""
}

// DType is the type of the elements.
func (d *DeviceTensor) DType() DType { return d.t.DType }

// Shape is the size of each dimension, a copy.
func (d *DeviceTensor) Shape() []int { return slices.Clone(d.t.Shape) }

// Device is the number of the device that holds the tensor.
func (d *DeviceTensor) Device() int { return d.dev.index }

// DataPtr is the address of the first element, a multiple of the alignment of
// the device's memory (its row's align_mem; 8 under NoAlign); nil once the tensor
// is freed.
func (d *DeviceTensor) DataPtr() unsafe.Pointer {
	if d.state.Load()&isFreed != 0 {
		return nil
	}
	return unsafe.Pointer(unsafe.SliceData(d.block.Data))
}

// Host views the tensor's memory without a copy, where the device's memory is the
// host's (the cpu's). The view must not be used after Free, nor while a stream
// works on the tensor: synchronize with it first.
func (d *DeviceTensor) Host() (*Tensor, error) {
	if err := d.rt.check("Host"); err != nil {
		return nil, err
	}
	if d.state.Load()&isFreed != 0 {
		return nil, at(faults("use-after-free", "Host", "%s is freed", d.called("the tensor")))
	}
	if !d.dev.row.Host() {
		ds := faults("wrong-arguments", "Host", "device %s has memory of its own", d.dev.row.Name)
		ds[0].Helps = []string{"copy the tensor with Download"}
		return nil, at(ds)
	}
	if err := d.rt.order.check(d, "Host"); err != nil {
		return nil, at(asDiagnostics(err))
	}
	return &Tensor{DType: d.t.DType, Shape: d.Shape(), Data: d.t.Data}, nil
}

// Free gives the tensor's memory back, at once or when the work is done that was
// submitted before and uses it. Using the tensor in a later call, or freeing it
// again, is an error.
func (d *DeviceTensor) Free() error {
	for {
		n := d.state.Load()
		if n&isFreed != 0 {
			return at(faults("use-after-free", "Free", "%s is freed twice", d.called("the tensor")))
		}
		if !d.state.CompareAndSwap(n, n|isFreed) {
			continue
		}
		if n == 0 {
			return located(d.dev.pool.Free(d.block))
		}
		return nil
	}
}

// hold keeps the memory until drop; it reports whether the tensor is there.
func (d *DeviceTensor) hold() bool {
	for {
		n := d.state.Load()
		if n&isFreed != 0 {
			return false
		}
		if d.state.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// drop ends a hold. The last one of a tensor that was freed gives its memory
// back, which only Free could have done otherwise, so that there is no error.
func (d *DeviceTensor) drop() {
	if d.state.Add(-1) == isFreed {
		_ = d.dev.pool.Free(d.block)
	}
}

// called is the tensor's name, or what it is otherwise.
func (d *DeviceTensor) called(otherwise string) string { return cmpString(d.Name(), otherwise) }

func cmpString(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// shapeOf prints (1024,1024).
func shapeOf(shape []int) string {
	var b strings.Builder
	b.WriteByte('(')
	for i, n := range shape {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(n))
	}
	b.WriteByte(')')
	return b.String()
}
