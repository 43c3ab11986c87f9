// Package asm holds the programs that write the amd64 assembly of vm/kernel, in a
// module of its own, so that those who use npu never download avo.
//
//	asm/peak  (a Go program, by avo)   =>   ../peak/peak_amd64.s, ../peak/peak_amd64.go
//
// A generator is a package main in a folder that is named after the package it
// writes for. Its main calls gen.Main with the files it makes; gen knows where they
// lie, how they are marked, and how they are compared. To write the files of one
// package, or of all:
//
//	go generate ./vm/kernel/peak
//	go generate ./vm/kernel/...
//
// where the package has the line
//
//	//go:generate go run -C ../asm ./peak
//
// With -check a generator writes nothing and fails if a file is not what it would
// write; `.ci/run` does that with all of them.
//
// Invariant: the same sources give the same bytes: no map order, no time, no
// machine.
package asm
