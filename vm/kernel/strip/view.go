package strip

import "unsafe"

// A View is where the elements of an operand or result lie: that of row r and
// column c at Ptr + r*Row + c*Col, in bytes. Col is 0 for one element a row, and Row
// and Col are for one element for all; those of a result are not.
type View struct {
	Ptr      unsafe.Pointer
	Row, Col int
}

// Matrix is the view of floats whose rows begin ld elements apart.
func Matrix(data []float32, ld int) View {
	return View{unsafe.Pointer(unsafe.SliceData(data)), 4 * ld, 4}
}

// Columns is the view of one float for each column.
func Columns(data []float32) View { return View{unsafe.Pointer(unsafe.SliceData(data)), 0, 4} }

// Rows is the view of one float for each row.
func Rows(data []float32) View { return View{unsafe.Pointer(unsafe.SliceData(data)), 4, 0} }

// at is the element of a row and a column.
func (v *View) at(row, col int) unsafe.Pointer { return unsafe.Add(v.Ptr, row*v.Row+col*v.Col) }
