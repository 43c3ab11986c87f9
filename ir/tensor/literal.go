package tensor

import (
	"fmt"
	"strings"
)

// A LiteralError tells where in a literal's text something is wrong, and what.
// Line and column count from 1, columns in bytes.
type LiteralError struct {
	Line, Col int
	Message   string
}

func (e *LiteralError) Error() string {
	return fmt.Sprintf("%d:%d: %s", e.Line, e.Col, e.Message)
}

// ParseLiteral reads nested bracket lists of numbers, or one bare number, as
// JSON and the language write them; nan, inf and -inf may stand bare or in
// quotes.
//
// The elements are of dtype d: integers must be in its range, floats are
// rounded to nearest even, bool takes true and false. With d Invalid the
// dtype is bool, f32 or i64, by whether there is a true or false, or a number
// with a point or an exponent.
//
// The shape is what the brackets say. If want is not nil they must agree with
// it, -1 in it standing for any size; an empty list then fits any tensor of
// that rank without elements. Errors are of type *LiteralError.
func ParseLiteral(text string, d DType, want []int) (*T, error) {
	p := literal{text: text, dtype: d, dims: []int{}}
	if d == Invalid {
		p.dtype = guessDType(text)
	}
	if err := p.parse(); err != nil {
		return nil, err
	}
	shape, err := p.shape(want)
	if err != nil {
		return nil, err
	}
	return p.tensor(shape), nil
}

// A literal is the state of reading one. Lists are kept on a stack of their
// own: text that nests deeply must not nest calls.
type literal struct {
	text  string
	pos   int
	dtype DType

	dims []int  // sizes, outermost first, of the lists that have been closed; -1 before
	open []list // lists not yet closed
	leaf bool   // an element has been read; its depth is len(dims)

	floats []float64 // elements of a float dtype
	bits   []uint64  // elements of the others
}

type list struct{ pos, count int }

func (p *literal) parse() error {
	for {
		if err := p.value(); err != nil {
			return err
		}
		if err := p.afterValue(); err != nil {
			return err
		}
		if len(p.open) == 0 {
			break
		}
	}
	p.space()
	if p.pos < len(p.text) {
		return p.fail(p.pos, "unexpected %s after the value", quote(p.text[p.pos:]))
	}
	return nil
}

// value reads the brackets that open before an element, and the element; or
// an empty list.
func (p *literal) value() error {
	for {
		p.space()
		if !p.take('[') {
			return p.element()
		}
		if err := p.push(p.pos - 1); err != nil {
			return err
		}
		p.space()
		if p.peek() == ']' {
			return nil // afterValue closes it
		}
	}
}

func (p *literal) push(at int) error {
	p.countValue()
	depth := len(p.open)
	if depth == MaxRank {
		return p.fail(at, "lists nest more than %d deep", MaxRank)
	}
	if depth == len(p.dims) {
		if p.leaf || depth > 0 && p.dims[depth-1] >= 0 {
			return p.fail(at, "a list where its neighbours are %s", p.neighbours())
		}
		p.dims = append(p.dims, -1)
	}
	p.open = append(p.open, list{pos: at})
	return nil
}

func (p *literal) neighbours() string {
	if p.leaf {
		return "numbers"
	}
	return "empty lists"
}

func (p *literal) countValue() {
	if n := len(p.open); n > 0 {
		p.open[n-1].count++
	}
}

// afterValue closes the lists that end here and takes the comma before the
// next value.
func (p *literal) afterValue() error {
	for len(p.open) > 0 {
		p.space()
		if p.take(',') {
			if p.space(); p.peek() == ']' {
				return p.fail(p.pos, "a value must follow the comma")
			}
			return nil
		}
		if !p.take(']') {
			return p.unclosed()
		}
		if err := p.pop(); err != nil {
			return err
		}
	}
	return nil
}

func (p *literal) unclosed() error {
	last := p.open[len(p.open)-1]
	if p.pos == len(p.text) {
		return p.fail(last.pos, "the list that begins here is never closed")
	}
	return p.fail(p.pos, "want , or ], not %s", quote(p.text[p.pos:]))
}

func (p *literal) pop() error {
	depth := len(p.open) - 1
	l := p.open[depth]
	p.open = p.open[:depth]
	if p.dims[depth] < 0 {
		p.dims[depth] = l.count
		return nil
	}
	if p.dims[depth] != l.count {
		return p.fail(l.pos, "this list has length %d, those before it %d", l.count, p.dims[depth])
	}
	return nil
}

// element reads one number or truth value.
func (p *literal) element() error {
	at := p.pos
	word, err := p.word()
	if err != nil {
		return err
	}
	p.countValue()
	if len(p.open) < len(p.dims) {
		return p.fail(at, "a number where its neighbours are lists")
	}
	p.leaf = true
	if message := p.store(word); message != "" {
		return p.fail(at, "%s", message)
	}
	return nil
}

// word cuts out what stands between brackets, commas and spaces.
func (p *literal) word() (string, error) {
	if p.pos == len(p.text) {
		if len(p.open) > 0 {
			return "", p.unclosed()
		}
		return "", p.fail(p.pos, "there is no value")
	}
	at := p.pos
	if p.take('"') {
		end := strings.IndexByte(p.text[p.pos:], '"')
		if end < 0 {
			return "", p.fail(at, "the quote is never closed")
		}
		p.pos += end + 1
		return p.text[at+1 : p.pos-1], nil
	}
	for p.pos < len(p.text) && !strings.ContainsRune("[], \t\r\n\"", rune(p.text[p.pos])) {
		p.pos++
	}
	if p.pos == at {
		return "", p.fail(at, "want a number, not %s", quote(p.text[at:]))
	}
	return p.text[at:p.pos], nil
}

// store converts a word to the dtype, or says why it cannot.
func (p *literal) store(word string) string {
	isBool := word == "true" || word == "false"
	switch {
	case p.dtype == Bool && !isBool:
		return fmt.Sprintf("%s is not true or false (the dtype is bool)", quote(word))
	case p.dtype == Bool:
		p.bits = append(p.bits, uint64(bit(word == "true")))
		return ""
	case isBool:
		return fmt.Sprintf("%s is not a number (the dtype is %v)", word, p.dtype)
	case p.dtype.IsFloat():
		v, err := ParseFloat(p.dtype, word)
		p.floats = append(p.floats, v)
		return message(err)
	}
	v, err := ParseInt(p.dtype, word)
	p.bits = append(p.bits, v)
	if class, _ := classify(word); err != nil && (class == point || class == special) {
		return fmt.Sprintf("%s is not an integer (the dtype is %v)", quote(word), p.dtype)
	}
	return message(err)
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// shape compares the brackets with what is wanted.
func (p *literal) shape(want []int) ([]int, error) {
	if want == nil {
		return p.dims, nil
	}
	shape, ok := matchShape(p.dims, want)
	if !ok {
		return nil, p.fail(0, "the value has shape %s, not %s", bracket(p.dims, ", "),
			strings.ReplaceAll(bracket(want, ", "), "-1", "any"))
	}
	return shape, nil
}

func matchShape(dims, want []int) ([]int, bool) {
	empty := len(dims) > 0 && dims[len(dims)-1] == 0
	if len(dims) > len(want) || len(dims) < len(want) && !empty {
		return nil, false
	}
	shape := make([]int, len(want))
	for i, w := range want {
		switch {
		case i >= len(dims):
			shape[i] = max(w, 0)
		case w >= 0 && w != dims[i]:
			// [] stands for every shape without elements.
			if len(dims) > 1 || dims[0] != 0 || !hasZero(want[1:]) {
				return nil, false
			}
			shape[i] = w
		default:
			shape[i] = dims[i]
		}
	}
	_, ok := Elements(shape)
	return shape, ok
}

func hasZero(shape []int) bool {
	for _, d := range shape {
		if d == 0 {
			return true
		}
	}
	return false
}

func (p *literal) tensor(shape []int) *T {
	if p.dtype.IsFloat() {
		return FromFloats(p.dtype, shape, p.floats)
	}
	return FromUints(p.dtype, shape, p.bits)
}

// guessDType reads no more than the words: whether there are truth values,
// points, exponents. The parse that follows finds what is wrong.
func guessDType(text string) DType {
	d := I64
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune("[], \t\r\n\"", r) }) {
		if word == "true" || word == "false" {
			return Bool
		}
		if class, _ := classify(word); class == point || class == special {
			d = F32
		}
	}
	return d
}

func (p *literal) peek() byte {
	if p.pos < len(p.text) {
		return p.text[p.pos]
	}
	return 0
}

func (p *literal) take(c byte) bool {
	if p.peek() != c || p.pos == len(p.text) {
		return false
	}
	p.pos++
	return true
}

func (p *literal) space() {
	for p.pos < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.pos]) >= 0 {
		p.pos++
	}
}

func (p *literal) fail(at int, format string, args ...any) error {
	before := p.text[:at]
	line := strings.Count(before, "\n")
	return &LiteralError{
		Line: line + 1, Col: at - strings.LastIndexByte(before, '\n'),
		Message: fmt.Sprintf(format, args...),
	}
}
