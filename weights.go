package npu

import (
	"io"
	"os"
	"strings"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/lang"
	"github.com/npulang/npu/lang/weights"
)

// Weights are where the values of parameters come from: a WeightsFile, a
// WeightsReader or Arrays.
type Weights interface{ open() (*weights.Set, error) }

// WeightsFile is a .safetensors or .npz file; its tensors are used in place
// where its layout allows.
type WeightsFile string

func (f WeightsFile) open() (*weights.Set, error) { return openWeights(string(f)) }

// openWeights maps a file; what is no regular file is read, up to a bound.
func openWeights(path string) (*weights.Set, error) {
	info, err := os.Stat(path)
	if err != nil || info.Mode().IsRegular() || info.IsDir() {
		return weights.Open(path)
	}
	b, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return weights.Decode(path, b)
}

// WeightsReader is a weights file as a stream. It is read once, at the first
// compilation.
func WeightsReader(name string, r io.Reader) Weights { return weightsReader{name, r} }

type weightsReader struct {
	name string
	r    io.Reader
}

func (w weightsReader) open() (*weights.Set, error) {
	b, err := readBounded(w.name, w.r, maxStream(), streamHelp)
	if err != nil {
		return nil, err
	}
	return weights.Decode(w.name, b)
}

// Arrays are weights in memory, by parameter path. They must not be changed
// while the program is in use.
type Arrays map[string]*Tensor

func (a Arrays) open() (*weights.Set, error) {
	for _, name := range sortedKeys(a) {
		if a[name] == nil {
			return nil, Diagnostics{{Code: "bad-weight", Subject: name, Message: "the tensor is nil"}}
		}
		if err := checkTensor(name, a[name]); err != nil {
			return nil, err
		}
	}
	return weights.InMemory(a), nil
}

// bindWeights finds the values of the parameters of f. What holds them is
// closed with the program.
func (p *Program) bindWeights(c *compilation, f *ir.Func) error {
	set, err := c.openWeights(f)
	if err != nil {
		return err
	}
	if set != nil {
		p.release = append(p.release, set.Close)
		p.plans.seldom = set.Release
	}
	if file := c.text.file; file != nil {
		p.plans.seldom = func(t *Tensor) bool { return file.Release(t) || set != nil && set.Release(t) }
		p.plans.packed = file
	}
	renames := make([]weights.Rename, len(c.opts.Rename))
	for i, r := range c.opts.Rename {
		renames[i] = weights.Rename{Old: r.Old, New: r.New}
	}
	values, ds := lang.Bind(c.sources(f), set, lang.BindOptions{
		Prefix: c.opts.WeightsPrefix, Renames: renames, Strict: c.opts.Strict,
		Random: c.opts.RandomWeights, Seed: c.opts.Seed, ReadFile: c.text.read,
		MaxBytes: p.opts.MaxMemory,
	})
	if err := ds.Err(); err != nil {
		helpMissing(ds, set)
		return err
	}
	p.weights = values
	p.warnings = append(p.warnings, ds...)
	return nil
}

// helpMissing says how to name a weights file, where there is none.
func helpMissing(ds Diagnostics, set *weights.Set) {
	for _, d := range ds {
		if d.Code == "missing-weight" && set == nil {
			d.Helps = append(d.Helps, "name a weights file with --weights FILE (Options.Weights), or try with --random-weights")
		}
	}
}

// openWeights opens what the options name, else what the compiled program
// holds, else what the script names. A graph without parameters needs none.
func (c *compilation) openWeights(f *ir.Func) (*weights.Set, error) {
	switch {
	case c.opts.RandomWeights:
		return nil, nil
	case c.opts.Weights != nil:
		return c.opts.Weights.open()
	case c.text.file != nil:
		held := map[string]*Tensor{}
		for _, w := range c.text.file.Weights {
			if t, ok := c.text.file.Lookup(w.Name); ok && !strings.HasPrefix(w.Name, defaultPrefix) {
				held[w.Name] = t
			}
		}
		return weights.InMemory(held), nil
	case c.unit == nil || c.unit.Weights == "" || !hasParams(f):
		return nil, nil
	}
	return c.text.openWeights(c.unit.Weights)
}

func hasParams(f *ir.Func) bool { return len(f.SourceWeights()) > 0 }

// sources is a function of the weights of f that are bound: a compiled file holds
// those of its graph; of all others, those which are made of them are none.
func (c *compilation) sources(f *ir.Func) *ir.Func {
	if c.text.file != nil && c.opts.Weights == nil && !c.opts.RandomWeights {
		return f
	}
	return &ir.Func{Name: f.Name, Body: f.SourceWeights()}
}
