package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/npulang/npu"
)

// writeJSON prints one JSON value over several lines, as the flags --json do.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// A jsonTensor is a tensor as --json prints it: data is nested lists; nan, inf
// and -inf are strings, since JSON has no such numbers.
type jsonTensor struct {
	DType string          `json:"dtype"`
	Shape []int           `json:"shape"`
	Data  json.RawMessage `json:"data"`
}

func printJSON(std streams, p *npu.Program, outputs map[string]*npu.Tensor) error {
	var b strings.Builder
	b.WriteString("{")
	for i, port := range p.Outputs() {
		t := outputs[port.Name]
		name, err := json.Marshal(port.Name)
		if err != nil {
			return err
		}
		value, err := json.Marshal(jsonTensor{t.DType.String(), t.Shape, json.RawMessage(npu.TensorJSON(t))})
		if err != nil {
			return err
		}
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, "%s:%s", name, value)
	}
	b.WriteString("}\n")
	_, err := io.WriteString(std.out, b.String())
	return err
}
