package golden

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/npulang/npu"
)

// A directive asks that a rule fires, or is silent, in the graph below it.
type directive struct {
	fires bool
	rule  string
	graph string
	line  int
}

func (d directive) String() string {
	return map[bool]string{true: "// fires: ", false: "// silent: "}[d.fires] + d.rule
}

var (
	directiveLine = regexp.MustCompile(`^\s*//\s*(fires|silent):\s*(\S*)\s*$`)
	directiveLike = regexp.MustCompile(`(?i)^\s*//\s*(fires?|silent)\s*:`)
	graphHead     = regexp.MustCompile(`^(?:graph\s+|func\s*@)([A-Za-z_]\w*|"(?:[^"\\]|\\.)*")`)
	between       = regexp.MustCompile(`^\s*(//.*|@.*)?$`) // what may stand between directive and graph
	ruleHead      = regexp.MustCompile(`(?m)^\s*(?:rewrite|fusion)\s+(\w+)`)
)

// readDirectives finds the directives of a program and the graph that each
// stands above.
func (f *file) readDirectives(text string) error {
	pending := 0 // directives from here on wait for their graph
	line := 0
	for l := range strings.Lines(text) {
		line++
		l = strings.TrimSuffix(l, "\n")
		m, head := directiveLine.FindStringSubmatch(l), graphHead.FindStringSubmatch(l)
		switch {
		case m != nil && m[2] != "":
			f.directives = append(f.directives, directive{m[1] == "fires", m[2], "", line})
		case directiveLike.MatchString(l):
			return fmt.Errorf("line %d of the program: a directive is // fires: RULE or // silent: RULE, not %s", line, strings.TrimSpace(l))
		case head != nil:
			for ; pending < len(f.directives); pending++ {
				f.directives[pending].graph = unquoted(head[1])
			}
		case !between.MatchString(l) && pending < len(f.directives):
			return f.directives[pending].homeless()
		}
	}
	if pending < len(f.directives) {
		return f.directives[pending].homeless()
	}
	return nil
}

func (d directive) homeless() error {
	return fmt.Errorf("line %d of the program: %v stands above no graph", d.line, d)
}

func unquoted(name string) string {
	if s, err := strconv.Unquote(name); err == nil {
		return s
	}
	return name
}

// ruleNames lists the compiler's rules and those of the file itself.
func (f *file) ruleNames() []string {
	names := npu.RuleNames()
	for _, other := range f.files {
		for _, m := range ruleHead.FindAllStringSubmatch(string(other.Data), -1) {
			names = append(names, m[1])
		}
	}
	return names
}

// checkDirectives holds the rules that fired against what the file asks for.
func (f *file) checkDirectives(t *testing.T) {
	fired := map[string][]string{} // by graph
	for _, d := range f.directives {
		if !slices.Contains(f.ruleNames(), d.rule) {
			t.Errorf("%s: %s:%d: %v: there is no such rule", f.path, f.input, d.line, d)
			continue
		}
		if _, known := fired[d.graph]; !known {
			record, err := f.trace(d.graph)
			if err != nil {
				t.Errorf("%s: graph %s: %v", f.path, d.graph, err)
				continue
			}
			fired[d.graph] = appliedRules(record)
		}
		if got := fired[d.graph]; slices.Contains(got, d.rule) != d.fires {
			t.Errorf("%s: %s:%d: %v does not hold in graph %s, in which fired: %s", f.path, f.input, d.line, d, d.graph, strings.Join(got, " "))
		}
	}
}

// trace optimises one graph with the options of the file.
func (f *file) trace(graph string) (*npu.Record, error) {
	opts := f.options.Options
	opts.Graph = graph
	record, _, err := npu.Trace(f.source(), opts)
	return record, err
}

// appliedRules lists the rules that changed something, each once.
func appliedRules(r *npu.Record) []string {
	var names []string
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, w := range r.Rewrites {
		add(w.Rule)
	}
	for _, s := range r.Fusions {
		if s.Effects > 0 {
			add(s.Rule)
		}
	}
	return names
}

// TestDirectivesAreRead checks that a directive cannot be overlooked.
func TestDirectivesAreRead(t *testing.T) {
	f, err := parseGolden("x.txtar", []byte(`prose
-- in.npu --
// fires: mul-one
// silent: Attention
/// Documentation.
graph main(x: f32) -> f32 {
	return x
}
  // silent: Attention
@stream("io")
graph g(x: f32) -> f32 { return x }
-- ir --
`))
	if err != nil {
		t.Fatal(err)
	}
	want := []directive{{true, "mul-one", "main", 1}, {false, "Attention", "main", 2}, {false, "Attention", "g", 7}}
	if !slices.Equal(f.directives, want) {
		t.Errorf("directives are %v, want %v", f.directives, want)
	}
	for _, bad := range []string{
		"// fires:\ngraph main(x: f32) -> f32 { return x }\n",
		"// Fires: mul-one\ngraph main(x: f32) -> f32 { return x }\n",
		"// fires: mul-one, mul-two\ngraph main(x: f32) -> f32 { return x }\n",
		"// fires: mul-one\nparam w: f32\ngraph main(x: f32) -> f32 { return x * w }\n",
		"graph main(x: f32) -> f32 { return x }\n// fires: mul-one\n",
	} {
		if _, err := parseGolden("x.txtar", []byte("prose\n-- in.npu --\n"+bad+"-- ir --\n")); err == nil {
			t.Errorf("no error for\n%s", bad)
		}
	}
}

// fileOf is the name of the golden file of a rule.
func fileOf(rule string) string {
	return strings.ReplaceAll(strings.ToLower(rule), "_", "-")
}

// TestRules checks that each of the compiler's rules has a golden file of its
// name, in which it fires and in which it is silent.
func TestRules(t *testing.T) {
	shown := map[string]map[bool]bool{}
	for _, f := range goldenFiles(t) {
		folder, name, _ := strings.Cut(f.name, "/")
		for _, d := range f.directives {
			if (folder != "opt" && folder != "fusion") || name != fileOf(d.rule) {
				continue
			}
			if shown[d.rule] == nil {
				shown[d.rule] = map[bool]bool{}
			}
			shown[d.rule][d.fires] = true
		}
	}
	for _, rule := range npu.RuleNames() {
		if !shown[rule][true] || !shown[rule][false] {
			t.Errorf("%s has no golden file opt/%[2]s.txtar or fusion/%[2]s.txtar in which it fires and is silent", rule, fileOf(rule))
		}
	}
}
