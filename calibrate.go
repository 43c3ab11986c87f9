package npu

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/lang/weights"
)

// A Sample is values of a program's inputs as Program.ReadInputs takes them, by the
// names of the inputs; inputs that it leaves out have their defaults.
type Sample map[string]string

// ReadSamples lists the samples in a folder: each .npz file is one, with an array for
// each input; each folder of .npy files is one, with a file NAME.npy for each input;
// and .npy files in the folder itself are one together. Other files are left aside.
func ReadSamples(dir string) ([]Sample, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, asDiagnostics(err)
	}
	var samples []Sample
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		var s Sample
		switch {
		case e.IsDir():
			s, err = arraysIn(path)
		case strings.EqualFold(filepath.Ext(path), ".npz"):
			s, err = arraysOf(path)
		}
		if err != nil {
			return nil, asDiagnostics(err)
		}
		if len(s) > 0 {
			samples = append(samples, s)
		}
	}
	own, err := arraysIn(dir)
	if err != nil {
		return nil, asDiagnostics(err)
	}
	if len(own) > 0 {
		samples = append(samples, own)
	}
	if len(samples) == 0 {
		return nil, Diagnostics{{Code: "bad-input", Subject: dir, Message: "the folder holds no samples",
			Helps: []string{"put .npz files into it, each with an array for each input, or folders with a file NAME.npy for each input"}}}
	}
	return samples, nil
}

// arraysIn are the .npy files of a folder.
func arraysIn(dir string) (Sample, error) {
	entries, err := os.ReadDir(dir)
	s := Sample{}
	for _, e := range entries {
		ext := filepath.Ext(e.Name())
		if strings.EqualFold(ext, ".npy") && e.Type()&fs.ModeDir == 0 {
			s[strings.TrimSuffix(e.Name(), ext)] = filepath.Join(dir, e.Name())
		}
	}
	return s, err
}

// arraysOf are the arrays of a .npz file.
func arraysOf(path string) (Sample, error) {
	set, err := weights.Open(path)
	if err != nil {
		return nil, err
	}
	defer set.Close()
	s := Sample{}
	for _, name := range set.Names() {
		s[name] = path + ":" + name
	}
	return s, nil
}

// Calibrate runs a program over samples, with its products as they are written, and
// returns the range of the left operand of each product that PrecisionInt8 would
// compute in bytes: what Options.Scales takes. A weight that several products multiply
// with has the range of all their left operands, and one whose left operands have no
// elements in any sample has none. An error of a run names its sample.
func Calibrate(ctx context.Context, src Source, opts Options, samples []Sample) (Scales, error) {
	if opts.Precision != "" || opts.Scales != nil {
		return nil, Diagnostics{{Code: "wrong-arguments", Message: "ranges are measured with products as they are written: leave out precision and scales"}}
	}
	if len(samples) == 0 {
		return nil, Diagnostics{{Code: "missing-argument", Message: "there are no samples to measure"}}
	}
	opts.measure = true
	p, err := Compile(src, opts)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	var keys []string
	for _, s := range p.products() {
		if s.Measured {
			keys = append(keys, s.Key)
		}
	}
	if len(keys) == 0 {
		return nil, p.unmeasured()
	}
	scales := Scales{}
	for _, s := range samples {
		if err := p.measure(ctx, s, keys, scales); err != nil {
			return nil, s.blamed(err)
		}
	}
	if len(scales) == 0 {
		return nil, Diagnostics{{Code: "bad-input", Message: "with all samples the products have left operands without elements",
			Helps: []string{"give a sample in which no dimension is 0"}}}
	}
	return scales, nil
}

// products are those that the compiler met; none of a compiled file.
func (p *Program) products() []ProductStatus {
	if p.record == nil {
		return nil
	}
	return p.record.Products
}

// measure runs one sample and joins its ranges to scales.
func (p *Program) measure(ctx context.Context, s Sample, keys []string, scales Scales) error {
	inputs, err := p.ReadInputs(s, InputOptions{Seed: p.opts.Seed})
	if err != nil {
		return err
	}
	args, err := p.arguments(inputs)
	if err != nil {
		return asDiagnostics(err)
	}
	out, err := p.run(endless(ctx), args)
	if err != nil {
		return excerpt(p.script, runError(err))
	}
	ends := out[len(out)-2*len(keys):]
	for i, key := range keys {
		r := Range{ends[2*i].FloatAt(0), ends[2*i+1].FloatAt(0)}
		if r.Min > r.Max {
			continue // the operand has no elements
		}
		if math.IsNaN(r.Min+r.Max) || math.IsInf(r.Max-r.Min, 0) {
			return Diagnostics{{Code: "bad-input", Subject: key, Message: fmt.Sprintf("the left operand of the product is from %v to %v", r.Min, r.Max),
				Helps: []string{"a scale needs finite numbers: leave the sample out, or mend what makes them"}}}
		}
		if known, seen := scales[key]; seen {
			r = r.join(known)
		}
		scales[key] = r
	}
	return nil
}

// blamed is an error of a run with the sample that it is of.
func (s Sample) blamed(err error) error {
	var ds Diagnostics
	if !errors.As(err, &ds) || len(s) == 0 {
		return err
	}
	ds = slices.Clone(ds)
	first := *ds[0]
	first.Notes = append(slices.Clone(first.Notes), "the sample is "+s.text())
	ds[0] = &first
	return ds
}

// text lists where the values of a sample come from.
func (s Sample) text() string {
	var parts []string
	for _, name := range sortedKeys(s) {
		parts = append(parts, name+"="+s[name])
	}
	return strings.Join(parts, " ")
}

// unmeasured says why a graph has no product with a range.
func (p *Program) unmeasured() Diagnostics {
	inner := func(s ProductStatus) bool { return s.Inner && (s.Op == ir.MatMul.Name || s.Op == ir.Linear.Name) }
	if slices.ContainsFunc(p.products(), inner) {
		return Diagnostics{{Code: "wrong-arguments", Subject: p.fn.Name, Message: "the products of the graph stand in loops or branches, which take no ranges",
			Helps: []string{"run it with int8 and without scales: each row of their left operands is measured in each run"}}}
	}
	return Diagnostics{{Code: "wrong-arguments", Subject: p.fn.Name, Message: "no product of the graph can be computed in bytes",
		Helps: []string{"npu emit precision --precision int8 says why; a compiled file is not measured, but its source is"}}}
}
