// Package conv computes convolutions and pools of float32 images
// [N, C, spatial...] with any number of spatial axes, strides, dilations, paddings
// and groups.
//
//	a Shape, an instruction set   =>   a Dense, a Thin or a Pool, which is cut into
//	                                   units and computes one of them at a time
//
// All of them begin by staging: what a unit reads of the input is copied once into
// planes that have the padding around them, one plane for each remainder of the
// strides. There the places of a window are neighbours whatever the stride, and each
// tap of the window (an element of its kernel) is one distance for all places.
// Convolutions that neither pad nor stride read the input itself.
//
// A Dense convolution is a product [filters, k] x [k, places], k going over
// channels and taps. The right side is never held: for sixteen or so places (a
// panel) the k are laid out when it is their turn, in the first-level cache, and
// used for all filters. A Thin one has a filter or two for each group, as depthwise
// convolutions do: its sums go over whole planes, tap by tap. So do pools.
//
// Every sum begins at zero and takes one fused multiply-add for each k in ascending
// order: channels outermost, the last axis innermost, as the operator counts them,
// padding included. Neither units nor panels nor the instruction set change the
// order, so that they don't change a bit; but for Portable, which rounds products
// before it adds them. The error is at most k*2^-24 of the sum of the magnitudes.
//
// What comes behind a convolution is the caller's: units leave their sums in a Tile of
// scratch memory. A bias and a norm by running statistics, which go by channel, are
// Steps of the tile.
//
// Assembly is for amd64; on arm64 products are those of package gemm, and the rest is
// Go.
package conv

//go:generate go run -C ../asm ./conv
