package vm

import "github.com/npulang/npu/codegen/bytecode"

// tellReads names the parameters whose elements runs read where they are: as arguments
// of steps, but for those that a task has packed, as results of bodies, and as outputs.
func (m *Machine) tellReads(tell func(name string) error) error {
	if tell == nil {
		return nil
	}
	read := make([]bool, len(m.weights))
	mark := func(buffer int) {
		if buffer < 0 {
			return
		}
		if b := &m.program.Buffers[buffer]; b.Space == bytecode.WeightSpace {
			read[b.Slot] = true
		}
	}
	for f := range m.code {
		for _, b := range m.program.Functions[f].Writes {
			mark(b)
		}
		for _, steps := range m.code[f] {
			for i := range steps {
				m.stepReads(&steps[i], m.inside[f], mark)
			}
		}
	}
	for _, port := range m.program.Outputs {
		mark(port.Buffer)
	}
	for slot, w := range m.program.Weights {
		if read[slot] || m.check != nil {
			if err := tell(w.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

// stepReads marks what a step reads. One of a body that no step runs reads nothing.
func (m *Machine) stepReads(st *step, unused bool, mark func(buffer int)) {
	if unused {
		return
	}
	for i, b := range st.in {
		if st.task == nil || st.task.Reads(i) {
			mark(b)
		}
	}
}
