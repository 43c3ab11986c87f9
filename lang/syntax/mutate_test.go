package syntax

import (
	"flag"
	"math/rand"
	"regexp"
	"strings"
	"testing"

	"github.com/npulang/npu/ir/diag"
)

var (
	mutations = flag.Int("mutations", 3000, "how many texts TestMutations tries")
	seed      = flag.Int64("seed", 1, "the seed of TestMutations")
)

// pieces cuts a text into words, spaces and single characters.
var pieces = regexp.MustCompile(`\w+|[ \t]+|//[^\n]*|"[^"\n]*"|[^\w \t]`)

// strange are the pieces that mutations put in.
var strange = []string{
	"\n", " // c\n", "\n// c\n", "\n\n/// d\n", "(", ")", "[", "]", "{", "}", ",", ":", "=", "@a()", "@", " ", ".", "..", "...",
	"->", "=>", "-", "**", "not ", "if a { b } else { c }", "x", "1", `"s"`, "f32", "f32[2]", "\nparam w: f32\n", "else ", "?",
	"in ", "for i in 0..3 ", "carry ", "expect ", "return ", "None", "True", ";", "é", "\t", "\r\n", "x = 1\n", "fn ",
}

// mutate changes a few pieces of a text.
func mutate(r *rand.Rand, text string) string {
	list := pieces.FindAllString(text, -1)
	for range 1 + r.Intn(4) {
		i := r.Intn(len(list))
		switch r.Intn(5) {
		case 0:
			list[i] = ""
		case 1:
			list[i] += list[r.Intn(len(list))]
		case 2:
			j := r.Intn(len(list))
			list[i], list[j] = list[j], list[i]
		default:
			list[i] += strange[r.Intn(len(strange))]
		}
	}
	return strings.Join(list, "")
}

// TestMutations checks on mutated cases what FuzzParse checks on any text;
// here, most texts are nearly right, and many are right.
func TestMutations(t *testing.T) {
	r := rand.New(rand.NewSource(*seed))
	texts := seeds(t)
	right := 0
	for range *mutations {
		text := mutate(r, texts[r.Intn(len(texts))])
		f, errs := Parse(diag.NewSource("mutated.npu", text))
		rendered(errs)
		if len(errs) > 0 {
			Format(f)
			Print(f)
			continue
		}
		right++
		checkFormat(t, f)
		if t.Failed() {
			t.Fatalf("the text was\n%s", text)
		}
	}
	if right < *mutations/50 {
		t.Errorf("only %d of %d texts parsed; the mutations are too wild", right, *mutations)
	}
}
