package lower

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/device"
	"github.com/npulang/npu/ir/diag"
)

// Check reports what keeps f from being planned whatever its sizes are: options
// that no plan can follow, and more names of streams than there may be streams.
// Lower reports the same. The error is a *diag.Diagnostic.
func Check(f *ir.Func, opts Options) error {
	opts = opts.complete()
	if err := opts.check(); err != nil || opts.streams() == 1 { // all is on that one, whatever its name
		return err
	}
	var names []string
	for _, v := range f.Body {
		if v.Op == ir.Param || v.Op == ir.Const {
			continue
		}
		if name := annotation(v, "stream"); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
			if len(names) > opts.streams() {
				return opts.tooMany(v, names)
			}
		}
	}
	return nil
}

// complete fills in defaults.
func (o Options) complete() Options {
	o.Align = cmp.Or(o.Align, defaultAlign)
	if o.Device == nil {
		o.Device = device.Lookup("cpu")
	}
	return o
}

// streams is how many there may be.
func (o *Options) streams() int { return cmp.Or(o.Streams, o.Device.DefaultStreams) }

// check refuses numbers and words that no plan can follow.
func (o *Options) check() error {
	most, message := min(device.MaxStreams, o.Device.Streams), ""
	switch {
	case o.Streams < 0 || o.Streams > most:
		message = fmt.Sprintf("%d streams are asked for, but %s has from 1 to %d", o.Streams, o.Device.Name, most)
	case o.Mapping.mapper() == nil:
		message = fmt.Sprintf("there is no mapping %q, only auto, cube_prefer and vector_prefer", o.Mapping)
	case o.Strategy.strategist() == nil:
		message = fmt.Sprintf("there is no strategy %q, only latency, throughput and balanced", o.Strategy)
	case !o.Memory.known():
		message = fmt.Sprintf("there is no memory mode %q, only off, conservative, normal and aggressive", o.Memory)
	case o.Align < 1 || o.Align > maxAlign || o.Align&(o.Align-1) != 0:
		message = fmt.Sprintf("the alignment %d is no power of two up to %d", o.Align, maxAlign)
	default:
		return nil
	}
	return &diag.Diagnostic{Code: "out-of-range", Message: message}
}

func (o *Options) tooMany(at *ir.Value, names []string) error {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = strconv.Quote(n)
	}
	return &diag.Diagnostic{
		Code: "too-many-streams", Loc: at.Pos,
		Message: fmt.Sprintf("@stream names more streams than the %d that there may be: %s", o.streams(), strings.Join(quoted, ", ")),
		Helps:   []string{"let values share a name, or raise the limit with --streams"},
	}
}
