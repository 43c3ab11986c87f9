package npu_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/npulang/npu"

// policy says which packages may import which: in "a < b", b may import a and
// all that a may import. NONE is the empty set.
const policy = `
NONE                                   < ir/diag, stdlib, golden/expect, lower/place, vm/kernel/isa, vm/pages
vm/kernel/isa                          < vm/kernel/bank, vm/kernel/peak, vm/kernel/vec, vm/kernel/narrow, vm/kernel/move, vm/kernel/long
vm/kernel/narrow, vm/pages             < vm/kernel/gemm
vm/kernel/narrow                       < vm/kernel/vec
vm/kernel/vec                          < vm/kernel/strip, vm/kernel/norm
vm/kernel/gemm, vm/kernel/norm         < vm/kernel/attn
vm/kernel/gemm, vm/kernel/vec          < vm/kernel/conv
vm/kernel/gemm                         < vm/kernel/wide
vm/kernel/strip, vm/kernel/attn, vm/kernel/conv, vm/kernel/move, vm/kernel/long, vm/kernel/wide < vm/kernel
ir/diag                                < ir/tensor, ir/device, lang/syntax
ir/diag, ir/tensor                     < ir, ir/mapped, vm/pool
vm/pages                               < vm/pool
ir/mapped                              < lang/weights, codegen/bytecode
ir                                     < ir/irtest, ir/gen, ir/draw, vm/kernel
ir, lang/syntax                        < passes/rewrite
ir, lang/syntax, lang/weights          < lang
passes/rewrite                         < passes
passes, ir/device                      < fusion
ir, ir/device, lower/place             < lower
lower, codegen/bytecode                < codegen
codegen/bytecode, vm/kernel, vm/pool   < vm
vm/kernel/bank, vm/kernel/peak         < .
lang, fusion, codegen, vm, stdlib, ir/draw < .
.                                      < cmd/npu/page, golden
., cmd/npu/page                        < cmd/npu
`

// TestLayers checks every import of the project against the policy.
func TestLayers(t *testing.T) {
	allowed := parsePolicy(t)
	for pkg, imports := range imports(t) {
		may, ok := allowed[pkg]
		if !ok {
			t.Errorf("package %s is not in the policy", pkg)
		}
		for _, imported := range imports {
			if !slices.Contains(may, imported) {
				t.Errorf("%s imports %s, which the policy does not allow", pkg, imported)
			}
		}
	}
}

// TestCommandSeesTheFacade: what the command line can do, a Go program can too.
func TestCommandSeesTheFacade(t *testing.T) {
	for _, imported := range imports(t)["cmd/npu"] {
		if imported != "." && imported != "cmd/npu/page" {
			t.Errorf("cmd/npu imports %s", imported)
		}
	}
}

var (
	inQuotes  = regexp.MustCompile("`([^`]+)`")
	filePath  = regexp.MustCompile(`^[a-z_0-9/]+(\.(go|md)|/[a-z_0-9]+)$`)
	folderRow = regexp.MustCompile("(?m)^\\| (`[^|]*) \\|")
)

// TestArchitecture holds ARCHITECTURE.md to naming what there is: every path of its text,
// and every package in its table, where later names of a row lie beside the first.
func TestArchitecture(t *testing.T) {
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	isThere := func(name string) bool {
		_, err := os.Stat(filepath.FromSlash(name))
		return err == nil
	}
	for _, m := range inQuotes.FindAllStringSubmatch(string(text), -1) {
		if name := m[1]; filePath.MatchString(name) && !isThere(name) {
			t.Errorf("ARCHITECTURE.md names %s, which is not there", name)
		}
	}
	named := []string{"."} // in words
	for _, row := range folderRow.FindAllStringSubmatch(string(text), -1) {
		beside := "."
		for i, m := range inQuotes.FindAllStringSubmatch(row[1], -1) {
			name := m[1]
			if i > 0 && !isThere(name) {
				name = path.Join(beside, name)
			}
			if !isThere(name) {
				t.Errorf("the table of ARCHITECTURE.md names %s, which is not there", name)
			}
			named, beside = append(named, name), path.Dir(name)
		}
	}
	for pkg := range parsePolicy(t) {
		if !slices.Contains(named, pkg) {
			t.Errorf("the table of ARCHITECTURE.md lacks %s", pkg)
		}
	}
}

// parsePolicy returns for each package what it may import, transitively.
func parsePolicy(t *testing.T) map[string][]string {
	allowed := map[string][]string{}
	for _, line := range strings.Split(strings.TrimSpace(policy), "\n") {
		left, right, ok := strings.Cut(line, "<")
		if !ok {
			t.Fatalf("policy line without <: %s", line)
		}
		var may []string
		for _, dep := range fields(left) {
			if dep == "NONE" {
				continue
			}
			if _, ok := allowed[dep]; !ok {
				t.Fatalf("policy names %s before its own line", dep)
			}
			may = append(append(may, dep), allowed[dep]...)
		}
		for _, pkg := range fields(right) {
			allowed[pkg] = append(allowed[pkg], may...)
		}
	}
	return allowed
}

func fields(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

// imports returns the project's own imports of each package, tests left out,
// with paths relative to the module.
func imports(t *testing.T) map[string][]string {
	found := map[string][]string{}
	for file, syntax := range goFiles(t, parser.ImportsOnly) {
		if strings.HasSuffix(file, "_test.go") || strings.HasPrefix(file, "examples/") || ofOther(file) {
			continue
		}
		dir := path.Dir(file)
		for _, spec := range syntax.Imports {
			if rest, ok := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), module); ok {
				found[dir] = append(found[dir], strings.TrimPrefix(cmpOr(rest, "."), "/"))
			}
		}
		if _, ok := found[dir]; !ok {
			found[dir] = nil
		}
	}
	return found
}

// others are the modules of their own in the tree.
var others = []string{"vm/kernel/asm/", "bench/"}

// ofOther reports whether a file belongs to one of them.
func ofOther(file string) bool {
	return slices.ContainsFunc(others, func(dir string) bool { return strings.HasPrefix(file, dir) })
}

func cmpOr(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// goFiles parses every Go file of the project.
func goFiles(t *testing.T, mode parser.Mode) map[string]*ast.File {
	files := map[string]*ast.File{}
	walk(t, func(file string) {
		if !strings.HasSuffix(file, ".go") {
			return
		}
		syntax, err := parser.ParseFile(token.NewFileSet(), file, nil, mode)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.ToSlash(file)] = syntax
	})
	return files
}

// walk visits the files of the project, generated data of fuzzing left out.
func walk(t *testing.T, visit func(file string)) {
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			if err == nil {
				visit(file)
			}
			return err
		}
		if name := d.Name(); file != "." && (strings.HasPrefix(name, ".") || name == "node_modules") {
			return filepath.SkipDir
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// core lists what the root package may depend on outside the standard library.
var core = []string{
	module,
	"github.com/agnivade/levenshtein",
	"github.com/alecthomas/participle/v2",
	"github.com/edsrzf/mmap-go",
	"github.com/pbnjay/memory",
	"github.com/x448/float16",
	"golang.org/x/exp",
	"golang.org/x/sys",
}

// TestDependencies checks that the core imports nothing but what is listed,
// and no cgo.
func TestDependencies(t *testing.T) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("needs the go command")
	}
	list := exec.Command(goTool, "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{if .CgoFiles}} cgo{{end}}{{end}}", ".")
	list.Env = append(os.Environ(), "GOFLAGS=") // those of the test's own run are not meant for it
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, pkg := range strings.Fields(string(out)) {
		known := slices.ContainsFunc(core, func(prefix string) bool { return pkg == prefix || strings.HasPrefix(pkg, prefix+"/") })
		if !known {
			t.Errorf("the core depends on %s", pkg)
		}
	}
}

// untidy are words that have no place in the tree, and why.
var untidy = []struct {
	pattern *regexp.Regexp
	why     string
}{
	{regexp.MustCompile(`\b(TODO|FIXME|XXX)\b`), "unfinished work belongs in an issue"},
	{regexp.MustCompile(`(^|[^\w.~-])/(work|root|home)/`), "a path of one machine"},
	{regexp.MustCompile(`[ \t]+$`), "white space at the end of a line"},
}

// TestTidy checks what no linter does: words, package documents, file sizes.
func TestTidy(t *testing.T) {
	walk(t, func(file string) {
		switch filepath.Ext(file) {
		case ".go", ".npu", ".md":
			checkWords(t, file)
		}
	})
	for dir := range imports(t) {
		if dir != "cmd/npu" && !hasDoc(t, dir) {
			t.Errorf("package %s has no doc.go", dir)
		}
	}
}

func checkWords(t *testing.T, file string) {
	if strings.HasSuffix(file, "tree_test.go") || strings.Contains(filepath.ToSlash(file), "testdata/") {
		return
	}
	for i, line := range strings.Split(readFile(t, file), "\n") {
		for _, rule := range untidy {
			if rule.pattern.MatchString(line) {
				t.Errorf("%s:%d: %s: %s", file, i+1, rule.why, line)
			}
		}
	}
}

func hasDoc(t *testing.T, dir string) bool {
	matches, err := filepath.Glob(filepath.Join(dir, "doc.go"))
	if err != nil {
		t.Fatal(err)
	}
	return len(matches) == 1
}

func readFile(t *testing.T, file string) string {
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
