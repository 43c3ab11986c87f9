package gemm

// Scratch is what one product at a time needs on the way. It grows to what its
// largest product asks for and is used again; products that run at the same time
// have one each.
type Scratch struct {
	tile    tile
	a, b, c []float32
	wide    []float32 // halves of A on the way to a
	end     ending

	copied   corner  // of A, that a holds
	copiedOf lying   // where A lies
	listed   listing // of the same A
}

// Forget has the next product copy its left operand anew, whatever it says of Again: another
// may lie where the last one did.
func (x *Scratch) Forget() { x.copied, x.copiedOf = corner{}, lying{} }

// floats returns the first n floats of a buffer, which is made anew if it is too
// short; what they hold is not said.
func floats(buffer *[]float32, n int) []float32 {
	if len(*buffer) < n {
		*buffer = Aligned(n)
	}
	return (*buffer)[:n]
}
