package vm

// Together makes the streams of a machine run at the same time, however small
// the program is.
func (m *Machine) Together() { m.serial = len(m.code[0]) <= 1 }
