package npu

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/npulang/npu/ir/diag"
)

// Scales are the ranges of the left operands of products, for PrecisionInt8: by the
// weight that a product multiplies with, as Calibrate finds and ReadScales reads them.
// A product that has none measures its left operand row by row, in each run.
type Scales map[string]Range

// A Range is the least and the largest of some elements.
type Range struct{ Min, Max float64 }

// Most is the largest magnitude in the range.
func (r Range) Most() float64 { return max(math.Abs(r.Min), math.Abs(r.Max)) }

// join is the range of two.
func (r Range) join(o Range) Range { return Range{min(r.Min, o.Min), max(r.Max, o.Max)} }

// check refuses what is no range of finite numbers that f32 has.
func (r Range) check(name string) error {
	if r.Min <= r.Max && r.Most() <= math.MaxFloat32 {
		return nil
	}
	return Diagnostics{{Code: "wrong-arguments", Subject: name, Message: fmt.Sprintf("%v to %v is no range of a scale", r.Min, r.Max),
		Helps: []string{"give the least element, then the largest, both finite in f32"}}}
}

// scalesHead begins a file of scales.
const scalesHead = "# npu scales: product, least, largest element of its left operand\n"

// String is the text of a file of scales: one line a product with its name, the least
// and the largest element. A # begins a comment.
func (s Scales) String() string {
	return scalesHead + align("lrr", func(row func(...string)) {
		for _, name := range sortedKeys(s) {
			row(scaleName(name), number(s[name].Min), number(s[name].Max))
		}
	})
}

// scaleName is a name as a file of scales has it: in quotes where it has blanks, or
// what would not be read back as it is.
func scaleName(name string) string {
	quoted := strconv.Quote(name)
	if name == "" || strings.ContainsAny(name, " #") || quoted != `"`+name+`"` {
		return quoted
	}
	return name
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 32) }

// ReadScales reads a file of scales.
func ReadScales(path string) (Scales, error) {
	b, err := readFile(path)
	if err != nil {
		return nil, asDiagnostics(err)
	}
	return ParseScales(path, string(b))
}

// ParseScales reads the text of a file of scales; errors call it by its name.
func ParseScales(name, text string) (Scales, error) {
	scales := Scales{}
	line := 0
	for l := range strings.Lines(text) {
		line++
		if l = strings.TrimSpace(l); l == "" || l[0] == '#' {
			continue
		}
		product, r, err := scaleLine(l)
		if err == nil {
			if _, twice := scales[product]; twice {
				err = fmt.Errorf("%s has a line already", asWord(product))
			}
		}
		if err != nil {
			return nil, Diagnostics{{Code: "bad-file", Loc: diag.Loc{File: name, Line: line, Col: 1}, Message: err.Error(),
				Helps: []string{"write PRODUCT LEAST LARGEST, as npu calibrate does"}}}
		}
		scales[product] = r
	}
	return scales, nil
}

// scaleLine reads one line.
func scaleLine(line string) (string, Range, error) {
	name, rest := line, ""
	if i := strings.IndexAny(line, " \t"); i >= 0 {
		name, rest = line[:i], line[i:]
	}
	if line[0] == '"' {
		quoted, err := strconv.QuotedPrefix(line)
		if err != nil {
			return "", Range{}, fmt.Errorf("the quoted name does not end")
		}
		if rest = line[len(quoted):]; rest != "" && !strings.ContainsAny(rest[:1], " \t") {
			return "", Range{}, fmt.Errorf("there is no blank behind the quoted name")
		}
		name, _ = strconv.Unquote(quoted)
	}
	rest, _, _ = strings.Cut(rest, "#")
	words := strings.Fields(rest)
	if len(words) != 2 {
		return "", Range{}, fmt.Errorf("a name and two numbers are expected, not %q", line)
	}
	least, err1 := strconv.ParseFloat(words[0], 64)
	most, err2 := strconv.ParseFloat(words[1], 64)
	if err1 != nil || err2 != nil {
		return "", Range{}, fmt.Errorf("%s and %s are not both numbers", words[0], words[1])
	}
	r := Range{least, most}
	if r.check(name) != nil {
		return "", Range{}, fmt.Errorf("%s to %s is no range of finite numbers", words[0], words[1])
	}
	return name, r, nil
}
