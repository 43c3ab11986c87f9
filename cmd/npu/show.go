package main

import (
	"fmt"
	"io"
	"runtime"

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
