package npu

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/npulang/npu/ir/device"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/vm/kernel"
	"github.com/npulang/npu/vm/pool"
)

// RuntimeOptions say what a Runtime has. The zero value is the default.
type RuntimeOptions struct {
	// Devices are the devices, numbered from 0. Nil: all that npu knows, the cpu
	// first.
	Devices []*Device
	// MaxMemory bounds the bytes of each device's memory, beside what its row
	// says; 0: half of what the process may take, as for Options. The same bound
	// holds for the memory that one operator needs on the way.
	MaxMemory int64
	// ChunkBytes and ThresholdBytes are how much memory is taken from the system
	// at a time, and the largest block that is carved from it; 0: 8 MiB and a
	// quarter of ChunkBytes.
	ChunkBytes, ThresholdBytes int64
	// NoPool, NoReuse and NoAlign switch the levels of the memory pools off:
	// chunks, giving out freed blocks again, and the device's alignment (blocks
	// begin at multiples of 8 then).
	NoPool, NoReuse, NoAlign bool
	// Poison fills memory with NaN when it is given out and when it is freed, which
	// shows what reads it too early or too late.
	Poison bool
	// Kernels and ISA choose the code of operators, as in Options.
	Kernels Kernels
	ISA     string
	// CheckOrder makes it an error (unordered) to use a tensor on one stream while
	// another may be writing it, or to write what another may be reading.
	CheckOrder bool
}

// A Runtime runs single operators for those who schedule by hand, below programs:
// tensors on devices, streams of work, events between them.
//
//	rt, err := npu.NewRuntime(npu.RuntimeOptions{})
//	defer rt.Close()
//	a, err := rt.Upload(host)
//	r, err := rt.Execute("Relu", []*npu.DeviceTensor{a}, nil)
//	y, err := rt.Download(r.Outputs[0])
//
// Every device computes on this machine's processor: a device that is not the
// cpu has its row's alignment, memory size, units and number of streams, and
// memory of its own that must be copied to and from, but not its speed.
//
// Mistakes are Diagnostics that name the operator, the tensors and the line of
// the Go program; they come before any work is submitted. All methods are safe
// for concurrent callers. Nothing is left running when Close returns.
type Runtime struct {
	opts    RuntimeOptions
	kernels kernel.Options
	devices []*board
	current atomic.Int32
	closed  atomic.Bool
	calls   callCache
	order   *order // nil: not checked

	mu      sync.Mutex
	streams []*Stream // that are open
}

// A board is one device of a runtime.
type board struct {
	index    int
	row      *Device
	pool     *pool.Pool
	limit    int64
	standard *Stream
	streams  int // open ones beside the standard one; Runtime.mu guards both counts
	named    int // how many ever
	events   atomic.Int64
}

// NewRuntime makes a runtime whose current device is number 0.
func NewRuntime(opts RuntimeOptions) (*Runtime, error) {
	rows := opts.Devices
	if rows == nil {
		rows = device.Devices()
	}
	if len(rows) == 0 {
		return nil, at(faults("wrong-arguments", "NewRuntime", "there are no devices"))
	}
	if opts.MaxMemory < 0 {
		return nil, at(faults("wrong-arguments", "NewRuntime", "MaxMemory is %d, must not be negative", opts.MaxMemory))
	}
	choice := Options{Kernels: opts.Kernels, ISA: opts.ISA}
	if err := choice.CheckKernels(); err != nil {
		return nil, located(err)
	}
	rt := &Runtime{opts: opts, kernels: choice.kernelOptions()}
	if opts.CheckOrder {
		rt.order = new(order)
	}
	for i, row := range rows {
		p, err := rt.newBoard(i, row)
		if err != nil {
			return nil, located(err)
		}
		rt.devices = append(rt.devices, p)
	}
	return rt, nil
}

func (rt *Runtime) newBoard(index int, row *Device) (*board, error) {
	if row == nil {
		return nil, faults("wrong-arguments", "NewRuntime", "device %d is nil", index)
	}
	if err := row.Check(); err != nil {
		return nil, faults("wrong-arguments", "NewRuntime", "%s", err)
	}
	limit := rt.opts.MaxMemory
	if limit == 0 {
		limit = defaultMemory()
	}
	if row.Memory > 0 {
		limit = min(limit, row.Memory)
	}
	blocks, err := pool.New(pool.Options{
		Align: int64(row.AlignMem), Limit: limit, Threshold: rt.opts.ThresholdBytes, Chunk: rt.opts.ChunkBytes,
		NoPool: rt.opts.NoPool, NoReuse: rt.opts.NoReuse, NoAlign: rt.opts.NoAlign,
		Poison: rt.opts.Poison,
	})
	if err != nil {
		return nil, err
	}
	p := &board{index: index, row: row, pool: blocks, limit: limit}
	p.standard = rt.addStream(p, "default")
	return p, nil
}

// faults is one diagnostic as an error.
func faults(code, subject, format string, args ...any) Diagnostics {
	return Diagnostics{{Code: code, Subject: subject, Message: fmt.Sprintf(format, args...)}}
}

// check refuses the use of a runtime that is closed.
func (rt *Runtime) check(subject string) error {
	if rt.closed.Load() {
		return at(faults("use-after-free", subject, "the runtime is closed"))
	}
	return nil
}

// at is the diagnostics with the line of the Go program where they have no place.
func at(ds Diagnostics) Diagnostics {
	placed := make(Diagnostics, len(ds)) // those of a stream are shared
	for i, d := range ds {
		placed[i] = d
		if d.Loc == (diag.Loc{}) {
			copied := *d
			copied.Loc = here().loc()
			placed[i] = &copied
		}
	}
	return placed
}

// DeviceCount is the number of devices.
func (rt *Runtime) DeviceCount() int { return len(rt.devices) }

// Devices lists the rows of the devices. They must not be changed.
func (rt *Runtime) Devices() []*Device {
	rows := make([]*Device, len(rt.devices))
	for i, p := range rt.devices {
		rows[i] = p.row
	}
	return rows
}

// CurrentDevice is the number of the device on which NewTensor, NewStream,
// NewEvent, DefaultStream, MemoryPool, Upload and Execute work.
func (rt *Runtime) CurrentDevice() int { return int(rt.current.Load()) }

// SetDevice changes the current device. It is one for the whole runtime, not for
// each goroutine: goroutines that use several devices keep streams and tensors,
// which stay on the device where they were made.
func (rt *Runtime) SetDevice(index int) error {
	if index < 0 || index >= len(rt.devices) {
		return at(faults("out-of-range", "SetDevice", "there is no device %d: they are 0 to %d", index, len(rt.devices)-1))
	}
	rt.current.Store(int32(index))
	return nil
}

func (rt *Runtime) here() *board { return rt.devices[rt.current.Load()] }

// Close ends all streams: the operator under way on each is stopped, what is
// queued is not begun and fails, and all memory is given back. It returns when
// nothing of the runtime runs any more, and may be called twice. Views of tensors
// (DeviceTensor.Host) must not be used afterwards.
func (rt *Runtime) Close() {
	rt.closed.Store(true)
	rt.mu.Lock()
	streams := slices.Clone(rt.streams)
	rt.mu.Unlock()
	for _, s := range streams {
		s.shut()
	}
	for _, s := range streams {
		s.rest()
	}
	for _, p := range rt.devices {
		p.pool.Close()
	}
}

// located is an error as Diagnostics, with the line of the Go program.
func located(err error) error {
	if err == nil {
		return nil
	}
	return at(asDiagnostics(err))
}
