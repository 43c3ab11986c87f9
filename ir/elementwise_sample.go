package ir

import (
	"math/rand/v2"

	"github.com/npulang/npu/ir/tensor"
)

// sampleElementwise draws calls whose arguments broadcast. known, if given,
// makes the values of the last argument; nil for any.
func sampleElementwise(over DTypes, args []string, attrs []Attr, known func(*sampler, Type) *tensor.T) func(*rand.Rand) Call {
	return func(r *rand.Rand) Call {
		s := &sampler{r}
		d, shape := s.dtype(over), s.shape(0, 4)
		c := Call{Attrs: s.attrs(attrs), Known: make([]*tensor.T, len(args))}
		for _, arg := range args {
			if _, optional, _ := ArgKind(arg); optional && s.chance(3) {
				c.In = append(c.In, Type{})
				continue
			}
			c.In = append(c.In, T(d, Dims(s.part(shape)...)...))
		}
		if known != nil {
			c.Known[len(args)-1] = known(s, c.In[len(args)-1])
		}
		return c
	}
}
