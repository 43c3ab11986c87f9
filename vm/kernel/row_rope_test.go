package kernel_test

import "testing"

// TestRopeRegions: ropes by halves and by neighbours, read through transpositions and
// slices, with one angle a pair or one an element.
func TestRopeRegions(t *testing.T) {
	for _, text := range []string{
		`func @f(%x: f32[2,37,4,64], %c: f32[37,32], %s: f32[37,32]) -> (out: f32[2,4,37,64]) {
  %0 = transpose %x {perm=[0,2,1,3]} : f32[2,4,37,64]
  %1 = rope %0, %c, %s : f32[2,4,37,64]
  return %1
}
`,
		`func @f(%x: f32[2,9,36], %c: f32[9,12], %s: f32[2,9,6]) -> (out: f32[2,9,12]) {
  %0, %1, %2 = split %x {sizes=[12,12,12], axis=-1} : f32[2,9,12], f32[2,9,12], f32[2,9,12]
  %3 = rope %1, %c, %s {interleaved=true} : f32[2,9,12]
  return %3
}
`,
		`func @f(%x: f32[300,500], %c: f32[1,500], %s: f32[300,250]) -> (out: f32[300,500]) {
  %0 = rope %x, %c, %s : f32[300,500]
  return %0
}
`,
		`func @f(%x: bf16[5,7,34], %c: bf16[7,17], %s: bf16[34]) -> (out: bf16[5,7,34]) {
  %0 = rope %x, %c, %s : bf16[5,7,34]
  return %0
}
`,
		`func @f(%x: f16[66], %c: f16[33], %s: f16[66]) -> (out: f16[66]) {
  %0 = rope %x, %c, %s {interleaved=true} : f16[66]
  return %0
}
`,
	} {
		holds(t, "rope", text)
	}
}
