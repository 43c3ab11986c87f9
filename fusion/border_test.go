package fusion

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/npulang/npu/ir/device"
	"github.com/npulang/npu/ir/irtest"
	"github.com/npulang/npu/passes"
)

// What passes the border of a kernel is counted as the words say, of two groups and
// of many: values that are made inside and wanted outside, and those from outside
// that anything inside reads, each once.
func TestBorder(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 12))
		f, _ := irtest.Func(r, 30)
		g := newGraph(f, newSizes(nil))
		var ops []int32
		for id := range g.vals {
			if g.vals[id].owner == int32(id) && g.vals[id].kind != product && r.IntN(3) == 0 {
				ops = append(ops, int32(id))
			}
		}
		for _, parts := range [][]int32{ops, ops[:min(2, len(ops))]} {
			if len(parts) < 2 {
				continue
			}
			if got, want := g.border(parts, &traits{}), passing(g, parts); got != want {
				t.Fatalf("seed %d: border of %v is %v, want %v\n%s", seed, parts, got, want, f)
			}
		}
	}
}

// passing counts by going through all values.
func passing(g *graph, parts []int32) (n [loads]int) {
	inside := map[int32]bool{}
	for _, p := range parts {
		inside[p] = true
	}
	for id := range g.vals {
		x := &g.vals[id]
		read := [2]bool{} // outside, inside
		for _, r := range x.readers {
			if inside[r] {
				read[1] = true
			} else {
				read[0] = true
			}
		}
		made := x.owner != none && inside[x.owner]
		if made && (x.result || read[0]) || !made && read[1] {
			n[x.load]++
		}
	}
	return n
}

// Products side by side write a tile each, however many read one value: the device
// refuses a hundred of them, with the numbers.
func TestManyProductsOfOneInput(t *testing.T) {
	for _, c := range []struct {
		count   int
		refused string
	}{{3, ""}, {90, ""}, {100, "needs 204800, has 196608"}, {3000, "needs 6144000, has 196608"}} {
		var text strings.Builder
		text.WriteString("func @f(%x: f32[64,64], %w: f32[64,64]) -> (f32[64,64]")
		text.WriteString(strings.Repeat(", f32[64,64]", c.count-1) + ") {\n")
		var results []string
		for i := range c.count {
			fmt.Fprintf(&text, "  %%c%d = const %d.0 : f32[]\n  %%w%d = add %%w, %%c%d : f32[64,64]\n  %%p%d = matmul %%x, %%w%d : f32[64,64]\n", i, i, i, i, i, i)
			results = append(results, fmt.Sprintf("%%p%d", i))
		}
		fmt.Fprintf(&text, "  return %s\n}\n", strings.Join(results, ", "))
		f := irtest.Parse(t, text.String())
		fuser, ds := New(Options{Device: device.Lookup("ascend910b3"), Switches: map[string]bool{"Prologue": false}})
		if err := ds.Err(); err != nil {
			t.Fatal(err)
		}
		if _, err := passes.Run(f, passes.Options{Passes: []string{"fuse"}, Fuse: fuser.Fuse}); err != nil {
			t.Fatal(err)
		}
		detail := ""
		for _, s := range fuser.Status() {
			if s.Rule == "QKV" && len(s.Refused) > 0 {
				detail = s.Refused[0].Detail
			}
		}
		if detail != c.refused {
			t.Errorf("%d products: %q, want %q", c.count, detail, c.refused)
		}
	}
}
