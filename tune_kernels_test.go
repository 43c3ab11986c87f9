package npu

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/npulang/npu/vm/kernel/bank"
)

// tunedScript has two products whose candidates differ.
const tunedScript = `
param a: f32[300, 1100]
param b: f32[1100, 30]

graph main(x: f32[M, 300]) -> f32[M, 30] {
    return relu(x @ a) @ b
}
`

func tunedOptions(path string) TuneOptions {
	return TuneOptions{Options: Options{RandomWeights: true, Threads: 1, Bank: path, Dims: map[string]int64{"M": 100}}, Time: time.Millisecond}
}

// TestTuneKernels tunes for next to no time, and looks at the report.
func TestTuneKernels(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "kernels.bank")
	var told []string
	opts := tunedOptions(path)
	opts.Progress = func(what string) { told = append(told, what) }
	r, err := TuneKernels(context.Background(), Script("tuned.npu", tunedScript), opts)
	if err != nil {
		t.Fatal(err)
	}
	if r.Bodies != 2 || r.Rivalries != 2 || len(r.Tuned) != 2 || r.Threads != 1 || r.Bank != path || r.Machine != bank.Host() {
		t.Errorf("the report is %+v", r)
	}
	if r.Dims["M"] != 100 {
		t.Errorf("the sizes are %v", r.Dims)
	}
	if len(told) == 0 {
		t.Error("no progress was told")
	}
	won := 0
	for _, b := range r.Tuned {
		best := slices.IndexFunc(b.Candidates, func(c TunedCandidate) bool { return c.Name == b.Best })
		if len(b.Candidates) < 2 || best < 0 || b.Candidates[0].Median <= 0 || b.Candidates[best].Median <= 0 {
			t.Errorf("the body is %+v", b)
		}
		if b.Won {
			won++
			if best == 0 || b.Ratio >= 1-tuneMargin {
				t.Errorf("the body has won without a margin: %+v", b)
			}
		}
	}
	if !r.Faster {
		won = 0
	}
	text, err := os.ReadFile(path)
	if r.Kept != won || err != nil {
		t.Errorf("%d lines are kept of %d bodies that won: %v\n%s", r.Kept, won, err, text)
	}
	if b, err := bank.Parse(text, bank.Host()); err != nil || b.Len() != won {
		t.Errorf("the bank is %q, %v", text, err)
	}
}

// found is a tuner with what it might have found.
func found(t *testing.T, path string, faster bool) (*tuner, *bankFile) {
	t.Helper()
	p, err := Compile(Script("tuned.npu", tunedScript), Options{RandomWeights: true, Threads: 1, Bank: BankOff})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	u := &tuner{p: p, opts: tunedOptions(path), report: &TuneReport{Bank: path, Faster: faster}}
	if err := u.prepare(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(u.usual.Close)
	u.find()
	for i, b := range u.bodies {
		b.samples[0] = []float64{1000}
		b.best, b.won, b.ratios = len(b.list)-1, i == 0, []float64{0.9}
	}
	file, err := openBank(path)
	if err != nil {
		t.Fatal(err)
	}
	u.summarise()
	return u, file
}

// TestBankChooses writes a bank and runs a program with it: the kernels are those that
// it names, and not a bit differs.
func TestBankChooses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kernels.bank")
	u, file := found(t, path, true)
	if err := file.put(u); err != nil {
		t.Fatal(err)
	}
	if u.report.Kept != 1 {
		t.Errorf("%d lines are kept", u.report.Kept)
	}
	inputs := map[string]*Tensor{"x": RandomTensor(F32, []int{100, 300}, 1, "x")}
	run := func(opts Options) (*KernelReport, *Tensor, Diagnostics) {
		opts.RandomWeights = true
		p, err := Compile(Script("tuned.npu", tunedScript), opts)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		out, err := p.Run(context.Background(), inputs)
		if err != nil {
			t.Fatal(err)
		}
		r, err := p.ExplainKernels(context.Background(), inputs)
		if err != nil {
			t.Fatal(err)
		}
		for _, y := range out {
			return r, y, p.Warnings()
		}
		return nil, nil, nil
	}
	without, want, _ := run(Options{Threads: 1, Bank: BankOff})
	with, got, warnings := run(Options{Threads: 1, Bank: path})
	if len(warnings) > 0 {
		t.Errorf("warnings: %v", warnings)
	}
	if !bytes.Equal(got.Data, want.Data) {
		t.Error("the results differ")
	}
	b := u.bodies[0]
	for i, k := range with.Tasks {
		plain := without.Tasks[i]
		if plain.Choice != choiceEstimate || plain.Candidate == "" || len(plain.Rivals) == 0 {
			t.Errorf("without a bank: %+v", plain)
		}
		if k.Choice == choiceBank {
			if k.Candidate != b.list[b.best].Name || k.Candidate == plain.Candidate {
				t.Errorf("the bank has chosen %s", k.Candidate)
			}
			b = nil
		}
	}
	if b != nil {
		t.Errorf("the bank has chosen nothing: %+v", with.Tasks)
	}
	if text := with.Text(); !strings.Contains(text, "bank (1)") || !strings.Contains(text, "estimate (2)") {
		t.Errorf("the report is\n%s", text)
	}
	// Another number of threads, generic kernels and the reference have no line.
	for _, opts := range []Options{{Threads: 1, Bank: path, Kernels: KernelsGeneric}, {Threads: 1, Bank: path, Kernels: KernelsReference}} {
		r, _, _ := run(opts)
		if slices.ContainsFunc(r.Tasks, func(k KernelTask) bool { return k.Choice == choiceBank }) {
			t.Errorf("%+v: the bank has chosen", opts.Kernels)
		}
	}
}

// TestBankForgets tunes again, with another outcome: lines that do not hold any more
// are dropped, those of other programs stay.
func TestBankForgets(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kernels.bank")
	u, file := found(t, path, true)
	if err := file.put(u); err != nil {
		t.Fatal(err)
	}
	other := bank.Entry{Key: bank.Key{Level: "avx2", Threads: 9, Body: "something"}, Candidate: "strip"}
	b, err := file.read()
	if err != nil || b.Len() != 1 {
		t.Fatal(b, err)
	}
	b.Put(other)
	if err := WriteFile(path, b.Format()); err != nil {
		t.Fatal(err)
	}
	u.report.Faster = false
	if err := file.put(u); err != nil {
		t.Fatal(err)
	}
	if b, err = file.read(); err != nil || b.Len() != 1 {
		t.Fatal(b, err)
	}
	if _, ok := b.Find(other.Key); !ok {
		t.Error("the line of another program is gone")
	}
}

// TestBankUnknown runs with a bank that names what is no candidate.
func TestBankUnknown(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kernels.bank")
	u, _ := found(t, path, true)
	b := bank.New(bank.Host())
	for _, r := range u.bodies {
		b.Put(bank.Entry{Key: bankKey(&u.kernels, r.body), Candidate: "product/f32 rows=0 deep=-1 cols=9999999999"})
	}
	if err := WriteFile(path, b.Format()); err != nil {
		t.Fatal(err)
	}
	p, err := Compile(Script("tuned.npu", tunedScript), Options{RandomWeights: true, Threads: 1, Bank: path})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	r, err := p.ExplainKernels(context.Background(), map[string]*Tensor{"x": NewTensor(F32, 100, 300)})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range r.Tasks {
		if k.Choice != choiceEstimate || !strings.Contains(k.Unknown, "rows=0") {
			t.Errorf("the task is %+v", k)
		}
	}
	if !strings.Contains(r.Text(), `the bank names "product/f32 rows=0 deep=-1 cols=9999999999", which is none`) {
		t.Errorf("the report is\n%s", r.Text())
	}
}

// TestTuneEnds ends tuning from outside: the bank stays as it was.
func TestTuneEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kernels.bank")
	ctx, cancel := context.WithCancel(context.Background())
	opts := tunedOptions(path)
	opts.Time = time.Hour
	opts.Progress = func(string) { cancel() }
	if _, err := TuneKernels(ctx, Script("tuned.npu", tunedScript), opts); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a bank was written")
	}
}

// TestTuneRefuses lists what can't be tuned.
func TestTuneRefuses(t *testing.T) {
	for want, change := range map[string]func(*TuneOptions){
		"can't be negative": func(o *TuneOptions) { o.Time = -1 },
		"needs a bank":      func(o *TuneOptions) { o.Bank = BankOff },
		"has no input y":    func(o *TuneOptions) { o.Inputs = map[string]string{"y": "random"} },
		"unknown kernels":   func(o *TuneOptions) { o.Kernels = "quick" },
	} {
		opts := tunedOptions(filepath.Join(t.TempDir(), "b"))
		change(&opts)
		if _, err := TuneKernels(context.Background(), Script("tuned.npu", tunedScript), opts); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestExplainNothing is about a product of no rows: it has no rate.
func TestExplainNothing(t *testing.T) {
	p, err := Compile(Script("tuned.npu", tunedScript), Options{RandomWeights: true, Bank: BankOff})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	r, err := p.ExplainKernels(context.Background(), map[string]*Tensor{"x": NewTensor(F32, 0, 300)})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range r.Tasks {
		if k.Limit != "" || k.Share != 0 || k.Flops != 0 {
			t.Errorf("the task is %+v", k)
		}
	}
}

// TestTuneWritable: that a bank can't be written is told before the program is even
// compiled, and the trial leaves nothing behind.
func TestTuneWritable(t *testing.T) {
	dir := t.TempDir()
	good := filepath.Join(dir, "sub", "deeper", "bank")
	bad := filepath.Join(dir, "file", "bank")
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	paths := map[string]string{good: "nothing", bad: "can't take what is tuned"}
	if _, err := os.Stat("/proc/self"); err == nil { // where nobody makes files
		paths["/proc/bank"] = "can't take what is tuned"
		paths["/proc/sub/bank"] = "can't take what is tuned"
	}
	for path, want := range paths {
		_, err := TuneKernels(t.Context(), Script("s.npu", "graph main(x: f32[2]) -> f32[2] { return nothing(x) }"), TuneOptions{Options: Options{Bank: path}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}
