// Package mapped reads files in place.
//
//	f, err := mapped.Open("model.safetensors")   f.Data is the file's content
//	f.Lift(part)                                 the part, or a copy of one that is small
//	f.Release(part)                              the system may drop what reading it took
//	f.Close()                                    Data is gone
//
// A regular file is mapped into memory where the system can do that, so that what
// is not looked at is not read, and all processes that open it share its pages.
// What is not regular, or can't be mapped, is read.
//
// Invariant: Data is never written to.
package mapped
