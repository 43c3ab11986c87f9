package gemm

import "unsafe"

// A Matrix is a view of floats: element (i, j) is Data[i*Row+j*Col]. A transposed
// matrix has its distances exchanged.
type Matrix struct {
	Data     []float32
	Row, Col int

	halves []uint16 // instead of Data, of a left operand that is widened where it is copied
}

// From is the view that begins at element (i, j). Its data may be empty.
func (m Matrix) From(i, j int) Matrix {
	at := i*m.Row + j*m.Col
	m.Data, m.halves = m.Data[min(at, len(m.Data)):], m.halves[min(at, len(m.halves)):]
	return m
}

// address is where the matrix begins.
func (m *Matrix) address() uintptr {
	if m.halves != nil {
		return uintptr(unsafe.Pointer(unsafe.SliceData(m.halves)))
	}
	return address(m.Data)
}

// Panels are a matrix of K rows as kernels read it: panels of some columns side by
// side, as many as Width of the level. Element (k, j) of panel p is
// Data[p*Panel+k*Line+j]. All columns of a panel can be read, also those behind the
// last of the matrix, whose values don't matter.
//
//	packed, k rows     Panel: k*width, Line: width
//	rows of a matrix   Panel: width, Line: distance of rows
type Panels struct {
	Data        []float32
	Panel, Line int
}

// From is the view that begins at row k of panel p.
func (p Panels) From(panel, k int) Panels {
	return Panels{p.Data[min(panel*p.Panel+k*p.Line, len(p.Data)):], p.Panel, p.Line}
}

func address(s []float32) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(s))) }
