package npu

import (
	"strings"
	"testing"

	"github.com/npulang/npu/codegen/bytecode"
	"github.com/npulang/npu/ir/device"
)

// TestSavedPlanning writes options as a compiled file does, and reads them.
func TestSavedPlanning(t *testing.T) {
	own := *device.Lookup("ascend910b3")
	own.Name, own.CubeCores = "mine", 3
	for _, o := range []Options{
		{}, {Streams: 3}, {Device: device.Lookup("ascend910b3")}, {Device: &own},
		{Mapping: MapCubePrefer, StreamStrategy: StreamsLatency, MemoryMode: MemoryOff, Align: 32, Keep: []string{"%0", "h"}, PlanEffort: EffortNone, MaxDims: map[string]int64{"B": 8, "A": 2}},
	} {
		text := o.planning()
		var back Options
		changed, err := back.replan(&bytecode.File{Meta: []bytecode.Pair{{Key: "other"}, {Key: planningKey, Value: text}}})
		if err != nil || changed || back.planning() != text {
			t.Errorf("%s is read as %s, changed %v, error %v", text, back.planning(), changed, err)
		}
		other := Options{Streams: 5}
		if changed, err := other.replan(&bytecode.File{Meta: []bytecode.Pair{{Key: planningKey, Value: text}}}); err != nil || !changed || other.Streams != 5 || other.Align != o.Align {
			t.Errorf("%s under 5 streams is %s, changed %v, error %v", text, other.planning(), changed, err)
		}
	}
}

// TestDamagedPlanning reads what no file of npu's holds.
func TestDamagedPlanning(t *testing.T) {
	for text, want := range map[string]string{
		`{`:                              "unexpected EOF",
		`{"streams": 99}`:                "99 streams are asked for",
		`{"align": 3}`:                   "the alignment 3",
		`{"speed": 3}`:                   "unknown field",
		`{"device": "ascend"}`:           "there is no device ascend",
		`{"device": {"name": "x"}}`:      "cube_cores is 0",
		`{"max": {"B": -1}}`:             "the bound B=-1",
		`{"memory": "none"}`:             "unknown memory mode none",
		`{"mapping": "a\u0000b"}`:        `unknown mapping "a\x00b"`,
		`{"plan_effort": -7}`:            "the effort -7",
		`{"device": [1]}`:                "cannot unmarshal",
		`{"stream_strategy": "fastest"}`: "unknown stream strategy fastest",
	} {
		var o Options
		_, err := o.replan(&bytecode.File{Meta: []bytecode.Pair{{Key: planningKey, Value: text}}})
		if err == nil || AsDiagnostic(err).Code != "bad-bytecode" || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestParseEffort(t *testing.T) {
	for text, want := range map[string]Effort{"none": EffortNone, "normal": EffortNormal, "high": EffortHigh, "1": 1, "200k": 200_000, "3M": 3_000_000, "1G": 1e9} {
		if got, err := ParseEffort(text); got != want || err != nil {
			t.Errorf("%s is %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "k", "0", "-1", "1kk", "1.5k", "2000000G", "99999999999999999999", "much"} {
		if got, err := ParseEffort(text); err == nil {
			t.Errorf("%s is %d, want an error", text, got)
		}
	}
}
