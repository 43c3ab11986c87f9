package npu

import (
	"fmt"
	"strings"

	"github.com/npulang/npu/ir"
)

// InputOptions say how ReadInputs makes values.
type InputOptions struct {
	Seed uint64           // of random values
	Dims map[string]int64 // sizes of symbolic dimensions, for random values
}

// ReadInputs reads the values of inputs as the command line has them: a text
// that begins with a bracket, a digit, a minus or a quote is a literal; random
// is random (floats standard normal, integers 0 to 9, bool fair); all else
// names a .npy file, or FILE.npz:KEY. An input that is not given keeps its
// default.
func (p *Program) ReadInputs(given map[string]string, opts InputOptions) (map[string]*Tensor, error) {
	inputs := map[string]*Tensor{}
	env := ir.Env{}
	ports := map[string]Port{}
	for _, port := range p.Inputs() {
		ports[port.Name] = port
	}
	for _, name := range sortedKeys(given) {
		port, ok := ports[name]
		if !ok {
			return nil, p.unknownInput(name, sortedKeys(ports))
		}
		if given[name] == "random" {
			continue
		}
		t, err := readValue(name, given[name], port.Type)
		if err != nil {
			return nil, err
		}
		inputs[name] = t
		bindBare(env, port.Type, t)
	}
	for name, n := range opts.Dims {
		env[name] = n
	}
	for _, name := range sortedKeys(given) {
		if given[name] != "random" {
			continue
		}
		t, err := randomInput(ports[name], env, opts.Seed)
		if err != nil {
			return nil, err
		}
		inputs[name] = t
	}
	return inputs, nil
}

// readValue reads a literal or a file.
func readValue(name, value string, t Type) (*Tensor, error) {
	if !isLiteral(value) {
		array, err := ReadArray(value)
		if err != nil {
			d := *AsDiagnostic(err)
			d.Notes = append(d.Notes, "this is the value of input "+name)
			return nil, Diagnostics{&d}
		}
		return array, nil
	}
	array, err := ParseTensor(strings.Trim(value, `"'`), t.DType)
	if err != nil {
		return nil, Diagnostics{{Code: "bad-input", Subject: name, Message: err.Error(),
			Notes: []string{fmt.Sprintf("the input is %s", t)}}}
	}
	return array, nil
}

// literals begin with one of these.
const literalStart = `[-+"'0123456789`

func isLiteral(value string) bool {
	switch value {
	case "true", "false", "nan", "inf":
		return true
	}
	return value != "" && strings.ContainsRune(literalStart, rune(value[0]))
}

// bindBare learns the symbols that stand alone in a type from a value of it.
func bindBare(env ir.Env, t Type, value *Tensor) {
	if len(t.Shape) != len(value.Shape) {
		return
	}
	for i, d := range t.Shape {
		if s, ok := d.Symbol(); ok {
			env[s] = int64(value.Shape[i])
		}
	}
}

// randomInput makes a random value; a symbol that nothing binds is taken as in
// listings.
func randomInput(port Port, env ir.Env, seed uint64) (*Tensor, error) {
	for _, d := range port.Type.Shape {
		d.Symbols(func(s string) {
			if _, ok := env[s]; !ok {
				env[s] = listingSize
			}
		})
	}
	t, err := port.Type.Bind(env)
	if err == nil {
		err = t.Check()
	}
	if err != nil {
		return nil, Diagnostics{{Code: "bad-input", Subject: port.Name, Message: err.Error()}}
	}
	return RandomTensor(t.DType, t.Ints(), seed, port.Name), nil
}
