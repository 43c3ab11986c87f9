package npu_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	goName     = regexp.MustCompile(`\bnpu\.([A-Z]\w*)`)
	memberName = regexp.MustCompile(`\b([A-Z]\w*)\.([A-Z]\w*)\b`)
)

// TestPagesNames: what the README, ARCHITECTURE and the pages of docs call npu.Name, or
// Type.Member, is exported by the package.
func TestPagesNames(t *testing.T) {
	paths, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	members := exported(t)
	seen := 0
	for _, path := range append(paths, "README.md", "ARCHITECTURE.md") {
		text := readFile(t, path)
		for _, m := range goName.FindAllStringSubmatch(text, -1) {
			seen++
			if _, ok := members[m[1]]; !ok {
				t.Errorf("%s: the package has no %s", path, m[0])
			}
		}
		for _, m := range memberName.FindAllStringSubmatch(text, -1) {
			if of := members[m[1]]; of != nil && !of[m[2]] {
				t.Errorf("%s: %s has no %s", path, m[1], m[2])
			}
		}
	}
	if seen < 50 {
		t.Errorf("the pages name the package %d times only", seen)
	}
}

// TestReadme: the script that the README shows is an example, without what that says of
// itself, and the error is that of a golden file.
func TestReadme(t *testing.T) {
	var script, diagnostic string
	for _, b := range regexp.MustCompile("(?ms)^```(npu)?\n(.*?)^```$").FindAllStringSubmatch(readFile(t, "README.md"), -1) {
		switch {
		case b[1] == "npu":
			script = b[2]
		case strings.Contains(b[2], ": error: "):
			diagnostic = b[2]
		}
	}
	comment := regexp.MustCompile(`(?m)^//\n(//.*\n)+`)
	if example := comment.ReplaceAllString(readFile(t, "examples/mlp.npu"), ""); script != example {
		t.Errorf("README.md shows\n%s\nand the example is\n%s", script, example)
	}
	if diagnostic == "" || !strings.Contains(readFile(t, "golden/errors/shape-mismatch.txtar"), diagnostic) {
		t.Errorf("no golden file has what README.md shows:\n%s", diagnostic)
	}
}

// exported gives the exported names of the package, and of each type that is declared
// in it the fields and methods; of what is declared elsewhere nil.
func exported(t *testing.T) map[string]map[string]bool {
	t.Helper()
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	names, methods := map[string]map[string]bool{}, map[string]map[string]bool{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			switch decl := decl.(type) {
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					declare(names, spec)
				}
			case *ast.FuncDecl:
				if decl.Recv == nil {
					names[decl.Name.Name] = nil
					continue
				}
				of := receiver(decl.Recv.List[0].Type)
				if methods[of] == nil {
					methods[of] = map[string]bool{}
				}
				methods[of][decl.Name.Name] = true
			}
		}
	}
	for name, of := range names {
		if of != nil {
			maps.Copy(of, methods[name])
		}
	}
	return names
}

// declare adds the names of a type, of constants or of variables.
func declare(names map[string]map[string]bool, spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.ValueSpec:
		for _, n := range spec.Names {
			names[n.Name] = nil
		}
	case *ast.TypeSpec:
		names[spec.Name.Name] = nil
		if s, ok := spec.Type.(*ast.StructType); ok {
			names[spec.Name.Name] = membersOf(s)
		}
	}
}

// membersOf are the names of a struct's fields; nil if it embeds others.
func membersOf(s *ast.StructType) map[string]bool {
	of := map[string]bool{}
	for _, f := range s.Fields.List {
		if len(f.Names) == 0 {
			return nil
		}
		for _, n := range f.Names {
			of[n.Name] = true
		}
	}
	return of
}

// receiver is the name of a receiver's type.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
