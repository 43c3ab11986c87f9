package npu

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/device"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel"
)

// probes are in an order in which each finds what it needs: first the clock.
var probes = []probe{
	{"clock", measureClock},
	{"processors", countProcessors},
	{"products", measureProducts},
	{"element-wise operators", measureLanes},
	{"caches", readCaches},
	{"memory", measureMemory},
	{"launch", measureLaunch},
	{"hand-over", measureSync},
}

// sink keeps the compiler from leaving measured work out.
var sink atomic.Uint64

// measureClock counts operations that each take the result of the one before: an
// addition and an exclusive or take one cycle each on every core of the last
// twenty years.
func measureClock(t *tuning) error {
	const chain = 16 // operations of one round
	t.hertz = fastest(chain*1024, func(times int) {
		x, a, b := sink.Load(), uint64(0x9e3779b97f4a7c15), uint64(0xbf58476d1ce4e5b9)
		for range times * 1024 {
			x = (x + a) ^ b
			x = (x + b) ^ a
			x = (x + a) ^ b
			x = (x + b) ^ a
			x = (x + a) ^ b
			x = (x + b) ^ a
			x = (x + a) ^ b
			x = (x + b) ^ a
		}
		sink.Store(x)
	})
	t.set(t.hertz/1e6/tick, fmt.Sprintf("measured: dependent additions and exclusive ors, one a cycle (%.0f MHz), in units of %d cycles", t.hertz/1e6, tick), "clock_mhz")
	return nil
}

// countProcessors asks Go: a container may have fewer than the machine.
func countProcessors(t *tuning) error {
	n := float64(runtime.GOMAXPROCS(0))
	t.set(n, "the processors that this process may use", "workers")
	t.set(min(n, device.MaxStreams), "one for each processor", "default_streams")
	return nil
}

// A timedCall is a kernel call that the VM would make, with tensors for it.
type timedCall struct {
	kernel  *kernel.Prepared
	exec    kernel.Exec
	out, in []*tensor.T
}

// newTimedCall binds an operator to the kernel that the VM takes for it.
func newTimedCall(op string, d tensor.DType, out []int, in ...[]int) (*timedCall, error) {
	c := &timedCall{}
	var types []ir.Type
	for i, shape := range in {
		arg := RandomTensor(d, shape, 1, fmt.Sprint(i))
		c.in, types = append(c.in, arg), append(types, ir.TypeOf(arg))
	}
	result := tensor.New(d, out...)
	c.out = []*tensor.T{result}
	call, err := kernel.Bind(op, "", types, []ir.Type{ir.TypeOf(result)})
	if err != nil {
		return nil, err
	}
	best := kernel.Best()
	c.kernel = kernel.Prepare(kernel.Single(call, nil, kernel.Absent), &best)
	return c, nil
}

// rate is how many units a second the kernel does; a call does so many.
func (c *timedCall) rate(units float64) (rate float64, err error) {
	rate = fastest(units, func(times int) {
		for range times {
			if e := c.kernel.Do(&c.exec, 0, 1, c.out, c.in); e != nil {
				err = e
			}
		}
	})
	return rate, err
}

// productSide is the side of the square products that are measured: three matrices
// that lie in a second-level cache.
const productSide = 160

// measureProducts measures the kernels of matmul.
func measureProducts(t *tuning) error {
	square := []int{productSide, productSide}
	for _, p := range []struct {
		dtype  tensor.DType
		fields []string
	}{{F32, []string{"cube_macs_f32", "cube_macs_hf32"}}, {F16, []string{"cube_macs_f16"}}} {
		c, err := newTimedCall("matmul", p.dtype, square, square, square)
		if err != nil {
			return err
		}
		rate, err := c.rate(productSide * productSide * productSide)
		if err != nil {
			return err
		}
		t.setRate(rate, fmt.Sprintf("multiply-adds of matmul, %s[%d,%[2]d], kernel %s", p.dtype, productSide, c.kernel.Name), p.fields...)
	}
	return nil
}

// rowLength is the length of the vectors that are measured: all operands lie in a
// first-level cache.
const rowLength = 2048

// measureLanes measures the kernels of element-wise operators.
func measureLanes(t *tuning) error {
	row := []int{rowLength}
	for _, p := range []struct {
		op    string
		dtype tensor.DType
		args  [][]int
		field string
	}{{"mul", F32, [][]int{row, row}, "lanes_f32"}, {"mul", F16, [][]int{row, row}, "lanes_f16"}, {"exp", F32, [][]int{row}, "lanes_slow"}} {
		c, err := newTimedCall(p.op, p.dtype, row, p.args...)
		if err != nil {
			return err
		}
		rate, err := c.rate(rowLength)
		if err != nil {
			return err
		}
		t.setRate(rate, fmt.Sprintf("elements of %s, %s[%d], kernel %s", p.op, p.dtype, rowLength, c.kernel.Name), p.field)
	}
	return nil
}

// cacheFolder is where Linux tells of the caches of the first processor.
const cacheFolder = "/sys/devices/system/cpu/cpu0/cache"

// caches say which fields a cache gives its size to, by its level.
var caches = map[string][]string{
	"1": {"l0a_bytes", "l0b_bytes", "l0c_bytes", "ub_bytes", "ub_bank_bytes"},
	"2": {"l1_bytes"},
	"3": {"l2_bytes"},
}

// readCaches takes the sizes of caches from the system, where it tells them.
func readCaches(t *tuning) error {
	folders, _ := filepath.Glob(filepath.Join(cacheFolder, "index*")) // the pattern is well-formed
	for _, folder := range folders {
		level, kind, size := readWord(folder, "level"), readWord(folder, "type"), readWord(folder, "size")
		kib, err := strconv.ParseInt(strings.TrimSuffix(size, "K"), 10, 32)
		if err != nil || kib < 1 || kind == "Instruction" {
			continue
		}
		t.set(float64(kib<<10), "the system: the cache of level "+level, caches[level]...)
	}
	return nil
}

func readWord(folder, name string) string {
	b, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

const (
	// farBytes is more than any cache; of a small machine it is less.
	farBytes = 128 << 20
	// nearBytes is more than a core's own caches, and less than the shared one.
	nearBytes = 4 << 20
)

// measureMemory reads and writes memory, on one core.
func measureMemory(t *tuning) error {
	far := make([]uint64, min(farBytes, defaultMemory()/8)/8)
	near := far[:min(len(far), nearBytes/8)]
	for _, p := range []struct {
		words       []uint64
		where       string
		read, write []string
	}{{far, "memory", []string{"mem_read"}, []string{"mem_write", "ub_to_mem"}}, {near, "the last cache", []string{"l2_read"}, []string{"l2_write"}}} {
		bytes := float64(8 * len(p.words))
		t.setRate(fastest(bytes, func(times int) {
			for range times {
				clear(p.words)
			}
		}), fmt.Sprintf("bytes that one core clears in %s, %d MiB at a time", p.where, len(p.words)>>17), p.write...)
		t.setRate(fastest(bytes, func(times int) {
			for range times {
				sink.Add(sum(p.words))
			}
		}), fmt.Sprintf("bytes that one core adds up from %s, %d MiB at a time", p.where, len(p.words)>>17), p.read...)
	}
	return nil
}

// sum adds up words, four at a time.
func sum(words []uint64) uint64 {
	var a, b, c, d uint64
	for ; len(words) >= 4; words = words[4:] {
		a += words[0]
		b += words[1]
		c += words[2]
		d += words[3]
	}
	return a + b + c + d
}

// launchTasks is how many tasks the program has whose launch is measured.
const launchTasks = 256

// measureLaunch runs a chain of tasks that have nothing to do.
func measureLaunch(t *tuning) error {
	var script strings.Builder
	script.WriteString("graph main(x: f32[1]) -> f32[1] {\n")
	for range launchTasks {
		script.WriteString("    x = abs(x)\n")
	}
	script.WriteString("    return x\n}\n")
	p, err := Compile(Script("launch.npu", script.String()), Options{Level: O0, Streams: 1})
	if err != nil {
		return err
	}
	defer p.Close()
	args := []*Tensor{FromSlice([]int{1}, []float32{1})}
	rate := fastest(launchTasks, func(times int) {
		for range times {
			if _, e := p.run(context.Background(), args); e != nil {
				err = e
			}
		}
	})
	t.set(1e9/rate, "measured: a task of one element on the virtual machine, its kernel included", "launch_ns")
	return err
}

// handovers is how often a measurement hands over.
const handovers = 64

// measureSync hands a flag to another goroutine and back.
func measureSync(t *tuning) error {
	if runtime.GOMAXPROCS(0) == 1 {
		t.set(0, "one processor: streams take turns", "sync_ns")
		return nil
	}
	rate := fastest(2*handovers, func(times int) {
		var turn atomic.Int64
		last := int64(2 * handovers * times)
		go func() {
			for i := int64(1); i < last; i += 2 {
				await(&turn, i)
				turn.Store(i + 1)
			}
		}()
		for i := int64(0); i < last; i += 2 {
			await(&turn, i)
			turn.Store(i + 1)
		}
		await(&turn, last)
	})
	t.set(1e9/rate, "measured: half of a round trip between two goroutines that watch a flag", "sync_ns")
	return nil
}

// await watches a flag, and lets others run if it takes long.
func await(flag *atomic.Int64, value int64) {
	for spins := 0; flag.Load() != value; spins++ {
		if spins > 1000 {
			runtime.Gosched()
		}
	}
}
