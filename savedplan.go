package npu

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/npulang/npu/codegen/bytecode"
	"github.com/npulang/npu/ir/device"
)

// A savedPlanning is what a compiled file keeps of the options that its plans
// were made with, as JSON: with symbolic dimensions plans are made when it is
// loaded. What is absent has its default.
type savedPlanning struct {
	Device   json.RawMessage  `json:"device,omitempty"` // a name, or the whole row
	Mapping  Mapping          `json:"mapping,omitempty"`
	Streams  int              `json:"streams,omitempty"`
	Strategy StreamStrategy   `json:"stream_strategy,omitempty"`
	Memory   MemoryMode       `json:"memory,omitempty"`
	Align    int64            `json:"align,omitempty"`
	Keep     []string         `json:"keep,omitempty"`
	Effort   Effort           `json:"plan_effort,omitempty"`
	Max      map[string]int64 `json:"max,omitempty"`
}

// planningKey is where the options stand among the facts of a compiled file.
const planningKey = "planning"

// planning is the text form of the options; empty: all are the defaults.
func (o *Options) planning() string {
	s := savedPlanning{
		Mapping: o.Mapping, Streams: o.Streams, Strategy: o.StreamStrategy, Memory: o.MemoryMode,
		Align: o.Align, Keep: o.Keep, Effort: o.PlanEffort, Max: o.MaxDims,
	}
	if o.Device != nil {
		s.Device = savedDevice(o.Device)
	}
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // a struct of numbers and strings always marshals
	}
	if string(text) == "{}" {
		return ""
	}
	return string(text)
}

// savedDevice is the name of a row of npu's own, or the row.
func savedDevice(d *Device) []byte {
	if device.Lookup(d.Name) == d {
		text, _ := json.Marshal(d.Name) // a name always marshals
		return text
	}
	var b bytes.Buffer
	plain := *d
	plain.Sources = nil // a program needs the numbers only
	if err := json.Compact(&b, plain.JSON()); err != nil {
		panic(err) // JSON that was just made
	}
	return b.Bytes()
}

// replan fills in, from a compiled file, the options about plans that the user
// has not given. It reports whether what the user has given asks for another
// plan than the file's.
func (o *Options) replan(file *bytecode.File) (changed bool, err error) {
	saved := ""
	for _, p := range file.Meta {
		if p.Key == planningKey {
			saved = p.Value
		}
	}
	if saved != "" {
		if err := o.fillFrom(saved); err != nil {
			return false, Diagnostics{{Code: "bad-bytecode", Message: "the file's planning options are damaged: " + AsDiagnostic(err).Message}}
		}
	}
	return o.planning() != saved, nil
}

// fillFrom fills in what is not given from a text form.
func (o *Options) fillFrom(saved string) error {
	var s savedPlanning
	dec := json.NewDecoder(bytes.NewReader([]byte(saved)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&s); err != nil {
		return err
	}
	file := Options{
		Mapping: s.Mapping, Streams: s.Streams, StreamStrategy: s.Strategy, MemoryMode: s.Memory,
		Align: s.Align, Keep: s.Keep, PlanEffort: s.Effort, MaxDims: s.Max,
	}
	if err := file.CheckPlanning(); err != nil {
		return err
	}
	if s.Device != nil && o.Device == nil {
		d, err := loadDevice(s.Device)
		if err != nil {
			return err
		}
		o.Device = d
	}
	fill(&o.Mapping, file.Mapping)
	fill(&o.Streams, file.Streams)
	fill(&o.StreamStrategy, file.StreamStrategy)
	fill(&o.MemoryMode, file.MemoryMode)
	fill(&o.Align, file.Align)
	fill(&o.PlanEffort, file.PlanEffort)
	if o.Keep == nil {
		o.Keep = file.Keep
	}
	if o.MaxDims == nil {
		o.MaxDims = file.MaxDims
	}
	return nil
}

// fill sets what has its default.
func fill[T comparable](option *T, saved T) {
	var none T
	if *option == none {
		*option = saved
	}
}

// loadDevice is the way back from savedDevice.
func loadDevice(text []byte) (*Device, error) {
	var name string
	if json.Unmarshal(text, &name) == nil {
		if d := device.Lookup(name); d != nil {
			return d, nil
		}
		return nil, errors.New("there is no device " + asWord(name))
	}
	d := new(Device)
	if err := json.Unmarshal(text, d); err != nil {
		return nil, err
	}
	return d, d.Check()
}
