// Package fusion decides which operators share a kernel.
//
//	%0 = matmul %x, %w : f32[B,4]        %y = fused %x, %w, %v {rule=MatMul_BiasAdd_ReLU, unit=cube} : f32[B,4] {
//	%1 = bias_add %0, %v : f32[B,4]        %0 = matmul %x, %w : f32[B,4]
//	%y = relu %1 : f32[B,4]          =>    %1 = bias_add %0, %v : f32[B,4]
//	                                       %2 = relu %1 : f32[B,4]
//	                                       yield %2
//	                                     }
//
// A fusion only outlines values into a fused region, whose body is its meaning: a
// wrong rule can cost time, never correctness.
package fusion
