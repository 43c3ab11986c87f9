package fusion

import (
	"github.com/npulang/npu/ir/device"
	"github.com/npulang/npu/passes/rewrite"
)

// A Mode says which rules take part, before the switches of single rules.
type Mode string

const (
	Default Mode = ""         // AllSafe
	None    Mode = "none"     // no fusion
	AllSafe Mode = "all_safe" // rules that keep the bits, or stay within the tolerance that they state
	All     Mode = "all"      // all but those that take a liberty
)

// Modes lists what a mode may be.
var Modes = []Mode{None, AllSafe, All}

// Options steer fusion. The zero value is the default.
type Options struct {
	Mode     Mode
	Switches map[string]bool // rules on or off by their exact names, over the mode
	Rules    []*rewrite.Rule // a user's fusions, before the compiler's own

	Device *device.Device   // whose memory regions must fit; nil: the cpu
	Dims   map[string]int64 // sizes of symbols, for estimates only; the others are taken as 64
	// SaveMemory refuses a region that would raise the peak of live bytes.
	SaveMemory bool
}
