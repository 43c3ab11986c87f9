package kernel

import (
	"encoding/binary"

	"github.com/npulang/npu/ir"
)

// Twins prepares bodies of one form, as the layers of a network have them, by what has
// been made for the first of them. Bodies have one form if they differ in nothing but
// the elements of constants of more than one. The zero value is ready for use, by one
// goroutine at a time and with the same options throughout.
type Twins struct {
	known map[string]*Prepared
	calls map[*ir.Call]uint64
	key   []byte
}

// A twin is a Runner that serves other bodies of its form: by itself, if it knows
// nothing of constants, or by a copy that has the constants of the other.
type twin interface {
	twin(b *Body, o *Options) Runner
}

// Prepare is that of the package.
func (t *Twins) Prepare(b *Body, o *Options) *Prepared {
	key := t.form(b)
	if p := t.known[string(key)]; p != nil {
		with, to := o.settled(), *p
		to.body, to.Runner = b, p.Runner.(twin).twin(b, &with)
		return &to
	}
	p := Prepare(b, o)
	if p == nil {
		return nil
	}
	if _, ok := p.Runner.(twin); ok {
		if t.known == nil {
			t.known = map[string]*Prepared{}
		}
		t.known[string(key)] = p
	}
	return p
}

// form writes all that a body's form is. Calls are told apart by where they are, since
// equal ones of a program are one.
func (t *Twins) form(b *Body) []byte {
	k := binary.AppendUvarint(t.key[:0], uint64(len(b.In)))
	for i := range b.In {
		k = appendType(k, b.In[i])
		k = appendConstant(k, b, i)
	}
	k = binary.AppendVarint(k, int64(b.InPlace))
	for i := range b.Ops {
		o := &b.Ops[i]
		k = binary.AppendUvarint(k, t.number(o.Call))
		if o.Call == nil {
			k = appendType(k, o.As)
		}
		k = appendValues(k, o.Args)
	}
	t.key = appendValues(append(k, 0), b.Out)
	return t.key
}

// number is that of a call, from one on; 0 for a view.
func (t *Twins) number(c *ir.Call) uint64 {
	if c == nil {
		return 0
	}
	n, ok := t.calls[c]
	if !ok {
		if t.calls == nil {
			t.calls = map[*ir.Call]uint64{}
		}
		n = uint64(len(t.calls)) + 1
		t.calls[c] = n
	}
	return n
}

func appendType(k []byte, t ir.Type) []byte {
	k = append(k, byte(t.DType), byte(len(t.Shape)))
	for _, d := range t.Shape {
		n, _ := d.Const()
		k = binary.AppendVarint(k, n)
	}
	return k
}

// appendConstant writes whether an input is constant, and its value if that is one
// element: programs have those inside.
func appendConstant(k []byte, b *Body, i int) []byte {
	c := b.Value(i)
	switch {
	case c == nil:
		return append(k, 0)
	case c.Len() != 1:
		return append(k, 1)
	}
	return append(append(k, 2), c.Data...)
}

func appendValues(k []byte, values []int) []byte {
	k = binary.AppendUvarint(k, uint64(len(values)))
	for _, v := range values {
		k = binary.AppendVarint(k, int64(v))
	}
	return k
}
