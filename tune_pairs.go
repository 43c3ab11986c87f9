package npu

import (
	"context"
	"slices"
	"time"

	"github.com/npulang/npu/vm"
	"github.com/npulang/npu/vm/kernel"
)

// final compares the best candidates with the usual ones, in pairs of turns.
func (t *tuner) final(ctx context.Context, end time.Time) error {
	if !slices.ContainsFunc(t.bodies, func(b *rivalry) bool { return b.best > 0 }) {
		return nil
	}
	m, err := t.loadBest(func(b *rivalry) bool { return true })
	if err != nil {
		return err
	}
	defer m.Close()
	for pair := 0; pair < leastPairs || time.Now().Before(end); pair++ {
		t.tell("comparing the best with the usual ones", pair)
		usual, best := map[*rivalry]float64{}, map[*rivalry]float64{}
		keep := func(of map[*rivalry]float64) func([]vm.Task) {
			return func(tasks []vm.Task) {
				t.each(tasks, func(b *rivalry, _ int, took float64) { of[b] = took })
			}
		}
		first, second := keep(usual), keep(best)
		if err := t.pair(pair, func(tuned bool) error {
			if tuned {
				return t.turn(ctx, m, second)
			}
			return t.turn(ctx, t.usual, first)
		}); err != nil {
			return err
		}
		for _, b := range t.bodies {
			if usual[b] > 0 && best[b] > 0 {
				b.ratios = append(b.ratios, best[b]/usual[b])
			}
		}
	}
	for _, b := range t.bodies {
		b.won = b.best > 0 && surelyBelow(b.ratios, 1-tuneMargin)
	}
	return nil
}

// loadBest makes a machine with the best candidate of the bodies that a function
// says.
func (t *tuner) loadBest(of func(*rivalry) bool) (*machine, error) {
	m, err := t.load(func(body *kernel.Body) string {
		if b := t.byText[body.String()]; b != nil && of(b) {
			return b.list[b.best].Name
		}
		return ""
	})
	if err == nil {
		m.took = t.usual.took
	}
	return m, err
}

// pair does something without and with tuning, in an order that changes.
func (t *tuner) pair(number int, do func(tuned bool) error) error {
	for i := range 2 {
		if err := do((i+number)%2 == 1); err != nil {
			return err
		}
	}
	return nil
}

// whole compares the program with all that won and the usual one, in pairs of turns.
func (t *tuner) whole(ctx context.Context, end time.Time) error {
	won := func(b *rivalry) bool { return b.won }
	if !slices.ContainsFunc(t.bodies, won) {
		return nil
	}
	m, err := t.loadBest(won)
	if err != nil {
		return err
	}
	defer m.Close()
	var ratios, usual, tuned []float64
	for pair := 0; pair < leastPairs || time.Now().Before(end); pair++ {
		t.tell("comparing the whole program", pair)
		var took [2]float64
		if err := t.pair(pair, func(with bool) (err error) {
			if with {
				took[1], err = t.mean(ctx, m)
			} else {
				took[0], err = t.mean(ctx, t.usual)
			}
			return err
		}); err != nil {
			return err
		}
		usual, tuned = append(usual, took[0]), append(tuned, took[1])
		ratios = append(ratios, took[1]/took[0])
	}
	r := t.report
	r.Pairs, r.UsualMs, r.TunedMs, r.Ratio = len(ratios), medianOf(usual), medianOf(tuned), medianOf(ratios)
	r.Faster = surelyBelow(ratios, 1)
	return nil
}

// mean is the milliseconds of a run in a turn of a machine.
func (t *tuner) mean(ctx context.Context, m *machine) (float64, error) {
	runs := int(min(visitTime/max(m.took, 1)+1, mostVisit))
	if runs > 1 {
		if err := t.once(ctx, m); err != nil {
			return 0, err
		}
	}
	begin := time.Now()
	for range runs {
		if err := t.once(ctx, m); err != nil {
			return 0, err
		}
	}
	return ms(time.Since(begin)) / float64(runs), nil
}
