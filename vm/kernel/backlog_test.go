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
			b.begin()
			for i := range own {
				b.add(func() { own[i].Add(1); total.Add(1) }, nil)
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
	b.begin()
	b.finish(0)
}

// TestBacklogPanic finds that a panic becomes that of all who had begun, and of nobody
// else; that what was put off is undone, and the other jobs are done.
func TestBacklogPanic(t *testing.T) {
	var b backlog
	done, undone := 0, 0
	finish := func() (p any) {
		defer func() { p = recover() }()
		b.finish(1)
		return nil
	}
	b.begin()
	b.begin()
	b.add(func() { panic("first") }, func() { undone++ })
	b.add(func() { done++ }, func() { undone++ })
	for i := range 2 {
		if p := finish(); p != "first" {
			t.Errorf("user %d: panic %v", i, p)
		}
	}
	if done != 1 || undone != 1 {
		t.Errorf("the other job was done %d times, and %d undone", done, undone)
	}
	b.begin()
	if p := finish(); p != nil {
		t.Errorf("who came later: panic %v", p)
	}
}
