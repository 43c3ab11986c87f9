package lang

// foreign are words of other languages, and ours for the same thing: what no
// counting of letters finds.
var foreign = map[string]string{
	"True": "true", "False": "false", "null": "None", "nil": "None", "NULL": "None",
	"infinity": "inf", "NaN": "nan", "NAN": "nan",
	"float64": "f64", "double": "f64", "float32": "f32", "float": "f32", "single": "f32",
	"float16": "f16", "half": "f16", "bfloat16": "bf16", "bfloat": "bf16",
	"int64": "i64", "long": "i64", "int": "i64", "int32": "i32", "int16": "i16", "short": "i16", "int8": "i8",
	"uint64": "u64", "uint32": "u32", "uint16": "u16", "uint8": "u8", "byte": "u8",
	"boolean": "bool",
	"len":     "x.shape[0]",
}
