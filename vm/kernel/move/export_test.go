package move

// Small has copies of so many bytes done as large ones are, until it is called back.
func Small(bytes int) (restore func()) {
	stream, pieces, runs := streamFrom, piecesFrom, runsFrom
	streamFrom, piecesFrom, runsFrom = bytes, bytes, bytes
	return func() { streamFrom, piecesFrom, runsFrom = stream, pieces, runs }
}
