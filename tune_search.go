package npu

import (
	"context"
	"slices"
	"time"

	"github.com/npulang/npu/vm"
	"github.com/npulang/npu/vm/kernel"
)

// search finds the best candidate of each body. In each of several machines each task
// has another candidate, so that every run tells of many; machines take turns.
func (t *tuner) search(ctx context.Context, end time.Time) error {
	machines, err := t.rotations(end)
	for _, m := range machines {
		defer m.Close()
	}
	if err != nil {
		return err
	}
	for lap := 0; lap < 2 || time.Now().Before(end); lap++ {
		for i := range machines {
			if lap > 0 && !time.Now().Before(end) {
				break
			}
			t.tell("comparing candidates", lap)
			if err := t.turn(ctx, machines[(i+lap)%len(machines)], t.sample); err != nil {
				return err
			}
		}
	}
	for _, b := range t.bodies {
		b.best = b.fastest()
	}
	return nil
}

// rotations makes as many machines as a body has candidates at most, or as there is
// time for three turns of.
func (t *tuner) rotations(end time.Time) (list []*machine, err error) {
	most := 0
	for _, b := range t.bodies {
		most = max(most, len(b.list))
	}
	turns := int(time.Until(end) / (3 * max(t.usual.took, visitTime)))
	for r := range min(most, max(turns, 2)) {
		for _, b := range t.bodies {
			b.asked = r
		}
		m, err := t.load(t.inTurns)
		if err != nil {
			return list, err
		}
		m.took = t.usual.took
		list = append(list, m)
	}
	return list, nil
}

// inTurns chooses the next candidate of a body.
func (t *tuner) inTurns(body *kernel.Body) string {
	b := t.byText[body.String()]
	if b == nil {
		return ""
	}
	b.asked++
	return b.list[(b.asked-1)%len(b.list)].Name
}

// turn lets a machine run for a while, and hands what its tasks took to a function. The
// first of short runs only warms the caches.
func (t *tuner) turn(ctx context.Context, m *machine, tell func([]vm.Task)) error {
	runs := int(min(visitTime/max(m.took, 1)+1, mostVisit))
	if runs > 1 {
		if err := t.once(ctx, m); err != nil {
			return err
		}
	}
	m.Watch(true)
	defer m.Watch(false)
	for range runs {
		if err := t.once(ctx, m); err != nil {
			return err
		}
	}
	tell(m.Tasks())
	return nil
}

// each means what tasks took by body and candidate, in nanoseconds of one time.
func (t *tuner) each(tasks []vm.Task, f func(b *rivalry, candidate int, took float64)) {
	type key struct{ body, candidate string }
	sums, times := map[key]float64{}, map[key]float64{}
	for _, task := range tasks {
		if task.Task != nil && task.Task.Body() != nil && task.Times > 0 {
			k := key{task.Task.Body().String(), task.Task.Candidate()}
			sums[k] += float64(task.Took)
			times[k] += float64(task.Times)
		}
	}
	for k, sum := range sums {
		b := t.byText[k.body]
		if i := slices.IndexFunc(b.list, func(c kernel.Candidate) bool { return c.Name == k.candidate }); i >= 0 {
			f(b, i, sum/times[k])
		}
	}
}

// sample keeps what a turn of the search has told.
func (t *tuner) sample(tasks []vm.Task) {
	t.each(tasks, func(b *rivalry, candidate int, took float64) {
		if b.samples != nil {
			b.samples[candidate] = append(b.samples[candidate], took)
		}
	})
}

// fastest is the candidate of the least median.
func (b *rivalry) fastest() (best int) {
	least := 0.0
	for i, s := range b.samples {
		if m := medianOf(s); len(s) > 0 && (least == 0 || m < least) {
			best, least = i, m
		}
	}
	return best
}
