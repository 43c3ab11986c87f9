package kernel

import (
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// reference runs every operator by the evaluation in its row. Most evaluations
// compute where the results belong; what others make is copied there.
var reference = &Kernel{
	Name: "any/reference", Kind: Reference,
	Accept: func(c *ir.Call) bool { return c.Op.Eval != nil },
	Rows:   referenceRows,
	Run: func(c *ir.Call, out, in []*tensor.T) error {
		results, err := ir.Evaluate(c, in...)
		if err != nil {
			return err
		}
		for i, r := range results {
			if r != out[i] {
				copy(out[i].Data, r.Data)
			}
		}
		return nil
	},
}
