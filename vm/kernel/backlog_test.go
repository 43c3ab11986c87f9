package kernel

import (
	"sync"
	"sync/atomic"
	"testing"
)

// TestBacklog lets several callers finish what each of them has put off: all of it is
// done, once, when any of those that put it off returns.
func TestBacklog(t *testing.T) {
	var b backlog
	var callers sync.WaitGroup
	var total atomic.Int32
	const jobs = 50
	for range 4 {
		callers.Go(func() {
			var own [jobs]atomic.Int32
			for i := range own {
				b.add(func() { own[i].Add(1); total.Add(1) })
			}
			b.finish(3)
			for i := range own {
				if n := own[i].Load(); n != 1 {
					t.Errorf("job %d was done %d times", i, n)
				}
			}
		})
	}
	callers.Wait()
	if n := total.Load(); n != 4*jobs {
		t.Errorf("%d jobs were done, want %d", n, 4*jobs)
	}
	b.finish(0)
}

// TestBacklogPanic finds that a panic becomes that of finish, also of later ones, and
// that the other jobs are done.
func TestBacklogPanic(t *testing.T) {
	var b backlog
	done := 0
	b.add(func() { panic("first") })
	b.add(func() { done++ })
	for range 2 {
		func() {
			defer func() {
				if p := recover(); p != "first" {
					t.Errorf("panic %v", p)
				}
			}()
			b.finish(1)
			t.Error("finish returned")
		}()
	}
	if done != 1 {
		t.Errorf("the other job was done %d times", done)
	}
}
