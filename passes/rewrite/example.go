package rewrite

import (
	"math/rand/v2"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// Example makes a random graph of one of the rule's forms, as a check does, with
// symbols for some of its sizes if that is asked for and legal, and of inputs that
// cannot hold just any values a tensor with possible ones, by name. The rule's
// tests may not hold in it. It is nil if none has come about in a few attempts.
//
//	relu(x + y)  =>  func @before(%x: f32[2,3], %y: f32[3]) -> f32[2,3]
func (r *Rule) Example(rng *rand.Rand, symbolic bool) (*ir.Func, map[string]*tensor.T) {
	forms, own := r.Forms(), usable(r.about())
	for i := range triesPerExample {
		s := newStyle(r, rng.Uint64(), i, rng.IntN(4) == 0)
		samples := samplesPerCase
		s.symbolic, s.own, s.samples = false, own, &samples
		if f, known := draftOf(forms[s.IntN(len(forms))], s); f != nil {
			if g := symbols(f, s); symbolic && g != nil {
				f = g
			}
			return f, known
		}
	}
	return nil, nil
}

// triesPerExample is how many drafts are begun: of two, one comes about.
const triesPerExample = 6
