package golden

import (
	"errors"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/npulang/npu"
	"github.com/npulang/npu/codegen/bytecode"
	"github.com/npulang/npu/ir/diag"
	"github.com/rogpeppe/go-internal/diff"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite the sections that differ")

// TestGolden runs every golden file.
func TestGolden(t *testing.T) {
	for _, f := range goldenFiles(t) {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			changed := f.compare(t)
			f.checkDirectives(t)
			f.crossCheck(t)
			if changed && *update {
				f.write(t)
			}
		})
	}
}

// compare produces every output twice, and puts what differs from the file in
// its place.
func (f *file) compare(t *testing.T) (changed bool) {
	for _, i := range f.outputs() {
		section := &f.archive.Files[i]
		got, err := output(section.Name).make(f)
		if err != nil {
			t.Errorf("%s: %s cannot be made: %v", f.path, section.Name, err)
			continue
		}
		if again, err := output(section.Name).make(f); err != nil || again != got {
			t.Errorf("%s: %s comes out differently the second time (%v)\n%s", f.path, section.Name, err, diff.Diff("first", []byte(got), "second", []byte(again)))
		}
		if testing.Verbose() {
			t.Logf("%s\n%s", section.Name, got)
		}
		if hasHeader(got) {
			t.Errorf("%s: %s holds a line that would begin a section", f.path, section.Name)
		}
		if string(section.Data) == got {
			continue
		}
		changed = true
		if !*update {
			t.Errorf("%s: %s differs\n%s\nto see it:    go test ./golden -run '%s' -v\nto accept it: go test ./golden -run '%s' -update", f.path, section.Name,
				diff.Diff(f.path, section.Data, "now", []byte(got)), t.Name(), t.Name())
		}
		section.Data = []byte(got)
	}
	return changed
}

// hasHeader reports whether a text has a line that txtar would take as the
// beginning of a section.
func hasHeader(text string) bool { return len(txtar.Parse([]byte(text)).Files) > 0 }

func (f *file) write(t *testing.T) {
	if err := os.WriteFile(filepath.FromSlash(f.name)+".txtar", txtar.Format(f.archive), 0o644); err != nil {
		t.Fatal(err)
	}
}

// crossCheck compares the virtual machine with the interpreter for every graph
// of a program that compiles: as it was written, with the passes and switches of
// the file, and with all that the compiler does.
func (f *file) crossCheck(t *testing.T) {
	opts := f.options.Options
	if npu.Check(f.source(), opts).Err() != nil {
		return
	}
	opts.Weights, opts.Strict = nil, false // weights that do not fit are shown by run
	opts.Dims = maps.Clone(opts.Dims)
	maps.Copy(opts.Dims, f.options.checkDims)
	for _, graph := range f.graphs() {
		for i, opts := range variants(opts) {
			opts.Graph = graph
			var refused npu.Diagnostics // as by @fuse: of a file that shows it
			if err := npu.CrossCheck(f.source(), opts, opts.Seed, bounded(plans[i], opts.Dims)...); err != nil && !(f.options.failing && errors.As(err, &refused)) {
				t.Errorf("%s: graph %s at %s: %v", f.path, graph, opts.Level, err)
			}
			if i == 1 { // with all that the compiler does
				f.assembles(t, opts)
			}
		}
	}
}

// assembles takes the bytecode of a graph through its listing.
func (f *file) assembles(t *testing.T, opts npu.Options) {
	opts.Elide = 0
	text, _, err := npu.Emit(f.source(), "bytecode", opts)
	if err != nil {
		return // there is none for the sizes of listings
	}
	p, faults := bytecode.Assemble(diag.NewSource(f.path, text))
	if err := faults.Err(); err != nil {
		t.Errorf("%s: the bytecode does not assemble: %v\n%s", f.path, err, text)
		return
	}
	var again strings.Builder
	if err := bytecode.Disassemble(&again, p); err != nil || again.String() != text {
		t.Errorf("%s: the bytecode changes when it is assembled: %v", f.path, cmp.Diff(text, again.String()))
	}
	if err := bytecode.Verify(p); err != nil {
		t.Errorf("%s: %v", f.path, err)
	}
}

// bounded are plans of which the last is one for sizes that are twice as large.
func bounded(plans []npu.Options, dims map[string]int64) []npu.Options {
	if len(plans) == 0 {
		return nil
	}
	most := map[string]int64{}
	for name, n := range dims {
		most[name] = 2 * n
	}
	plans = slices.Clone(plans)
	plans[len(plans)-1].MaxDims = most
	return plans
}

// variants are the ways to compile a file's program that must agree.
func variants(o npu.Options) []npu.Options {
	plain := o
	plain.Level, plain.Passes, plain.After, plain.Fuel = npu.O0, nil, "", 0
	all := plain
	all.Level = npu.O2
	list := []npu.Options{plain, all}
	if o.Level == npu.O1 || o.Passes != nil || o.After != "" || o.Fuel != 0 {
		list = append(list, o)
	}
	return list
}

// plans are ways to plan a program that must not make a difference: one stream and
// several, memory never used again and used again as far as it goes; some for each
// of the variants.
var plans = [][]npu.Options{
	{
		{Streams: 1, MemoryMode: npu.MemoryAggressive, Align: 32},
		{Streams: 4, StreamStrategy: npu.StreamsThroughput, MemoryMode: npu.MemoryAggressive, Mapping: npu.MapVectorPrefer},
	},
	{
		{Streams: 1, MemoryMode: npu.MemoryOff, Align: 512},
		{Streams: 8, StreamStrategy: npu.StreamsLatency, MemoryMode: npu.MemoryConservative, Mapping: npu.MapCubePrefer},
	},
	nil,
}

// graphs are the names of the program's graphs, as its IR has them.
func (f *file) graphs() []string {
	opts := f.options.Options
	opts.Graph, opts.Locations = "", false
	text, _, err := npu.Emit(f.source(), "ir", opts)
	if err != nil {
		return nil // a script of tests or declarations only
	}
	var names []string
	for line := range strings.Lines(text) {
		head, ok := strings.CutPrefix(line, "func @")
		if !ok {
			continue
		}
		if name, err := strconv.QuotedPrefix(head); err == nil {
			name, _ = strconv.Unquote(name)
			names = append(names, name)
			continue
		}
		name, _, _ := strings.Cut(head, "(")
		names = append(names, name)
	}
	return names
}
