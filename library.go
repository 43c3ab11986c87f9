package npu

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
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
// (nn.Linear), of a script in a file, or, for the empty name, the list of
// modules.
func Doc(name string) (string, error) {
	if name == "" {
		return docIndex()
	}
	module, member, _ := strings.Cut(name, ".")
	content, err := fs.ReadFile(stdlib.FS, module+".npu")
	switch {
	case err == nil && slices.Contains(modules(), module):
		return doc(diag.NewSource(module+".npu", string(content)), module, member)
	case strings.ContainsAny(name, "./\\"):
		return DocOf(File(name))
	}
	if _, err := os.Stat(name); err == nil {
		return DocOf(File(name))
	}
	err = unknown("module", name, modules())
	if places := declaring(name); places != nil {
		d := AsDiagnostic(err)
		d.Notes, d.Helps = nil, []string{"did you mean " + strings.Join(places, ", ") + "?"}
	}
	return "", err
}

// declaring lists the declarations of the library that have a name: nn.Linear.
func declaring(name string) []string {
	var places []string
	for _, module := range modules() {
		content, err := fs.ReadFile(stdlib.FS, module+".npu")
		if err != nil {
			continue
		}
		file, _ := syntax.Parse(diag.NewSource(module+".npu", string(content)))
		for _, d := range file.Decls {
			if found, _ := heading(d); found == name && name != "" {
				places = append(places, module+"."+name)
			}
		}
	}
	return places
}

// DocOf prints the documentation of a script.
func DocOf(src Source) (string, error) {
	t, err := src.open()
	if err != nil {
		return "", asDiagnostics(err)
	}
	content, err := t.script()
	if err != nil {
		return "", err
	}
	return doc(diag.NewSource(t.name, content), t.name, "")
}

// doc prints what a file's comments say on all it declares, or on one of them.
func doc(src *diag.Source, module, member string) (string, error) {
	file, ds := syntax.Parse(src)
	if err := ds.Err(); err != nil {
		return "", err
	}
	if member != "" {
		return docMember(file, module, member)
	}
	var b strings.Builder
	b.WriteString(opening(src.Text))
	for _, d := range file.Decls {
		writeDoc(&b, d, "", false)
	}
	return strings.TrimLeft(b.String(), "\n"), nil
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
		first, _, _ := strings.Cut(opening(string(content)), "\n")
		fmt.Fprintf(&b, "%-6s %s\n", name, strings.TrimPrefix(first, name+".npu: "))
	}
	return b.String(), nil
}

// opening is the comment that a script begins with, without its slashes.
func opening(text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		rest, ok := strings.CutPrefix(line, "//")
		if !ok || strings.HasPrefix(rest, "/") {
			break
		}
		b.WriteString(strings.TrimSpace(rest) + "\n")
	}
	return b.String()
}

func docMember(file *syntax.File, module, member string) (string, error) {
	var names []string
	for _, d := range file.Decls {
		name, _ := heading(d)
		if name == member {
			var b strings.Builder
			writeDoc(&b, d, "", true)
			return strings.TrimLeft(b.String(), "\n"), nil
		}
		if name != "" {
			names = append(names, name)
		}
	}
	err := unknown("name", member, names).(Diagnostics)
	err[0].Subject = module
	return "", err
}

// writeDoc prints a declaration's head and documentation after an empty line,
// and for a whole module the parameters and functions in it too.
func writeDoc(b *strings.Builder, d syntax.Decl, indent string, whole bool) {
	name, doc := heading(d)
	if _, isConst := d.(*syntax.ConstDecl); name == "" || isConst && doc == "" {
		return
	}
	b.WriteString("\n" + head(d, indent) + "\n")
	for line := range strings.Lines(doc) {
		b.WriteString(strings.TrimRight(indent+"    "+line, " \n") + "\n")
	}
	if m, ok := d.(*syntax.ModuleDecl); ok && whole {
		for _, member := range m.Members {
			writeDoc(b, member, "    ", false)
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

// head is a declaration as written, up to its body: on one line if that is not
// too long, else in the lines of the script.
func head(d syntax.Decl, indent string) string {
	span := d.Span()
	text := span.Src.Text[span.Start:span.End]
	switch d := d.(type) {
	case *syntax.FuncDecl:
		text = span.Src.Text[span.Start:d.Body.Span().Start]
	case *syntax.ModuleDecl:
		text, _, _ = strings.Cut(text, "{")
	}
	line := strings.Join(strings.Fields(text), " ")
	line = strings.NewReplacer("( ", "(", ", )", ")", " )", ")").Replace(line)
	if len(indent)+len(line) <= docWidth {
		return indent + line
	}
	margin := strings.Repeat(" ", span.Loc().Col-1)
	var lines []string
	for l := range strings.Lines(text) {
		lines = append(lines, indent+strings.TrimPrefix(strings.TrimRight(l, " \r\n"), margin))
	}
	return strings.Join(lines, "\n")
}

// docWidth is how wide the head of a declaration may be on one line.
const docWidth = 100
