// Package mapped reads files in place.
//
//	f, err := mapped.Open("model.safetensors")   f.Data is the file's content
//	f.Release(part)                              the system may drop those pages, and brings
//	                                             back only what is read, a few at a time
//	f.Close()                                    Data is gone
//
// A regular file is mapped into memory where the system can do that, so that what
// is not looked at is not read, and all processes that open it share its pages.
// What is not regular, or can't be mapped, is read.
//
// Invariant: Data is never written to.
package mapped
