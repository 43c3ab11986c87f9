// Package conv computes convolutions and pools of float32 images
// [N, C, spatial...] with any number of spatial axes, strides, dilations, paddings
// and groups.
//
//	a Shape, an instruction set   =>   a Dense, a Winograd, a Thin or a Pool,
//	                                   which is cut into units and computes one of
//	                                   them at a time
//
// All but Winograd begin by staging: what a unit reads of the input is copied once into
// planes that have the padding around them, one plane for each remainder of the
// strides. There the places of a window are neighbours whatever the stride, and each
// tap of the window (an element of its kernel) is one distance for all places.
// Convolutions that neither pad nor stride read the input itself.
//
// A Dense convolution is a product of filters and of what places see, k going over
// channels and taps. The latter is never laid out where there are kernels for it: a
// bunch of places, whose sums with a panel of filters are in registers, reads it in
// place, since each k is one distance for all of them. Else it is laid out when its
// turn comes, for some places and steps of k, in the first-level cache, and used for
// all filters. A Thin convolution has a filter or two for each group, as depthwise ones
// do: its sums go over whole planes, tap by tap. So do pools.
//
// A Winograd convolution takes fewer products, of transformed filters and elements, where
// windows of 3x3 stand side by side. It has bits of its own.
//
// All other sums begin at zero and take one fused multiply-add for each k in ascending
// order: channels outermost, the last axis innermost, as the operator counts them,
// padding included. Neither units nor panels nor the instruction set change the
// order, so that they don't change a bit; but for Portable, which rounds products
// before it adds them. The error is at most k*2^-24 of the sum of the magnitudes.
//
// Units leave their sums in a Tile of scratch memory. What comes behind a convolution
// goes by tiles: a bias and a norm by running statistics, which are Steps of a channel,
// a residual and an activation that keeps values within bounds are an Ending, through
// which sums go on their way to y, and which turns them where a tile has its channels
// side by side. All else is the caller's, with tiles Upright.
//
// Assembly is for amd64; on arm64 products are those of package gemm, and the rest is
// Go.
package conv

//go:generate go run -C ../asm ./conv
