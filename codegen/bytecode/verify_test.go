package bytecode_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/npulang/npu/codegen"
	"github.com/npulang/npu/codegen/bytecode"
	"github.com/npulang/npu/golden/expect"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/irtest"
	"github.com/npulang/npu/lower"
)

// straight has two streams, reuse of memory across them, and a view.
const straight = `func @straight in "s.npu" (%x: f32[4,4]) -> (y: f32[4,4], z: f32[16]) {
  %w = param : f32[4,4]
  %a = neg %x : f32[4,4] !stream(vector0) @3:1
  %b = matmul %a, %w : f32[4,4] !stream(cube0) @4:1
  %c = abs %b : f32[4,4] !stream(vector0) @5:1
  %v = reshape %c {dims=[16]} : f32[16] @6:1
  %d = relu %v : f32[16] !stream(vector0) @7:1
  %e = matmul %c, %w : f32[4,4] !stream(cube0) @8:1
  %y = add %e, %b : f32[4,4] !stream(vector0) @9:1
  %z = neg %d : f32[16] !stream(vector0) @10:1
  return %y, %z
}`

// regions has a branch, a loop with rows, and a loop with a condition.
const regions = `func @regions(%c: bool[], %x: f32[4]) -> (y: f32[4], rows: f32[3,4]) {
  %a = neg %x : f32[4]
  %b = if %c, %a, %x : f32[4] then {
    %p = abs %a : f32[4]
    %q = add %p, %x : f32[4]
    yield %q
  } else {
    yield %x
  }
  %d, %rows = loop %b, %a {to=3, carry=1, collect=1} : f32[4], f32[3,4] body(%t: i64[], %h: f32[4], %k: f32[4]) {
    %s = add %h, %k : f32[4]
    yield %s, %h
  }
  %y = loop %d {to=9, carry=1} : f32[4] body(%t: i64[], %h: f32[4]) {
    %n = neg %h : f32[4]
    yield %n
  } cond(%h: f32[4]) {
    %m = max %h : f32[]
    %zero = const 0.0 : f32[]
    %go = less %m, %zero : bool[]
    yield %go
  }
  return %y, %rows
}`

// chained has one stream, and values of one size.
const chained = `func @chained (%x: f32[16]) -> (y: f32[16]) {
  %a = neg %x : f32[16]
  %b = abs %a : f32[16]
  %c = add %b, %a : f32[16]
  %y = neg %c : f32[16]
  return %y
}`

func build(t testing.TB, text string) *bytecode.Program {
	t.Helper()
	plan, err := lower.Lower(irtest.Parse(t, text), nil, lower.Options{Memory: lower.MemoryConservative})
	if err != nil {
		t.Fatal(err)
	}
	p, _, err := codegen.Emit(plan)
	if err != nil {
		t.Fatal(err)
	}
	// By name, so that the tests know which stream is looked at first.
	slices.SortFunc(p.Functions[0].Streams, func(a, b bytecode.Stream) int { return strings.Compare(a.Name, b.Name) })
	return p
}

func listing(p *bytecode.Program) string {
	var b strings.Builder
	_ = bytecode.Disassemble(&b, p)
	return b.String()
}

// A planted is one case of testdata/faults.txt: a listing with a fault in it, and
// what the file says about that.
type planted struct {
	name, listing string
	text          string // of the case, without its message
}

// faults reads testdata/faults.txt.
func faults(t testing.TB) (intro string, list []planted) {
	t.Helper()
	data, err := os.ReadFile("testdata/faults.txt")
	if err != nil {
		t.Fatal(err)
	}
	intro, rest, _ := strings.Cut(string(data), "## ")
	for _, part := range strings.Split("\n"+rest, "\n## ") {
		title, edits, _ := strings.Cut(strings.TrimPrefix(part, "\n"), "\n")
		name, base, _ := strings.Cut(title, ": ")
		edits, _, _ = strings.Cut(edits, "! ")
		list = append(list, planted{name, edit(t, name, text(t, base), edits), "## " + title + "\n" + strings.TrimRight(edits, "\n") + "\n"})
	}
	return intro, list
}

// edit changes the lines of a listing. A line "- part" names the one line that
// holds the part, the lines "+ text" behind it stand instead of the part; an empty
// "+" takes the whole line away.
func edit(t testing.TB, name, listing, edits string) string {
	t.Helper()
	lines := strings.Split(listing, "\n")
	for i := range lines {
		lines[i] = strings.Join(strings.Fields(lines[i]), " ") + " "
	}
	for group := range strings.SplitSeq("\n"+edits, "\n- ") {
		if strings.TrimSpace(group) == "" {
			continue
		}
		old, rest, _ := strings.Cut(group, "\n")
		old = strings.Join(strings.Fields(old), " ") + " "
		has := func(line string) bool { return strings.Contains(line, old) }
		at := slices.IndexFunc(lines, has)
		if at < 0 || slices.ContainsFunc(lines[at+1:], has) {
			t.Fatalf("%s: %q is there %d times:\n%s", name, old, min(at, 1)+1, listing)
		}
		fresh := strings.ReplaceAll("\n"+strings.TrimRight(rest, "\n"), "\n+", "\n")[1:]
		if strings.TrimSpace(fresh) == "" {
			lines[at] = ""
			continue
		}
		lines[at] = strings.Replace(lines[at], old, fresh+" ", 1)
	}
	return strings.Join(lines, "\n")
}

// TestFaultsAreFound plants each fault and compares the message.
func TestFaultsAreFound(t *testing.T) {
	intro, list := faults(t)
	out := []string{strings.TrimRight(intro, "\n") + "\n"}
	for _, c := range list {
		p := assemble(t, c.listing)
		err := bytecode.Verify(p)
		if err == nil {
			t.Errorf("%s: the fault is not found:\n%s", c.name, c.listing)
			continue
		}
		d, ok := err.(*diag.Diagnostic)
		if !ok || d.Code != "bad-bytecode" {
			t.Errorf("%s: %#v", c.name, err)
			continue
		}
		out = append(out, c.text+"! "+d.Message+"\n")
	}
	expect.File(t, "testdata/faults.txt", strings.Join(out, "\n"))
}

// TestListingsVerify takes the listings without a fault.
func TestListingsVerify(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.npuasm")
	if err != nil || len(paths) < 5 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".npuasm")
		if err := bytecode.Verify(assemble(t, text(t, name))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPlaceOfFault checks that a fault is reported where the source is.
func TestPlaceOfFault(t *testing.T) {
	err := bytecode.Verify(assemble(t, strings.Replace(text(t, "straight"), "1b  wait   e3", "", 1)))
	d, ok := err.(*diag.Diagnostic)
	if !ok || d.Code != "bad-bytecode" || d.Loc.File != "s.npu" || d.Loc.Line != 9 {
		t.Errorf("got %+v", err)
	}
}
