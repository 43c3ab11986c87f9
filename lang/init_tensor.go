package lang

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// InitTensor makes the values of a weight that no file has, from its init. The
// numbers of normal and uniform depend on the seed and the weight's name only.
// It returns nil when the weight has no init.
func InitTensor(v *ir.Value, seed uint64, read func(path string) ([]byte, error)) (*tensor.T, error) {
	return source{seed: seed, read: read}.weight(v)
}

// A source is what initial values are made from.
type source struct {
	seed uint64
	read func(path string) ([]byte, error)
	most int64 // bytes of one tensor; 0: defaultMaxBytes
}

const defaultMaxBytes = 4 << 30

// weight makes the values of one weight.
func (s source) weight(v *ir.Value) (*tensor.T, error) {
	if known := attr(v, "value"); known.Tensor != nil {
		return known.Tensor, nil
	}
	init := attr(v, "init").Str
	if init == "" {
		return nil, nil
	}
	t, err := s.make(init, v.Type, v.Name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", v.Name, err)
	}
	if !ir.TypeOf(t).Equal(v.Type) {
		return nil, fmt.Errorf("%s is %s, but its init gives %s", v.Name, v.Type, ir.TypeOf(t))
	}
	return t, nil
}

// attr is an attribute of a value by its name.
func attr(v *ir.Value, name string) ir.Lit {
	for i := range v.Op.Attrs {
		if v.Op.Attrs[i].Name == name && i < len(v.Attrs) {
			return v.Attrs[i]
		}
	}
	return ir.None
}

// make reads an init's text and makes the values of a tensor called name.
func (s source) make(init string, t ir.Type, name string) (*tensor.T, error) {
	if file, ok := loadText(init); ok {
		return LoadArray(file, s.read)
	}
	if err := s.fits(t); err != nil {
		return nil, err
	}
	word, list, _ := strings.Cut(strings.TrimSuffix(init, ")"), "(")
	row, ok := initRows[word]
	if !ok {
		return nil, fmt.Errorf("unknown init %q", init)
	}
	var args []float64
	if list != "" {
		for _, part := range strings.Split(list, ",") {
			f, err := strconv.ParseFloat(part, 64)
			if err != nil && !math.IsInf(f, 0) {
				return nil, fmt.Errorf("%q in the init %q is not a number", part, init)
			}
			args = append(args, f)
		}
	}
	if len(args) != len(row.args) {
		return nil, fmt.Errorf("the init %q needs %d numbers", init, len(row.args))
	}
	return fillInit(row, args, t, seededBy(s.seed, name)), nil
}

// fits refuses types that are not known, or take more memory than is allowed.
func (s source) fits(t ir.Type) error {
	most := s.most
	if most == 0 {
		most = defaultMaxBytes
	}
	n, known := t.Bytes().Const()
	switch {
	case !t.IsConst() || !known:
		return fmt.Errorf("the shape of %s is not known", t)
	case n > most:
		return ir.Errorf("limit", "%s needs %d bytes, but %d are allowed", t, n, most)
	}
	return nil
}

// fillInit writes in chunks, so that a large weight needs no second copy.
func fillInit(row initRow, args []float64, t ir.Type, r *rand.Rand) *tensor.T {
	out := tensor.New(t.DType, t.Ints()...)
	chunk := make([]float64, 4096)
	for at, n := 0, out.Len(); at < n; at += len(chunk) {
		part := chunk[:min(len(chunk), n-at)]
		row.fill(r, args, part)
		out.StoreFloats(at, part)
	}
	return out
}

// seededBy is a source of numbers that depends on the seed and a name alone.
func seededBy(seed uint64, name string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(name))
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

// loadText reads load("file").
func loadText(init string) (string, bool) {
	rest, ok := strings.CutPrefix(init, loadWord+"(")
	rest, closed := strings.CutSuffix(rest, ")")
	if !ok || !closed {
		return "", false
	}
	file, err := strconv.Unquote(rest)
	return file, err == nil
}

// An unreadable is the error of a file, which it names once.
type unreadable struct {
	file string
	err  error
}

func (u unreadable) Error() string { return u.file + " cannot be read: " + reason(u.err) }

func (u unreadable) Unwrap() error { return u.err }

// LoadArray reads FILE.npy, or FILE.npz:KEY; a .npz with one array needs no
// key.
func LoadArray(file string, read func(string) ([]byte, error)) (*tensor.T, error) {
	if read == nil {
		return nil, fmt.Errorf("%s cannot be read here: no files are open", file)
	}
	name, key, hasKey := file, "", false
	if i := strings.LastIndex(file, ".npz:"); i >= 0 {
		name, key, hasKey = file[:i+4], file[i+5:], true
	}
	data, err := read(name)
	if err != nil {
		return nil, unreadable{name, err}
	}
	if !strings.HasSuffix(name, ".npz") {
		t, err := tensor.DecodeNpy(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return t, nil
	}
	z, err := tensor.OpenNpz(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if keys := z.Keys(); !hasKey {
		if len(keys) != 1 {
			return nil, fmt.Errorf("%s holds %d arrays: write %s:KEY; there is %s", name, len(keys), name, z.Summary())
		}
		key = keys[0]
	}
	t, err := z.Read(key)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return t, nil
}
