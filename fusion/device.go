package fusion

import (
	"fmt"
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/device"
	"github.com/npulang/npu/ir/tensor"
)

// cubeDTypes lists what a device's cube multiplies; the host multiplies all.
// Rows of devices have no field for bf16: the cubes that have f32 have it too.
var cubeDTypes = []struct {
	dtype tensor.DType
	has   func(*device.Device) bool
}{
	{tensor.F16, func(d *device.Device) bool { return d.CubeMACsF16 > 0 }},
	{tensor.BF16, func(d *device.Device) bool { return d.CubeMACsF32 > 0 }},
	{tensor.F32, func(d *device.Device) bool { return d.CubeMACsF32 > 0 }},
	{tensor.I8, func(d *device.Device) bool { return d.CubeKInt8 > 0 }},
	{tensor.U8, func(d *device.Device) bool { return d.CubeKInt8 > 0 }},
}

func multiplies(d *device.Device, t tensor.DType) bool {
	if host(d) {
		return true
	}
	for _, c := range cubeDTypes {
		if c.dtype == t {
			return c.has(d)
		}
	}
	return false
}

// dtypes turns down a cube kernel for a product that the device's cube has not.
func dtypes(t *traits, d *device.Device) *reason {
	if t.cubes == 0 || multiplies(d, t.factor) {
		return nil
	}
	return &reason{"dtype", fmt.Sprintf("%s, which the cube of %s does not multiply", t.factor, d.Name)}
}

// riders ride out of every cube, on its way to memory. Whatever else follows a
// product needs a way to the vector unit.
var riders = []*ir.Op{ir.BiasAdd, ir.Relu, ir.Cast}

// behind turns down operators behind a product that the device can hand over
// through memory only.
func (w *fusing) behind(ops []int32) *reason {
	d := w.options.Device
	if d.L0CToUB > 0 {
		return nil
	}
	for _, id := range ops {
		if x := &w.vals[id]; x.kind != view && !slices.Contains(riders, x.v.Op) {
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
