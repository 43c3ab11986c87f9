package npu

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/npulang/npu/lower"
	"github.com/npulang/npu/lower/place"
)

// A Mapping says which unit does the work that both cube and vector unit could do.
type Mapping = lower.Mapping

// The mappings. The empty one is MapAuto.
const (
	MapAuto         = lower.MapAuto
	MapCubePrefer   = lower.MapCubePrefer
	MapVectorPrefer = lower.MapVectorPrefer
)

// Mappings lists them.
var Mappings = []Mapping{MapAuto, MapCubePrefer, MapVectorPrefer}

// A StreamStrategy says how tasks are shared out among streams.
type StreamStrategy = lower.Strategy

// The strategies. The empty one is StreamsBalanced.
const (
	StreamsLatency    = lower.Latency
	StreamsThroughput = lower.Throughput
	StreamsBalanced   = lower.Balanced
)

// StreamStrategies lists them.
var StreamStrategies = []StreamStrategy{StreamsLatency, StreamsThroughput, StreamsBalanced}

// A MemoryMode says how memory is used again within a run.
type MemoryMode = lower.MemoryMode

// The modes. The empty one is MemoryNormal.
const (
	MemoryOff          = lower.MemoryOff
	MemoryConservative = lower.MemoryConservative
	MemoryNormal       = lower.MemoryNormal
	MemoryAggressive   = lower.MemoryAggressive
)

// MemoryModes lists them, from the least to the most that is done.
var MemoryModes = []MemoryMode{MemoryOff, MemoryConservative, MemoryNormal, MemoryAggressive}

// An Effort says for how many steps the planner searches for a smaller arena
// where the layouts that it tries first leave a gap to the lower bound. A step is
// a placement of a value, or part of one where hundreds of values make it costly:
// up to some ten microseconds. Steps rather than seconds make a plan the same on
// every machine.
type Effort int64

// The efforts that have a name. The zero Effort is EffortNormal.
const (
	EffortNone   Effort = -1        // no search
	EffortNormal Effort = 0         // a short one, as every new binding of a symbol can bear
	EffortHigh   Effort = 5_000_000 // a minute at most or so, for what is built once
)

// effortNames are the efforts by name.
var effortNames = map[string]Effort{"none": EffortNone, "normal": EffortNormal, "high": EffortHigh}

// maxEffort is more steps than anybody waits for.
const maxEffort = 1 << 40

// effortUnits are what may stand behind a number of steps.
var effortUnits = map[string]int64{"": 1, "k": 1e3, "m": 1e6, "g": 1e9}

// ParseEffort reads none, normal, high or a number of steps such as 200k; k, M
// and G stand for 10^3, 10^6 and 10^9.
func ParseEffort(text string) (Effort, error) {
	if e, ok := effortNames[text]; ok {
		return e, nil
	}
	digits := strings.TrimRight(text, "kKmMgG")
	n, err := strconv.ParseInt(digits, 10, 64)
	unit, ok := effortUnits[strings.ToLower(text[len(digits):])]
	switch {
	case err != nil && strings.Trim(digits, "+-0123456789") != "", digits == "":
		return 0, helped(unknown("effort", text, sortedKeys(effortNames)), "or write a number of steps such as 200k")
	case err != nil || !ok || n < 1 || n > maxEffort/unit:
		return 0, planError("the effort %s is no number of steps from 1 to %d", text, int64(maxEffort))
	}
	return Effort(n * unit), nil
}

const (
	maxStreams = 64
	maxAlign   = 4096
)

// CheckPlanning refuses what no plan can be made or run with: names of no mapping,
// strategy or memory mode, numbers out of their range. Compile and Emit ask it
// first; names in Keep and MaxDims are checked when the graph is known.
func (o *Options) CheckPlanning() error {
	for _, check := range planChecks {
		if err := check(o); err != nil {
			return err
		}
	}
	return nil
}

// planChecks has a row for each of the options.
var planChecks = []func(*Options) error{
	func(o *Options) error { return checkName("mapping", o.Mapping, Mappings) },
	func(o *Options) error {
		if o.Streams < 0 || o.Streams > maxStreams {
			return planError("%d streams are asked for; there may be 1 to %d", o.Streams, maxStreams)
		}
		return nil
	},
	func(o *Options) error {
		if o.Threads < 0 {
			return planError("%d threads are asked for; there is at least 1", o.Threads)
		}
		return nil
	},
	func(o *Options) error { return checkName("stream strategy", o.StreamStrategy, StreamStrategies) },
	func(o *Options) error { return checkName("memory mode", o.MemoryMode, MemoryModes) },
	func(o *Options) error {
		if a := o.Align; a < 0 || a > maxAlign || a&(a-1) != 0 || a > 0 && a < minAlign {
			return planError("the alignment %d is no power of two from %d to %d", a, minAlign, maxAlign)
		}
		return nil
	},
	func(o *Options) error {
		if o.PlanEffort < EffortNone || o.PlanEffort > maxEffort {
			return planError("the effort %d is no number of steps from 1 to %d", o.PlanEffort, int64(maxEffort))
		}
		return nil
	},
	func(o *Options) error {
		for _, name := range sortedKeys(o.MaxDims) {
			if n := o.MaxDims[name]; n < 1 {
				return planError("the bound %s=%d leaves no size; a bound is at least 1", name, n)
			}
		}
		return nil
	},
}

// minAlign is that of the widest element.
const minAlign = 8

// checkName refuses a name that is not in a list; the empty one is the default.
func checkName[T ~string](kind string, name T, known []T) error {
	if name == "" || slices.Contains(known, name) {
		return nil
	}
	return unknown(kind, asWord(string(name)), Words(known))
}

// Words are names of any kind as text.
func Words[T ~string](names []T) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = string(n)
	}
	return out
}

func planError(format string, args ...any) error {
	return Diagnostics{{Code: "wrong-arguments", Message: fmt.Sprintf(format, args...)}}
}

// lowering are the options of lowering.
func (o *Options) lowering() lower.Options {
	return lower.Options{
		Device: o.Device, Mapping: o.Mapping, Streams: o.Streams, Strategy: o.StreamStrategy,
		Memory: o.MemoryMode, Align: o.Align, Keep: o.Keep, Effort: place.Effort{Steps: int64(o.PlanEffort)},
	}
}

// sizes are what symbols are taken as where the compiler wants numbers: what
// Dims says, else the upper bound.
func (o *Options) sizes() map[string]int64 {
	sizes := make(map[string]int64, len(o.Dims)+len(o.MaxDims))
	for _, dims := range []map[string]int64{o.MaxDims, o.Dims} {
		for name, n := range dims {
			sizes[name] = n
		}
	}
	return sizes
}

// randomSize is the size of a symbol that nothing binds, in a random input.
func (o *Options) randomSize(symbol string) int64 {
	if most, ok := o.MaxDims[symbol]; ok {
		return min(most, listingSize)
	}
	return listingSize
}
