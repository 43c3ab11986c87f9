package golden

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/npulang/npu"
	"golang.org/x/tools/txtar"
)

// A file is one golden file, read.
type file struct {
	path       string // golden/..., slashes, as commands name it
	name       string // the path without the ending: lang/loop/for-carry
	archive    *txtar.Archive
	prose      string
	input      string // name of the section that is the program
	files      fstest.MapFS
	options    options
	directives []directive
}

// options are the lines of the prose that begin with "option:".
type options struct {
	npu.Options
	inputs    map[string]string
	checkDims map[string]int64 // sizes for the comparison of numbers, in the place of those for listings
	onlyGiven bool             // inputs that are not given are not made up
	failing   bool             // the run, or a test, fails and is meant to
}

// goldenFiles reads every file below this folder.
func goldenFiles(t *testing.T) []*file {
	t.Helper()
	var files []*file
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".txtar" {
			return err
		}
		f, err := readGolden(filepath.ToSlash(path))
		if err != nil {
			t.Errorf("golden/%s: %v", filepath.ToSlash(path), err)
			return nil
		}
		files = append(files, f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func readGolden(path string) (*file, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parseGolden(path, text)
}

// header is what a section must look like; txtar is more lenient.
var header = regexp.MustCompile(`^-- ([a-z0-9][a-z0-9_./-]*) --$`)

func parseGolden(path string, text []byte) (*file, error) {
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "-- ") && strings.HasSuffix(line, " --") && !header.MatchString(line) {
			return nil, fmt.Errorf("the header %q is not of the form -- NAME --", line)
		}
	}
	f := &file{path: "golden/" + path, name: strings.TrimSuffix(path, ".txtar"), archive: txtar.Parse(text), files: fstest.MapFS{}}
	if err := f.readProse(); err != nil {
		return nil, err
	}
	return f, f.readSections()
}

// readProse parts the comment into prose and options.
func (f *file) readProse() error {
	f.options = options{Options: npu.Options{Verify: true, Kernels: npu.KernelsReference, Dims: map[string]int64{}, MaxDims: map[string]int64{}, RandomWeights: true}, inputs: map[string]string{}, checkDims: map[string]int64{}}
	var prose strings.Builder
	for line := range strings.Lines(string(f.archive.Comment)) {
		text, ok := strings.CutPrefix(line, "option:")
		if !ok {
			prose.WriteString(line)
			continue
		}
		name, value, _ := strings.Cut(strings.TrimSpace(text), "=")
		set := optionTable[name]
		if set == nil {
			return fmt.Errorf("unknown option %s", name)
		}
		if err := set(&f.options, value); err != nil {
			return fmt.Errorf("option %s=%s: %v", name, value, err)
		}
	}
	f.prose = strings.TrimSpace(prose.String())
	if f.prose == "" {
		return errors.New("there is no prose that says what to look at")
	}
	return nil
}

// optionTable has a row for each option.
var optionTable = map[string]func(*options, string) error{
	"graph": func(o *options, v string) error { o.Graph = v; return nil },
	"level": func(o *options, v string) error { o.Level = npu.Level(v); return nil },
	"fusion": func(o *options, v string) (err error) {
		o.Fusion, o.Switches, err = npu.ParseFusion(v)
		return err
	},
	"passes":      func(o *options, v string) error { o.Passes = strings.Split(v, ","); return nil },
	"after":       func(o *options, v string) error { o.After = v; return nil },
	"fuel":        func(o *options, v string) (err error) { o.Fuel, err = strconv.Atoi(v); return err },
	"fast-math":   func(o *options, v string) error { return setBool(&o.FastMath, v) },
	"save-memory": func(o *options, v string) error { return setBool(&o.SaveMemory, v) },
	"device": func(o *options, v string) (err error) {
		o.Device, err = npu.FindDevice(v)
		return err
	},
	"precision": func(o *options, v string) error { o.Precision = npu.Precision(v); return nil },
	"scale": func(o *options, v string) error {
		scales, err := npu.ParseScales("option", v)
		if o.Scales == nil {
			o.Scales = npu.Scales{}
		}
		maps.Copy(o.Scales, scales)
		return err
	},
	"mapping":         func(o *options, v string) error { o.Mapping = npu.Mapping(v); return nil },
	"streams":         func(o *options, v string) (err error) { o.Streams, err = strconv.Atoi(v); return err },
	"stream-strategy": func(o *options, v string) error { o.StreamStrategy = npu.StreamStrategy(v); return nil },
	"memory":          func(o *options, v string) error { o.MemoryMode = npu.MemoryMode(v); return nil },
	"align":           func(o *options, v string) (err error) { o.Align, err = strconv.ParseInt(v, 10, 64); return err },
	"keep":            func(o *options, v string) error { o.Keep = append(o.Keep, v); return nil },
	"plan-effort":     func(o *options, v string) (err error) { o.PlanEffort, err = npu.ParseEffort(v); return err },
	"max":             func(o *options, v string) error { return setSize(o.MaxDims, v) },
	"locations":       func(o *options, v string) error { return setBool(&o.Locations, v) },
	"format":          func(o *options, v string) error { o.Format = npu.PictureFormat(v); return nil },
	"strict":          func(o *options, v string) error { return setBool(&o.Strict, v) },
	"random-inputs": func(o *options, v string) error {
		made := true
		err := setBool(&made, v)
		o.onlyGiven = !made
		return err
	},
	"failing":        func(o *options, v string) error { return setBool(&o.failing, v) },
	"random-weights": func(o *options, v string) error { return setBool(&o.RandomWeights, v) },
	"weights-prefix": func(o *options, v string) error { o.WeightsPrefix = v; return nil },
	"rename": func(o *options, v string) error {
		from, to, err := pair(v)
		o.Rename = append(o.Rename, npu.Rename{Old: from, New: to})
		return err
	},
	"seed": func(o *options, v string) (err error) {
		o.Seed, err = strconv.ParseUint(v, 10, 64)
		return err
	},
	"dim":       func(o *options, v string) error { return setSize(o.Dims, v) },
	"check-dim": func(o *options, v string) error { return setSize(o.checkDims, v) },
	"input": func(o *options, v string) error {
		name, value, err := pair(v)
		o.inputs[name] = value
		return err
	},
}

func setBool(b *bool, value string) (err error) {
	*b, err = strconv.ParseBool(value)
	return err
}

// setSize reads NAME=N into a map.
func setSize(sizes map[string]int64, text string) error {
	name, size, err := pair(text)
	if err != nil {
		return err
	}
	sizes[name], err = strconv.ParseInt(size, 10, 64)
	return err
}

// pair parts NAME=VALUE.
func pair(text string) (name, value string, err error) {
	name, value, ok := strings.Cut(text, "=")
	if !ok || name == "" {
		return "", "", errors.New("write NAME=VALUE")
	}
	return name, value, nil
}

// readSections sorts the sections into program, files, weights and outputs.
func (f *file) readSections() error {
	seen := map[string]bool{}
	for i, s := range f.archive.Files {
		switch {
		case seen[s.Name]:
			return fmt.Errorf("two sections are called %s", s.Name)
		case i == 0 && (strings.HasSuffix(s.Name, ".npu") || strings.HasSuffix(s.Name, ".ir")):
			f.input = s.Name
			if err := f.readDirectives(string(s.Data)); err != nil {
				return err
			}
			fallthrough
		case i > 0 && strings.Contains(s.Name, "."):
			f.files[s.Name] = &fstest.MapFile{Data: s.Data}
		case i == 0:
			return fmt.Errorf("the first section is %s, not a program (in.npu or in.ir)", s.Name)
		case s.Name == "weights":
			arrays, err := readWeights(string(s.Data))
			if err != nil {
				return err
			}
			f.options.Weights, f.options.RandomWeights = arrays, false
		case output(s.Name) == nil:
			return fmt.Errorf("unknown section %s", s.Name)
		}
		seen[s.Name] = true
	}
	if len(f.outputs()) == 0 {
		return errors.New("there is no output section")
	}
	return nil
}

// readWeights reads lines NAME DTYPE VALUES: fc.bias f32 [0.5, -1].
func readWeights(text string) (npu.Arrays, error) {
	arrays := npu.Arrays{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		parts := strings.SplitN(line, " ", 3)
		if len(parts) != 3 {
			return nil, fmt.Errorf("weights: %q: write NAME DTYPE VALUES", line)
		}
		i := slices.IndexFunc(dtypes, func(d npu.DType) bool { return d.String() == parts[1] })
		if i < 0 {
			return nil, fmt.Errorf("weights: %q: unknown dtype %s", line, parts[1])
		}
		t, err := npu.ParseTensor(parts[2], dtypes[i])
		if err != nil {
			return nil, fmt.Errorf("weights: %q: %v", line, err)
		}
		arrays[parts[0]] = t
	}
	return arrays, nil
}

var dtypes = []npu.DType{npu.F64, npu.F32, npu.F16, npu.BF16, npu.I64, npu.I32, npu.I16, npu.I8, npu.U64, npu.U32, npu.U16, npu.U8, npu.Bool}

// outputs are the sections that hold outputs, as indices.
func (f *file) outputs() []int {
	var list []int
	for i, s := range f.archive.Files {
		if i > 0 && !strings.Contains(s.Name, ".") && s.Name != "weights" {
			list = append(list, i)
		}
	}
	return list
}

// source is the program, with the files beside it.
func (f *file) source() npu.Source { return npu.FS(f.files, f.input) }

// text is the program's text.
func (f *file) text() string { return string(f.files[f.input].Data) }
