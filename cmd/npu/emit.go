package main

import (
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/npulang/npu"
)

// emitCmd is npu emit.
type emitCmd struct {
	Stage string `arg:"" name:"STAGE" help:"Stage to show: ${stages}. May be left out with --after, --passes or --fuel: the graph after them."`
	File  string `arg:"" name:"FILE" optional:"" help:"Script (.npu), IR text (.ir) or compiled program (.npuc); - is standard input."`
	Root  string `help:"Folder that imports may not leave; default: the folder of FILE." placeholder:"DIR"`
	graphFlags
	dimFlags
	Locations      bool   `help:"Show where each value comes from."`
	Format         string `help:"Language of a picture: of the stage graph dot (default), for Graphviz, or svg; of memory svg." placeholder:"dot|svg"`
	optimiserFlags `group:"Optimiser:"`
	planFlags      `group:"Plan:"`
	pipelineFlags  `group:"Passes:"`
	Stats          bool `group:"Passes:" help:"Tell on standard error what each pass did, and how long it took."`
	Trace          bool `group:"Passes:" help:"List on standard error each rewrite: pass, rule, value, place."`
}

// Run prints one stage.
func (e *emitCmd) Run(std streams, c *cli) error {
	if err := e.chooseStage(); err != nil {
		return err
	}
	opts, err := e.options()
	if err != nil {
		return err
	}
	var records []*npu.Record
	opts.Recorded = func(r *npu.Record) { records = append(records, r) }
	std.progress.start("compiling " + e.File)
	text, warnings, err := npu.Emit(sourceOf(e.File, std), e.Stage, opts)
	if err == nil {
		c.show(warnings, std)
	}
	std.progress.stop()
	return errors.Join(err, e.tell(records, std.err), writeIf(err == nil, std.out, text))
}

// chooseStage fills in what was left out, and checks the stage.
func (e *emitCmd) chooseStage() error {
	if e.File == "" {
		if !e.pipelineFlags.given() {
			return usageError{errors.New(`expected "<FILE>"`), `Run "npu emit --help" for what it takes.`}
		}
		e.Stage, e.File = "fused", e.Stage
	}
	if err := npu.CheckStage(e.Stage); err != nil {
		return wrongStage(err)
	}
	return e.checkFormat()
}

// checkFormat refuses a format that does not exist, or of a stage that has none.
func (e *emitCmd) checkFormat() error {
	if e.Format == "" {
		return nil
	}
	var drawn []string
	for _, s := range npu.Stages {
		switch formats := npu.Words(s.Formats); {
		case len(formats) > 0 && s.Name != e.Stage:
			drawn = append(drawn, s.Name)
		case len(formats) > 0 && !slices.Contains(formats, e.Format):
			return usage("--format %s: %s is drawn as %s", e.Format, s.Name, strings.Join(formats, " or "))
		case len(formats) > 0:
			return nil
		}
	}
	return usage("--format %s: the stages that are drawn are %s", e.Format, strings.Join(drawn, " and "))
}

func (e *emitCmd) options() (npu.Options, error) {
	opts := npu.Options{Root: e.Root, Locations: e.Locations, Format: npu.PictureFormat(e.Format)}
	err := set(&opts, e.graphFlags.add, e.optimiserFlags.add, e.planFlags.add, e.pipelineFlags.add, e.dimFlags.add)
	return opts, err
}

// tell writes what was done to each graph.
func (e *emitCmd) tell(records []*npu.Record, w io.Writer) error {
	var b strings.Builder
	for _, r := range records {
		if e.Trace && len(records) > 1 {
			b.WriteString("trace @" + r.Graph + "\n")
		}
		if e.Trace {
			b.WriteString(r.Trace())
		}
		if e.Stats {
			b.WriteString("stats @" + r.Graph + "\n" + r.Stats())
		}
	}
	return writeIf(b.Len() > 0, w, b.String())
}

func writeIf(wanted bool, w io.Writer, text string) error {
	if !wanted {
		return nil
	}
	_, err := io.WriteString(w, text)
	return err
}

// wrongStage is an unknown stage as an error of usage.
func wrongStage(err error) error {
	d := npu.AsDiagnostic(err)
	return usageError{errors.New(strings.Join(append([]string{d.Message}, d.Helps...), ", ")),
		"The stages are " + strings.Join(npu.StageNames(), " ") + "."}
}
