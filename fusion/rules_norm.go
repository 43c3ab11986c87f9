package fusion

// Norms and softmax along the last axis: whole rows stay on chip.
//
//	%0 = add %x, %r                        %y = fused %x, %r, %w, %b {rule=Add_LayerNorm}
//	%y = layernorm %0, %w, %b       =>
//
// A norm that is one operator needs no region; its rows here are for what stands
// before it, and for the forms that exporters write, where the pass raise has
// left them: it does not run at every level, and its tolerance may not be granted.
func normRules() []*Rule {
	return []*Rule{
		vector("Embedding_Add_LayerNorm", "rows of one to three tables are looked up, added and normalised",
			`layernorm(embedding(t, i) + embedding?(r, j) + embedding?(q, k), w?, b?, eps=e)`,
			`layernorm(embedding(t, i) + (embedding(r, j) + embedding?(q, k)), w?, b?, eps=e)`,
			`layernorm(embedding(t, i) + embedding?(r, j), w?, b?, eps=e)`).when(rowsOf("t", "i")),
		vector("Add_LayerNorm", "the residual is added on the way into the norm",
			`layernorm(x + r, w?, b?, axis=-1, eps=e)`).when(sameShape("x", "r")),
		vector("Add_RMSNorm", "the residual is added on the way into the norm",
			`rmsnorm(x + r, w?, eps=e)`).when(sameShape("x", "r")),
		vector("LayerNorm", "the nine or ten operators of a norm, with or without scale and shift",
			layerNorms[0], layerNorms[1:]...).when(all(sameShape("x"), oneElement("e"))),
		vector("RMSNorm", "the operators of a norm by the root of the mean of squares, also those around it that compute in a wider dtype",
			rmsNorms[0], rmsNorms[1:]...).when(all(sameShape("x"), oneElement("e"))),
		vector("Quantize", "rows become bytes by scales of their own: the largest magnitude of each, and what is divided by it, in one pass",
			`quantize_linear(x, maximum?(max(abs(x), axis=-1, keepdims=true) / c, low), dtype=t)`).shares().when(oneElement("c", "low")),
		vector("GroupNorm_SiLU", "a norm of groups of channels and its silu, as before each convolution of a diffusion model",
			`silu(`+groupNorm+`)`, groupNorm+` * sigmoid(`+groupNorm+`)`),
		vector("Softmax", "exponentials of what lies below the row's maximum, divided by their sum, or the logarithm of that",
			softmaxes[0], softmaxes[1:]...).when(sameShape("x")),
	}
}

// The forms of the norms.
var (
	distance = `(x - mean(x, axis=-1, keepdims=true))`
	// roots divide A by the root of the mean B and e.
	roots = []string{`A / sqrt(B + e)`, `A * rsqrt(B + e)`, `A * reciprocal(sqrt(B + e))`, `A * (B + e) ** -0.5`}

	layerNorms = scaledNorms(distance, []string{meanSquare(distance), `variance(x, axis=-1, keepdims=true)`}, `add?(mul?(A, w), b)`)
	// Half floats are normalised as f32 and cast back before the scale, or behind it.
	wider    = `cast?(x, dtype=t)`
	rmsNorms = scaledNorms(wider, []string{meanSquare(wider)}, `cast?(mul?(cast?(A, dtype=u), w), dtype=o)`)

	groupNorm = `groupnorm(x, w?, b?, groups=g, eps=e)`

	exponentials = `exp(x - max(x, axis=-1, keepdims=true))`
	softmaxes    = []string{
		letters(`A / sum(A, axis=-1, keepdims=true)`, exponentials),
		`(x - max(x, axis=-1, keepdims=true)) - log(sum(` + exponentials + `, axis=-1, keepdims=true))`,
		`x - logsumexp(x, axis=-1, keepdims=true)`,
	}
)

func meanSquare(of string) string { return `mean(square(` + of + `), axis=-1, keepdims=true)` }

// scaledNorms writes the division of x by the root of each of the means, within
// what is done to it afterwards.
func scaledNorms(x string, means []string, after string) []string {
	var out []string
	for _, m := range means {
		for _, r := range roots {
			out = append(out, letters(after, letters(r, x, m)))
		}
	}
	return out
}
