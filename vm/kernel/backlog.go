package kernel

import "sync"

// A backlog is work that is put off. Its zero value is empty and ready for use by
// several goroutines.
type backlog struct {
	mu     sync.Mutex
	jobs   []func() // that nobody has begun, in order
	busy   int      // how many are under way
	done   sync.Cond
	failed any // what a job has panicked with; it is never forgotten
}

func (b *backlog) add(job func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.jobs = append(b.jobs, job)
}

// finish does all jobs by so many goroutines, the caller's among them, and waits for
// those that other callers have begun.
func (b *backlog) finish(threads int) {
	var all sync.WaitGroup
	for range min(threads, b.length()) - 1 {
		all.Go(b.work)
	}
	b.work()
	all.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done.L = &b.mu
	for b.busy > 0 {
		b.done.Wait()
	}
	if b.failed != nil {
		panic(b.failed)
	}
}

func (b *backlog) length() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.jobs)
}

// work does jobs until there is none.
func (b *backlog) work() {
	for job := b.take(); job != nil; job = b.take() {
		b.do(job)
	}
}

// take takes a job that is then under way; nil: there is none.
func (b *backlog) take() func() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.jobs) == 0 {
		return nil
	}
	job := b.jobs[0]
	b.jobs[0] = nil // it holds a constant
	b.jobs = b.jobs[1:]
	b.busy++
	return job
}

func (b *backlog) do(job func()) {
	defer func() {
		p := recover()
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.busy--; p != nil {
			b.failed = p
		}
		b.done.Broadcast()
	}()
	job()
}
