package npu

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"strings"
	"time"

	"github.com/npulang/npu/ir/device"
)

// Tune measures the machine that it runs on and returns its row, based on the one
// of the cpu: the numbers that can be measured from within a program are, the
// others stay as they are, and Sources says of each which. It takes a second or
// two, on a machine that has nothing else to do; one that is busy looks slower.
//
// A row has whole numbers, and the portable kernels do less than one
// multiplication a cycle. So the cycle of a tuned row is a hundred of the core's.
func Tune(ctx context.Context) (*Device, error) {
	ctx = endless(ctx)
	t := &tuning{values: map[string]any{}, sources: map[string]string{}}
	for _, f := range device.Lookup("cpu").Facts() {
		t.sources[f.Field] = notMeasured
		if strings.HasPrefix(f.Unit, "B/cycle") {
			t.set(float64(f.Value)*tick, notMeasured+", for 100 cycles", f.Field)
		}
	}
	for _, probe := range probes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := probe.run(t); err != nil {
			return nil, fmt.Errorf("measuring %s: %w", probe.what, err)
		}
	}
	return t.row()
}

const notMeasured = "not measured: of the nominal row cpu"

// tick is how many cycles of a core are one of a tuned row.
const tick = 100

// A tuning is a row in the making.
type tuning struct {
	values  map[string]any // by field
	sources map[string]string
	hertz   float64 // of the core
}

// A probe measures one number or several that belong together.
type probe struct {
	what string
	run  func(*tuning) error
}

// set puts a number into fields, as near as they may have it.
func (t *tuning) set(value float64, source string, fields ...string) {
	for _, field := range fields {
		t.values[field] = device.Clamp(field, int64(math.Round(min(max(value, 0), math.MaxInt32))))
		t.sources[field] = source
	}
}

// setRate puts a rate, in units a second, into fields that count units a cycle.
func (t *tuning) setRate(rate float64, source string, fields ...string) {
	t.set(rate/t.hertz*tick, fmt.Sprintf("measured: %s (%.3g a second)", source, rate), fields...)
}

// row checks what was measured.
func (t *tuning) row() (*Device, error) {
	t.values["name"], t.values["base"] = "host", "cpu"
	t.values["doc"] = fmt.Sprintf("%s/%s with %d processors, measured; a cycle of this row is %d of the core's", runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0), tick)
	t.values["sources"] = t.sources
	text, err := json.Marshal(t.values)
	if err != nil {
		return nil, err
	}
	rows, err := device.Parse(text)
	if err != nil {
		return nil, err
	}
	return rows[0], nil
}

const (
	// trialTime is long enough for the clock, and short enough that some of the
	// trials fall between what else the machine does.
	trialTime = 4 * time.Millisecond
	trials    = 9
	// mostTrial bounds one measurement where the machine is very slow.
	mostTrial = 400 * time.Millisecond
)

// fastest is the highest rate that a piece of work reaches in several trials, in
// units a second: disturbance only ever makes it slower.
func fastest(units float64, work func(times int)) float64 {
	begin := time.Now()
	times := 1
	for {
		start := time.Now()
		work(times)
		if took := time.Since(start); took >= trialTime || times > 1<<30 {
			break
		}
		times *= 2
	}
	best := 0.0
	for i := 0; i < trials && (i == 0 || time.Since(begin) < mostTrial); i++ {
		start := time.Now()
		work(times)
		best = max(best, units*float64(times)/max(time.Since(start).Seconds(), 1e-9))
	}
	return best
}
