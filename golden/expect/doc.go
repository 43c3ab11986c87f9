// Package expect compares what a test computes with the texts of testdata.
//
//	expect.File(t, "testdata/table.json", text)
//
//	expect.Archives(t, []string{"in"}, func(t *testing.T, in txtar.File) []txtar.File {
//		return []txtar.File{expect.Section("out", compute(t, in))}
//	})
//
// A file holds one text. An archive (golang.org/x/tools/txtar) holds inputs, each
// followed by the outputs that belong to it. What differs fails the test, and
// with the flag -update is written to the file instead: the change is then read
// in the diff, as code is.
//
// What a test asserts besides, it asserts whatever the flag says.
//
// Absent: the golden files of the whole compiler, whose format and runner are
// package golden's.
package expect
