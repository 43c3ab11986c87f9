package bank

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Version is that of the form, and of the kernels that banks are measured with: it
// counts up when a kernel gains or loses so much that what was measured is no longer
// true. A bank of another version is not used.
const Version = 1

const (
	heading = "npu bank "
	machine = "machine "
	fields  = 7
)

// A Key is what an Entry is for.
type Key struct {
	Level   string // the instruction set: "avx2"
	Threads int    // of a run
	Body    string // of kernel.Body
}

// An Entry is what was found for a body.
type Entry struct {
	Key
	Candidate string // the fastest, as kernel.Candidate names it
	Usual     int64  // nanoseconds of what runs the body without a bank
	Took      int64  // and of the candidate
}

// A Bank is what was measured on one machine. It is for one goroutine that changes it,
// or for any number that look things up.
type Bank struct {
	Machine string // one line: see Host
	entries map[Key]Entry
}

// New is an empty bank of a machine.
func New(machine string) *Bank { return &Bank{Machine: machine, entries: map[Key]Entry{}} }

// Find looks up what is known of a body; ok is false if nothing is. A nil Bank knows
// nothing.
func (b *Bank) Find(k Key) (e Entry, ok bool) {
	if b == nil {
		return e, false
	}
	e, ok = b.entries[k]
	return e, ok
}

// Put adds an entry, in the place of one with its key.
func (b *Bank) Put(e Entry) { b.entries[e.Key] = e }

// Drop takes the entry of a key away, if there is one.
func (b *Bank) Drop(k Key) { delete(b.entries, k) }

// Len is the number of entries.
func (b *Bank) Len() int { return len(b.entries) }

// Entries lists them in order of their keys.
func (b *Bank) Entries() []Entry {
	return slices.SortedFunc(maps.Values(b.entries), func(x, y Entry) int {
		return cmp.Or(cmp.Compare(x.Body, y.Body), cmp.Compare(x.Level, y.Level), cmp.Compare(x.Threads, y.Threads))
	})
}

// Format writes a bank as Parse reads it.
func (b *Bank) Format() []byte {
	var s strings.Builder
	fmt.Fprintf(&s, "%s%d\n%s%s\n", heading, Version, machine, b.Machine)
	for _, e := range b.Entries() {
		fmt.Fprintf(&s, "%s\t%s\t%d\t%d\t%d\t%s\t%s\n", e.Key.sum(), e.Level, e.Threads, e.Usual, e.Took, e.Candidate, e.Body)
	}
	return []byte(s.String())
}

// sum is a number for a key, by which damage shows.
func (k Key) sum() string {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\t%d\t%s", k.Level, k.Threads, k.Body)
	return fmt.Sprintf("%016x", h.Sum64())
}

// A Fault says why a text is no bank that can be used here.
type Fault struct {
	Bank     bool   // it is one at all, by its first line
	Stranger bool   // it is one of another machine
	Text     string // "line 3: the number of threads is no number"
}

func (f *Fault) Error() string { return f.Text }

// Is reports whether a text begins as banks do.
func Is(text []byte) bool {
	return strings.HasPrefix(string(text[:min(len(text), len(heading))]), heading)
}

// Parse reads the bank of a machine. The error is a *Fault.
func Parse(text []byte, of string) (*Bank, error) {
	if !Is(text) {
		return nil, &Fault{Text: fmt.Sprintf("it does not begin with %q", strings.TrimSpace(heading))}
	}
	rest := string(text)
	if !strings.HasSuffix(rest, "\n") {
		return nil, &Fault{Bank: true, Text: "its last line is cut off"}
	}
	lines := strings.Split(strings.TrimSuffix(rest, "\n"), "\n")
	if v := strings.TrimPrefix(lines[0], heading); v != strconv.Itoa(Version) {
		return nil, &Fault{Bank: true, Text: fmt.Sprintf("it is of version %.20q, and this npu reads %d", v, Version)}
	}
	if len(lines) < 2 || !strings.HasPrefix(lines[1], machine) {
		return nil, &Fault{Bank: true, Text: "line 2: it names no machine"}
	}
	if m := strings.TrimPrefix(lines[1], machine); m != of {
		return nil, &Fault{Bank: true, Stranger: true, Text: fmt.Sprintf("it is of the machine %.80q, and this one is %q", m, of)}
	}
	b := New(of)
	for i, line := range lines[2:] {
		e, err := parse(line)
		if err == nil && b.entries[e.Key] != (Entry{}) {
			err = fmt.Errorf("the body stands in a line before")
		}
		if err != nil {
			return nil, &Fault{Bank: true, Text: fmt.Sprintf("line %d: %v", i+3, err)}
		}
		b.Put(e)
	}
	return b, nil
}

// parse reads one line.
func parse(line string) (e Entry, err error) {
	f := strings.Split(line, "\t")
	if len(f) != fields {
		return e, fmt.Errorf("it has %d fields, and an entry has %d", len(f), fields)
	}
	e.Level, e.Candidate, e.Body = f[1], f[5], f[6]
	for i, to := range []*int64{&e.Usual, &e.Took} {
		if *to, err = strconv.ParseInt(f[3+i], 10, 64); err != nil || *to < 0 {
			return e, fmt.Errorf("the time %.20q is no number of nanoseconds", f[3+i])
		}
	}
	if e.Threads, err = strconv.Atoi(f[2]); err != nil || e.Threads < 1 || e.Threads > math.MaxInt16 {
		return e, fmt.Errorf("the number of threads, %.20q, is none", f[2])
	}
	if e.Key.sum() != f[0] {
		return e, fmt.Errorf("the sum is not that of the body")
	}
	return e, nil
}

// Mine reports whether the text is a bank that this machine's may take the place of: a
// damaged one, or one of another version.
func (f *Fault) Mine() bool { return f.Bank && !f.Stranger }
