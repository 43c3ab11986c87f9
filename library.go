package npu

import (
	"io/fs"
	"os"
	"strings"

	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/lang/syntax"
	"github.com/npulang/npu/stdlib"
)

// Format prints a script in the canonical layout, comments kept.
func Format(name, content string) (string, error) {
	file, ds := syntax.Parse(diag.NewSource(name, content))
	if err := ds.Err(); err != nil {
		return "", err
	}
	return syntax.Format(file), nil
}

// Doc prints documentation: of a library module (nn), of one declaration in it
// (nn.Linear), of a script, or, for the empty name, the list of modules.
func Doc(name string) (string, error) {
	if name == "" {
		return docIndex()
	}
	module, member, _ := strings.Cut(name, ".")
	content, err := fs.ReadFile(stdlib.FS, module+".npu")
	if err != nil {
		if !strings.ContainsAny(name, "./\\") {
			return "", unknown("module", name, modules())
		}
		script, err := os.ReadFile(name)
		if err != nil {
			return "", asDiagnostics(err)
		}
		content, module, member = script, name, ""
	}
	file, ds := syntax.Parse(diag.NewSource(module, string(content)))
	if err := ds.Err(); err != nil {
		return "", err
	}
	if member != "" {
		return docMember(file, module, member)
	}
	var b strings.Builder
	for _, d := range file.Decls {
		writeDoc(&b, d, false)
	}
	return b.String(), nil
}

// modules lists the library's modules.
func modules() []string {
	files, err := fs.Glob(stdlib.FS, "*.npu")
	if err != nil {
		panic(err) // the pattern is fixed
	}
	var names []string
	for _, f := range files {
		if name := strings.TrimSuffix(f, ".npu"); !strings.HasSuffix(name, "_test") {
			names = append(names, name)
		}
	}
	return names
}

// docIndex lists the modules with the first line of their documentation.
func docIndex() (string, error) {
	var b strings.Builder
	for _, name := range modules() {
		content, err := fs.ReadFile(stdlib.FS, name+".npu")
		if err != nil {
			return "", err
		}
		head, _, _ := strings.Cut(string(content), "\n")
		b.WriteString(name + "\t" + strings.TrimSpace(strings.TrimLeft(head, "/ ")) + "\n")
	}
	return b.String(), nil
}

func docMember(file *syntax.File, module, member string) (string, error) {
	var names []string
	for _, d := range file.Decls {
		name, _ := heading(d)
		if name == member {
			var b strings.Builder
			writeDoc(&b, d, true)
			return b.String(), nil
		}
		if name != "" {
			names = append(names, name)
		}
	}
	return "", unknown("name", module+"."+member, names)
}

// writeDoc prints a declaration's head and documentation, and for a whole
// module its members too.
func writeDoc(b *strings.Builder, d syntax.Decl, whole bool) {
	name, doc := heading(d)
	if name == "" {
		return
	}
	b.WriteString(head(d) + "\n")
	for line := range strings.Lines(doc) {
		b.WriteString("    " + strings.TrimRight(line, "\n") + "\n")
	}
	b.WriteByte('\n')
	if m, ok := d.(*syntax.ModuleDecl); ok && whole {
		for _, member := range m.Members {
			writeDoc(b, member, false)
		}
	}
}

// heading is the name and documentation of what a reader may use.
func heading(d syntax.Decl) (name, doc string) {
	switch d := d.(type) {
	case *syntax.FuncDecl:
		return d.Name.Name, d.Doc
	case *syntax.ModuleDecl:
		return d.Name.Name, d.Doc
	case *syntax.ConstDecl:
		return d.Name.Name, d.Doc
	case *syntax.ParamDecl:
		return d.Name.Name, d.Doc
	}
	return "", ""
}

// head is a declaration as written, up to its body, on one line.
func head(d syntax.Decl) string {
	span := d.Span()
	text := span.Src.Text[span.Start:span.End]
	switch d := d.(type) {
	case *syntax.FuncDecl:
		text = span.Src.Text[span.Start:d.Body.Span().Start]
	case *syntax.ModuleDecl:
		text, _, _ = strings.Cut(text, "{")
	}
	return strings.Join(strings.Fields(text), " ")
}
