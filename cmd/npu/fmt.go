package main

import (
	"io"

	"github.com/npulang/npu"
	"github.com/rogpeppe/go-internal/diff"
)

// fmtCmd is npu fmt.
type fmtCmd struct {
	Files []string `arg:"" name:"FILE" help:"Scripts; - is standard input."`
	Write bool     `short:"w" help:"Write the result back to the file instead of printing it."`
	Diff  bool     `short:"d" help:"Print what changes instead of the result."`
}

// Run formats each script; all that can be are, also when one cannot.
func (f *fmtCmd) Run(std streams, c *cli) error {
	for _, name := range f.Files {
		if f.Write && name == "-" {
			return usage("-w cannot write back to standard input")
		}
	}
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
	text, err := npu.Content(sourceOf(name, std))
	if err != nil {
		return err
	}
	if name == "-" {
		name = stdin
	}
	formatted, err := npu.Format(name, text)
	if err != nil {
		return err
	}
	if f.Diff {
		_, err = std.out.Write(diff.Diff(name, []byte(text), name+" (formatted)", []byte(formatted)))
	} else if !f.Write {
		_, err = io.WriteString(std.out, formatted)
	}
	if err != nil || !f.Write || formatted == text {
		return err
	}
	return npu.WriteFile(name, []byte(formatted))
}
