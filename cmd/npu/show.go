package main

import (
	"fmt"
	"io"
	"os"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/npulang/npu"
	"github.com/rogpeppe/go-internal/diff"
)

// checkCmd is npu check.
type checkCmd struct {
	sourceFlags
}

// Run reports the mistakes and warnings of a program.
func (k *checkCmd) Run(std streams, c *cli) error {
	opts, err := k.options()
	if err != nil {
		return err
	}
	ds := npu.Check(k.source(std), opts)
	if ds.Err() != nil {
		return ds.Err()
	}
	c.show(ds, std)
	return nil
}

// emitCmd is npu emit.
type emitCmd struct {
	Stage string `arg:"" help:"Stage to show: ${stages}."`
	sourceFlags
	dimFlags
	Locations bool `help:"Show where each value comes from."`
}

// Run prints one stage.
func (e *emitCmd) Run(std streams, c *cli) error {
	opts, err := e.options()
	if err != nil {
		return err
	}
	if opts.Dims, err = e.dims(); err != nil {
		return err
	}
	opts.Locations = e.Locations
	if err := npu.CheckStage(e.Stage); err != nil {
		return usageError{err}
	}
	text, warnings, err := npu.Emit(e.source(std), e.Stage, opts)
	if err != nil {
		return err
	}
	c.show(warnings, std)
	_, err = io.WriteString(std.out, text)
	return err
}

// opsCmd is npu ops.
type opsCmd struct {
	Name     string `arg:"" optional:"" help:"Operator to describe; default: list all."`
	Markdown bool   `help:"Print the list as a Markdown table."`
}

// Run lists the operators by group, or describes one.
func (o *opsCmd) Run(std streams) error {
	if o.Name != "" {
		text, err := npu.OpReference(o.Name)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(std.out, text)
		return err
	}
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Options = table.OptionsNoBordersAndSeparators
	t.AppendHeader(table.Row{"group", "operator", "unit", "what it computes"})
	for _, op := range npu.Ops() {
		t.AppendRow(table.Row{op.Group, op.Signature, op.Unit, op.Doc})
	}
	text := t.Render()
	if o.Markdown {
		text = t.RenderMarkdown()
	}
	_, err := fmt.Fprintln(std.out, text)
	return err
}

// docCmd is npu doc.
type docCmd struct {
	Module string `arg:"" optional:"" help:"Library module (nn, act, loss, math), MODULE.NAME, or a script; default: list the modules."`
}

// Run prints documentation.
func (d *docCmd) Run(std streams) error {
	text, err := npu.Doc(d.Module)
	if err != nil {
		return err
	}
	_, err = io.WriteString(std.out, text)
	return err
}

// explainCmd is npu explain.
type explainCmd struct {
	Code string `arg:"" optional:"" help:"Code of a diagnostic, as shape-mismatch; default: list all."`
}

// Run prints the long form of a code.
func (e *explainCmd) Run(std streams) error {
	text, err := npu.Explain(e.Code)
	if err != nil {
		return err
	}
	_, err = io.WriteString(std.out, text)
	return err
}

// versionCmd is npu version.
type versionCmd struct{}

// Run prints the version.
func (*versionCmd) Run(std streams) error {
	_, err := fmt.Fprintln(std.out, "npu", npu.Version())
	return err
}

// buildCmd is npu build.
type buildCmd struct {
	sourceFlags
	weightFlags
	Output string `short:"o" help:"File to write; default: the script's name with .npuc." placeholder:"FILE"`
}

// Run writes a compiled program.
func (b *buildCmd) Run(std streams, c *cli) error {
	opts, err := b.options()
	if err != nil {
		return err
	}
	if err := b.add(&opts); err != nil {
		return err
	}
	if b.Output == "" {
		if b.File == "-" {
			return usage("a program from standard input needs --output FILE")
		}
		b.Output = withExtension(b.File, ".npuc")
	}
	p, err := npu.Compile(b.source(std), opts)
	if err != nil {
		return err
	}
	defer p.Close()
	c.show(p.Warnings(), std)
	return p.Save(b.Output)
}

// fmtCmd is npu fmt.
type fmtCmd struct {
	Files []string `arg:"" help:"Scripts; - is standard input."`
	Write bool     `short:"w" help:"Write the result back to the file instead of printing it."`
	Diff  bool     `short:"d" help:"Print a diff instead of the result."`
}

// Run formats each script; all that can be are, also when one cannot.
func (f *fmtCmd) Run(std streams, c *cli) error {
	failed := false
	for _, name := range f.Files {
		if err := f.one(name, std); err != nil {
			c.report(err, std)
			failed = true
		}
	}
	if failed {
		return errFailed
	}
	return nil
}

func (f *fmtCmd) one(name string, std streams) error {
	text, err := readText(name, std)
	if err != nil {
		return err
	}
	formatted, err := npu.Format(name, text)
	switch {
	case err != nil:
		return err
	case f.Diff:
		_, err = std.out.Write(diff.Diff(name+" (before)", []byte(text), name, []byte(formatted)))
	case f.Write && name != "-":
		if formatted == text {
			return nil
		}
		return npu.WriteFile(name, []byte(formatted))
	default:
		_, err = io.WriteString(std.out, formatted)
	}
	return err
}

func readText(name string, std streams) (string, error) {
	if name == "-" {
		b, err := io.ReadAll(std.in)
		return string(b), err
	}
	b, err := os.ReadFile(name)
	return string(b), err
}
