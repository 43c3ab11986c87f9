package move

// Small has copies of so many bytes done as large ones are, until it is called back.
func Small(bytes int) (restore func()) {
	stream, pieces := streamFrom, piecesFrom
	streamFrom, piecesFrom = bytes, bytes
	return func() { streamFrom, piecesFrom = stream, pieces }
}
