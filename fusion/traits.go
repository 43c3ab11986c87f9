package fusion

import (
	"fmt"
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// Traits are what growth and the device look at in a group.
type traits struct {
	shape   []ir.Dim // what it walks: the largest result; of a group with rows, these
	rows    bool     // it holds whole rows of the last axis
	cubes   int      // products
	sealed  bool     // it holds an operator that growth does not know how to walk, which a rule has named
	factor  tensor.DType
	work    int  // operators that are no views
	small   int  // bytes of the smallest element
	large   int  // bytes of the largest element
	temps   int  // values inside that are held at once, at most
	counted bool // temps is the very number
	first   int32
	last    int32 // operators, in the order of the body
	annots  []ir.Annot

	bans   []int32 // matches of rules that are switched off, in part inside
	rule   *Rule   // that made it
	script string  // the name that @fuse gives it
	grown  rowSet  // the rows of growth that took part
}

func traitsOf(v *ir.Value, k kind) traits {
	size := v.Type.DType.Size()
	t := traits{shape: v.Type.Shape, small: size, large: size, work: 1, annots: v.Annots}
	switch k {
	case fold, rows:
		t.shape, t.rows = v.Args[0].Type.Shape, true
	case product:
		t.cubes, t.factor = 1, v.Args[0].Type.DType
	case view:
		t.work = 0
	case opaque:
		t.sealed = v.Op.Class == ir.Reduce // several rows, or parts of an image, at once
	}
	return t
}

// joint are the traits of groups that become one, in their order. What they walk
// is the last one's: whoever joins them may know better.
func (g *graph) joint(parts []int32) traits {
	t := g.groups[parts[0]].traits
	t.counted = false
	for _, p := range parts[1:] {
		x := &g.groups[p].traits
		if t.cubes == 0 {
			t.factor = x.factor
		}
		t.shape = x.shape
		t.rows = t.rows || x.rows
		t.sealed = t.sealed || x.sealed
		t.cubes += x.cubes
		t.work += x.work
		t.small, t.large = min(t.small, x.small), max(t.large, x.large)
		t.first, t.last = min(t.first, x.first), max(t.last, x.last)
		t.bans = joinBans(t.bans, x.bans)
		t.grown |= x.grown
		if t.rule == nil {
			t.rule = x.rule
		}
	}
	return t
}

// joinBans appends the shorter list to the longer one.
func joinBans(a, b []int32) []int32 {
	if len(a) < len(b) {
		a, b = b, a
	}
	return append(a, b...)
}

// name is the rule that a region of the group is said to be of.
func (t *traits) name() string {
	switch {
	case t.script != "":
		return t.script
	case t.rule != nil:
		return t.rule.Name
	}
	return t.grown.name()
}

// apart turns down groups that the script keeps apart: what has other annotations
// may run on another stream or device.
func (g *graph) apart(parts []int32) *reason {
	first := &g.groups[parts[0]].traits
	for _, p := range parts {
		t := &g.groups[p].traits
		switch fuse := annotation(t.annots, "fuse"); {
		case fuse == "off":
			return &reason{"kept-apart", "@fuse(off)"}
		case fuse != "":
			return &reason{"kept-apart", fmt.Sprintf("@fuse(%q)", fuse)}
		case !slices.Equal(t.annots, first.annots):
			return &reason{"kept-apart", "the annotations differ"}
		}
	}
	return nil
}

// annotation is the argument of an annotation; empty if it is not there.
func annotation(annots []ir.Annot, name string) string {
	for _, a := range annots {
		if a.Name == name {
			return a.Arg
		}
	}
	return ""
}
