package tensor

// A DType is the type of one element.
type DType uint8

const (
	Invalid DType = iota
	F64
	F32
	F16
	BF16
	I64
	I32
	I16
	I8
	U64
	U32
	U16
	U8
	Bool
)

// A Kind groups dtypes by their arithmetic.
type Kind uint8

const (
	None     Kind = iota
	Float         // IEEE: f64 f32 f16 bf16
	Signed        // two's complement, wraps
	Unsigned      // wraps
	Logical       // bool, one byte, 0 or 1
)

type dtypeRow struct {
	name string
	size int
	kind Kind
}

// dtypes is the table of dtypes, indexed by DType.
var dtypes = [...]dtypeRow{
	Invalid: {"invalid", 0, None},
	F64:     {"f64", 8, Float},
	F32:     {"f32", 4, Float},
	F16:     {"f16", 2, Float},
	BF16:    {"bf16", 2, Float},
	I64:     {"i64", 8, Signed},
	I32:     {"i32", 4, Signed},
	I16:     {"i16", 2, Signed},
	I8:      {"i8", 1, Signed},
	U64:     {"u64", 8, Unsigned},
	U32:     {"u32", 4, Unsigned},
	U16:     {"u16", 2, Unsigned},
	U8:      {"u8", 1, Unsigned},
	Bool:    {"bool", 1, Logical},
}

// DTypes lists every valid dtype, widest first within its kind.
var DTypes = []DType{F64, F32, F16, BF16, I64, I32, I16, I8, U64, U32, U16, U8, Bool}

// row takes what is no dtype for Invalid.
func (d DType) row() dtypeRow {
	if int(d) < len(dtypes) {
		return dtypes[d]
	}
	return dtypes[Invalid]
}

func (d DType) String() string { return d.row().name }

// Size is the bytes of one element.
func (d DType) Size() int { return d.row().size }

// Kind tells which arithmetic the dtype has.
func (d DType) Kind() Kind { return d.row().kind }

// IsFloat reports whether the dtype is one of the IEEE floats.
func (d DType) IsFloat() bool { return d.Kind() == Float }

// IsInt reports whether the dtype is a signed or unsigned integer.
func (d DType) IsInt() bool { return d.Kind() == Signed || d.Kind() == Unsigned }

// ParseDType finds a dtype by its name.
func ParseDType(name string) (DType, bool) {
	for _, d := range DTypes {
		if dtypes[d].name == name {
			return d, true
		}
	}
	return Invalid, false
}
