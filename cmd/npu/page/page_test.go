package page_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/npulang/npu"
	"github.com/npulang/npu/cmd/npu/page"
)

// small has something for most passes.
const small = `param w: f32[8, 8]
param b: f32[8]
graph main(x: f32[B, 8]) -> (y: f32[B, 8], t: f32[B, 8]) {
    h = relu(x @ w + b)
    k = sqrt(f32(0.25))
    z = h * k + relu(x @ w + b)
    for i in 0..3 carry z { z = z + 1.0 } // </script><script>alert(1)</script>
    return softmax(z, axis=-1), z
}
`

// large is a script of n values in a chain, every tenth written twice.
func large(n int) string {
	ops := []string{"relu(h%d)", "tanh(h%d)", "h%d + x", "sqrt(abs(h%d))", "h%d * 1.0"}
	var b strings.Builder
	b.WriteString("graph main(x: f32[B, 8]) -> (y: f32[B, 8]) {\n    h0 = x + x\n")
	for i := 1; i < n; i++ {
		expr := fmt.Sprintf(ops[i%len(ops)], i-1)
		if i%10 == 0 {
			expr = "(" + expr + ") * (" + expr + ")"
		}
		fmt.Fprintf(&b, "    h%d = %s\n", i, expr)
	}
	fmt.Fprintf(&b, "    return h%d\n}\n", n-1)
	return b.String()
}

func explore(t testing.TB, text string) *npu.Exploration {
	t.Helper()
	e, _, err := npu.Explore(npu.Script("in.npu", text), npu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func write(t testing.TB, e *npu.Exploration) string {
	t.Helper()
	var b strings.Builder
	if err := page.Write(&b, e); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A report is what the tests read of a page's data.
type report struct {
	Texts  []string
	Places []struct {
		File      string
		Line, Col int
	}
	Files []struct {
		Name  string
		Lines []string
	}
	Steps []struct {
		Pass                            string
		Text, Value, Scope, Place, Same []int
		Scopes                          []int
		Names                           struct{ Scope, Name, Value []int }
	}
	Passes   []struct{ Name string }
	Rewrites []struct {
		Pass, Rule, Name   string
		Value, Step, Place int
	}
	Before, After string
}

// between cuts a text out of a page.
func between(t *testing.T, text, begin, end string) string {
	t.Helper()
	_, rest, ok := strings.Cut(text, begin)
	inner, _, ended := strings.Cut(rest, end)
	if !ok || !ended {
		t.Fatalf("the page has nothing between %s and %s", begin, end)
	}
	return inner
}

func reportOf(t *testing.T, html string) *report {
	t.Helper()
	r := &report{}
	if err := json.Unmarshal([]byte(between(t, html, `<script type="application/json" id="data">`, "</script>")), r); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestData reads the data back and holds it against the exploration.
func TestData(t *testing.T) {
	e := explore(t, small)
	r := reportOf(t, write(t, e))
	if len(r.Steps) != len(e.Steps) || len(r.Steps) < 4 || len(r.Passes) != len(e.Record.Passes) || len(r.Rewrites) != len(e.Rewrites) {
		t.Fatalf("%d steps, %d passes, %d rewrites", len(r.Steps), len(r.Passes), len(r.Rewrites))
	}
	for k, s := range r.Steps {
		for i, l := range e.Steps[k].Lines {
			if r.Texts[s.Text[i]] != l.Text || s.Value[i] != l.Value || s.Same[i] != l.Same || s.Scope[i] != l.Scope {
				t.Errorf("line %d after %s is not %+v", i+1, s.Pass, l)
			}
			if l.Place.Line > 0 && r.Places[s.Place[i]].Line != l.Place.Line {
				t.Errorf("line %d after %s comes from %+v, want %v", i+1, s.Pass, r.Places[s.Place[i]], l.Place)
			}
		}
		if n := s.Names; len(n.Scope) != len(n.Name) || len(n.Name) != len(n.Value) {
			t.Errorf("names after %s: %d, %d, %d", s.Pass, len(n.Scope), len(n.Name), len(n.Value))
		}
	}
	if got, want := strings.Join(r.Files[0].Lines, "\n")+"\n", small; got != want {
		t.Errorf("the source is\n%s", got)
	}
	for _, svg := range []string{r.Before, r.After} {
		if !strings.HasPrefix(svg, "<svg") || strings.Contains(svg, "<style") {
			t.Errorf("a picture is %.80s", svg)
		}
	}
}

// TestShutOff looks at what a page could load or run: the policy allows nothing
// but its own style and script, and data ends no element.
func TestShutOff(t *testing.T) {
	html := write(t, explore(t, small))
	policy := between(t, html, `http-equiv="Content-Security-Policy" content="`, `"`)
	if !strings.HasPrefix(policy, "default-src &#39;none&#39;;") {
		t.Errorf("the policy is %s", policy)
	}
	if n := strings.Count(html, "<script"); n != 2 {
		t.Errorf("%d scripts, want the data and the program", n)
	}
	for _, word := range []string{"src=", "<link", "@import", "url(", "fetch(", "XMLHttpRequest", "eval(", "https:"} {
		if strings.Contains(html, word) {
			t.Errorf("the page holds %s", word)
		}
	}
	if n := strings.Count(html, "http:"); n != strings.Count(html, "http://www.w3.org/2000/svg") {
		t.Errorf("the page holds addresses other than the name of SVG")
	}
}

// TestSize bounds the page of a graph of 3,000 nodes.
func TestSize(t *testing.T) {
	html := write(t, explore(t, large(3000)))
	t.Logf("%d kB", len(html)>>10)
	if len(html) > 16<<20 {
		t.Errorf("%d bytes", len(html))
	}
}
