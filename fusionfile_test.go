package npu_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/npulang/npu"
	"github.com/npulang/npu/golden/expect"
)

func TestParseFusion(t *testing.T) {
	for _, c := range []struct {
		spec string
		mode npu.FusionMode
		want map[string]bool
	}{
		{"none", npu.FuseNone, nil},
		{"all", npu.FuseAll, nil},
		{"all_safe,-MatMul_BiasAdd_ReLU,+QKV", npu.FuseAllSafe, map[string]bool{"MatMul_BiasAdd_ReLU": false, "QKV": true}},
		{" !Rope , Softmax ", "", map[string]bool{"Rope": false, "Softmax": true}},
		{"-all", "", map[string]bool{"all": false}}, // which Compile refuses
	} {
		mode, switches, err := npu.ParseFusion(c.spec)
		if err != nil || mode != c.mode {
			t.Errorf("%s: mode %q, error %v", c.spec, mode, err)
		}
		if len(switches) != len(c.want) || c.want != nil && cmp.Diff(switches, c.want) != "" {
			t.Errorf("%s: switches %v", c.spec, switches)
		}
	}
	for _, spec := range []string{"", ",", "all,", "all,none", "-", "--QKV", "+-QKV", "QKV,-QKV", "all,all"} {
		if mode, switches, err := npu.ParseFusion(spec); err == nil {
			t.Errorf("%q is read as %q %v", spec, mode, switches)
		}
	}
}

// TestFusionSwitch reads switch files and compiles with them.
func TestFusionSwitch(t *testing.T) {
	var text strings.Builder
	for _, in := range []string{
		`{"Switch": {"GraphFusion": {"ALL": "on", "fold-const": "off"}}}`,
		`{"Switch": {"GraphFusion": {"fold-const": "On", "ALL": "OFF", "drop-dead": "FALSE"}}}`,
		"\ufeff{\"Switch\":\r\n{\"GraphFusion\":{\"ALL\":true,\"merge-equal\":false}}}\r\n",
		`{"Switch": {"GraphFusion": {}}}`,
		`{}`,
		"{\"Switch\": {\"GraphFusion\": {\n    \"fold-konst\": \"off\",\n    \"drop-ded\": \"on\"\n}}}",
		`{"Switch": {"GraphFusion": {"ALL": "maybe", "fold-const": 1, "drop-dead": null}}}`,
		`{"Switch": {"GraphFusion": {"ALL": ["on"]}}}`,
		`{"Switch": {"GraphFusion": {"ALL": "on", "ALL": "off"}}}`,
		`{"Switch": {"GraphFusion": {"ALL": "on"}, "UBFusion": {}}}`,
		`{"Switch": {"GraphFusion": {"": "on", "two words": "on"}}}`,
		`{"switch": {}}`,
		`{"Switch": "on"}`,
		`[]`, ``, `{`, `{"Switch"`, `{"Switch": {"GraphFusion": {"ALL" "on"}}}`,
		`{"Switch": {"GraphFusion": {"ALL": "on"}}`,
		`{"Switch": {"GraphFusion": {"ALL": on}}}`,
		`{"Switch": {"GraphFusion": {"ALL": "on",}}}`,
		`{"Switch": {"GraphFusion": {"ALL": "on"}}} {}`,
		`{"Switch": {"GraphFusion": {"ALL": "on"}}} x`,
		`{"Switch": {"GraphFusion": {"ALL": "\x"}}}`,
	} {
		text.WriteString(strings.ReplaceAll(in, "\r", "\\r") + "\n    " + strings.ReplaceAll(strings.TrimSpace(switched(in)), "\n", "\n    ") + "\n")
	}
	expect.File(t, "testdata/switches.txt", text.String())
}

// switched tells what a switch file leads to.
func switched(text string) string {
	s, err := npu.ReadFusionSwitch(strings.NewReader(text), "fusion.json")
	var o npu.Options
	if err == nil {
		s.Apply(&o)
		_, _, err = npu.Trace(npu.Script("in.npu", "graph main(x: f32) -> f32 { return x }\n"), o)
	}
	var b strings.Builder
	if err != nil {
		_ = err.(npu.Diagnostics).Render(&b, false)
		return b.String()
	}
	b.WriteString("mode: " + string(o.Fusion) + "\n")
	for _, name := range npu.RuleNames() {
		if on, set := o.Switches[name]; set {
			b.WriteString(name + ": " + map[bool]string{true: "on", false: "off"}[on] + "\n")
		}
	}
	return b.String()
}

// TestSwitchPrecedence checks that what options say already stays.
func TestSwitchPrecedence(t *testing.T) {
	s, err := npu.ReadFusionSwitch(strings.NewReader(`{"Switch": {"GraphFusion": {"ALL": "off", "a": "off", "b": "off"}}}`), "x")
	if err != nil {
		t.Fatal(err)
	}
	o := npu.Options{Fusion: npu.FuseAll}
	o.SetFusionMode("a", true)
	s.Apply(&o)
	if o.Fusion != npu.FuseAll || !o.Switches["a"] || o.Switches["b"] || len(o.Switches) != 2 {
		t.Errorf("options are %q %v", o.Fusion, o.Switches)
	}
}

// FuzzFusionSwitch looks for text that the reader cannot bear.
func FuzzFusionSwitch(f *testing.F) {
	f.Add(`{"Switch": {"GraphFusion": {"ALL": "on", "QKV": "off"}}}`)
	f.Add(`{"Switch": {"GraphFusion": {"QKV": [`)
	f.Fuzz(func(t *testing.T, text string) { switched(text) })
}

// A rule is switched off, and the compiler tells what it did instead.
func ExampleOptions_SetFusionMode() {
	var opts npu.Options
	opts.SetFusionMode("MatMul_BiasAdd_ReLU", false)
	p, err := npu.Compile(npu.Script("dense.npu", `
graph main(x: f32[B, 4], w: f32[4, 4], b: f32[4]) -> f32[B, 4] {
    return relu(x @ w + b)
}`), opts)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.Close()
	for _, s := range p.FusionStatus() {
		if s.Effects > 0 || !s.Enabled {
			fmt.Printf("%s: enabled %v, matches %d, effects %d\n", s.Rule, s.Enabled, s.Matches, s.Effects)
		}
	}
	// Output:
	// MatMul_BiasAdd_ReLU: enabled false, matches 1, effects 0
	// MatMul_BiasAdd: enabled true, matches 1, effects 1
}
