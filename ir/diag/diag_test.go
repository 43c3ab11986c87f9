package diag

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/npulang/npu/golden/expect"
)

// TestRender renders the cases of testdata; parseCase says what they look like.
func TestRender(t *testing.T) {
	expect.Archives(t, []string{"case"}, func(t *testing.T, in txtar.File) []txtar.File {
		d := parseCase(string(in.Data))
		checkStrip(t, d)
		return []txtar.File{expect.Section("rendered", d.String())}
	})
}

// checkStrip checks that colors change nothing but the escapes.
func checkStrip(t *testing.T, d *Diagnostic) {
	t.Helper()
	var b strings.Builder
	if err := d.Render(&b, true); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for {
		i := strings.Index(text, "\x1b[")
		if i < 0 {
			break
		}
		j := i + strings.IndexByte(text[i:], 'm')
		text = text[:i] + text[j+1:]
	}
	trim := func(s string) string {
		lines := strings.Split(s, "\n")
		for i := range lines {
			lines[i] = strings.TrimRight(lines[i], " ")
		}
		return strings.Join(lines, "\n")
	}
	if trim(text) != d.String() {
		t.Errorf("with colors stripped:\n%s\nwithout colors:\n%s", text, d.String())
	}
}

// parseCase reads one case. "key: value" lines say what the diagnostic has, a
// number being the label of a mark: 0 the culprit, 1 to 3 the witnesses, 7 to 9
// the library lines. The lines from "source NAME" to "end" are a source, in
// which «n:text» marks span n; \t is a tab, \e an escape, \x 400 digits, and a
// last \c leaves out the newline.
func parseCase(part string) *Diagnostic {
	d := &Diagnostic{Code: "syntax", Message: "message"}
	spans := map[string]Span{}
	labels := map[string]string{}
	var name string
	var body strings.Builder
	finish := func() {
		if name != "" {
			src := markedSource(name, body.String(), spans)
			for k, s := range spans {
				if s.Src == nil {
					spans[k] = Span{src, s.Start, s.End}
				}
			}
		}
		name = ""
		body.Reset()
	}
	for _, line := range strings.SplitAfter(part, "\n") {
		text := strings.TrimSuffix(line, "\n")
		key, value, ok := strings.Cut(text, ": ")
		switch {
		case strings.HasPrefix(text, "source "):
			finish()
			name = strings.TrimPrefix(text, "source ")
		case name != "" && text != "end":
			body.WriteString(line)
		case text == "end":
			finish()
		case !ok:
		case key == "message":
			d.Message = value
		case key == "subject":
			d.Subject = value
		case key == "code":
			d.Code = value
		case key == "note":
			d.Notes = append(d.Notes, strings.ReplaceAll(value, `\n`, "\n"))
		case key == "help":
			d.Helps = append(d.Helps, value)
		case key == "loc":
			d.Loc = Loc{value, 3, 7}
		case key == "warning":
			d.Severity = Warning
		default:
			labels[key] = value
		}
	}
	finish()
	d.Span, d.Label = spans["0"], labels["0"]
	for _, k := range []string{"1", "2", "3"} {
		if s, ok := spans[k]; ok {
			d.Witnesses = append(d.Witnesses, Label{s, labels[k]})
		}
	}
	for _, k := range []string{"7", "8", "9"} {
		if s, ok := spans[k]; ok {
			d.Within = append(d.Within, Label{s, labels[k]})
		}
	}
	return d
}

// markedSource takes «n:text» out of a text and notes where it stood.
func markedSource(name, text string, spans map[string]Span) *Source {
	text = strings.NewReplacer(`\t`, "\t", `\e`, "\x1b", `\r`, "\r", `\x`, strings.Repeat("0123456789", 40)).Replace(text)
	if s, ok := strings.CutSuffix(text, `\c`+"\n"); ok {
		text = s
	}
	var out strings.Builder
	type opened struct {
		key string
		at  int
	}
	var stack []opened
	for text != "" {
		switch {
		case strings.HasPrefix(text, "«"):
			key, rest, _ := strings.Cut(strings.TrimPrefix(text, "«"), ":")
			stack = append(stack, opened{key, out.Len()})
			text = rest
		case strings.HasPrefix(text, "»"):
			top := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			spans[top.key] = Span{nil, top.at, out.Len()}
			text = strings.TrimPrefix(text, "»")
		default:
			out.WriteByte(text[0])
			text = text[1:]
		}
	}
	return NewSource(name, out.String())
}

func TestRenderWrongSpans(t *testing.T) {
	texts := []string{"", "\n", "a", "a\n", "ä\r\n\tb", "\xff\xfe", strings.Repeat("x", 5000)}
	for _, text := range texts {
		src := NewSource("f", text)
		for _, start := range []int{-5, 0, 1, 2, 4999, math.MaxInt32} {
			for _, end := range []int{-7, 0, 1, 3, math.MaxInt} {
				span := Span{src, start, end}
				d := &Diagnostic{Span: span, Message: "m", Label: "l", Witnesses: []Label{{span, "w"}}, Within: []Label{{span, "in"}}}
				if !strings.HasPrefix(d.String(), "f:") {
					t.Errorf("%q %d %d: %s", text, start, end, d)
				}
				span.EndLoc()
			}
		}
	}
}

func TestLongList(t *testing.T) {
	src := NewSource("f", "a b\n")
	var l List
	for range MostErrors + 7 {
		l = append(l, &Diagnostic{Span: Span{src, 0, 1}, Message: "m", Code: "syntax"})
	}
	var b bytes.Buffer
	if err := l.Render(&b, false); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "[syntax]"); n != MostErrors || !strings.HasSuffix(b.String(), "\nand 7 more\n") {
		t.Errorf("%d rendered, ends with %q", n, b.String()[b.Len()-20:])
	}
}

func TestSort(t *testing.T) {
	one, two := NewSource("b.npu", "x\ny\n"), NewSource("a.npu", "x\ny\n")
	at := func(s *Source, off int, m string) *Diagnostic {
		return &Diagnostic{Span: Span{s, off, off + 1}, Message: m}
	}
	l := List{at(one, 2, "3"), at(two, 2, "6"), at(one, 0, "1"), at(two, 0, "4"), at(one, 0, "2"), at(two, 0, "5"), at(one, 0, "1")}
	var got string
	for _, d := range l.Sort() {
		got += d.Message
	}
	if got != "123456" {
		t.Errorf("sorted to %s, want 123456", got)
	}
}

// In a text of one long line columns are found without counting from its beginning
// each time, and are the same: characters of several bytes, and bytes that are none.
func TestLongLines(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("x", 5000), strings.Repeat("\u00e9x\xff", 3000), "a\n" + strings.Repeat("\u4e16", 4000) + "\nb\r\n" + strings.Repeat("yz", 1025),
	} {
		long := NewSource("long.npu", text)
		plain := &Source{Name: "long.npu", Text: text} // counts
		for at := 0; at <= len(text); at += 1 + len(text)/997 {
			if got, want := (Span{long, at, at}).Loc(), (Span{plain, at, at}).Loc(); got != want {
				t.Fatalf("offset %d of %d is at %v, want %v", at, len(text), got, want)
			}
		}
	}
	var wrong List
	one := NewSource("wrong.npu", strings.Repeat("wrong ", 200_000))
	for at := 0; at < len(one.Text); at += 6 {
		wrong = append(wrong, &Diagnostic{Span: Span{one, at, at + 5}, Message: "no"})
	}
	if start := time.Now(); len(wrong.Sort()) != len(wrong) || time.Since(start) > 20*time.Second {
		t.Errorf("sorting %d diagnostics takes %v", len(wrong), time.Since(start))
	}
}

func TestJSON(t *testing.T) {
	src := NewSource("ä.npu", "x = é + y\nz\n")
	d := &Diagnostic{
		Code: "dtype-mismatch", Span: Span{src, 7, 8}, Subject: "add", Message: "a < b\n", Label: "l",
		Witnesses: []Label{{Span{src, 4, 6}, "w"}}, Helps: []string{"h"},
	}
	var b bytes.Buffer
	if err := (List{d, {Severity: Warning, Loc: Loc{"k", 3, 0}}}).WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	want := `{"severity":"error","code":"dtype-mismatch","file":"ä.npu","line":1,"col":7,"end_line":1,"end_col":8,"subject":"add","message":"a < b\n","label":"l","witnesses":[{"file":"ä.npu","line":1,"col":5,"end_line":1,"end_col":6,"text":"w"}],"notes":[],"helps":["h"],"within":[]}
{"severity":"warning","code":"","file":"k","line":3,"col":0,"end_line":3,"end_col":0,"subject":"","message":"","label":"","witnesses":[],"notes":[],"helps":[],"within":[]}
`
	if b.String() != want {
		t.Errorf("got  %s\nwant %s", b.String(), want)
	}
	for _, line := range strings.Split(strings.TrimSpace(b.String()), "\n") {
		if !json.Valid([]byte(line)) {
			t.Errorf("not JSON: %s", line)
		}
	}
}

func TestCodes(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range Codes {
		if seen[c.Name] {
			t.Errorf("%s stands twice in the table", c.Name)
		}
		seen[c.Name] = true
		if FindCode(c.Name).Name != c.Name || strings.Trim(c.Name, "abcdefghijklmnopqrstuvwxyz-") != "" {
			t.Errorf("bad name %q", c.Name)
		}
		if len(strings.Fields(c.Doc)) < 12 {
			t.Errorf("%s says too little: %s", c.Name, c.Doc)
		}
		if (c.Wrong == "") != (c.Right == "") {
			t.Errorf("%s has one example of two", c.Name)
		}
		for _, line := range strings.Split(c.Page(), "\n") {
			if len(line) > 84 {
				t.Errorf("%s: a line of %d bytes: %s", c.Name, len(line), line)
			}
		}
	}
	if FindCode("no-such-code") != nil || len(CodeNames()) != len(Codes) {
		t.Error("FindCode or CodeNames disagrees with the table")
	}
}

func TestSuggest(t *testing.T) {
	names := []string{"softmax", "softplus", "relu", "relu6", "gelu", "silu", "log", "log2"}
	for name, want := range map[string]string{
		"sofmax": "softmax", "softmaxx": "softmax", "rellu": "relu", "reul": "", "xelu": "gelu",
		"lg": "log", "ReLU": "relu", "SoftPlus": "softplus", "": "", "l": "", "relu": "gelu", "zzzz": "", strings.Repeat("r", 1000): "",
	} {
		if got := Suggest(name, names); got != want {
			t.Errorf("Suggest(%q) = %q, want %q", name, got, want)
		}
	}
	if got := strings.Join(SuggestAll("xelu", names, 2), " "); got != "gelu relu" {
		t.Errorf("SuggestAll: %s", got)
	}
}
