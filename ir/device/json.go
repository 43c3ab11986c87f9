package device

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// MaxJSON bounds the bytes of a user's device file, and maxRows its rows.
const (
	MaxJSON = 1 << 20
	maxRows = 1000
)

// Parse reads a user's devices: one JSON object, or an array of them. A field
// "base" names a row of the table, or one that stands earlier in the array,
// from which absent fields are taken; without it every number that may not be 0
// must be given. A field "sources", an object, may say of numbers by their names
// where they come from. The rows are checked; errors say which row and field.
func Parse(data []byte) ([]*Device, error) {
	if len(data) > MaxJSON {
		return nil, fmt.Errorf("device file has %d bytes, more than the limit of %d", len(data), MaxJSON)
	}
	raws, err := rawRows(data)
	if err != nil {
		return nil, err
	}
	var rows []*Device
	for i, raw := range raws {
		d, err := parseRow(raw, rows)
		if err != nil {
			return nil, fmt.Errorf("device file, row %d: %w", i+1, plain(err))
		}
		rows = append(rows, d)
	}
	return rows, nil
}

// rawRows parts an array into its elements; a single object is one row.
func rawRows(data []byte) ([]json.RawMessage, error) {
	trimmed := bytes.TrimSpace(data)
	if len(trimmed) == 0 {
		return nil, errors.New("device file is empty: want a JSON object, or an array of them")
	}
	if trimmed[0] != '[' {
		return []json.RawMessage{trimmed}, nil
	}
	var raws []json.RawMessage
	if err := json.Unmarshal(trimmed, &raws); err != nil {
		return nil, fmt.Errorf("device file: %w", plain(err))
	}
	if len(raws) > maxRows {
		return nil, fmt.Errorf("device file has %d rows, more than the limit of %d", len(raws), maxRows)
	}
	return raws, nil
}

// parseRow lays the fields of one object over its base.
func parseRow(raw json.RawMessage, earlier []*Device) (*Device, error) {
	var head struct {
		Base string `json:"base"`
		Name string `json:"name"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return nil, err
	}
	row := struct {
		Base string `json:"base"`
		Device
	}{}
	base := find(head.Base, earlier)
	switch {
	case base != nil:
		row.Device = *base
	case head.Base != "":
		return nil, fmt.Errorf("unknown base %q; the devices are %s", head.Base, strings.Join(Names(), ", "))
	}
	row.Name, row.Sources = "", nil
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&row); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("more text after the object")
	}
	if find(row.Name, earlier) != nil {
		return nil, fmt.Errorf("a device named %q is already there", row.Name)
	}
	given := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &given); err != nil {
		return nil, err
	}
	row.inherit(base, given)
	if base != nil && given["doc"] == nil {
		row.Doc = row.unlike(base, given)
	}
	return &row.Device, row.Check()
}

// plain says in a user's words what package json says of Go types.
func plain(err error) error {
	var typ *json.UnmarshalTypeError
	switch {
	case !errors.As(err, &typ):
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	case typ.Field == "":
		return fmt.Errorf("want an object, found a %s", typ.Value)
	}
	path := strings.Split(typ.Field, ".")
	return fmt.Errorf("field %s: %s does not fit the type %s", path[len(path)-1], typ.Value, typ.Type)
}

func find(name string, earlier []*Device) *Device {
	if d := Lookup(name); d != nil {
		return d
	}
	for _, d := range earlier {
		if d.Name == name {
			return d
		}
	}
	return nil
}

// JSON is the row as Parse reads it, one field a line.
func (d *Device) JSON() []byte {
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		panic(err) // a struct of numbers and strings always marshals
	}
	return append(text, '\n')
}
