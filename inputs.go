package npu

import (
	"fmt"
	"maps"
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
	ports := map[string]Port{}
	for _, port := range p.Inputs() {
		ports[port.Name] = port
	}
	if err := checkDims(opts.Dims, p.fn); err != nil {
		return nil, err
	}
	inputs := map[string]*Tensor{}
	env := ir.Env{}
	maps.Copy(env, opts.Dims)
	var random []Port
	for _, name := range sortedKeys(given) {
		port, ok := ports[name]
		switch {
		case !ok:
			return nil, p.unknownInput(name, sortedKeys(ports))
		case given[name] == "random":
			random = append(random, port)
			continue
		}
		t, err := readValue(name, given[name], port.Type)
		if err == nil {
			err = bindBare(env, port, t, opts.Dims)
		}
		if err != nil {
			return nil, err
		}
		inputs[name] = t
	}
	if err := p.bindDefaults(env, given, opts.Dims); err != nil {
		return nil, err
	}
	for _, port := range random {
		t, err := p.randomInput(port, env, opts.Seed)
		if err != nil {
			return nil, err
		}
		inputs[port.Name] = t
	}
	return inputs, nil
}

// bindDefaults learns symbols from the defaults of inputs that are not given,
// where a size or a random value depends on them.
func (p *Program) bindDefaults(env ir.Env, given map[string]string, dims map[string]int64) error {
	if len(dims) == 0 && len(given) == 0 {
		return nil
	}
	for i, port := range p.Inputs() {
		_, isGiven := given[port.Name]
		if isGiven || p.defaultOf(i) == nil || port.Type.IsConst() {
			continue
		}
		t, err := p.defaultValue(i)
		if err != nil {
			return nil // arguments reports it
		}
		if err := bindBare(env, port, t, dims); err != nil {
			return err
		}
	}
	return nil
}

// readValue reads a literal or a file.
func readValue(name, value string, t Type) (*Tensor, error) {
	if value == "" {
		return nil, Diagnostics{{Code: "bad-input", Subject: name, Message: "the value is empty",
			Helps: []string{"write a literal such as [[1, 2]], a .npy file, FILE.npz:KEY, or random"}}}
	}
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

// bindBare learns the symbols that stand alone in the type of an input from a
// value of it, which must agree with the sizes that were asked for.
func bindBare(env ir.Env, port Port, value *Tensor, dims map[string]int64) error {
	if len(port.Type.Shape) != len(value.Shape) {
		return nil // the run reports it
	}
	for i, d := range port.Type.Shape {
		s, ok := d.Symbol()
		if !ok {
			continue
		}
		size := int64(value.Shape[i])
		if want, ok := dims[s]; ok && want != size {
			return Diagnostics{{Code: "bad-input", Subject: port.Name, Message: fmt.Sprintf("%s is %d in this input, and %d is asked for", s, size, want),
				Helps: []string{fmt.Sprintf("leave out --dim %s=%d, or give %s as random", s, want, port.Name)}}}
		}
		env[s] = size
	}
	return nil
}

// randomInput makes a random value; a symbol that nothing binds is taken as in
// listings.
func (p *Program) randomInput(port Port, env ir.Env, seed uint64) (*Tensor, error) {
	for _, d := range port.Type.Shape {
		d.Symbols(func(s string) {
			if _, ok := env[s]; !ok {
				env[s] = p.opts.randomSize(s)
			}
		})
	}
	t, err := port.Type.Bind(env)
	if err == nil {
		err = t.Check()
	}
	if err != nil {
		d := *AsDiagnostic(err)
		d.Subject = port.Name
		return nil, Diagnostics{&d}
	}
	if need, _ := t.Bytes().Const(); need > p.opts.MaxMemory {
		return nil, Diagnostics{{Code: "limit", Subject: port.Name, Message: fmt.Sprintf("a random %s needs %d bytes, and the limit is %d", t, need, p.opts.MaxMemory),
			Helps: []string{"allow more with --max-memory, or choose smaller sizes with --dim"}}}
	}
	return RandomTensor(t.DType, t.Ints(), seed, port.Name), nil
}
