package npu

import (
	"errors"
	"strings"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/lang"
	"github.com/npulang/npu/lang/weights"
)

// Weights are where the values of parameters come from: a WeightsFile or
// Arrays.
type Weights interface{ open() (*weights.Set, error) }

// WeightsFile is a .safetensors or .npz file; its tensors are used in place
// where its layout allows.
type WeightsFile string

func (f WeightsFile) open() (*weights.Set, error) { return weights.Open(string(f)) }

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
	}
	renames := make([]weights.Rename, len(c.opts.Rename))
	for i, r := range c.opts.Rename {
		renames[i] = weights.Rename{Old: r.Old, New: r.New}
	}
	values, ds := lang.Bind(f, set, lang.BindOptions{
		Prefix: c.opts.WeightsPrefix, Renames: renames, Strict: c.opts.Strict,
		Random: c.opts.RandomWeights, Seed: c.opts.Seed, ReadFile: c.text.read,
	})
	if err := ds.Err(); err != nil {
		return errors.Join(err, p.Close())
	}
	p.weights = values
	p.warnings = append(p.warnings, ds...)
	return nil
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

func hasParams(f *ir.Func) bool {
	for _, v := range f.Body {
		if v.Op == ir.Param {
			return true
		}
	}
	return false
}
