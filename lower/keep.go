package lower

import (
	"fmt"
	"slices"
	"strings"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
)

// A keeper knows the values that have memory of their own by request.
type keeper map[string]bool // by name as the IR prints it

// newKeeper looks the names of Options.Keep up among the values of f and of all
// bodies inside.
func newKeeper(f *ir.Func, names []string) (keeper, error) {
	if len(names) == 0 {
		return nil, nil
	}
	known := map[string]bool{}
	for work := []*ir.Func{f}; len(work) > 0; {
		g := work[len(work)-1]
		work = work[:len(work)-1]
		for v, name := range g.Names() {
			known[name] = true
			for _, body := range v.Bodies {
				if body != nil {
					work = append(work, body)
				}
			}
		}
	}
	k := keeper{}
	for _, name := range names {
		name = "%" + strings.TrimPrefix(name, "%")
		if !known[name] {
			return nil, unknownKeep(f, name, known)
		}
		k[name] = true
	}
	return k, nil
}

func unknownKeep(f *ir.Func, name string, known map[string]bool) error {
	d := &diag.Diagnostic{
		Code: "unknown-name", Subject: f.Name,
		Message: fmt.Sprintf("no value is named %s, which is to be kept", name),
		Notes:   []string{"names are those of the graph after the passes; what they removed is not there any more"},
	}
	var names []string
	for n := range known {
		names = append(names, n)
	}
	slices.Sort(names)
	if near := diag.Suggest(name, names); near != "" {
		d.Helps = append(d.Helps, fmt.Sprintf("did you mean %s?", near))
	}
	return d
}

// keepRoot keeps the memory of a view whose name is kept.
func (p *Plan) keepRoot(id int) {
	if p.Buffers[id].Kept {
		p.Buffers[p.Root(id)].Kept = true
	}
}

// keeps reports whether a body holds a value that is kept: then the frame is.
func (r *Region) keeps() bool {
	return slices.ContainsFunc(r.Bodies, func(p *Plan) bool {
		return slices.ContainsFunc(p.Buffers, func(b Buffer) bool { return b.Kept && b.Space == Arena })
	})
}
