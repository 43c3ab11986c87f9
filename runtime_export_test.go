package npu

import "github.com/npulang/npu/ir"

// RawAttr is an attribute as the IR has it.
func RawAttr(name string, l ir.Lit) Attr { return Attr{name, l} }

// Block keeps the stream from going on until the function that it returns is
// called.
func (s *Stream) Block() (release func()) {
	gate := make(chan struct{})
	if err := s.submit(&job{what: "Block", site: here(), do: func(*Stream) error {
		<-gate
		return nil
	}}); err != nil {
		panic(err)
	}
	return func() { close(gate) }
}

// Foldings is how many names findOperator knows, and how many there are.
func Foldings() (known, names int) {
	for _, op := range operators() {
		_ = op
		known++
	}
	for _, op := range ir.Ops() {
		if got, err := findOperator(op.Name); err == nil && got == op {
			names += 1 + len(op.Aliases)
		}
	}
	return known, names
}
