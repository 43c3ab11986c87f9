package weights

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
)

// A Wanted is a parameter that a program asks for.
type Wanted struct {
	Name     string // its path: net.fc1.weight
	DType    tensor.DType
	Shape    []int // -1 stands for any size
	Optional bool  // it has an initial value: not missing when the file lacks it
}

// A Rename replaces, in the names of a file, the words Old by New. Words are
// what stands between dots: self.query=query makes layer.0.self.query.weight
// into layer.0.query.weight.
type Rename struct{ Old, New string }

// A Binding is what came of matching a file's names with a program's. All its
// lists are sorted by name.
type Binding struct {
	Tensors map[string]*tensor.T // by the name that the program uses

	Missing    []Wanted   // not in the file
	Mismatched []Mismatch // in the file, with another type or unreadable
	Clashes    []Clash    // several of the file's names became one
	Unused     []string   // in the file, asked for by nothing
	Idle       []Rename   // renames that changed no name, in the order given

	file  string
	total int
	near  string // a prefix that would find most of what is missing
}

// A Mismatch is a tensor that is there but does not fit.
type Mismatch struct {
	Wanted
	From   string // its name in the file
	Reason string // what is wrong: "is f32[10,128]"
}

// A Clash is two or more names of the file that became the same after
// renaming.
type Clash struct {
	Name string
	From []string
}

// Bind looks each wanted parameter up in set, which may be nil for none. From
// the file's names prefix is cut off first, and those without it are left
// aside; then the renames are applied in order.
func Bind(set *Set, wanted []Wanted, prefix string, renames []Rename) *Binding {
	b := &Binding{Tensors: map[string]*tensor.T{}, total: len(wanted)}
	var names []string
	if set != nil {
		b.file, names = set.file, set.Names()
	}
	sources := b.rename(names, prefix, renames)
	used := map[string]bool{}
	sorted := slices.Clone(wanted)
	slices.SortFunc(sorted, func(x, y Wanted) int { return cmp.Compare(x.Name, y.Name) })
	for _, w := range sorted {
		from := sources[w.Name]
		for _, f := range from {
			used[f] = true
		}
		b.bindOne(set, w, from)
	}
	for _, n := range names {
		if !used[n] {
			b.Unused = append(b.Unused, n)
		}
	}
	b.near = nearPrefix(names, b.Missing)
	return b
}

func (b *Binding) bindOne(set *Set, w Wanted, from []string) {
	switch len(from) {
	case 0:
		if !w.Optional {
			b.Missing = append(b.Missing, w)
		}
		return
	case 1:
	default:
		b.Clashes = append(b.Clashes, Clash{w.Name, from})
		return
	}
	t, err := set.Read(from[0])
	switch {
	case err != nil:
		b.Mismatched = append(b.Mismatched, Mismatch{w, from[0], "cannot be read: " + err.(*diag.Diagnostic).Message})
	case t.DType != w.DType || !fits(t.Shape, w.Shape):
		b.Mismatched = append(b.Mismatched, Mismatch{w, from[0], "is " + t.Type()})
	default:
		b.Tensors[w.Name] = t
	}
}

func fits(shape, want []int) bool {
	return slices.EqualFunc(shape, want, func(have, w int) bool { return w < 0 || have == w })
}

// rename maps the program's names to the file's.
func (b *Binding) rename(names []string, prefix string, renames []Rename) map[string][]string {
	sources := map[string][]string{}
	hit := make([]bool, len(renames))
	for _, file := range names {
		name, ok := strings.CutPrefix(file, prefix)
		if !ok {
			continue
		}
		for i, r := range renames {
			if to := r.apply(name); to != name {
				name, hit[i] = to, true
			}
		}
		sources[name] = append(sources[name], file)
	}
	for i, r := range renames {
		if !hit[i] {
			b.Idle = append(b.Idle, r)
		}
	}
	return sources
}

// apply replaces r.Old where it stands as whole words. An empty New drops
// them, with one of the dots.
func (r Rename) apply(name string) string {
	old := strings.Split(strings.Trim(r.Old, "."), ".")
	words := strings.Split(name, ".")
	var out []string
	for i := 0; i < len(words); {
		if len(words)-i >= len(old) && slices.Equal(words[i:i+len(old)], old) {
			if r.New != "" {
				out = append(out, strings.Trim(r.New, "."))
			}
			i += len(old)
			continue
		}
		out = append(out, words[i])
		i++
	}
	return strings.Join(out, ".")
}

// nearPrefix finds what stands before most of the missing names in the file:
// a model saved as part of a larger one.
//
// Each dot of a name is tried, so names of absurd length are left out.
func nearPrefix(names []string, missing []Wanted) string {
	const longest = 1000
	wanted := map[string]bool{}
	for _, w := range missing {
		wanted[w.Name] = true
	}
	count := map[string]int{}
	best := ""
	for _, n := range names {
		for i := range min(len(n), longest) {
			if n[i] != '.' || !wanted[n[i+1:]] {
				continue
			}
			p := n[:i+1]
			count[p]++
			if count[p] > count[best] {
				best = p
			}
		}
	}
	if 2*count[best] <= len(missing) {
		return ""
	}
	return best
}

// Problem is one error that lists everything that is missing or does not fit,
// or nil. Its code is missing-weight if something is missing, else bad-weight.
func (b *Binding) Problem() *diag.Diagnostic {
	d := &diag.Diagnostic{Code: "bad-weight", Loc: diag.Loc{File: b.file}, Subject: subject}
	var parts []string
	if n := len(b.Missing); n > 0 {
		d.Code = "missing-weight"
		parts = append(parts, fmt.Sprintf("%d of %d %s missing", n, b.total, plural(n, "is", "are")))
	}
	if n := len(b.Mismatched) + len(b.Clashes); n > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d %s not fit", n, b.total, plural(n, "does", "do")))
	}
	if len(parts) == 0 {
		return nil
	}
	d.Message = strings.Join(parts, ", ")
	b.list(d)
	return d
}

func (b *Binding) list(d *diag.Diagnostic) {
	for _, w := range b.Missing {
		d.Notes = append(d.Notes, fmt.Sprintf("%s: %s is missing", w.Name, typeName(w.DType, w.Shape)))
	}
	for _, m := range b.Mismatched {
		d.Notes = append(d.Notes, fmt.Sprintf("%s: want %s, %s %s", m.Name, typeName(m.DType, m.Shape), m.From, m.Reason))
	}
	for _, c := range b.Clashes {
		d.Notes = append(d.Notes, fmt.Sprintf("%s: %s all became this name", c.Name, strings.Join(c.From, ", ")))
	}
	if b.near != "" {
		d.Helps = append(d.Helps, fmt.Sprintf("the file has such names behind %q: try --weights-prefix %s", b.near, b.near))
	}
	for _, r := range b.Idle {
		d.Helps = append(d.Helps, fmt.Sprintf("--rename %s=%s matched no name of the file", r.Old, r.New))
	}
}

// Extra is one warning, or with strict one error, that lists what the file has
// and nothing asks for; or nil.
func (b *Binding) Extra(strict bool) *diag.Diagnostic {
	n := len(b.Unused)
	if n == 0 {
		return nil
	}
	const shown = 8
	list := strings.Join(b.Unused[:min(n, shown)], ", ")
	if n > shown {
		list += fmt.Sprintf(" and %d more", n-shown)
	}
	d := &diag.Diagnostic{
		Severity: diag.Warning, Code: "unused-weight", Loc: diag.Loc{File: b.file}, Subject: subject,
		Message: fmt.Sprintf("%d %s of the file %s asked for by nothing", n, plural(n, "tensor", "tensors"), plural(n, "is", "are")),
		Notes:   []string{list},
	}
	if strict {
		d.Severity = diag.Error
	}
	return d
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// typeName writes a type as the language does, any size as ?.
func typeName(d tensor.DType, shape []int) string {
	return strings.ReplaceAll((&tensor.T{DType: d, Shape: shape}).Type(), "-1", "?")
}
