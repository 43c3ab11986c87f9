package npu

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/npulang/npu/codegen/bytecode"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/lang/weights"
)

// A Source is what Compile takes: a File, a Reader, a Script, a file of an FS,
// IRText, or a *Graph. The content tells a script, IR text and a compiled
// program apart.
type Source interface{ open() (*text, error) }

// A text is an open source: a script or IR text, a compiled program, or a
// graph that was built in Go.
type text struct {
	name    string
	content string
	root    string // folder above which imports may not reach
	read    func(path string) ([]byte, error)
	mapped  bool // read is the disk: weights are mapped rather than read

	file  *bytecode.File // a compiled program
	graph *Graph
}

// maxSource bounds a script or IR text, in bytes.
const maxSource = 64 << 20

type sourceFunc func() (*text, error)

func (f sourceFunc) open() (*text, error) { return f() }

// File is a program in a file: a script (.npu), IR text (.ir) or a compiled
// program (.npuc). Imports and data are looked up beside it.
func File(path string) Source {
	return sourceFunc(func() (*text, error) {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		if err := noProgram(path); err != nil {
			return nil, err
		}
		return openStream(path, f, func(r io.Reader) (*bytecode.File, error) {
			if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
				return bytecode.Open(path) // maps it
			}
			return readCompiled(path, r)
		})
	})
}

// Reader is a program from a stream. Imports and data are looked up in the
// current folder.
func Reader(name string, r io.Reader) Source {
	return sourceFunc(func() (*text, error) {
		return openStream(name, r, func(r io.Reader) (*bytecode.File, error) { return readCompiled(name, r) })
	})
}

// noPrograms are files that people take for programs: what they are by the ends
// of their names, and what to do with them.
var noPrograms = map[string]struct{ what, help string }{
	".onnx":        {"an ONNX model", "write the network as a script, which takes weights by their names from a .safetensors file"},
	".safetensors": {"a file of weights", "give it with --weights, or name it in the script"},
	".npz":         {"a file of arrays", "give it with --weights, or an array of it with --input NAME=FILE:KEY"},
	".npy":         {"an array", "give it with --input NAME=FILE"},
}

// noProgram refuses them.
func noProgram(path string) error {
	is, ok := noPrograms[strings.ToLower(filepath.Ext(path))]
	if !ok {
		return nil
	}
	return Diagnostics{{Code: "bad-file", Loc: diag.Loc{File: path},
		Message: "the file is " + is.what + ", not a program (.npu, .ir or .npuc)", Helps: []string{is.help}}}
}

// compiledMagic begins every .npuc file.
const compiledMagic = "npuc"

// openStream tells by its first bytes what a stream is, and reads it.
func openStream(name string, r io.Reader, compiled func(io.Reader) (*bytecode.File, error)) (*text, error) {
	head := make([]byte, len(compiledMagic))
	n, err := io.ReadFull(r, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	r = io.MultiReader(bytes.NewReader(head[:n]), r)
	if string(head) == compiledMagic {
		f, err := compiled(r)
		return &text{name: name, file: f}, inFile(name, err)
	}
	b, err := readBounded(name, r, maxSource, "keep large values in a weights file or a .npy file")
	return onDisk(name, string(b)), err
}

func readCompiled(name string, r io.Reader) (*bytecode.File, error) {
	b, err := readBounded(name, r, maxStream(), streamHelp)
	if err != nil {
		return nil, err
	}
	return bytecode.Read(b)
}

// inFile adds the file's name to an error that has no place.
func inFile(name string, err error) error {
	var d *Diagnostic
	if !errors.As(err, &d) || d.Place() != (diag.Loc{}) {
		return err
	}
	placed := *d
	placed.Loc.File = name
	return Diagnostics{&placed}
}

// readBounded reads a stream that may have at most so many bytes: a device or
// a pipe may never end. The help is what to do if it has more.
func readBounded(name string, r io.Reader, most int64, help string) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(b)) > most {
		return nil, Diagnostics{{Code: "limit", Loc: diag.Loc{File: name}, Message: fmt.Sprintf("the file is larger than %d MiB", most>>20),
			Helps: []string{help}}}
	}
	return b, err
}

// streamHelp is what to do about data that are larger than a stream may be.
const streamHelp = "give the name of the file, which is not read through a pipe"

// maxStream bounds data that come as a stream, whose size is known only at the
// end: reading it may take several times as much.
func maxStream() int64 { return defaultMemory() / 4 }

// readFile reads a file of data. A pipe is bounded; a device is refused, since
// most never end.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case info.Mode()&fs.ModeCharDevice != 0:
		return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New("it is a device")}
	case info.Mode().IsRegular():
		return os.ReadFile(path) // allocates once
	}
	return readBounded(path, f, maxStream(), streamHelp)
}

// readNamed reads a file that a script names. The writer of a script is not
// always who runs it: what might keep the compiler waiting for ever is refused.
func readNamed(path string) ([]byte, error) {
	if err := regular(path); err != nil {
		return nil, err
	}
	return readFile(path)
}

// regular refuses what is neither a file nor a folder.
func regular(path string) error {
	info, err := os.Stat(path)
	if err != nil || info.IsDir() || info.Mode().IsRegular() {
		return nil // opening says what is wrong
	}
	return &fs.PathError{Op: "read", Path: path, Err: errors.New("it is no regular file, as a script's files are")}
}

// Content reads the text of a script or of IR.
func Content(src Source) (string, error) {
	t, err := src.open()
	if err != nil {
		return "", asDiagnostics(err)
	}
	return t.script()
}

// script is the text, of what has one.
func (t *text) script() (string, error) {
	d := &Diagnostic{Code: "wrong-arguments", Loc: diag.Loc{File: t.name}, Message: "a compiled program has no text"}
	switch {
	case t.file != nil:
		t.file.Close()
		d.Helps = []string{"npu emit ir " + t.name + " shows its graph"}
	case t.graph != nil:
		d.Message = "a graph that was built in Go has no text"
	default:
		return t.content, nil
	}
	return "", Diagnostics{d}
}

func onDisk(name, content string) *text {
	return &text{name: name, content: content, root: filepath.Dir(name), read: readNamed, mapped: true}
}

// Script is a script in memory. Imports and data are looked up in the current
// folder.
func Script(name, content string) Source {
	return sourceFunc(func() (*text, error) { return onDisk(name, content), nil })
}

// IRText is the text form of the IR.
func IRText(name, content string) Source { return Script(name, content) }

// FS is a program in a file system, which also serves its imports and data:
// what an embedded program wants.
func FS(fsys fs.FS, name string) Source {
	return sourceFunc(func() (*text, error) {
		read := func(p string) ([]byte, error) { return fs.ReadFile(fsys, path.Clean(filepath.ToSlash(p))) }
		b, err := read(name)
		if err != nil {
			return nil, err
		}
		if bytes.HasPrefix(b, []byte(compiledMagic)) {
			f, err := bytecode.Read(b)
			return &text{name: name, file: f}, inFile(name, err)
		}
		return &text{name: name, content: string(b), root: path.Dir(name), read: read}, nil
	})
}

func (g *Graph) open() (*text, error) {
	return &text{name: g.frames[0].Func.Name, graph: g, read: readFile, root: "."}, g.check()
}

// isIR reports whether a text is IR rather than a script: its first line that
// is no comment begins a function.
func (t *text) isIR() bool {
	rest, ok := strings.CutPrefix(t.firstLine(), "func")
	return ok && strings.HasPrefix(strings.TrimSpace(rest), "@")
}

// firstLine is the first line of a text that is no comment.
func (t *text) firstLine() string {
	for line := range strings.Lines(strings.TrimPrefix(t.content, "\ufeff")) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			return line
		}
	}
	return ""
}

// openWeights opens the weights file that a script names.
func (t *text) openWeights(path string) (*weights.Set, error) {
	if t.mapped {
		if err := regular(path); err != nil {
			return nil, err
		}
		return weights.Open(path)
	}
	b, err := t.read(path)
	if err != nil {
		return nil, err
	}
	return weights.Decode(path, b)
}

func (t *text) source() *diag.Source { return diag.NewSource(t.name, t.content) }
