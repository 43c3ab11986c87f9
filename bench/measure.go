package main

import (
	"math"
	"path/filepath"
	"slices"
	"time"
)

// A result is what was measured of one network by one number of threads.
type result struct {
	Network string `json:"network"`
	Threads int    `json:"threads"`
	// Precision is what npu computes products in, and Against what Theirs is.
	Precision string `json:"precision"`
	Against   string `json:"against"`

	Ours   side    `json:"npu"`
	Theirs side    `json:"other"`
	Ratio  float64 `json:"ratio"`  // of the medians, ours over theirs
	Paired float64 `json:"paired"` // the median of the ratios of single rounds
	CPU    float64 `json:"cpu"`    // of the processor time of a run, all threads together; 0: not known
	Rounds int     `json:"rounds"` // that count
	Noisy  int     `json:"noisy"`  // left out, since others used the processors
	MaxAbs float64 `json:"max_abs_difference"`
	MaxRel float64 `json:"max_relative_difference"` // to the largest element
	Cosine float64 `json:"cosine"`
}

// A side is one of the two.
type side struct {
	Version  string  `json:"version"`
	LoadMs   float64 `json:"load_ms"`
	MedianMs float64 `json:"median_ms"`
	BestMs   float64 `json:"best_ms"`
	CPUMs    float64 `json:"cpu_ms"` // processor time of a run, the mean; 0: not known
	PeakRSS  int64   `json:"peak_rss_bytes"`
}

// A plan says how long to measure.
type plan struct {
	rounds int
	batch  time.Duration
	quiet  float64 // the most that others may use of one processor, as a share
}

// rest is the pause before each batch, in which the workers of the other process
// stop to spin.
const rest = 30 * time.Millisecond

// A pair is both sides of a comparison.
type pair struct {
	sessions [2]*session
	counts   [2]int       // runs of a batch
	seconds  [2][]float64 // of a run, by round
	others   []float64    // by round, the larger of both
	cpu      [2]float64   // seconds of processor time, of all rounds
}

// measure runs both sides in turns.
func (p *pair) measure(plan plan) error {
	for i, s := range p.sessions {
		if err := p.warm(i, s, plan.batch.Seconds()); err != nil {
			return err
		}
	}
	for round := range plan.rounds {
		p.others = append(p.others, 0)
		// Which comes first alternates, so that neither always follows the other.
		for _, i := range [][2]int{{0, 1}, {1, 0}}[round%2] {
			if err := p.batch(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// warm runs a side until it is warm, and finds how many runs fill a batch.
func (p *pair) warm(i int, s *session, want float64) error {
	for count := 1; ; count *= 2 {
		seconds, err := s.run(count)
		if err != nil {
			return err
		}
		if seconds >= want/4 {
			p.counts[i] = max(1, int(math.Round(want*float64(count)/seconds)))
			return nil
		}
	}
}

// batch is one turn of one side.
func (p *pair) batch(i int) error {
	s := p.sessions[i]
	time.Sleep(rest)
	pid := s.cmd.Process.Pid
	busy, own := busySeconds(), ownSeconds(pid)
	seconds, err := s.run(p.counts[i])
	if err != nil {
		return err
	}
	used := ownSeconds(pid) - own
	p.cpu[i] += used
	others := (busySeconds() - busy - used) / seconds
	last := len(p.others) - 1
	p.others[last] = max(p.others[last], others)
	p.seconds[i] = append(p.seconds[i], seconds/float64(p.counts[i]))
	return nil
}

// fewest is how many quiet rounds make the others be left out.
const fewest = 5

// keep leaves the noisy rounds out, if enough are quiet.
func (p *pair) keep(quiet float64) (noisy int) {
	var clean []int
	for i, o := range p.others {
		if o <= quiet {
			clean = append(clean, i)
		}
	}
	if noisy = len(p.others) - len(clean); len(clean) < fewest || noisy == 0 {
		return 0
	}
	for side, all := range p.seconds {
		p.seconds[side] = nil
		for _, i := range clean {
			p.seconds[side] = append(p.seconds[side], all[i])
		}
	}
	return noisy
}

// summary is the result of the rounds.
func (p *pair) summary(n *network, threads int, quiet float64) *result {
	all := float64(len(p.others))
	r := &result{Network: n.name, Threads: threads, Noisy: p.keep(quiet)}
	r.Rounds = len(p.seconds[0])
	for i, out := range []*side{&r.Ours, &r.Theirs} {
		s := p.sessions[i]
		*out = side{s.version, s.load * 1e3, median(p.seconds[i]) * 1e3, slices.Min(p.seconds[i]) * 1e3, p.cpu[i] / all / float64(p.counts[i]) * 1e3, peakBytes(s.cmd.Process.Pid)}
	}
	if r.Theirs.CPUMs > 0 {
		r.CPU = r.Ours.CPUMs / r.Theirs.CPUMs
	}
	r.Ratio = r.Ours.MedianMs / r.Theirs.MedianMs
	var ratios []float64
	for i := range p.seconds[0] {
		ratios = append(ratios, p.seconds[0][i]/p.seconds[1][i])
	}
	r.Paired = median(ratios)
	return r
}

func median(values []float64) float64 {
	v := slices.Sorted(slices.Values(values))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// compare reads what both computed.
func (p *pair) compare(folder string, r *result) error {
	var results [2][]float32
	for i, name := range []string{"ours.bin", "theirs.bin"} {
		path, err := filepath.Abs(filepath.Join(folder, name))
		if err != nil {
			return err
		}
		if _, err := p.sessions[i].ask("save", path); err != nil {
			return err
		}
		if results[i], err = readFloats(path); err != nil {
			return err
		}
	}
	r.MaxAbs, r.MaxRel, r.Cosine = difference(results[0], results[1])
	return nil
}

// difference compares two results: the largest difference, the same over the
// largest element, and the cosine of the angle between both. Results of different
// lengths, and those with NaN, are as far apart as can be.
func difference(a, b []float32) (abs, rel, cosine float64) {
	if len(a) != len(b) {
		return math.MaxFloat64, math.MaxFloat64, 0
	}
	var largest, aa, bb, ab float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		if math.IsNaN(x) || math.IsNaN(y) {
			return math.MaxFloat64, math.MaxFloat64, 0
		}
		abs, largest = max(abs, math.Abs(x-y)), max(largest, math.Abs(y))
		aa, bb, ab = aa+x*x, bb+y*y, ab+x*y
	}
	if abs == 0 {
		return 0, 0, 1
	}
	return abs, abs / max(largest, math.SmallestNonzeroFloat64), ab / math.Sqrt(max(aa*bb, math.SmallestNonzeroFloat64))
}
