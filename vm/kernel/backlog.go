package kernel

import "sync"

// A backlog is work that is put off. Its zero value is empty and ready for use by
// several goroutines.
type backlog struct {
	mu     sync.Mutex
	users  int   // that have begun, and not finished
	jobs   []job // that nobody has begun, in order
	busy   int   // how many are under way
	done   sync.Cond
	failed any // what a job has panicked with; all users are told, any of whom may count on it
}

// A job is done once. undo, if it has panicked, tells those who ask for it later.
type job struct{ do, undo func() }

// begin counts a user, who must finish.
func (b *backlog) begin() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.users++
}

func (b *backlog) add(do, undo func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.jobs = append(b.jobs, job{do, undo})
}

// finish does all jobs by so many goroutines, the caller's among them, and waits for
// those that other users have begun.
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
	failed := b.failed
	if b.users--; b.users == 0 {
		b.failed = nil
	}
	if failed != nil {
		panic(failed)
	}
}

func (b *backlog) length() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.jobs)
}

// work does jobs until there is none.
func (b *backlog) work() {
	for j, ok := b.take(); ok; j, ok = b.take() {
		b.run(j)
	}
}

// take takes a job that is then under way, if there is one.
func (b *backlog) take() (j job, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.jobs) == 0 {
		return j, false
	}
	j, b.jobs[0] = b.jobs[0], job{} // it holds a constant
	b.jobs = b.jobs[1:]
	b.busy++
	return j, true
}

func (b *backlog) run(j job) {
	defer func() {
		p := recover()
		if p != nil {
			j.undo()
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.busy--; p != nil {
			b.failed = p
		}
		b.done.Broadcast()
	}()
	j.do()
}
