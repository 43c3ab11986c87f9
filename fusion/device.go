package fusion

import (
	"fmt"

	"github.com/npulang/npu/ir/device"
)

// dtypes turns down a cube kernel for a product that the device's cube has not.
func dtypes(t *traits, d *device.Device) *reason {
	if t.cubes == 0 || d.Multiplies(t.factor.String()) {
		return nil
	}
	return &reason{"dtype", fmt.Sprintf("%s, which the cube of %s does not multiply", t.factor, d.Name)}
}

// behind turns down operators behind a product that the device can hand over
// through memory only: all but what rides out of its cube.
func (w *fusing) behind(ops []int32) *reason {
	d := w.options.Device
	if d.L0CToUB > 0 {
		return nil
	}
	for _, id := range ops {
		if x := &w.vals[id]; x.kind != view && !d.Rides(x.v.Op.Name) {
			return &reason{"no-path", fmt.Sprintf("%s needs the vector unit, and %s has no way there from its cube", x.v.Op.Name, d.Name)}
		}
	}
	return nil
}

// ahead turns down operators in front of a product for the same reason. A
// transpose is a way of reading.
func (w *fusing) ahead(ops []int32) *reason {
	d := w.options.Device
	if d.UBToL1 > 0 {
		return nil
	}
	for _, id := range ops {
		if x := &w.vals[id]; x.kind != view && x.kind != turn {
			return &reason{"no-path", fmt.Sprintf("%s needs the vector unit, and %s has no way from there to its cube", x.v.Op.Name, d.Name)}
		}
	}
	return nil
}
