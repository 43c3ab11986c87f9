package golden

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/npulang/npu"
)

// An outputKind is a section that the compiler fills, and how.
type outputKind struct {
	name string
	make func(*file) (string, error)
}

// output finds the kind of a section; nil if there is none of that name.
func output(name string) *outputKind {
	for i := range outputKinds {
		if outputKinds[i].name == name {
			return &outputKinds[i]
		}
	}
	if slices.Contains(npu.StageNames(), name) {
		return &outputKind{name, func(f *file) (string, error) { return emit(f, name) }}
	}
	return nil
}

// outputKinds are the sections beside the stages of npu emit.
var outputKinds = []outputKind{
	{"errors", func(f *file) (string, error) { return render(npu.Check(f.source(), f.options.Options)), nil }},
	{"json", errorsAsJSON},
	{"run", run},
	{"test", test},
	{"fmt", format},
	{"rewrites", records((*npu.Record).Trace)},
	{"fusion", records(func(r *npu.Record) string { return r.FusionTable(false) })},
}

// render is what a person sees; nothing to see is said in so many words.
func render(ds npu.Diagnostics) string {
	if len(ds) == 0 {
		return "none\n"
	}
	var b strings.Builder
	_ = ds.Render(&b, false) // a Builder does not fail
	return b.String()
}

// emit shows a stage, or why a program that checks has none. The mistakes of
// one that does not check are asked for by an errors section.
func emit(f *file, stage string) (string, error) {
	text, _, err := npu.Emit(f.source(), stage, f.options.Options)
	if err != nil && npu.Check(f.source(), f.options.Options).Err() == nil {
		return render(diagnostics(err)), nil
	}
	return text, err
}

func errorsAsJSON(f *file) (string, error) {
	var b bytes.Buffer
	err := npu.Check(f.source(), f.options.Options).WriteJSON(&b)
	return b.String(), err
}

// meant holds a failure against what the file says, lest an update blesses one.
func (f *file) meant(text string, failed bool) (string, error) {
	if failed != f.options.failing {
		return text, fmt.Errorf("failed: %v, but option: failing=%v\n%s", failed, f.options.failing, text)
	}
	return text, nil
}

// run prints warnings and outputs, or what went wrong.
func run(f *file) (string, error) {
	text, err := runOnce(f)
	if err != nil {
		return f.meant(render(diagnostics(err)), true)
	}
	return f.meant(text, false)
}

func runOnce(f *file) (string, error) {
	p, err := npu.Compile(f.source(), f.options.Options)
	if err != nil {
		return "", err
	}
	defer p.Close()
	inputs, err := p.ReadInputs(f.givenInputs(p), npu.InputOptions{Seed: f.options.Seed, Dims: f.options.Dims})
	if err != nil {
		return "", err
	}
	outputs, err := p.Run(context.Background(), inputs)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if warnings := p.Warnings(); len(warnings) > 0 {
		b.WriteString(render(warnings) + "\n")
	}
	for _, port := range p.Outputs() {
		fmt.Fprintf(&b, "%s: %s\n", port.Name, npu.FormatTensor(outputs[port.Name]))
	}
	return b.String(), nil
}

// givenInputs are those of the options, and random ones for what has no default.
func (f *file) givenInputs(p *npu.Program) map[string]string {
	given := maps.Clone(f.options.inputs)
	for _, port := range p.Inputs() {
		if _, ok := given[port.Name]; !ok && !port.Optional && !f.options.onlyGiven {
			given[port.Name] = "random"
		}
	}
	return given
}

// diagnostics brings any error into a list.
func diagnostics(err error) npu.Diagnostics {
	if ds, ok := err.(npu.Diagnostics); ok {
		return ds
	}
	return npu.Diagnostics{npu.AsDiagnostic(err)}
}

// test prints the result of each test block, at both levels, without times.
func test(f *file) (string, error) {
	levels := []npu.Level{npu.O0, npu.O2}
	if f.options.Level != "" {
		levels = []npu.Level{f.options.Level}
	}
	results, warnings, err := npu.Test(f.source(), npu.TestOptions{Options: f.options.Options, Levels: levels})
	if err != nil {
		return f.meant(render(diagnostics(err)), true)
	}
	failed := false
	var b strings.Builder
	if len(warnings) > 0 {
		b.WriteString(render(warnings))
	}
	for r := range results {
		word := "ok  "
		if r.Failed() {
			word, failed = "FAIL", true
		}
		fmt.Fprintf(&b, "%s  %s  %s\n", word, r.Level, r.Name)
		if len(r.Diagnostics) > 0 {
			b.WriteString(render(r.Diagnostics))
		}
	}
	if b.Len() == 0 {
		return "", errors.New("there are no tests")
	}
	return f.meant(b.String(), failed)
}

// format lays the script out, and sees to it that doing so twice changes
// nothing.
func format(f *file) (string, error) {
	once, err := npu.Format(f.input, f.text())
	if err != nil {
		return render(diagnostics(err)), nil
	}
	twice, err := npu.Format(f.input, once)
	if err != nil {
		return "", err
	}
	if once != twice {
		return "", fmt.Errorf("formatting twice gives another result:\n%s", twice)
	}
	return once, nil
}

// records shows what was done to each graph.
func records(show func(*npu.Record) string) func(*file) (string, error) {
	return func(f *file) (string, error) {
		graphs := f.graphs()
		var b strings.Builder
		for i, graph := range graphs {
			r, err := f.trace(graph)
			if err != nil {
				return "", err
			}
			if i > 0 {
				b.WriteByte('\n')
			}
			if text := show(r); text != "" {
				b.WriteString(text)
			} else {
				b.WriteString("none\n")
			}
		}
		return b.String(), nil
	}
}
