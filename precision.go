package npu

import (
	"fmt"
	"io"
	"slices"

	"github.com/npulang/npu/codegen/bytecode"
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/passes"
)

// A Precision says in which dtype the products of a program are computed: products of
// matrices whose operands are longer have them rounded to it, weights once, when the
// program gets them, and all others in each run. Sums are of f32, or of i32 for bytes.
// docs/precision.md has the formulas.
type Precision string

// The precisions. The empty one leaves products as they are written.
const (
	PrecisionF32  Precision = "f32"
	PrecisionBF16 Precision = "bf16"
	PrecisionF16  Precision = "f16"
	// PrecisionInt8 quantises: weights with a scale for each column, what is multiplied
	// with them with one for each row, measured in each run, or where Options.Scales
	// know its range one for the whole. A product of two values that both are computed
	// in each run stays as it is written.
	PrecisionInt8 Precision = "int8"
)

// PrecisionsAll lists them.
var PrecisionsAll = precisionNames(ir.Precisions)

func precisionNames(list []ir.NamedPrecision) (all []Precision) {
	for _, p := range list {
		all = append(all, Precision(p.Name))
	}
	return all
}

// ParsePrecision finds a precision by its name, or by that of the operands' dtype: i8
// is int8. Nothing is the empty one.
func ParsePrecision(name string) (Precision, error) {
	if p, ok := ir.PrecisionNamed(name); ok {
		return Precision(p.Name), nil
	}
	return "", checkName("precision", Precision(name), PrecisionsAll)
}

// dtype is that of operands; 0: nothing is asked for.
func (p Precision) dtype() DType {
	named, _ := ir.PrecisionNamed(string(p))
	return named.DType
}

// A ProductStatus tells in which dtype one product is computed, and why.
type ProductStatus = passes.Product

// CheckPrecision refuses a precision that there is not, and scales that are no ranges.
// Compile asks it first.
func (o *Options) CheckPrecision() error {
	if err := checkName("precision", o.Precision, PrecisionsAll); err != nil {
		return err
	}
	for _, name := range sortedKeys(o.Scales) {
		if err := o.Scales[name].check(name); err != nil {
			return err
		}
	}
	return nil
}

// precision is what the passes go by. Products of a compiled file are what they are:
// those that it has in f32 were to stay so.
func (c *compilation) precision() passes.Precision {
	if c.text != nil && c.text.file != nil {
		return passes.Precision{}
	}
	p := passes.Precision{To: c.opts.Precision.dtype(), Measure: c.opts.measure}
	if c.opts.Scales != nil {
		p.Scales = map[string]float64{}
	}
	for name, r := range c.opts.Scales {
		p.Scales[name] = r.Most()
	}
	return p
}

// checkProducts holds what became of the products against what was asked for: scales
// that fit nothing are an error, and annotations that are not followed a warning.
func (c *compilation) checkProducts(products []ProductStatus) error {
	if err := c.checkScales(products); err != nil {
		return err
	}
	for _, p := range products {
		if !p.Annot || p.Followed {
			continue
		}
		d := &Diagnostic{Code: "not-followed", Severity: diag.Warning, Loc: p.Pos,
			Message: fmt.Sprintf("@precision(%s) is not followed for %s: %s", nameOf(p.Asked), p.Op, p.Why)}
		if src := c.script(); src != nil && src.Name == p.Pos.File {
			d.Span = src.Word(p.Pos.Line, p.Pos.Col)
		}
		if !slices.ContainsFunc(c.warnings, func(w *Diagnostic) bool { return w.Message == d.Message && w.Loc == d.Loc }) {
			c.warnings = append(c.warnings, d)
		}
	}
	return nil
}

// nameOf is what a precision of these operands is called.
func nameOf(d DType) string {
	p, _ := ir.PrecisionOf(d)
	return p.Name
}

// checkScales refuses scales of products that there are not.
func (c *compilation) checkScales(products []ProductStatus) error {
	if c.opts.Scales == nil {
		return nil
	}
	var keys []string
	used := false
	for _, p := range products {
		if p.Inner {
			continue
		}
		keys = append(keys, p.Key)
		used = used || p.To == I8 && p.Followed
	}
	var ds Diagnostics
	for _, name := range sortedKeys(c.opts.Scales) {
		if slices.Contains(keys, name) {
			continue
		}
		d := &Diagnostic{Code: "unknown-name", Message: "the scales name " + asWord(name) + ", and no product of the graph is called so",
			Notes: []string{"a product is called by its weight; npu emit precision lists them. Those in loops and branches measure their left operands in each run"}}
		suggest(d, name, keys)
		ds = append(ds, d)
	}
	if len(ds) == 0 && !used && len(c.opts.Scales) > 0 {
		ds = Diagnostics{{Code: "wrong-arguments", Message: "scales are given, but no product is computed in bytes",
			Helps: []string{"ask for it with --precision int8 (Options.Precision) or @precision(int8)"}}}
	}
	return ds.Sort().Err()
}

// savedPrecision takes over the precision of a compiled file, whose products are what
// they are: another one cannot be asked for.
func (o *Options) savedPrecision(file *bytecode.File) error {
	saved := Precision("")
	for _, p := range file.Meta {
		if p.Key == precisionKey {
			saved = Precision(p.Value)
		}
	}
	switch {
	case o.Precision != "" && o.Precision != saved:
		has := "as its source writes them"
		if saved != "" {
			has = "at precision " + string(saved)
		}
		return Diagnostics{{Code: "wrong-arguments", Message: fmt.Sprintf("precision %s is asked for, but the file was compiled with its products %s", o.Precision, has),
			Helps: []string{"build it again with --precision " + string(o.Precision)}}}
	case o.Scales != nil:
		return Diagnostics{{Code: "wrong-arguments", Message: "scales are given, but the file is compiled already",
			Helps: []string{"build it again with --scales"}}}
	}
	o.Precision = saved
	return nil
}

// precisionKey is where the precision stands among the facts of a compiled file.
const precisionKey = "precision"

// ProductTable is a table of the products of a graph: what computes each once the pass
// precision has run, where it is written, the dtype of each one's operands as
// they are written and as they are computed, its name in a file of scales, and why.
func (r *Record) ProductTable() string {
	return align("lllllll", func(row func(...string)) {
		row("product", "operator", "place", "name", "written", "computed", "why")
		for _, p := range r.Products {
			row(p.Value, p.Op, placeText(p.Pos), p.Key, p.From.String(), p.To.String(), p.Why)
		}
	})
}

// showPrecision lists the products of each graph.
func (c *compilation) showPrecision() (string, error) {
	return c.showEach(func(w io.Writer, f *ir.Func) error {
		o, err := c.optimise(f)
		if err != nil {
			return err
		}
		_, err = io.WriteString(w, "precision @"+o.fn.Name+"\n"+o.record.ProductTable())
		return err
	})
}
