// Package kernel is the table of code that runs tasks.
//
//	linear f32[8,512] f32[512,512] f32[512]      the first row of the table
//	gelu                                      => that takes the body, and
//	(a Body: operators, and which inputs         what it has made ready: a
//	are constant)                                Prepared task
//
// A task is one operator, or those of a fused region. Kernels are of three kinds:
// reference (the evaluation in the operator's row, which works for every legal
// call), generic (portable Go) and fast (assembly); the last two are one row at
// different levels of package isa. The rows stand in the order of preference, and
// each says why it does not take a body. A region that no row takes is run operator
// by operator.
//
// What may run a body is a Candidate: a row, in one of the ways that it knows. All of
// a body's candidates give the same bits, and each has an estimate. The least one
// runs the body, unless Options.Choose names another, as one that was measured does.
//
// Rows live in files of their own (row_*.go), which translate bodies to what the
// packages below this one compute. Those know slices and strides, and no operators.
// To read a family, begin with its row's Make, which says what the row takes, go on to
// the task (a Runner: Parts and Run), and from there to the package behind:
//
//	family                files                                         task                         packages
//	the table             kernel choice ways key index twins            Row Candidate
//	bodies                body bind                                     Body
//	what a run has        exec sharing reads packs backlog              Exec Packs
//	the reference         reference rows split                          evaluation Split
//	products              row_product product_*                         productTask                  gemm wide
//	products that meet    row_gated                                     gatedTask                    gemm narrow
//	products and softmax  row_scores                                    scoresTask                   gemm norm
//	convolutions          row_conv conv_*                               convTask                     conv strip
//	pools                 row_pool                                      windowPool                   conv
//	by element, f32       row_strip strip_*                             stripTask                    strip vec
//	by element, exact     row_plain plain_*                             plainTask                    move long
//	norms, sums of f32    row_norm row_reduce row_rows                  normTask reduceTask rowsTask norm strip
//	reductions, exact     row_fold row_tally fold_loops                 foldTask tallyTask           norm
//	attention             row_attention                                 attentionTask                attn
//	rotary embedding      row_rope                                      roper                        strip
//	scales and bytes      row_quantize                                  quantizeTask                 narrow
//	halves as f32         row_halves                                    halvesTask                   narrow
//	moves                 row_move row_pieces row_triangle              moving triangleTask          move
//	by indices            row_index row_scatter row_coordinates combine indexing scatter             move
//	along an axis         row_sort row_cumulate                         sorting cumulating           move
//	as other bodies       row_vectors
//
// A large task is computed by parts, by several executors. The reference cuts
// calls into rows that are calls of the same operator:
//
//	softmax f32[6,4], three parts              =>   softmax f32[2,4] of rows 0 and 1,
//	                                                of 2 and 3, of 4 and 5
//
// rowsOf is the table for it: every axis of elementwise operators, the axes before
// those that reductions and norms work along, the batch and the left rows of
// products. An operator that is not in there is done as a whole.
//
// Invariants:
//   - Run writes the whole of every result and nothing else; results do not
//     overlap inputs, but for the one that Body.InPlace names;
//   - a Prepared task may be run from several goroutines at once;
//   - parts give what the whole gives, bit for bit, and so do the operators of a
//     region by themselves, if kernels of the same level run them;
//   - what a kernel makes differs from the reference by no more than its Within.
package kernel
