package golden

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/npulang/npu"
)

var kebab = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// TestNames checks that files are named alike and that nothing else lies about.
func TestNames(t *testing.T) {
	for _, f := range goldenFiles(t) {
		for _, part := range strings.Split(f.name, "/") {
			if !kebab.MatchString(part) {
				t.Errorf("%s: %s is not kebab-case", f.path, part)
			}
		}
		if strings.Count(f.prose, "\n") > 12 {
			t.Errorf("%s: more than a few lines of prose: one topic a file", f.path)
		}
	}
}

// noScript are the codes that no golden file can show, and why.
var noScript = map[string]string{
	"bad-bytecode":   "a compiled program is binary; codegen/bytecode tests it",
	"cancelled":      "a caller that ends a run; the tests of the root package do",
	"internal":       "a fault of npu itself",
	"use-after-free": "of Go programs that hold memory by hand; vm/pool and the root package test it",
	"unused-bank":    "of what was tuned on one machine; a script of cmd/npu shows it",
	"unordered":      "of Go programs that schedule by hand; the root package tests it",
	"run-time":       "what the other codes do not cover",
}

var listed = regexp.MustCompile(`(?m)^([a-z-]+) `)

// TestCodes checks that every diagnostic's code has a golden file of its name,
// in which it is reported.
func TestCodes(t *testing.T) {
	list, err := npu.Explain("")
	if err != nil {
		t.Fatal(err)
	}
	codes := listed.FindAllStringSubmatch(list, -1)
	if len(codes) < 20 {
		t.Fatalf("npu explain lists %d codes only", len(codes))
	}
	for _, m := range codes {
		code := m[1]
		text, err := os.ReadFile("errors/" + code + ".txtar")
		switch {
		case noScript[code] != "" && err == nil:
			t.Errorf("%s has a golden file and is said to need none", code)
		case noScript[code] != "":
		case err != nil:
			t.Errorf("%s has no golden file: %v", code, err)
		case !strings.Contains(string(text), " ["+code+"]\n"):
			t.Errorf("golden/errors/%s.txtar does not show [%s]", code, code)
		}
	}
}

// TestStages checks that every output is shown somewhere.
func TestStages(t *testing.T) {
	shown := map[string]int{}
	for _, f := range goldenFiles(t) {
		for _, i := range f.outputs() {
			shown[f.archive.Files[i].Name]++
		}
	}
	kinds := npu.StageNames()
	for _, k := range outputKinds {
		kinds = append(kinds, k.name)
	}
	for _, kind := range kinds {
		if shown[kind] < 3 {
			t.Errorf("%s is shown by %d golden files, fewer than three", kind, shown[kind])
		}
	}
}

var fenced = regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$")

// listings are the blocks of a page that npu prints or reads: those without a
// language of their own.
func listings(page []byte) []string {
	var blocks []string
	for _, m := range fenced.FindAllSubmatch(page, -1) {
		if lang := string(m[1]); lang == "" || lang == "npu" {
			blocks = append(blocks, string(m[2]))
		}
	}
	return blocks
}

// TestPages checks that what the pages about listings and fusion show is what the
// compiler prints: every block of theirs stands in a golden file.
func TestPages(t *testing.T) {
	var shown strings.Builder
	for _, f := range goldenFiles(t) {
		for _, s := range f.archive.Files {
			shown.Write(s.Data)
		}
	}
	for page, least := range map[string]int{"listings": len(npu.StageNames()), "fusion": 3} {
		text, err := os.ReadFile("../docs/" + page + ".md")
		if err != nil {
			t.Fatal(err)
		}
		blocks := listings(text)
		if len(blocks) < least {
			t.Errorf("docs/%s.md has %d blocks, fewer than %d", page, len(blocks), least)
		}
		for _, b := range blocks {
			if !strings.Contains(shown.String(), b) {
				t.Errorf("docs/%s.md shows what no golden file holds:\n%s", page, b)
			}
		}
	}
}

// TestReasons checks that docs/fusion.md explains every reason of a refusal.
func TestReasons(t *testing.T) {
	page, err := os.ReadFile("../docs/fusion.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range npu.FusionReasons() {
		if row := "| `" + r.Code + "` | " + r.Doc + " |\n"; !strings.Contains(string(page), row) {
			t.Errorf("docs/fusion.md lacks %s", row)
		}
	}
}

// TestBadFiles checks that a golden file which is not one is refused.
func TestBadFiles(t *testing.T) {
	for _, text := range []string{
		"-- in.npu --\n-- ir --\n",                                // no prose
		"prose\n-- in.npu --\n",                                   // no output
		"prose\n-- in.npu --\n-- irr --\n",                        // an unknown section
		"prose\n-- ir --\n",                                       // no program
		"prose\n-- in.npu --\n-- ir --\n-- ir --\n",               // twice the same
		"prose\noption: speed=fast\n-- in.npu --\n-- ir --\n",     // an unknown option
		"prose\noption: dim=B\n-- in.npu --\n-- ir --\n",          // an option without its value
		"prose\n--  in.npu --\n-- ir --\n",                        // a header with a blank too many
		"prose\n-- in.npu --\n-- weights --\nw f32\n-- run --\n",  // weights without values
		"prose\n-- in.npu --\n-- weights --\nw f3 1\n-- run --\n", // weights of no dtype
	} {
		if _, err := parseGolden("bad.txtar", []byte(text)); err == nil {
			t.Errorf("no error for\n%s", text)
		}
	}
}
