package lang

import (
	"io/fs"
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/lang/syntax"
)

// Options say what a script may reach. The zero Options let it import nothing.
type Options struct {
	Stdlib   fs.FS                             // what import "nn" reads: nn.npu
	ReadFile func(path string) ([]byte, error) // opens files that the script imports; paths have slashes
	Root     string                            // folder above which no import reaches; "": the script's own

	SkipTests bool // leave test blocks alone
	MaxValues int  // operators in all functions together; 0: 1 million
	MaxSteps  int  // expressions evaluated, list elements, loop rounds; 0: 16 million
}

// A Unit is a script that was loaded.
type Unit struct {
	File    *syntax.File
	Graphs  []*Graph // in source order; those with errors are absent
	Tests   []*Test
	Rules   []*syntax.RuleDecl
	Weights string // path of the script's weights file, "" when it names none
}

// A Graph is an entry point.
type Graph struct {
	Name     string
	Doc      string
	Func     *ir.Func
	Defaults []*Default // one for each parameter; nil: an input must be given
	At       diag.Span
}

// Graph finds a graph by its name.
func (u *Unit) Graph(name string) *Graph {
	for _, g := range u.Graphs {
		if g.Name == name {
			return g
		}
	}
	return nil
}

// Load parses a script and what it imports, resolves its names, and elaborates
// its graphs and tests. The list holds every error and warning that was found,
// in source order; a unit with errors must not be run.
func Load(src *diag.Source, opts Options) (*Unit, diag.List) {
	e := newElaborator(opts)
	tree, diags := syntax.Parse(src)
	e.diags = append(e.diags, diags...)
	if tree == nil {
		return e.unit, e.diags.Sort()
	}
	e.unit.File = tree
	main := e.addFile(mainFile, src, tree, false, diags.Err() != nil)
	e.loadImports(main)
	e.inActivation(e.fileActivation(main), func() {
		for _, f := range e.userFiles() {
			e.resolve(f)
		}
		e.elaborateFile(main)
		for _, f := range e.userFiles() {
			e.checkRest(f)
		}
	})
	e.dropUnread()
	slices.SortStableFunc(e.diags, func(a, b *diag.Diagnostic) int {
		return boolInt(a.Span.Src != src) - boolInt(b.Span.Src != src)
	})
	return e.unit, e.diags.Sort()
}

// newElaborator begins a compilation. Its first program takes what constants add by
// mistake.
func newElaborator(opts Options) *elaborator {
	if opts.MaxValues == 0 {
		opts.MaxValues = defaultMaxValues
	}
	if opts.MaxSteps == 0 {
		opts.MaxSteps = defaultMaxSteps
	}
	e := &elaborator{
		opts: opts, unit: &Unit{}, files: map[string]*file{}, library: map[*diag.Source]bool{},
		reported: map[place]bool{}, unread: map[*diag.Diagnostic]diag.Span{}, signatures: map[*syntax.FuncDecl]*signature{}, graphs: map[*syntax.FuncDecl]*Graph{},
		busy: map[callKey]bool{}, used: map[*syntax.FuncDecl]bool{}, made: map[*syntax.ModuleDecl]bool{},
	}
	e.prog = newProgram("scratch")
	e.frame = e.prog.frame
	return e
}

// elaborateFile makes what the unit consists of.
func (e *elaborator) elaborateFile(f *file) {
	e.declarations(f)
	for _, d := range f.space.order {
		decl, ok := d.decl.(*syntax.FuncDecl)
		if !ok || !decl.Graph {
			continue
		}
		if g := e.buildGraph(funcVal{decl, f.space}); g != nil {
			e.unit.Graphs = append(e.unit.Graphs, g)
		}
	}
	for _, d := range f.tree.Decls {
		switch d := d.(type) {
		case *syntax.TestDecl:
			if !e.opts.SkipTests {
				e.unit.Tests = append(e.unit.Tests, e.buildTest(f, d))
			}
		case *syntax.RuleDecl:
			e.rule(d)
		case *syntax.WeightsDecl:
			e.weightsFile(d)
		}
	}
}

// rule keeps a rule for whoever applies it. Rules have names of their own kind:
// one may be called as an operator or a fn is.
func (e *elaborator) rule(d *syntax.RuleDecl) {
	i := slices.IndexFunc(e.unit.Rules, func(r *syntax.RuleDecl) bool { return r.Name.Name == d.Name.Name })
	if i >= 0 {
		e.duplicate(d.Name, "rule", e.unit.Rules[i].Name.At)
		return
	}
	e.unit.Rules = append(e.unit.Rules, d)
}

// declarations evaluates the constants, instances and weights of a file, used
// or not, so that their mistakes show.
func (e *elaborator) declarations(f *file) {
	for _, d := range f.space.order {
		switch d.decl.(type) {
		case *syntax.ConstDecl, *syntax.InstanceDecl, *syntax.ParamDecl:
			e.inProgram(newProgram("declarations"), func() {
				e.inActivation(e.fileActivation(f), func() { e.declaredValue(f.space, d) })
			})
		}
	}
}

// fileActivation is the outermost body: the file's declarations, no locals.
func (e *elaborator) fileActivation(f *file) *activation {
	return &activation{name: f.name, in: f.space, scope: newScope(nil, bodyScope), plain: true}
}

// weightsFile notes the file that a script names; the caller opens it.
func (e *elaborator) weightsFile(d *syntax.WeightsDecl) {
	if e.unit.Weights != "" {
		e.errorf("duplicate-name", d.At, "a script names one weights file")
		return
	}
	if name, ok := e.dataFile(d.Path); ok {
		e.unit.Weights = name
	}
}

// checkRest elaborates what nothing has used, as far as its head determines it.
func (e *elaborator) checkRest(f *file) {
	e.inActivation(e.fileActivation(f), func() {
		if f.space != e.files[mainFile].space {
			e.declarations(f)
		}
		for _, d := range f.space.order {
			switch decl := d.decl.(type) {
			case *syntax.FuncDecl:
				e.checkUnused(funcVal{decl, f.space})
			case *syntax.ModuleDecl:
				e.checkModule(moduleVal{decl, f.space})
			}
		}
	})
}

// checkModule makes an instance of a module that nothing has made, when all its
// parameters have defaults, and elaborates its fns.
func (e *elaborator) checkModule(m moduleVal) {
	if e.made[m.decl] || e.stopped {
		return
	}
	for _, p := range m.decl.Params {
		if p.Default == nil {
			return
		}
	}
	e.inProgram(newProgram("module"), func() {
		inst, ok := e.instantiate(m, m.decl.Name.At, nil).(*instance)
		if !ok {
			return
		}
		for _, d := range inst.space.order {
			switch decl := d.decl.(type) {
			case *syntax.FuncDecl:
				e.checkUnused(funcVal{decl, inst.space})
			case *syntax.ParamDecl:
				e.param(inst.space, decl)
			}
		}
	})
}
