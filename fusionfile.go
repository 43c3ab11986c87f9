package npu

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/npulang/npu/fusion"
	"github.com/npulang/npu/ir/diag"
)

// ParseFusion reads a fusion mode and switches of single rules as the command
// line takes them: "all_safe,-MatMul_BiasAdd_ReLU,+QKV". A mode is none,
// all_safe or all; NAME or +NAME switches a rule on, -NAME or !NAME off. Names
// are checked by Compile, which knows the rules of the script.
func ParseFusion(spec string) (FusionMode, map[string]bool, error) {
	var mode FusionMode
	switches := map[string]bool{}
	for word := range strings.SplitSeq(spec, ",") {
		word = strings.TrimSpace(word)
		name := strings.TrimSpace(strings.TrimLeft(word, "+-!"))
		on, signed := switchSigns[strings.TrimSpace(strings.TrimSuffix(word, name))]
		switch _, twice := switches[name]; {
		case name == "" || !signed:
			return "", nil, wrongFusion("%q is no mode and no rule", word)
		case word == name && slices.Contains(fusion.Modes, FusionMode(name)):
			if mode != "" {
				return "", nil, wrongFusion("two modes, %s and %s", mode, name)
			}
			mode = FusionMode(name)
		case twice:
			return "", nil, wrongFusion("%s is given twice", name)
		default:
			switches[name] = on
		}
	}
	return mode, switches, nil
}

// switchSigns are what may stand before a rule's name, and what it means.
var switchSigns = map[string]bool{"": true, "+": true, "-": false, "!": false}

func wrongFusion(format string, args ...any) error {
	return Diagnostics{{Code: "wrong-arguments", Subject: "fusion", Message: fmt.Sprintf(format, args...),
		Helps: []string{"write a mode (none, all_safe, all), names of rules, or both: all_safe,-MatMul_BiasAdd_ReLU"}}}
}

// A FusionSwitch is what a switch file says.
type FusionSwitch struct {
	Mode  FusionMode      // what the file says of ALL; empty: nothing
	Rules map[string]bool // on or off, by exact name

	places map[string]diag.Span
}

// ReadFusionSwitch reads a switch file, which messages call by name:
//
//	{"Switch": {"GraphFusion": {"ALL": "on", "MatMul_BiasAdd_ReLU": "off"}}}
//
// ALL on is the mode all, off is none; an exact name beats ALL. The values are on
// and off, in any case, or true and false. Unknown keys, other values and what is
// said twice are errors, all of which are reported; whether the rules exist is
// checked by Compile, which knows those of the script.
func ReadFusionSwitch(r io.Reader, name string) (*FusionSwitch, error) {
	b, err := readBounded(name, r, maxSwitch, "a switch file only names rules; check that this is the one that you mean")
	if err != nil {
		return nil, asDiagnostics(err)
	}
	f := &switchFile{
		src: diag.NewSource(name, strings.TrimPrefix(string(b), "\ufeff")),
		out: &FusionSwitch{Rules: map[string]bool{}, places: map[string]diag.Span{}},
	}
	f.dec = json.NewDecoder(strings.NewReader(f.src.Text))
	f.read()
	if err := f.errs.Err(); err != nil {
		return nil, err
	}
	return f.out, nil
}

// maxSwitch bounds a switch file, in bytes.
const maxSwitch = 1 << 20

// Apply puts the switches into options. What these say already stays: a mode
// is not replaced by ALL, nor a rule's own switch by the file's.
func (s *FusionSwitch) Apply(o *Options) {
	if o.Fusion == "" {
		o.Fusion = s.Mode
	}
	for _, name := range sortedKeys(s.Rules) {
		if _, set := o.Switches[name]; set {
			continue
		}
		o.SetFusionMode(name, s.Rules[name])
		if o.places == nil {
			o.places = map[string]diag.Span{}
		}
		o.places[name] = s.places[name]
	}
}

// A switchFile is a switch file that is being read. Positions in it are the
// decoder's.
type switchFile struct {
	src  *diag.Source
	dec  *json.Decoder
	out  *FusionSwitch
	errs diag.List
}

func (f *switchFile) read() {
	if !f.object(map[string]func(){"Switch": func() {
		f.object(map[string]func(){"GraphFusion": func() { f.object(nil) }})
	}}) {
		return
	}
	end, err := f.next()
	if err == nil {
		f.fail(end.span, "syntax", "more text after the switches")
	} else if !errors.Is(err, io.EOF) {
		f.broken(end.span, err)
	}
}

// A jsonToken is a token with its place.
type jsonToken struct {
	value json.Token
	span  diag.Span
}

// next reads a token. The span of none is what is left of the file.
func (f *switchFile) next() (jsonToken, error) {
	begin := int(f.dec.InputOffset())
	for begin < len(f.src.Text) && strings.IndexByte(" \t\r\n,:", f.src.Text[begin]) >= 0 {
		begin++
	}
	v, err := f.dec.Token()
	end := max(begin, int(f.dec.InputOffset()))
	if err != nil {
		end = min(begin+1, len(f.src.Text))
	}
	return jsonToken{v, diag.Span{Src: f.src, Start: begin, End: end}}, err
}

// object reads an object whose keys have the given readers; with none, an
// object of switches. False: the rest of the file cannot be made sense of.
func (f *switchFile) object(fields map[string]func()) bool {
	open, err := f.next()
	if err != nil {
		return f.broken(open.span, err)
	}
	if open.value != json.Delim('{') {
		f.fail(open.span, "bad-file", "here stands %s, not an object", f.text(open))
		return false
	}
	seen := map[string]diag.Span{}
	for f.dec.More() {
		key, err := f.next()
		if err != nil {
			return f.broken(key.span, err)
		}
		name, _ := key.value.(string) // the decoder lets nothing else stand there
		first, twice := seen[name]
		seen[name] = key.span
		switch read := fields[name]; {
		case twice:
			f.fail(key.span, "duplicate-name", "%s stands here twice", name).Notes = []string{"the first is at " + first.Loc().String()}
			return false
		case read != nil:
			read()
		case fields != nil:
			f.unknownKey(key.span, name, fields)
			return false
		case !f.entry(key.span, name):
			return false
		}
		if f.errs.Err() != nil && fields != nil {
			return false
		}
	}
	end, err := f.next()
	return err == nil || f.broken(end.span, err)
}

// switchAll stands for all rules in a switch file.
const switchAll = "ALL"

// entry reads the switch of one rule, or of all.
func (f *switchFile) entry(at diag.Span, name string) bool {
	v, err := f.next()
	if err != nil {
		return f.broken(v.span, err)
	}
	on, ok := switchValue(v.value)
	if !ok {
		f.fail(v.span, "bad-file", "%s is %s; a switch is on or off", name, f.text(v)).Helps = []string{`write "on" or "off"`}
		_, deep := v.value.(json.Delim)
		return !deep
	}
	if name == switchAll {
		f.out.Mode = map[bool]FusionMode{true: FuseAll, false: FuseNone}[on]
		return true
	}
	f.out.Rules[name], f.out.places[name] = on, at
	return true
}

// switchValue reads on, off, true and false, as words in any case.
func switchValue(v json.Token) (on, ok bool) {
	switch v := v.(type) {
	case bool:
		return v, true
	case string:
		on, ok = switchWords[strings.ToLower(v)]
		return on, ok
	}
	return false, false
}

var switchWords = map[string]bool{"on": true, "off": false, "true": true, "false": false}

func (f *switchFile) unknownKey(at diag.Span, name string, fields map[string]func()) {
	suggest(f.fail(at, "unknown-name", "unknown key %q", name), name, slices.Sorted(maps.Keys(fields)))
}

// text is a token as it stands in the file.
func (f *switchFile) text(t jsonToken) string { return f.src.Text[t.span.Start:t.span.End] }

// broken reports text that is no JSON.
func (f *switchFile) broken(at diag.Span, err error) bool {
	message := err.Error()
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		message = "the text ends too early"
	}
	f.fail(at, "syntax", "not JSON: %s", message)
	return false
}

func (f *switchFile) fail(at diag.Span, code, format string, args ...any) *Diagnostic {
	d := &Diagnostic{Code: code, Span: at, Message: fmt.Sprintf(format, args...)}
	f.errs = append(f.errs, d)
	return d
}
