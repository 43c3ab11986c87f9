package lang

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
)

var words = regexp.MustCompile(`\s+|//.*|"[^"\n]*"|[\pL_][\pL\d_]*|\d[\w.]*|\.\.\.|\.\.|[-+*/<>=!~]=|->|=>|\*\*|<<|>>|.`)

// TestMutants loads scripts in which words have changed places: unlike random
// bytes, most of them parse. Whatever comes out, nothing may panic or hang, and
// what compiles is legal IR.
func TestMutants(t *testing.T) {
	scripts := corpus(t)
	var pool []string
	for _, s := range scripts {
		pool = append(pool, words.FindAllString(s, -1)...)
	}
	rounds := 12
	if testing.Short() {
		rounds = 3
	}
	compiled := 0
	for i, s := range scripts {
		r := rand.New(rand.NewPCG(7, uint64(i)))
		for round := range rounds {
			mutant := mutate(r, s, pool)
			if loads(t, fmt.Sprintf("script %d, round %d", i, round), mutant) {
				compiled++
			}
		}
	}
	t.Logf("%d of %d mutants compile", compiled, rounds*len(scripts))
	if compiled == 0 {
		t.Error("no mutant compiles: they test the parser alone")
	}
}

func corpus(t *testing.T) []string {
	var scripts []string
	cases, _ := filepath.Glob("testdata/*.txtar")
	for _, file := range cases {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range ar.Files {
			if s.Name == "in.npu" {
				scripts = append(scripts, string(s.Data))
			}
		}
	}
	for _, pattern := range []string{"../stdlib/*.npu", "../examples/*.npu"} {
		files, _ := filepath.Glob(pattern)
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			scripts = append(scripts, string(data))
		}
	}
	return scripts
}

// mutate replaces, drops, doubles or swaps one to three words.
func mutate(r *rand.Rand, s string, pool []string) string {
	ws := words.FindAllString(s, -1)
	for range 1 + r.IntN(3) {
		i, j := r.IntN(len(ws)), r.IntN(len(ws))
		switch r.IntN(4) {
		case 0:
			ws[i] = pool[r.IntN(len(pool))]
		case 1:
			ws[i] = ""
		case 2:
			ws[i] += ws[i]
		case 3:
			ws[i], ws[j] = ws[j], ws[i]
		}
	}
	return strings.Join(ws, "")
}

// loads loads a script and reports whether it compiles.
func loads(t *testing.T, name, src string) bool {
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("%s: panic: %v\n%s", name, p, src)
		}
	}()
	start := time.Now()
	unit, ds := Load(diag.NewSource("in.npu", src), Options{
		Stdlib: os.DirFS("../stdlib"), ReadFile: func(string) ([]byte, error) { return nil, os.ErrNotExist },
		MaxSteps: 300_000, MaxValues: 30_000,
	})
	if d := time.Since(start); d > time.Minute {
		t.Errorf("%s: took %v\n%s", name, d, src)
	}
	for _, d := range ds {
		if d.Code == "internal" || diag.FindCode(d.Code) == nil {
			t.Errorf("%s: %s", name, d)
		}
	}
	if ds.Err() != nil {
		return false
	}
	for _, g := range unit.Graphs {
		if err := ir.Verify(g.Func); err != nil {
			t.Errorf("%s: %v\n%s", name, err, src)
		}
	}
	return true
}
