package npu

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/npulang/npu/vm/kernel/bank"
)

// A TuneReport tells what TuneKernels has measured and kept.
type TuneReport struct {
	Machine string           `json:"machine"` // the processor and its best instruction set
	Level   string           `json:"isa"`     // that was tuned for
	Dims    map[string]int64 `json:"dims"`    // the sizes of symbolic dimensions
	Threads int              `json:"threads"`
	Seconds float64          `json:"seconds"` // of measuring

	Bodies    int         `json:"bodies"`    // different tasks of the program
	Rivalries int         `json:"rivalries"` // those with several candidates
	Tuned     []TunedBody `json:"tuned"`     // of these

	// The program without and with what won, in pairs of turns: medians. All are 0 if
	// nothing has won.
	Pairs   int     `json:"pairs"`
	UsualMs float64 `json:"usual_ms"`
	TunedMs float64 `json:"tuned_ms"`
	Ratio   float64 `json:"ratio"`  // the median of the pairs'
	Faster  bool    `json:"faster"` // with 95 % confidence; if not, nothing is kept

	Bank string `json:"bank"` // the file
	Kept int    `json:"kept"` // lines of it that are of this program

	Warnings Diagnostics `json:"-"`
}

// A TunedBody is one body that has several candidates.
type TunedBody struct {
	Body       string           `json:"body"`
	Tasks      int              `json:"tasks"`      // of the program that have it
	Candidates []TunedCandidate `json:"candidates"` // the usual one first
	Best       string           `json:"best"`
	Ratio      float64          `json:"ratio"` // of the best to the usual one, the median of pairs; 1: they are one
	Won        bool             `json:"won"`   // by the margin, with 95 % confidence
}

// A TunedCandidate is one way to compute a body.
type TunedCandidate struct {
	Name     string  `json:"name"`
	Estimate int64   `json:"estimate_ns"` // on one processor
	Median   float64 `json:"median_ns"`   // that was measured; 0: there was no time for it
}

// summarise makes the rows of the bodies.
func (t *tuner) summarise() {
	r := t.report
	for _, b := range t.bodies {
		row := TunedBody{Body: b.body, Tasks: b.tasks, Best: b.list[b.best].Name, Ratio: 1, Won: b.won}
		for i, c := range b.list {
			row.Candidates = append(row.Candidates, TunedCandidate{c.Name, c.Work, medianOf(b.samples[i])})
		}
		if b.best > 0 {
			row.Ratio = medianOf(b.ratios)
		}
		if b.won && r.Faster {
			r.Kept++
		}
		r.Tuned = append(r.Tuned, row)
	}
}

// entries are what the bank is to have of the program, and the keys of which it is to
// have nothing.
func (t *tuner) entries() (put []bank.Entry, drop []bank.Key) {
	for _, b := range t.bodies {
		k := bankKey(&t.kernels, b.body)
		if !b.won || !t.report.Faster {
			drop = append(drop, k)
			continue
		}
		usual := medianOf(b.samples[0])
		put = append(put, bank.Entry{Key: k, Candidate: b.list[b.best].Name, Usual: int64(usual), Took: int64(usual * medianOf(b.ratios))})
	}
	return put, drop
}

// A bankFile is the file that a bank is kept in.
type bankFile struct {
	path, machine string
	named         bool // by the user, rather than the usual one
	warnings      Diagnostics
}

// openBank finds the file and makes sure that it may be written over: it is a bank of
// this machine, one that is damaged or of another version, or not there.
func openBank(path string) (*bankFile, error) {
	f := &bankFile{path: path, machine: bank.Host(), named: path != ""}
	if path == BankOff {
		return nil, planError("tuning needs a bank to keep what it finds, and it is %q; name a file", path)
	}
	if path == "" {
		var err error
		if f.path, err = BankPath(); err != nil {
			return nil, Diagnostics{{Code: "bad-file", Subject: "bank", Message: "there is no folder for the bank: " + err.Error(), Helps: []string{"name a file: --bank FILE (Options.Bank)"}}}
		}
	}
	_, err := f.read()
	var fault *bank.Fault
	switch {
	case errors.As(err, &fault) && fault.Mine():
		f.warnings = Diagnostics{unusedBank(f.path, fault.Text+"; it begins anew")}
	case err != nil:
		return nil, f.refused(err)
	}
	if err := checkWritable(f.path); err != nil {
		return nil, f.refused(err)
	}
	return f, nil
}

// refused says that the file is of no use, before anything is measured.
func (f *bankFile) refused(err error) error {
	return Diagnostics{{Code: "bad-file", Subject: f.path, Message: "the file can't take what is tuned: " + reasonOf(err), Cause: err, Helps: []string{"name another one: --bank FILE (Options.Bank)"}}}
}

// read reads the bank; a file that is not there is an empty one.
func (f *bankFile) read() (*bank.Bank, error) {
	text, err := readFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return bank.New(f.machine), nil
	}
	if err != nil {
		return nil, err
	}
	return bank.Parse(text, f.machine)
}

// put writes what the tuner has found into the file as it is now: others may have
// written meanwhile. A file that would not change is left alone; one that is named and
// not there is written even if it is empty.
func (f *bankFile) put(t *tuner) error {
	b, err := f.read()
	if err != nil {
		b = bank.New(f.machine)
	}
	before := string(b.Format())
	if _, e := os.Stat(f.path); e != nil && f.named {
		before = "" // so that those who name the file find one, were it empty
	}
	put, drop := t.entries()
	for _, e := range put {
		b.Put(e)
	}
	for _, k := range drop {
		b.Drop(k)
	}
	text := b.Format()
	if string(text) == before && err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(f.path), 0o777); err != nil {
		return err
	}
	return WriteFile(f.path, text)
}

// Text prints the report.
func (r *TuneReport) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s, %d with several candidates; %s, %s, %.1f s\n", counted(r.Bodies, "different task"), withSizes(r.Dims), r.Rivalries, counted(r.Threads, "thread"), r.Level, r.Seconds)
	if len(r.Tuned) > 0 {
		b.WriteString(align("rrrrlll", func(row func(...string)) {
			row("tasks", "usual us", "best us", "ratio", "", "candidate", "task")
			for i := range r.Tuned {
				row(r.Tuned[i].cells()...)
			}
		}))
	}
	b.WriteString(r.outcome())
	return b.String()
}

// outcome says what became of the whole.
func (r *TuneReport) outcome() string {
	if r.Pairs == 0 {
		return fmt.Sprintf("no candidate is faster than the usual one by %g %% for sure; %s keeps nothing of this program\n", 100*tuneMargin, r.Bank)
	}
	text := fmt.Sprintf("%.4f ms a run, %.4f ms tuned: a ratio of %.3f, %s\n", r.UsualMs, r.TunedMs, r.Ratio, counted(r.Pairs, "pair"))
	if !r.Faster {
		return text + fmt.Sprintf("that is not faster for sure; %s keeps nothing of this program\n", r.Bank)
	}
	return text + fmt.Sprintf("%s keeps %s of this program\n", r.Bank, counted(r.Kept, "line"))
}

// cells are those of a body in the table.
func (b *TunedBody) cells() []string {
	usual, best := b.Candidates[0].Median, 0.0
	for _, c := range b.Candidates {
		if c.Name == b.Best {
			best = c.Median
		}
	}
	won := ""
	if b.Won {
		won = "won"
	}
	return []string{fmt.Sprint(b.Tasks), fmt.Sprintf("%.2f", usual/1e3), fmt.Sprintf("%.2f", best/1e3), fmt.Sprintf("%.3f", b.Ratio), won, b.Best, shortened(b.Body, 60)}
}

// shortened cuts a text off behind so many bytes, which are ASCII in bodies.
func shortened(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return s[:most] + " ..."
}
