package fusion

// Products whose bias, activation, residual or scale ride in the epilogue: what
// the cube leaves is worked on before it reaches memory.
//
//	%0 = matmul %x, %w                     %y = fused %x, %w, %c {rule=MatMul_BiasAdd_ReLU}
//	%1 = bias_add %0, %c            =>
//	%y = relu %1
//
// A vector along the last axis is a bias, whatever it was written as: the pass
// canonicalise has seen to that. Longer patterns stand before shorter ones, so
// that a switched-off rule leaves its parts to those that are on.
func productRules() []*Rule {
	return []*Rule{
		cube("GatedMLP", "two products of one input, one of which gates the other: neither result reaches memory",
			`silu(product(x, w)) * product(x, v)`, gates(
				`gelu(A, approx=k) * B`, `relu(A) * B`, `sigmoid(A) * B`,
				`A * sigmoid(A) * B`, `silu(A) * B`)...).when(all(epilogue, distinct("w", "v"))),
		cube("MatMul_BiasAdd_Add_ReLU", "bias, residual and relu ride in the product's epilogue",
			`relu(biased(a, b, c) + r)`).when(all(epilogue, sameShape("r"))),
		cube("MatMul_BiasAdd_ReLU", "bias and relu ride in the product's epilogue",
			`relu(biased(a, b, c))`).when(epilogue),
		cube("MatMul_BiasAdd_GELU", "bias and gelu, either form of it, ride in the product's epilogue",
			`gelu(biased(a, b, c), approx=k)`).when(epilogue),
		cube("MatMul_BiasAdd_SiLU", "bias and silu ride in the product's epilogue; also x * sigmoid(x), which the pass raise leaves where its bits matter",
			`silu(biased(a, b, c))`, `biased(a, b, c) * sigmoid(biased(a, b, c))`).when(epilogue),
		cube("MatMul_BiasAdd_Tanh", "bias and tanh ride in the product's epilogue",
			`tanh(biased(a, b, c))`).when(epilogue),
		cube("MatMul_BiasAdd_Sigmoid", "bias and sigmoid ride in the product's epilogue",
			`sigmoid(biased(a, b, c))`).when(epilogue),
		cube("MatMul_BiasAdd_Add", "bias and residual ride in the product's epilogue",
			`biased(a, b, c) + r`).when(all(epilogue, sameShape("r"))),
		cube("QKV_Dequant", "products of the bytes of one input in one kernel, with the scales and biases of each",
			`bias_add(cast(product(a, b), dtype=t) * s * w, c)`, `cast(product(a, b), dtype=t) * s * w`).together("a").when(all(epilogue, fromIntegers)),
		cube("MatMul_Dequant", "integers are multiplied and the sums scaled in the epilogue, or a weight is cast and scaled on its way into the product",
			`cast(product(a, b), dtype=t) * s`,
			`cast(biased(a, b, c), dtype=t) * s`,
			`matmul(a, cast(b, dtype=t) * s)`, `linear(a, cast(b, dtype=t) * s, c?)`,
			`matmul(a, (cast(b, dtype=t) - z) * s)`, `linear(a, (cast(b, dtype=t) - z) * s, c?)`,
			`matmul(a, cast(b - z, dtype=t) * s)`, `linear(a, cast(b - z, dtype=t) * s, c?)`,
			`matmul(a, cast(b, dtype=t)) * s`, `linear(a, cast(b, dtype=t), c?) * s`).when(all(epilogue, fromIntegers)),
		cube("MatMul_Scale", "one factor for all of a product rides in its epilogue",
			`product(a, b) * s`, `product(a, b) / s`, `biased(a, b, c) * s`, `biased(a, b, c) / s`).when(all(epilogue, oneElement("s"))),
		cube("QKV", "products of one input in one kernel, which reads it once; their biases ride along",
			`biased(x, w, c)`, `product(x, w)`).together("x").when(epilogue),
		cube("MatMul_BiasAdd", "the bias rides in the product's epilogue; linear(x, w, c) is one operator already",
			`bias_add(product(a, b), c)`).when(epilogue),
	}
}

// gates writes out two products A and B of one input, each with and without a
// bias, for every pattern.
func gates(patterns ...string) []string {
	var out []string
	for _, p := range patterns {
		for _, ab := range [][2]string{
			{"product(x, w)", "product(x, v)"},
			{"biased(x, w, c)", "biased(x, v, d)"},
		} {
			out = append(out, letters(p, ab[0], ab[1]))
		}
	}
	return out
}
