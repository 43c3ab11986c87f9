package kernel

import (
	"strconv"
	"strings"

	"github.com/npulang/npu/ir"
)

// String writes all that the speed of a body depends on in one line: the operators in
// order, each with its arguments by their numbers, then the types of the inputs and
// the results' numbers. Inputs that are constant are marked by an asterisk, since
// kernels lay those out as they want, and the one in whose memory the first result
// lies by an exclamation mark.
//
//	linear(0,1,2) gelu(3) : f32[8,512] f32[512,512]* f32[512]* -> 4
//
// Two bodies of one line are computed by the same kernels in the same time.
func (b *Body) String() string {
	var s strings.Builder
	for i := range b.Ops {
		b.Ops[i].write(&s)
		s.WriteByte(' ')
	}
	s.WriteByte(':')
	for i, t := range b.In {
		s.WriteString(" " + t.String())
		if b.Value(i) != nil {
			s.WriteByte('*')
		}
		if i == b.InPlace {
			s.WriteByte('!')
		}
	}
	s.WriteString(" -> ")
	writeList(&s, b.Out)
	return s.String()
}

// write writes an operator: its name, the numbers of its arguments, and the attributes
// that are not their defaults. A view has the type of its result for a name.
func (o *Op) write(s *strings.Builder) {
	if o.Call == nil {
		s.WriteString("view:" + strings.ReplaceAll(o.As.String(), " ", ""))
	} else {
		s.WriteString(o.Call.Op.Name)
	}
	s.WriteByte('(')
	writeList(s, o.Args)
	s.WriteByte(')')
	if o.Call == nil {
		return
	}
	open := "{"
	for i, a := range o.Call.Op.Attrs {
		if l := o.Call.Attrs[i]; l.Kind != ir.KTensor && !l.Equal(a.Default) {
			s.WriteString(open + a.Name + "=" + strings.ReplaceAll(l.String(), " ", ""))
			open = ","
		}
	}
	if open == "," {
		s.WriteByte('}')
	}
}

func writeList(s *strings.Builder, values []int) {
	for i, v := range values {
		if i > 0 {
			s.WriteByte(',')
		}
		if v == Absent {
			s.WriteByte('_')
			continue
		}
		s.WriteString(strconv.Itoa(v))
	}
}
