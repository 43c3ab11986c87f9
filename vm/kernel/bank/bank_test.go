package bank_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/npulang/npu/vm/kernel/bank"
)

func filled() *bank.Bank {
	b := bank.New("a machine")
	b.Put(bank.Entry{Key: bank.Key{Level: "avx2", Threads: 2, Body: "softmax(0) : f32[4] -> 1"}, Candidate: "norm/f32 rows=4", Usual: 120, Took: 100})
	b.Put(bank.Entry{Key: bank.Key{Level: "avx2", Threads: 1, Body: "softmax(0) : f32[4] -> 1"}, Candidate: "norm/f32", Usual: 120, Took: 120})
	b.Put(bank.Entry{Key: bank.Key{Level: "neon", Threads: 1, Body: "add(0,1) : f32[4] f32[4] -> 2"}, Candidate: "strip", Usual: 9, Took: 8})
	return b
}

// written is what that is as text, without the sums.
const written = `npu bank 1
machine a machine
neon	1	9	8	strip	add(0,1) : f32[4] f32[4] -> 2
avx2	1	120	120	norm/f32	softmax(0) : f32[4] -> 1
avx2	2	120	100	norm/f32 rows=4	softmax(0) : f32[4] -> 1
`

func TestFormat(t *testing.T) {
	got := string(filled().Format())
	if withoutSums(got) != written {
		t.Errorf("got\n%s\nwant\n%s", got, written)
	}
	b, err := bank.Parse([]byte(got), "a machine")
	if err != nil {
		t.Fatal(err)
	}
	if again := string(b.Format()); again != got {
		t.Errorf("read and written again:\n%s", again)
	}
	for _, e := range filled().Entries() {
		if found, ok := b.Find(e.Key); !ok || found != e {
			t.Errorf("found %+v, want %+v", found, e)
		}
	}
	if _, ok := b.Find(bank.Key{Level: "avx2", Threads: 3, Body: "softmax(0) : f32[4] -> 1"}); ok {
		t.Error("found what is not there")
	}
	var none *bank.Bank
	if _, ok := none.Find(bank.Key{}); ok {
		t.Error("no bank has found something")
	}
	b.Drop(filled().Entries()[0].Key)
	if b.Len() != 2 {
		t.Errorf("%d entries are left", b.Len())
	}
}

// withoutSums leaves the first field of entries out.
func withoutSums(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		_, rest, ok := strings.Cut(line, "\t")
		if !ok {
			rest = line
		}
		b.WriteString(rest)
	}
	return b.String()
}

func TestParseRefuses(t *testing.T) {
	good := string(filled().Format())
	lines := strings.SplitAfter(good, "\n")
	for _, c := range []struct {
		text, want     string
		stranger, bank bool
	}{
		{"", "does not begin", false, false},
		{"graph main", "does not begin", false, false},
		{"npu bank 1", "cut off", false, true},
		{"npu bank 1\n", "line 2: it names no machine", false, true},
		{"npu bank 2\nwhat it likes\n", `version "2"`, false, true},
		{strings.Replace(good, "a machine", "another", 1), `machine "another"`, true, true},
		{good[:len(good)-1], "cut off", false, true},
		{lines[0] + lines[1] + "\n", "line 3: it has 1 fields", false, true},
		{strings.Replace(good, "\t2\t120", "\t0\t120", 1), "number of threads", false, true},
		{strings.Replace(good, "\t2\t120", "\t3\t120", 1), "the sum", false, true},
		{strings.Replace(good, "\t120", "\t-120", 1), "line 4: the time", false, true},
		{strings.Replace(good, "\t120", "\t1e3", 1), "line 4: the time", false, true},
		{strings.Replace(good, "softmax", "softmin", 1), "line 4: the sum", false, true},
		{good + lines[2], "line 6: the body stands in a line before", false, true},
	} {
		_, err := bank.Parse([]byte(c.text), "a machine")
		var f *bank.Fault
		if !errors.As(err, &f) || !strings.Contains(f.Text, c.want) || f.Stranger != c.stranger || f.Bank != c.bank || f.Mine() != (c.bank && !c.stranger) {
			t.Errorf("%q: got %+v, want %q", c.text, err, c.want)
		}
	}
}

func TestHost(t *testing.T) {
	if h := bank.Host(); h == "" || strings.ContainsAny(h, "\n\t") || h != bank.Host() {
		t.Errorf("the host is %q", h)
	}
	if name := bank.HostFile(); len(name) != len("kernels-01234567.bank") {
		t.Errorf("the file is %q", name)
	}
}

// FuzzParse holds what is read to being written as it was, and anything else to being
// refused.
func FuzzParse(f *testing.F) {
	good := filled().Format()
	f.Add(good)
	f.Add(good[:40])
	f.Add([]byte("npu bank 1\nmachine a machine\n\t\t\t\t\t\t\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		b, err := bank.Parse(text, "a machine")
		if err != nil {
			return
		}
		again, err := bank.Parse(b.Format(), "a machine")
		if err != nil || !bytes.Equal(again.Format(), b.Format()) {
			t.Errorf("%q is written as %q", text, b.Format())
		}
	})
}
