package lower

import (
	"cmp"
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/device"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/lower/place"
)

// A Plan is a function with everything decided that running it needs: tasks
// in program order, the stream of each, where each value lies, and which task
// has to wait for which. Tasks, buffers, streams and events refer to each
// other by index. The body of a region has a Plan too, with one stream.
type Plan struct {
	Name    string
	Env     []Binding // the symbols' sizes, by name
	Tasks   []Task
	Buffers []Buffer
	Streams []Stream
	Events  []int    // the task that posts each event
	Weights []Weight // of this function and its bodies; a body's Plan has none
	Inputs  []Port
	Outputs []Port
	Views   []View // for the listings

	Align   int64
	Arena   int64  // bytes of the arena that values between tasks need
	Frames  int64  // bytes behind them for values inside fused regions; a region that one kernel computes needs none
	MaxLive int64  // the largest sum of bytes that are live at once: no arena can be smaller
	Proved  bool   // MaxLive is more than that sum: the placer found that nothing lower fits
	Sum     int64  // bytes without any reuse
	Method  string // of the placer, that found the layout

	work     ir.Cost        // of all calls
	device   *device.Device // whose row decides
	occupies unitSet        // what all tasks need

	carry   int // of the body of a loop: how many results the next round has as parameters, from the second on
	weights *weightTable
	order   []int // of the tasks, by their place in program order; nil: that order
}

// A Binding is a symbol and the size it was bound to.
type Binding struct {
	Symbol string
	Size   int64
}

// A View tells of values that cost no task, or less than one: how they lie in the
// memory of others.
type View struct {
	Made string // the values
	How  string // "reshape of %x"
}

// A Port is an input or result by name.
type Port struct {
	Name   string
	Buffer int
}

// A Space is a kind of memory.
type Space uint8

const (
	Input  Space = iota // given by the caller; in a body: argument Slot of the region
	Output              // owned by the caller; in a body: result Slot of the region
	Weights
	Arena
)

// A Buffer is where a value lies. A view is a part of its base, from At on: its
// offset is that of its base, plus At.
type Buffer struct {
	Space  Space
	Slot   int   // which input, output or weight
	Offset int64 // in the arena
	Size   int64 // bytes
	Type   ir.Type
	Base   int    // the buffer whose memory this is, which has no base; -1: its own
	At     int64  // bytes from the start of Base
	Name   string // of the value, as the IR prints it

	First, Last int // the tasks that write and last read it, views included
	Reuses      int // a buffer that lay there before; -1: none

	Takes int  // the argument whose memory this result took, in place; -1: none
	Given bool // a result took the memory of this
	Kept  bool // nothing else may lie there, by request
	Local bool // the frame of a fused region, behind the others; see placeFrames
}

// A Weight is a parameter, or a constant with its value.
type Weight struct {
	Name string // for a parameter the key in the weights file
	Type ir.Type
	Data *tensor.T // nil: a parameter
	Init *ir.Value // the value that declares it
}

// A Task is the work of one value, or a copy.
type Task struct {
	Name   string // for the listings: the operator, or the rule of a fused region
	Unit   ir.Unit
	Mixed  bool     // it needs the vector unit too, at the same time
	Call   *ir.Call // without symbols; nil: copy In[0] to Out[0]
	Region *Region  // set for an operator with bodies
	In     []int    // buffers; -1: an argument that is absent
	Out    []int    // one for each result
	Cost   ir.Cost
	Pos    diag.Loc
	After  []int // the tasks whose results it reads, ascending

	Pin    string // the stream that @stream asks for; empty: any
	Stream int
	Waits  []int // events, before it begins
	Post   int   // the event when it is done; -1: nobody waits

	ns       int64   // how long it takes by the device's row, nanoseconds
	occupies unitSet // what no other task can use meanwhile
}

// A Region is what a task with bodies needs besides.
type Region struct {
	Kind   RegionKind
	Bodies []*Plan
	Frame  int // the buffer that holds the bodies' arenas; -1: they need none
	// Of a loop: its range (To is Unbounded if only the condition ends it) and
	// how many values are carried.
	From, To int64
	Carry    int
}

// A Stream is a sequence of tasks, of any units, that run one after the other.
type Stream struct {
	Name  string // s0, s1, ... in order of their first tasks, or what @stream says
	Tasks []int  // ascending
}

// Options steer lowering. The zero value is the default.
type Options struct {
	// Device is the machine whose numbers decide about streams; nil: the cpu.
	Device *device.Device
	// Mapping says which unit gets the work that either can do.
	Mapping Mapping
	// Streams is how many streams there may be, 1 to 64; 0: as many as the device's
	// row says.
	Streams int
	// Strategy says how tasks are shared out among the streams.
	Strategy Strategy

	// Memory says how hard the planner tries to use memory again.
	Memory MemoryMode
	Align  int64 // of arena offsets, a power of two; 0 means 64
	// Keep names values that get memory of their own, which nothing else uses.
	Keep []string
	// Effort bounds the exact search for a smaller arena.
	Effort place.Effort
	// Known, if not nil, is shared by all plans of one function.
	Known *Known
}

// A Mapping says which unit does what both could do.
type Mapping string

// The mappings. The empty one is MapAuto.
const (
	MapAuto         Mapping = "auto"          // by the operator's row
	MapCubePrefer   Mapping = "cube_prefer"   // all of a mixed region on the cube's core
	MapVectorPrefer Mapping = "vector_prefer" // small products too on the vector unit
)

// A Strategy says how tasks are shared out among streams.
type Strategy string

// The strategies. The empty one is Balanced.
const (
	Latency    Strategy = "latency"    // the critical path first
	Throughput Strategy = "throughput" // equal loads
	Balanced   Strategy = "balanced"   // the critical path, as long as loads stay near
)

// A MemoryMode says how memory is used again.
type MemoryMode string

// The modes. The empty one is MemoryNormal.
const (
	MemoryOff          MemoryMode = "off"          // every value has a place of its own
	MemoryConservative MemoryMode = "conservative" // a place is free when its last reader is done
	MemoryNormal       MemoryMode = "normal"       // results in the place of arguments too, best of several layouts
	MemoryAggressive   MemoryMode = "aggressive"   // tasks change their order to lower the peak too
)

// defaultAlign is one cache line, and the width of the widest vector register;
// maxAlign is a page.
const (
	defaultAlign = 64
	maxAlign     = 4096
)

// Root is the buffer whose memory b is.
func (p *Plan) Root(b int) int {
	if base := p.Buffers[b].Base; base >= 0 {
		return base
	}
	return b
}

// bindings lists the sizes of the symbols that f's parameters name, by symbol.
func bindings(f *ir.Func, env ir.Env) []Binding {
	used := map[string]bool{}
	for _, v := range f.Params {
		for _, d := range v.Type.Shape {
			d.Symbols(func(s string) { used[s] = true })
		}
	}
	out := make([]Binding, 0, len(used))
	for s := range used {
		out = append(out, Binding{s, env[s]})
	}
	slices.SortFunc(out, func(a, b Binding) int { return cmp.Compare(a.Symbol, b.Symbol) })
	return out
}
