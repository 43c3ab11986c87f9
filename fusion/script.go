package fusion

import (
	"fmt"
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
)

// script makes the groups that the script asks for: the values of one name in
// one body go to one region, whatever they are.
//
//	@fuse("tail") {
//	    y = exp(x)             %z = fused %x {rule=tail} {
//	    z = transpose(y)  =>     ...
//	}                          }
//
// Leaves are left out: they are no work. Growth leaves such a region as it is. A
// function that was fused before has the region already.
func (w *fusing) script() {
	if w.options.Mode == None {
		return
	}
	parts := map[string][]int32{}
	var order []string
	for id := range w.vals {
		if w.vals[id].owner != int32(id) {
			continue
		}
		name := annotation(w.vals[id].v.Annots, "fuse")
		if name == "" || name == "off" {
			continue
		}
		if parts[name] == nil {
			order = append(order, name)
		}
		parts[name] = append(parts[name], int32(id))
	}
	for _, name := range order {
		if ops := parts[name]; len(ops) > 1 || w.vals[ops[0]].v.Op != ir.Fused {
			w.together(name, ops)
		}
	}
}

// together makes one region of what the script gives one name, or says why it
// cannot be.
func (w *fusing) together(name string, ops []int32) {
	for _, id := range ops {
		v := w.vals[id].v
		if v.Op.Class == ir.Region || v.Op.Flags&ir.Impure != 0 {
			w.cannot(name, v, fmt.Sprintf("%s is no part of a kernel", v.Op.Name))
			return
		}
		if !slices.Equal(v.Annots, w.vals[ops[0]].v.Annots) {
			w.cannot(name, v, "its other annotations are not those of the rest")
			return
		}
	}
	m, ok := w.merging(ops...)
	if !ok {
		w.cannot(name, w.vals[ops[len(ops)-1]].v, w.cycle(m).detail)
		return
	}
	t := w.joint(m.parts)
	t.script = name
	m.do(t)
}

// cannot reports that a group of the script's cannot be one region.
func (w *fusing) cannot(name string, at *ir.Value, why string) {
	w.errs = append(w.errs, &diag.Diagnostic{
		Code: "cannot-fuse", Loc: at.Pos, Subject: w.f.Name,
		Message: fmt.Sprintf("the values of @fuse(%q) cannot be one kernel: %s", name, why),
		Helps:   []string{"leave out what stands between, or give the parts different names"},
	})
}

// cycle says why a merge is none.
func (w *fusing) cycle(m *merge) *reason {
	if m.via == none {
		return &reason{"would-cycle", fmt.Sprintf("more than %d reads lie between", maxSearch)}
	}
	v := w.rootValue(m.via)
	return &reason{"would-cycle", fmt.Sprintf("%s %s has to run between", v.Op.Name, w.name(v))}
}
