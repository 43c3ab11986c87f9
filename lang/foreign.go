package lang

import (
	"io/fs"
	"slices"

	"github.com/npulang/npu/ir/diag"
)

// What people write who come from Python, PyTorch or NumPy, and our word for the
// same thing: what no counting of letters finds.
var (
	// foreign are names of values, dtypes and functions.
	foreign = map[string]string{
		"True": "true", "False": "false", "null": "None", "nil": "None", "NULL": "None",
		"infinity": "inf", "NaN": "nan", "NAN": "nan",
		"float64": "f64", "double": "f64", "float32": "f32", "float": "f32", "single": "f32",
		"float16": "f16", "half": "f16", "bfloat16": "bf16", "bfloat": "bf16",
		"int64": "i64", "long": "i64", "int": "i64", "int32": "i32", "int16": "i16", "short": "i16", "int8": "i8",
		"uint64": "u64", "uint32": "u32", "uint16": "u16", "uint8": "u8", "byte": "u8",
		"boolean": "bool",
		"len":     "x.shape[0]", "size": "x.shape[0]", "ndim": "rank", "dim": "rank", "range": "0..n",
		"absolute": "abs", "power": "pow", "mod": "rem", "swish": "silu", "clamp": "clip", "masked_fill": "where",
		"bitwise_and": "bit_and", "bitwise_or": "bit_or", "bitwise_xor": "bit_xor", "bitwise_not": "bit_not",
		"to": "cast", "astype": "cast", "type": "cast", "clone": "copy", "contiguous": "copy", "detach": "copy",
		"mm": "matmul", "bmm": "matmul", "scaled_dot_product_attention": "attention",
		"conv1d": "conv", "conv2d": "conv", "conv3d": "conv",
		"conv_transpose1d": "conv_transpose", "conv_transpose2d": "conv_transpose", "conv_transpose3d": "conv_transpose",
		"conv1d_transpose": "conv_transpose", "conv2d_transpose": "conv_transpose", "deconv": "conv_transpose", "max_pool2d": "max_pool", "avg_pool2d": "avg_pool",
		"cat": "concat", "concatenate": "concat", "view": "reshape", "ravel": "flatten", "mT": "T",
		"swapaxes": "transpose", "moveaxis": "transpose", "take": "gather", "index_select": "gather",
		"var": "variance", "norm": "norm2",
	}
	// foreignArgs are names of arguments.
	foreignArgs = map[string]string{
		"dim": "axis", "dims": "axis", "axes": "axis", "keepdim": "keepdims", "min": "lo", "max": "hi",
		"padding": "pad", "output_padding": "output_pad", "kernel_size": "kernel", "ceil_mode": "ceil", "count_include_pad": "count_pad",
		"is_causal": "causal", "attn_mask": "mask", "negative_slope": "slope", "approximate": "approx",
		"num_groups": "groups", "num_classes": "n", "unbiased": "correction",
	}
	// foreignModules are prefixes of functions that are built in here.
	foreignModules = []string{"torch", "np", "numpy", "jnp", "jax", "tf", "F"}
)

// suggestArg is suggest for the name of an argument.
func suggestArg(d *diag.Diagnostic, name string, candidates []string) {
	if ours := foreignArgs[name]; slices.Contains(candidates, ours) {
		help(d, "did you mean %s?", ours)
		return
	}
	if near := diag.Suggest(name, candidates); near != "" {
		help(d, "did you mean %s?", near)
	}
}

// suggestModule adds what an unknown name of a module needs, and reports whether
// it is one.
func (e *elaborator) suggestModule(d *diag.Diagnostic, name string) bool {
	if slices.Contains(foreignModules, name) {
		help(d, "functions are built in, and stand without a module: relu(x)")
		return true
	}
	if name == "self" {
		help(d, "a module's fns see its members by their names alone: weight, not self.weight")
		return true
	}
	if e.opts.Stdlib == nil || !fs.ValidPath(name) {
		return false
	}
	if _, err := fs.Stat(e.opts.Stdlib, name+".npu"); err != nil {
		return false
	}
	help(d, "write import %q at the top of the file", name)
	return true
}
