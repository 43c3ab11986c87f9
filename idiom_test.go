package npu

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/irtest"
	"github.com/npulang/npu/ir/tensor"
	"golang.org/x/tools/txtar"
)

// goldenPrograms lists the golden files whose graphs are forms that rules look
// for, and forms that they have to leave alone.
var goldenPrograms = sync.OnceValue(func() []string {
	var paths []string
	for _, folder := range []string{"opt", "fusion", "families"} {
		err := filepath.WalkDir(filepath.Join("golden", folder), func(path string, d fs.DirEntry, err error) error {
			if err == nil && filepath.Ext(path) == ".txtar" {
				paths = append(paths, path)
			}
			return err
		})
		if err != nil {
			panic(err)
		}
	}
	slices.Sort(paths)
	return paths
})

// goldenGraphs are the graphs of a golden file, with inputs for weights; symbols
// are as written. Files that are not programs have none.
func goldenGraphs(path string) []*ir.Func {
	graphsOfGolden.Lock()
	defer graphsOfGolden.Unlock()
	if fs, ok := graphsOfGolden.byPath[path]; ok {
		return fs
	}
	graphs := readGoldenGraphs(path)
	graphsOfGolden.byPath[path] = graphs
	return graphs
}

var graphsOfGolden = struct {
	sync.Mutex
	byPath map[string][]*ir.Func
}{byPath: map[string][]*ir.Func{}}

func readGoldenGraphs(path string) []*ir.Func {
	data, err := os.ReadFile(path)
	if err != nil {
		panic(err)
	}
	archive := txtar.Parse(data)
	if len(archive.Files) == 0 {
		return nil
	}
	first, make := archive.Files[0], Script
	if strings.HasSuffix(first.Name, ".ir") {
		make = IRText
	}
	c, err := load(make(first.Name, string(first.Data)), Options{})
	if err != nil {
		return nil
	}
	defer c.close()
	var graphs []*ir.Func
	for _, g := range c.graphs {
		graphs = append(graphs, withoutParams(g.Func))
	}
	return graphs
}

// withoutParams is a function whose weights are inputs.
//
//	%w = param : f32[4]  =>  func @f(%w.param: f32[4])
func withoutParams(f *ir.Func) *ir.Func {
	f, _ = f.Clone()
	with := map[*ir.Value]*ir.Value{}
	body := f.Body[:0:0]
	for _, v := range f.Body {
		if v.Op == ir.Param {
			with[v] = f.NewInput(v.Name+".param", v.Type)
		} else {
			body = append(body, v)
		}
	}
	f.Body = body
	f.Replace(with)
	return f
}

// goldenIdiom takes a graph of a golden file.
func goldenIdiom(r *rand.Rand) *ir.Func {
	paths := goldenPrograms()
	graphs := goldenGraphs(paths[r.IntN(len(paths))])
	if len(graphs) == 0 {
		return nil
	}
	return graphs[r.IntN(len(graphs))]
}

// idioms are what random graphs are made of beside single operators: graphs of
// golden files, and graphs that a rule's pattern fits; as they are, or nearly.
var idioms = []irtest.Idiom{
	func(r *rand.Rand) (*ir.Func, map[string]*tensor.T) {
		f := goldenIdiom(r)
		if f == nil {
			return nil, nil
		}
		if f = irtest.Bind(f, sizesFor(r, f)); f == nil {
			return nil, nil
		}
		return nearly(r, f), nil
	},
	func(r *rand.Rand) (*ir.Func, map[string]*tensor.T) {
		rules := OwnRules()
		f, known := rules[r.IntN(len(rules))].Example(r, false)
		if f == nil {
			return nil, nil
		}
		return nearly(r, f), known
	},
}

func nearly(r *rand.Rand, f *ir.Func) *ir.Func {
	for r.IntN(2) == 0 {
		f = irtest.Near(r, f)
	}
	return f
}

// sizesFor draws sizes for a function's symbols: small ones, none and one among
// them.
func sizesFor(r *rand.Rand, f *ir.Func) ir.Env {
	env := ir.Env{}
	for _, name := range irtest.Symbols(f) {
		env[name] = []int64{0, 1, 2, 2, 3, 3, 4, 5}[r.IntN(8)]
	}
	return env
}
