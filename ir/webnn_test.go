package ir_test

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// The W3C's conformance cases for WebNN, as JSON. Its operators are not ours:
// webnnOps says how each is put together from operators of the table.

// A webnnCase is one case of one operator.
type webnnCase struct {
	Name  string `json:"name"`
	Graph struct {
		Inputs    map[string]webnnTensor `json:"inputs"`
		Operators []struct {
			Name      string                       `json:"name"`
			Arguments []map[string]json.RawMessage `json:"arguments"`
			Outputs   json.RawMessage              `json:"outputs"`
		} `json:"operators"`
		Expected map[string]webnnTensor `json:"expectedOutputs"`
	} `json:"graph"`
}

type webnnTensor struct {
	Data       json.RawMessage `json:"data"` // a flat list, or one number for all elements
	Descriptor struct {
		Shape    []int  `json:"shape"`
		DataType string `json:"dataType"`
	} `json:"descriptor"`
}

var webnnDTypes = map[string]tensor.DType{
	"float32": tensor.F32, "float16": tensor.F16, "int64": tensor.I64, "uint64": tensor.U64, "int32": tensor.I32,
	"uint32": tensor.U32, "int8": tensor.I8, "uint8": tensor.U8,
}

// webnnULP is how many steps of the dtype a result may be off; 0 where nothing
// stands. Ours are rounded once, from constants in float64; the expected ones
// were computed with constants in float32, or in other steps.
var webnnULP = map[string]int64{
	"batchNormalization": 2, "elu": 1, "hardSigmoid": 1, "leakyRelu": 1, "linear": 1, "reduceLogSum": 2, "convTranspose2d": 1,
}

func TestWebNN(t *testing.T) {
	files, err := readArchive("../../shared/webnn-conformance.tar.gz")
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("the WebNN cases are not beside this tree")
	}
	if err != nil {
		t.Fatal(err)
	}
	cases := 0
	for _, name := range sortedKeys(files) {
		base := strings.TrimSuffix(path.Base(name), ".json")
		if path.Ext(name) != ".json" {
			continue
		}
		var file struct{ Tests []webnnCase }
		if err := json.Unmarshal(files[name], &file); err != nil {
			t.Fatal(name, err)
		}
		t.Run(base, func(t *testing.T) {
			for i := range file.Tests {
				runWebNN(t, &file.Tests[i])
			}
		})
		cases += len(file.Tests)
	}
	if cases != 1459 {
		t.Errorf("%d cases, want 1459", cases)
	}
}

// A webnnCall is the one operator of a case, with what its arguments name.
type webnnCall struct {
	inputs  map[string]*tensor.T
	options map[string]json.RawMessage // arguments that are not tensors, and options
}

// errCase stops a case: the table lacks an operator, or a call failed.
type errCase struct{ error }

func runWebNN(t *testing.T, c *webnnCase) {
	t.Helper()
	if len(c.Graph.Operators) != 1 {
		t.Fatalf("%s: %d operators", c.Name, len(c.Graph.Operators))
	}
	op := c.Graph.Operators[0]
	got, err := evalWebNN(c)
	if err != nil {
		t.Errorf("%s: %v", c.Name, err)
		return
	}
	var outputs []string
	if json.Unmarshal(op.Outputs, &outputs) != nil {
		outputs = []string{strings.Trim(string(op.Outputs), `"`)}
		if err := json.Unmarshal(op.Outputs, &outputs[0]); err != nil {
			t.Fatal(err)
		}
	}
	if len(outputs) != len(got) {
		t.Errorf("%s: %d results, want %d", c.Name, len(got), len(outputs))
		return
	}
	for i, name := range outputs {
		want, err := c.Graph.Expected[name].tensor()
		if err != nil {
			t.Fatal(c.Name, err)
		}
		if err := near(got[i], want, webnnULP[op.Name]); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
}

func evalWebNN(c *webnnCase) (out []*tensor.T, err error) {
	w := &webnnCall{inputs: map[string]*tensor.T{}, options: map[string]json.RawMessage{}}
	for name, in := range c.Graph.Inputs {
		if w.inputs[name], err = in.tensor(); err != nil {
			return nil, err
		}
	}
	op := c.Graph.Operators[0]
	for _, arg := range op.Arguments {
		for name, v := range arg {
			w.options[name] = v
			if name == "options" {
				if err := json.Unmarshal(v, &w.options); err != nil {
					return nil, err
				}
			}
		}
	}
	build := webnnOps[op.Name]
	if build == nil {
		return nil, fmt.Errorf("no row for %s", op.Name)
	}
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(errCase)
			if !ok {
				panic(r)
			}
			err = e
		}
	}()
	return build(w), nil
}

func (w *webnnCall) check(err error) {
	if err != nil {
		panic(errCase{err})
	}
}

// op evaluates one of our operators; absent arguments are nil.
func (w *webnnCall) op(name string, as attrs, in ...*tensor.T) []*tensor.T {
	out, err := evalOp(name, as, in...)
	w.check(err)
	return out
}

func (w *webnnCall) transpose(x *tensor.T, perm ...int64) *tensor.T {
	return w.op("transpose", attrs{"perm": ir.IntsLit(perm...)}, x)[0]
}

func (w *webnnCall) has(name string) bool { return w.options[name] != nil }

// arg is the tensor that an argument or option names; nil if it is absent.
func (w *webnnCall) arg(name string) *tensor.T {
	if !w.has(name) {
		return nil
	}
	var input string
	w.check(json.Unmarshal(w.options[name], &input))
	if w.inputs[input] == nil {
		w.check(fmt.Errorf("no input %q", input))
	}
	return w.inputs[input]
}

func (w *webnnCall) args(name string) []*tensor.T {
	var names []string
	w.check(json.Unmarshal(w.options[name], &names))
	var ts []*tensor.T
	for _, n := range names {
		ts = append(ts, w.inputs[n])
	}
	return ts
}

func (w *webnnCall) isList(name string) bool { return strings.HasPrefix(string(w.options[name]), "[") }

// ints reads a list of integers, or one.
func (w *webnnCall) ints(name string) []int64 {
	ns := []int64{}
	switch {
	case !w.has(name):
	case w.isList(name):
		w.check(json.Unmarshal(w.options[name], &ns))
	default:
		ns = append(ns, 0)
		w.check(json.Unmarshal(w.options[name], &ns[0]))
	}
	return ns
}

func (w *webnnCall) int(name string, value int64) ir.Lit {
	if w.has(name) {
		value = w.ints(name)[0]
	}
	return ir.IntLit(value)
}

func (w *webnnCall) float(name string, value float64) ir.Lit {
	if w.has(name) {
		w.check(json.Unmarshal(w.options[name], &value))
	}
	return ir.FloatLit(value)
}

func (w *webnnCall) dims(name string) ir.Lit { return ir.DimsLit(ir.Dims(w.ints(name)...)...) }

// str is a string option, or the text of another.
func (w *webnnCall) str(name string) string { return strings.Trim(string(w.options[name]), `"`) }

func (t webnnTensor) tensor() (*tensor.T, error) {
	d, ok := webnnDTypes[t.Descriptor.DataType]
	if !ok {
		return nil, fmt.Errorf("no dtype %s", t.Descriptor.DataType)
	}
	out := tensor.New(d, t.Descriptor.Shape...)
	return out, fill(out, t.Data)
}

// fill sets t to a list of numbers, or to one number everywhere.
func fill(t *tensor.T, data json.RawMessage) error {
	if !strings.HasPrefix(string(data), "[") {
		if t.Len() == 0 {
			return nil
		}
		err := setText(t, 0, strings.Trim(string(data), `"`))
		for n := t.DType.Size(); n < len(t.Data); n *= 2 {
			copy(t.Data[n:], t.Data[:n])
		}
		return err
	}
	var list []json.RawMessage
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	if len(list) != t.Len() {
		return fmt.Errorf("%d values for %v%v", len(list), t.DType, t.Shape)
	}
	for i, v := range list {
		if err := setText(t, i, strings.Trim(string(v), `"`)); err != nil {
			return err
		}
	}
	return nil
}

// setText sets an element to a number in text, exactly where it is an integer.
func setText(t *tensor.T, i int, text string) error {
	if t.DType.IsFloat() {
		v, err := strconv.ParseFloat(text, 64)
		t.SetFloat(i, v)
		return err
	}
	if v, err := strconv.ParseInt(text, 10, 64); err == nil {
		t.SetInt(i, v)
		return nil
	}
	if v, err := strconv.ParseUint(text, 10, 64); err == nil {
		t.SetUint(i, v)
		return nil
	}
	v, err := strconv.ParseFloat(text, 64)
	t.SetFloat(i, v)
	return err
}

func readArchive(name string) (map[string][]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		if files[h.Name], err = io.ReadAll(r); err != nil {
			return nil, err
		}
	}
}

func sortedKeys[V any](m map[string]V) []string {
	keys := []string{}
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
