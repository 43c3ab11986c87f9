package vm_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/lower"
	"github.com/npulang/npu/vm"
	"github.com/npulang/npu/vm/kernel"
)

// tasksText has all that tasks can be: an operator, a region and a loop.
const tasksText = `func @main(%x: f32[4,8], %w: f32[8,8]) -> (y: f32[4,8]) {
  %0 = fused %x, %w {rule=MatMul_ReLU, unit=cube} : f32[4,8] {
    %0 = matmul %x, %w : f32[4,8]
    %1 = relu %0 : f32[4,8]
    yield %1
  }
  %1 = loop %0, %w {to=3, carry=1} : f32[4,8] body(%i: i64[], %c: f32[4,8], %w0: f32[8,8]) {
    %2 = matmul %c, %w0 : f32[4,8]
    yield %2
  }
  %2 = neg %1 : f32[4,8]
  return %2
}
`

// TestTasks: the list has every task with the kernel that runs it, the tasks of
// bodies below, and what a watch counted.
func TestTasks(t *testing.T) {
	f := parse(t, tasksText)
	m, err := vm.Load(program(t, f, nil, lower.Options{}), nil, vm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	in := []*tensor.T{tensor.New(tensor.F32, 4, 8), tensor.New(tensor.F32, 8, 8)}
	run := func() {
		if _, err := m.Run(context.Background(), in); err != nil {
			t.Fatal(err)
		}
	}
	run()
	for _, task := range m.Tasks() {
		if task.Times != 0 || task.Took != 0 {
			t.Errorf("%s was counted without a watch", task.Name)
		}
	}
	m.Watch(true)
	run()
	run()
	m.Watch(false)
	run()
	if got := m.Tasks(); got[0].Times != 0 {
		t.Error("what was counted is kept")
	}
	m.Watch(true)
	run()
	run()
	checkTasks(t, m.Tasks())
}

func checkTasks(t *testing.T, tasks []vm.Task) {
	t.Helper()
	leaves := map[string]int64{}
	var all []string
	for _, task := range tasks {
		all = append(all, fmt.Sprint(task.Name, " ", strings.Join(task.Ops, "+"), " ", task.Kernel))
		name := strings.Join(task.Ops, "+")
		if task.Kernel == "" {
			continue
		}
		leaves[name] += task.Times
		if task.DType != "f32" || task.Flops <= 0 || task.Bytes <= 0 || !strings.Contains(task.Types, " -> f32[4,8]") || task.Least <= 0 || task.Took < task.Least*time.Duration(task.Times) {
			t.Errorf("%s: %+v", name, task)
		}
	}
	// The region counts as one task or as two, by what kernels there are.
	products := leaves["matmul"] + leaves["matmul+relu"]
	if products != 8 || leaves["neg"] != 2 || leaves["relu"]+leaves["matmul+relu"] != 2 {
		t.Errorf("%v in\n%s", leaves, strings.Join(all, "\n"))
	}
	if text := strings.Join(all, "\n"); !strings.Contains(text, " loop \n") {
		t.Errorf("no loop in\n%s", text)
	}
}

// TestTasksOfARegion: what no kernel runs as one says why, and its operators
// follow.
func TestTasksOfARegion(t *testing.T) {
	reference := vm.Options{Kernels: new(kernel.Options)}
	m, err := vm.Load(program(t, parse(t, tasksText), nil, lower.Options{}), nil, reference)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	tasks := m.Tasks()
	region := tasks[0]
	if strings.Join(region.Ops, "+") != "matmul+relu" || region.Kernel != "" || region.Why == "" || region.Flops != 0 {
		t.Errorf("%+v", region)
	}
	if tasks[1].Name != region.Name+".fused.t0" || tasks[2].Name != region.Name+".fused.t1" || tasks[1].Flops != 2*4*8*8 {
		t.Errorf("%+v\n%+v", tasks[1], tasks[2])
	}
}

// TestFresh: nothing of a run's memory is there behind it.
func TestFresh(t *testing.T) {
	for _, fresh := range []bool{false, true} {
		y := &vm.Memory{Fresh: fresh}
		m, err := vm.Load(program(t, parse(t, tasksText), nil, lower.Options{}), nil, vm.Options{Memory: y})
		if err != nil {
			t.Fatal(err)
		}
		in := []*tensor.T{tensor.New(tensor.F32, 4, 8), tensor.New(tensor.F32, 8, 8)}
		for range 3 {
			if _, err := m.Run(context.Background(), in); err != nil {
				t.Fatal(err)
			}
		}
		if kept := y.Info().Kept; (kept == 0) != fresh || m.Arena() == 0 {
			t.Errorf("fresh %v: %d bytes are kept, the arena has %d", fresh, kept, m.Arena())
		}
		m.Close()
	}
}
