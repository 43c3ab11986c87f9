package main

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/npulang/npu"
)

// checkCmd is npu check.
type checkCmd struct {
	sourceFlags
}

// Run reports the mistakes and warnings of a program.
func (k *checkCmd) Run(std streams, c *cli) error {
	std.progress.start("checking " + k.File)
	ds := npu.Check(k.source(std), npu.Options{Root: k.Root})
	if ds.Err() != nil {
		return ds.Err()
	}
	c.show(ds, std)
	return nil
}

// emitCmd is npu emit.
type emitCmd struct {
	Stage string `arg:"" name:"STAGE" help:"Stage to show: ${stages}."`
	sourceFlags
	graphFlags
	dimFlags
	Locations bool `help:"Show where each value comes from."`
}

// Run prints one stage.
func (e *emitCmd) Run(std streams, c *cli) error {
	opts := npu.Options{Root: e.Root, Locations: e.Locations}
	if err := e.add(&opts); err != nil {
		return err
	}
	dims, err := e.dims()
	if err != nil {
		return err
	}
	opts.Dims = dims
	if err := npu.CheckStage(e.Stage); err != nil {
		return wrongStage(err)
	}
	std.progress.start("compiling " + e.File)
	text, warnings, err := npu.Emit(e.source(std), e.Stage, opts)
	if err != nil {
		return err
	}
	c.show(warnings, std)
	_, err = io.WriteString(std.out, text)
	return err
}

// wrongStage is an unknown stage as an error of usage.
func wrongStage(err error) error {
	d := npu.AsDiagnostic(err)
	return usageError{errors.New(strings.Join(append([]string{d.Message}, d.Helps...), ", ")),
		"The stages are " + strings.Join(npu.StageNames(), " ") + "."}
}

// opsCmd is npu ops.
type opsCmd struct {
	Name     string `arg:"" name:"NAME" optional:"" help:"Operator to describe; default: list all."`
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
	text := listOps(npu.Ops())
	if o.Markdown {
		text = markdownOps(npu.Ops())
	}
	_, err := io.WriteString(std.out, text)
	return err
}

// docCmd is npu doc.
type docCmd struct {
	Name string `arg:"" name:"NAME" optional:"" help:"Module of the library (nn), a declaration in it (nn.Linear), or a script; default: list the modules."`
}

// Run prints documentation.
func (d *docCmd) Run(std streams) error {
	text, err := npu.Doc(d.Name)
	if d.Name == "-" {
		text, err = npu.DocOf(npu.Reader(stdin, std.in))
	}
	if err != nil {
		return err
	}
	_, err = io.WriteString(std.out, text)
	return err
}

// explainCmd is npu explain.
type explainCmd struct {
	Code string `arg:"" name:"CODE" optional:"" help:"Code of a diagnostic, as shape-mismatch; default: list all."`
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
	_, err := fmt.Fprintln(std.out, "npu", npu.Version(), runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH)
	return err
}
