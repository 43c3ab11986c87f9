package golden

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/npulang/npu"
)

// figures are what the header of a memory listing says, in bytes.
type figures struct{ arena, bound, sum int64 }

var figuresLine = regexp.MustCompile(`^memory @.*  arena (\d+)  lower-bound (\d+) .*  sum (\d+)  `)

func figuresOf(t *testing.T, text string) figures {
	t.Helper()
	m := figuresLine.FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("no header of a memory listing:\n%s", text)
	}
	var n [3]int64
	for i := range n {
		n[i], _ = strconv.ParseInt(m[i+1], 10, 64)
	}
	return figures{n[0], n[1], n[2]}
}

// TestBertLarge plans BERT-Large for one sentence of 512 words: the arena is within
// 1 % of what no arena can be smaller than, and at least 38 % below what values
// take that never share memory.
func TestBertLarge(t *testing.T) {
	src := npu.File("testdata/bert-large.npu")
	opts := npu.Options{Level: npu.O2, Dims: map[string]int64{"B": 1, "S": 512}}
	text, _, err := npu.Emit(src, "memory", opts)
	if err != nil {
		t.Fatal(err)
	}
	f := figuresOf(t, text)
	if f.bound == 0 || float64(f.arena) > 1.01*float64(f.bound) {
		t.Errorf("the arena of %d bytes is more than 1 %% above the bound of %d", f.arena, f.bound)
	}
	if float64(f.arena) > 0.62*float64(f.sum) {
		t.Errorf("the arena of %d bytes is less than 38 %% below the sum of %d", f.arena, f.sum)
	}
	lines := strings.SplitAfter(text, "\n")
	sameFile(t, "testdata/bert-large.txt", strings.Join(lines[:14], "")+"  ...\n")
}

// sameFile compares a text with a file, which -update writes.
func sameFile(t *testing.T, path, got string) {
	t.Helper()
	want, err := os.ReadFile(path)
	if err == nil && string(want) == got {
		return
	}
	t.Errorf("%s differs, which -update accepts:\n%s", path, got)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestArenas plans all the networks. On one stream every arena is within 1 % of its
// bound; on several the bound is that of one order of the tasks, and what may run
// at the same time needs more.
func TestArenas(t *testing.T) {
	paths, err := filepath.Glob("nets/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal("no networks", err)
	}
	for _, path := range paths {
		f, err := readGolden(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, streams := range []int{0, 1} {
			f.options.Streams = streams
			text, err := output("memory").make(f)
			if err != nil {
				t.Fatal(err)
			}
			n := figuresOf(t, text)
			t.Logf("%s, streams %d: arena %d, bound %d, sum %d", path, streams, n.arena, n.bound, n.sum)
			if n.arena < n.bound || n.arena > n.sum || streams == 1 && float64(n.arena) > 1.01*float64(n.bound) {
				t.Errorf("%s, streams %d: an arena of %d bytes for a bound of %d and a sum of %d", path, streams, n.arena, n.bound, n.sum)
			}
		}
	}
}
