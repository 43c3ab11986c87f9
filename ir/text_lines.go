package ir

import (
	"bufio"
	"maps"
	"strings"
)

// A Line is one line of the text form, with what it is about.
//
//	%y = if %c, %a : f32[4] then {     Func: the graph    Value: %y
//	  %0 = relu %a : f32[4]            Func: the branch   Value: %0
//	  yield %0                         Func: the branch   Value: nil
//	} else {                           Func: the branch   Value: nil
type Line struct {
	Text  string
	Func  *Func  // whose head, body or end the line is
	Value *Value // that the line computes, the first of several; nil: none
}

// Lines prints f as Print does, line by line, and gives the names of all values,
// those inside regions too. A parameter of a region that stands for an argument
// has the argument's name.
func Lines(f *Func, opt PrintOptions) ([]Line, map[*Value]string) {
	var text strings.Builder
	out := bufio.NewWriter(&text)
	p := &printer{Writer: out, opt: opt, file: firstFile(f), list: &listing{names: map[*Value]string{}}}
	p.function(f)
	_ = out.Flush() // a Builder does not fail
	i := 0
	for line := range strings.Lines(text.String()) {
		p.list.lines[i].Text = strings.TrimSuffix(line, "\n")
		i++
	}
	return p.list.lines, p.list.names
}

// A listing gathers what the lines of a text are about.
type listing struct {
	lines []Line
	names map[*Value]string
}

// begin says whose line begins now.
func (l *listing) begin(f *Func, v *Value) {
	if l != nil {
		l.lines = append(l.lines, Line{Func: f, Value: v})
	}
}

// scope adds the names of one function.
func (l *listing) scope(names map[*Value]string) {
	if l != nil {
		maps.Copy(l.names, names)
	}
}
