// Package draw makes pictures of functions: a graph in the language of Graphviz,
// or as SVG with a layout of its own.
//
//	func @main(%x: f32[B,3]) ... {          %x      %w
//	  %w = param : f32[3,2]                   \    /
//	  %h = matmul %x, %w : f32[B,2]   =>      matmul
//	  %0 = relu %h : f32[B,2]                   |
//	  return %0                                relu
//	}                                           |
//	                                           out
//
// A node is an operator with the name and the type of what it computes, in the
// colour of its unit; weights and constants are small. A region is a box that
// holds its bodies; a fused region has a port for each value that it reads and
// for each that it makes.
//
// # The layout
//
// Nodes stand in rows, each below what it reads (the longest path from above
// says in which row), and what many rows lie between is led past them. Sweeps
// down and up, a fixed number, move each node below the mean of what it reads
// and above the mean of what reads it. All of it is linear in the nodes and the
// lines but for sorting rows, in whole numbers, and without recursion but for
// regions inside regions: the same function gives the same picture on every
// machine.
//
// # What is absent on purpose
//
// Options of style, other directions than downwards, and a general layout: the
// one that comes with browsers' usual libraries recurses over the length of the
// graph, overflows the stack at chains of two thousand nodes, and would need an
// engine for JavaScript in the command.
package draw
