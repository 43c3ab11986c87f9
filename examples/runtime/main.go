// Runtime schedules operators by hand, below programs: a layer is applied to
// batches, and while one is computed, the next is copied to the device.
//
// Look at: two streams and two buffers, with events in both directions (compute
// waits for the copy, the copy waits until the buffer is read); CheckOrder, which
// refuses the program when an event is left out; an error that comes before
// anything runs.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/npulang/npu"
)

func main() {
	rt, err := npu.NewRuntime(npu.RuntimeOptions{CheckOrder: true, Kernels: npu.KernelsReference})
	if err != nil {
		log.Fatal(err)
	}
	defer rt.Close()
	if err := run(rt); err != nil {
		log.Fatal(err)
	}
	one(rt)
	wrong(rt)
	memory(rt)
}

// run applies a layer to four batches, two buffers by turns.
func run(rt *npu.Runtime) error {
	weight, err := rt.Upload(npu.FromSlice([]int{2, 2}, []float32{1, 1, 1, -1}))
	if err != nil {
		return err
	}
	load, err := rt.NewStream()
	if err != nil {
		return err
	}
	compute, err := rt.NewStream()
	if err != nil {
		return err
	}
	buffers, err := newBuffers(rt, 2)
	if err != nil {
		return err
	}
	var results []*npu.DeviceTensor
	for i := range 4 {
		batch := npu.FromSlice([]int{1, 2}, []float32{float32(i), 1})
		y, err := buffers[i%2].submit(load, compute, batch, weight)
		if err != nil {
			return err
		}
		results = append(results, y)
	}
	if err := compute.Synchronize(context.Background()); err != nil {
		return err // of any of the work, with the line that submitted it
	}
	for i, y := range results {
		host, err := y.Host() // a view, since this device is the cpu
		if err != nil {
			return err
		}
		fmt.Println("batch", i, npu.Of[float32](host))
	}
	return nil
}

// A buffer is a tensor that is filled and read by turns.
type buffer struct {
	x            *npu.DeviceTensor
	filled, read *npu.Event
}

func newBuffers(rt *npu.Runtime, n int) ([]buffer, error) {
	buffers := make([]buffer, n)
	for i := range buffers {
		b := &buffers[i]
		var err error
		if b.x, err = rt.NewTensor(npu.F32, 1, 2); err != nil {
			return nil, err
		}
		if b.filled, err = rt.NewEvent(); err != nil {
			return nil, err
		}
		if b.read, err = rt.NewEvent(); err != nil {
			return nil, err
		}
	}
	return buffers, nil
}

// submit queues one batch: its copy on one stream, its work on the other.
func (b *buffer) submit(load, compute *npu.Stream, batch *npu.Tensor, weight *npu.DeviceTensor) (*npu.DeviceTensor, error) {
	for _, step := range []func() error{
		func() error { return load.Wait(b.read) }, // passed at once the first time
		func() error { return load.Upload(b.x, batch) },
		func() error { return b.filled.Record(load) },
		func() error { return compute.Wait(b.filled) },
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	product, err := compute.Execute("MatMul", []*npu.DeviceTensor{b.x, weight}, nil)
	if err != nil {
		return nil, err
	}
	if err := b.read.Record(compute); err != nil {
		return nil, err
	}
	result, err := compute.Execute("Relu", product.Outputs(), nil)
	if err != nil {
		return nil, err
	}
	// The memory goes back when Relu has read it.
	return result.Outputs()[0], product.Outputs()[0].Free()
}

// one executes an operator and waits for it.
func one(rt *npu.Runtime) {
	x, err := rt.Upload(npu.FromSlice([]int{3}, []float32{1, 2, 3}))
	if err != nil {
		log.Fatal(err)
	}
	r, err := rt.Execute("softmax", []*npu.DeviceTensor{x}, nil, npu.Axis(0))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Op, "ran as", r.Kernel, "on the", r.Unit, "unit of", r.Device)
}

// wrong calls an operator on tensors that do not fit.
func wrong(rt *npu.Runtime) {
	a, err := rt.NewTensor(npu.F32, 1024, 1024)
	if err != nil {
		log.Fatal(err)
	}
	d, err := rt.NewTensor(npu.F32, 512, 512)
	if err != nil {
		log.Fatal(err)
	}
	_, err = rt.Execute("MatMul", []*npu.DeviceTensor{a.WithName("A"), d.WithName("D")}, nil)
	fmt.Println(err)
}

// memory takes a block from the device's pool and gives it back.
func memory(rt *npu.Runtime) {
	pool := rt.MemoryPool()
	block, err := pool.Allocate(1000)
	if err != nil {
		log.Fatal(err)
	}
	before := pool.Info()
	if err := pool.Free(block); err != nil {
		log.Fatal(err)
	}
	fmt.Println(before.Used-pool.Info().Used, "bytes come back")
	fmt.Println(pool.Free(block))
}
