package npu

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/npulang/npu/ir/device"
	"github.com/npulang/npu/ir/diag"
)

// FindDevice finds a device of npu's own by its name, or reads one from a JSON
// file; FILE:NAME picks one of several.
func FindDevice(name string) (*Device, error) {
	if d := device.Lookup(name); d != nil {
		return d, nil
	}
	file, pick := name, ""
	b, err := readFile(file)
	if i := strings.LastIndexByte(name, ':'); i > 0 && errors.Is(err, fs.ErrNotExist) {
		file, pick = name[:i], name[i+1:]
		b, err = readFile(file)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(name, `./\:`):
		return nil, helped(unknown("device", name, device.Names()), "or give a JSON file that describes one")
	case err != nil:
		return nil, asDiagnostics(err)
	}
	rows, err := device.Parse(b)
	if err != nil {
		return nil, Diagnostics{{Code: "bad-file", Loc: diag.Loc{File: file}, Message: err.Error(),
			Helps: []string{`a device has the fields of the one that it is based on, and its own: {"name": "mine", "base": "cpu", "ub_bytes": 65536}; npu devices cpu lists them`}}}
	}
	return pickDevice(file, pick, rows)
}

// pickDevice chooses the row of a file that is named, else the only one.
func pickDevice(file, pick string, rows []*Device) (*Device, error) {
	var names []string
	for _, d := range rows {
		if d.Name == pick || pick == "" && len(rows) == 1 {
			return d, nil
		}
		names = append(names, d.Name)
	}
	d := &Diagnostic{Code: "unknown-name", Loc: diag.Loc{File: file}, Message: "the file has no device " + pick}
	if pick == "" {
		d.Message = fmt.Sprintf("the file has %d devices", len(rows))
		d.Helps = []string{"name one as FILE:NAME: " + strings.Join(names, ", ")}
	} else {
		suggest(d, pick, names)
	}
	return nil, Diagnostics{d}
}
