package rewrite

import (
	"strings"

	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/lang/syntax"
)

// Own compiles a rule of the compiler's own, whose text is what stands between
// the braces of a declaration: a pattern, perhaps => and a replacement, where
// lines, safe. The name need not be one of the language. Own panics if the text
// is wrong: a fault of this program, found by the first use of its table.
//
//	Own("mul-one", "a factor of one is none", `x * 1  =>  x`)
//
// A rewrite is safe without saying so. Guards and builders in Go are set in the
// rule that comes back.
func Own(name, doc, text string) *Rule {
	keyword := "fusion"
	if strings.Contains(text, "=>") {
		keyword = "rewrite"
	}
	file, errs := syntax.Parse(diag.NewSource(name, keyword+" rule {\n"+text+"\n}\n"))
	if err := errs.Err(); err != nil {
		panic("rewrite: rule " + name + ": " + err.Error())
	}
	r, errs := Compile(file.Decls[0].(*syntax.RuleDecl))
	if err := errs.Err(); err != nil {
		panic("rewrite: rule " + name + ": " + err.Error())
	}
	r.Name, r.Doc, r.Pos, r.name = name, doc, diag.Loc{}, diag.Span{}
	r.Safe = r.Safe || !r.Fusion()
	return r
}

// Or adds further forms of what the rule matches, compiled by Must.
func (r *Rule) Or(patterns ...string) *Rule {
	for _, text := range patterns {
		r.Also = append(r.Also, Must(text))
	}
	return r
}
