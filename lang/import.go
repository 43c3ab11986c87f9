package lang

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/lang/syntax"
)

// A file is a parsed source with its declarations.
type file struct {
	key     string // identity: a path, or std:name
	name    string // base name without .npu
	src     *diag.Source
	tree    *syntax.File
	space   *space
	library bool
	imports map[*syntax.ImportDecl]*file
	broken  map[string]bool // names whose declarations have a syntax error
	state   evalState       // of its imports
}

const (
	mainFile  = "" // key of the file that the user named
	stdPrefix = "std:"
	extension = ".npu"
	maxFiles  = 1_000
)

// addFile enters a parsed source. cracked says that it has syntax errors.
func (e *elaborator) addFile(key string, src *diag.Source, tree *syntax.File, library, cracked bool) *file {
	f := &file{key: key, src: src, tree: tree, library: library, imports: map[*syntax.ImportDecl]*file{}}
	f.name = strings.TrimSuffix(path.Base(strings.ReplaceAll(src.Name, "\\", "/")), extension)
	f.space = &space{file: f, decls: map[string]*declared{}}
	if key != mainFile {
		f.space.path = f.name
	}
	e.files[f.key] = f
	e.library[src] = library
	e.declare(f.space, tree.Decls)
	if cracked {
		f.broken = brokenNames(src.Text)
	}
	return f
}

// userFiles lists the files that are not the library's, the main one first.
func (e *elaborator) userFiles() []*file {
	var fs []*file
	for _, f := range e.files {
		if !f.library {
			fs = append(fs, f)
		}
	}
	slices.SortFunc(fs, func(a, b *file) int { return strings.Compare(a.key, b.key) })
	return fs
}

var declHead = regexp.MustCompile(`(?m)^[ \t]*(?:(?:fn|graph|module|param|const)[ \t]+([\pL_][\pL\d_]*)|([\pL_][\pL\d_]*)[ \t]*=[^=])`)

// brokenNames guesses what a file with syntax errors meant to declare: uses of
// those names are not mistakes of their own.
func brokenNames(text string) map[string]bool {
	names := map[string]bool{}
	for _, m := range declHead.FindAllStringSubmatch(text, -1) {
		names[m[1]], names[m[2]] = true, true
	}
	return names
}

// importName is the name that an import brings in.
func importName(d *syntax.ImportDecl) syntax.Ident {
	if d.As.Name != "" {
		return d.As
	}
	id := syntax.Ident{Name: strings.TrimSuffix(path.Base(strings.ReplaceAll(d.Path.Value, "\\", "/")), extension)}
	id.At = d.Path.At
	return id
}

// loadImports parses what a file imports, and what that imports.
func (e *elaborator) loadImports(f *file) {
	f.state = running
	for _, d := range f.tree.Decls {
		if imp, ok := d.(*syntax.ImportDecl); ok {
			if g := e.importFile(f, imp); g != nil {
				f.imports[imp] = g
			}
		}
	}
	f.state = done
}

// importFile finds or opens what one import names. A file that is still loading
// its own imports has come back to itself.
func (e *elaborator) importFile(from *file, d *syntax.ImportDecl) *file {
	key, std, ok := e.importKey(from, d)
	if !ok {
		return nil
	}
	f := e.files[key]
	if f == nil {
		f = e.openFile(from, d, key, std)
	}
	if f == nil {
		return nil
	}
	switch f.state {
	case running:
		diagnosis := e.badImport(d, "%s is imported by a file that it imports itself", d.Path.Value)
		note(diagnosis, "files that import each other have no order in which they can be read")
		return nil
	case unseen:
		e.loadImports(f)
	}
	return f
}

func (e *elaborator) badImport(d *syntax.ImportDecl, format string, args ...any) *diag.Diagnostic {
	return e.errorf("bad-import", d.Path.At, format, args...)
}

// importKey resolves the path of an import.
func (e *elaborator) importKey(from *file, d *syntax.ImportDecl) (key string, std, ok bool) {
	name := d.Path.Value
	switch {
	case name == "" || strings.ContainsAny(name, "\x00\\"):
		help(e.badImport(d, "%q is not the name of a file", name), "a path has slashes: \"./layers.npu\"")
		return "", false, false
	case path.IsAbs(name) || len(name) > 1 && name[1] == ':':
		note(e.badImport(d, "%s is an absolute path", name), "an import is a module of the standard library, or a path relative to this file")
		return "", false, false
	case !strings.HasPrefix(name, "./") && !strings.HasPrefix(name, "../"):
		return stdPrefix + name, true, true
	case from.library:
		return stdPrefix + strings.TrimSuffix(path.Join(path.Dir(strings.TrimPrefix(from.key, stdPrefix)), name), extension), true, true
	}
	target := beside(from.src.Name, name)
	if !e.below(target) {
		note(e.badImport(d, "%s lies outside of the root folder", name), "the root is the folder of the script that the command line names, or --root")
		return "", false, false
	}
	if main := e.files[mainFile]; path.Clean(strings.ReplaceAll(main.src.Name, "\\", "/")) == target {
		return mainFile, false, true
	}
	return target, false, true
}

// below reports whether a path lies in the root folder.
func (e *elaborator) below(target string) bool {
	root := e.opts.Root
	if root == "" {
		root = path.Dir(strings.ReplaceAll(e.files[mainFile].src.Name, "\\", "/"))
	}
	root, target = filepath.FromSlash(root), filepath.FromSlash(target)
	if filepath.IsAbs(root) != filepath.IsAbs(target) {
		var err1, err2 error
		root, err1 = filepath.Abs(root)
		target, err2 = filepath.Abs(target)
		if err1 != nil || err2 != nil {
			return false
		}
	}
	rel, err := filepath.Rel(root, target)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// openFile reads and parses a file that is imported for the first time.
func (e *elaborator) openFile(from *file, d *syntax.ImportDecl, key string, std bool) *file {
	if len(e.files) >= maxFiles {
		e.stop(d.Path.At, "the program consists of more than %d files", maxFiles)
		return nil
	}
	data, err := e.readSource(key, std)
	if err != nil {
		e.cannotRead(d, std, err)
		return nil
	}
	name := key
	if std {
		name = strings.TrimPrefix(key, stdPrefix) + extension
	}
	src := diag.NewSource(name, string(data))
	tree, diags := syntax.Parse(src)
	e.diags = append(e.diags, diags...)
	if tree == nil {
		return nil
	}
	return e.addFile(key, src, tree, std, diags.Err() != nil)
}

var errNoFiles = errors.New("no files are open to this script")

// readSource reads the text of a file; nothing but Options opens files.
func (e *elaborator) readSource(key string, std bool) ([]byte, error) {
	if !std {
		if e.opts.ReadFile == nil {
			return nil, errNoFiles
		}
		return e.opts.ReadFile(key)
	}
	name := strings.TrimPrefix(key, stdPrefix) + extension
	if e.opts.Stdlib == nil || !fs.ValidPath(name) {
		return nil, fs.ErrNotExist
	}
	return fs.ReadFile(e.opts.Stdlib, name)
}

// cannotRead reports a file that is not there, or that nobody may read.
func (e *elaborator) cannotRead(d *syntax.ImportDecl, std bool, err error) {
	name := d.Path.Value
	if !std {
		diagnosis := e.badImport(d, "%s cannot be read", name)
		diagnosis.Cause = err
		note(diagnosis, "%s", reason(err))
		if !strings.HasSuffix(name, extension) && errors.Is(err, fs.ErrNotExist) {
			help(diagnosis, "a file is named with its ending: \"%s%s\"", name, extension)
		}
		return
	}
	diagnosis := e.badImport(d, "the standard library has no module %s", name)
	suggest(diagnosis, name, e.libraryNames())
	if len(diagnosis.Helps) == 0 {
		help(diagnosis, "a file of your own is imported by a relative path: \"./%s%s\"", strings.TrimSuffix(name, extension), extension)
	}
}

// reason is an error without the path that it repeats.
func reason(err error) string {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err.Error()
	}
	return err.Error()
}

// libraryNames lists the modules of the standard library, for did-you-mean.
func (e *elaborator) libraryNames() []string {
	if e.opts.Stdlib == nil {
		return nil
	}
	entries, _ := fs.ReadDir(e.opts.Stdlib, ".")
	var names []string
	for _, en := range entries {
		if n, ok := strings.CutSuffix(en.Name(), extension); ok {
			names = append(names, n)
		}
	}
	return names
}

// importedFile is the value of an import's name.
func (e *elaborator) importedFile(from *file, d *syntax.ImportDecl) value {
	if f := from.imports[d]; f != nil {
		return fileVal{f}
	}
	return poison{} // reported when it was loaded
}

// imported is file.name.
func (e *elaborator) imported(v fileVal, name syntax.Ident) value {
	d := v.file.space.decls[name.Name]
	if d != nil {
		if _, isImport := d.decl.(*syntax.ImportDecl); !isImport {
			return e.declaredValue(v.file.space, d)
		}
	}
	if v.file.broken[name.Name] || v.file.broken != nil && len(v.file.space.order) == 0 {
		return poison{} // its syntax is the mistake
	}
	diagnosis := e.errorf("unknown-name", name.At, "%s has no %s", v.file.name, name.Name)
	diagnosis.Label = "not declared in " + v.file.src.Name
	suggest(diagnosis, name.Name, v.file.space.exported())
	return poison{}
}

// exported lists what an importing file may name.
func (s *space) exported() []string {
	var names []string
	for _, d := range s.order {
		if _, isImport := d.decl.(*syntax.ImportDecl); !isImport {
			names = append(names, d.name)
		}
	}
	return names
}

// importedAs is the full name, nn.Linear, of what an import of the file declares
// as name; empty if none does.
func (f *file) importedAs(name string) string {
	for _, d := range f.space.order {
		imp, ok := d.decl.(*syntax.ImportDecl)
		if ok && f.imports[imp] != nil && slices.Contains(f.imports[imp].space.exported(), name) {
			return d.name + "." + name
		}
	}
	return ""
}
