package lower

import (
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/device"
)

// A mapper is a rule by which products come to a unit. All other work is done by
// the unit of its operator's row: control by scalar, moves by dma, the rest by
// vector.
type mapper struct {
	name Mapping
	// cube reports whether a product that the cube can multiply is for the cube.
	cube func(*device.Device, *Task) bool
	// whole: the rest of a product's region is done on the cube's core too,
	// behind the product, instead of beside it on the vector unit.
	whole bool
}

var mappers = []*mapper{
	{MapAuto, ofRow, false},
	{MapCubePrefer, func(*device.Device, *Task) bool { return true }, true},
	{MapVectorPrefer, cubeIsFaster, false},
}

// ofRow reports whether a task has a product that its row gives to the cube.
func ofRow(_ *device.Device, t *Task) bool {
	return slices.ContainsFunc(t.products(), func(p *Task) bool { return p.Call.Op.Unit == ir.Cube })
}

// cubeIsFaster compares the units for products that rows give to the cube. Small
// ones fill its blocks badly: a matrix times a vector uses one row in sixteen.
func cubeIsFaster(dev *device.Device, t *Task) bool {
	if !ofRow(dev, t) {
		return false
	}
	cube, vector := *t, *t
	cube.Unit, cube.Mixed = ir.Cube, needsVector(dev, t)
	vector.Unit, vector.Mixed = ir.Vector, false
	return cube.time(dev) < vector.time(dev)
}

// mapper finds the rule of a name; nil if there is none.
func (m Mapping) mapper() *mapper {
	for _, row := range mappers {
		if row.name == m || m == "" && row.name == MapAuto {
			return row
		}
	}
	return nil
}

// unit decides which unit does a task: the one that @unit asks for, if it can,
// else the one that the mapping says. A cube can products, the vector unit all
// but control.
func (b *builder) unit(v *ir.Value, t *Task) {
	if t.Region != nil && t.Region.Kind != Fused || b.fused {
		return
	}
	asked, products := annotation(v, "unit"), t.products()
	switch {
	case asked == ir.Vector.String():
		t.Unit = ir.Vector
	case len(products) == 0: // nothing for a cube
	case asked == ir.Cube.String(), b.onCube(t, products):
		t.Unit = ir.Cube
		t.Mixed = !b.mapper.whole && needsVector(b.opts.Device, t)
	default:
		t.Unit = ir.Vector
	}
	if t.Region != nil {
		for _, p := range products {
			p.Unit = t.Unit
		}
	}
}

// onCube reports whether the cube has the dtypes of the products, and gets them.
func (b *builder) onCube(t *Task, products []*Task) bool {
	dev := b.opts.Device
	return b.mapper.cube(dev, t) && !slices.ContainsFunc(products, func(p *Task) bool {
		return !dev.Multiplies(p.Call.In[0].DType.String())
	})
}

// products lists the products that a task consists of, or holds in its region.
func (t *Task) products() (list []*Task) {
	if t.Region == nil && t.Call.Op.Class == ir.Contract {
		return []*Task{t}
	}
	for _, k := range t.kernels() {
		if k.Call.Op.Class == ir.Contract {
			list = append(list, k)
		}
	}
	return list
}

// kernels lists the tasks of a fused region.
func (t *Task) kernels() (list []*Task) {
	if t.Region == nil || t.Region.Kind != Fused {
		return nil
	}
	for i := range t.Region.Bodies[0].Tasks {
		if k := &t.Region.Bodies[0].Tasks[i]; k.Call != nil {
			list = append(list, k)
		}
	}
	return list
}

// needsVector reports whether a task on the cube needs the vector unit too: for
// the softmax of an attention, and for what is fused to a product unless the
// device's cube does that on the way out. A move is a way of reading.
func needsVector(dev *device.Device, t *Task) bool {
	if t.Region == nil {
		return t.Call.Op == ir.Attention
	}
	return slices.ContainsFunc(t.kernels(), func(k *Task) bool {
		if k.Call.Op.Class == ir.Contract {
			return needsVector(dev, k)
		}
		return k.Call.Op.Unit == ir.Vector && !dev.Rides(k.Call.Op.Name)
	})
}

// annotation is the argument of an annotation; empty if it is not there.
func annotation(v *ir.Value, name string) string {
	for _, a := range v.Annots {
		if a.Name == name {
			return a.Arg
		}
	}
	return ""
}

// unitText names the units that a task needs.
func (t *Task) unitText() string {
	if t.Mixed {
		return t.Unit.String() + "+" + ir.Vector.String()
	}
	return t.Unit.String()
}

// A unitSet is a set of units.
type unitSet uint8

func (s unitSet) has(u ir.Unit) bool { return s&(1<<u) != 0 }

// units are those that a task occupies as long as it runs: for control, those of
// its bodies' tasks too.
func (t *Task) units() unitSet {
	s := unitSet(1 << t.Unit)
	if t.Mixed {
		s |= 1 << ir.Vector
	}
	if t.Region != nil && t.Region.Kind != Fused {
		for _, body := range t.Region.Bodies {
			s |= body.occupies
		}
	}
	return s
}
