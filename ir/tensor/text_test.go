package tensor

import (
	"errors"
	"math"
	"strings"
	"testing"
)

func TestString(t *testing.T) {
	long := New(I64, 20)
	for i := range 20 {
		long.SetInt(i, int64(i))
	}
	for want, v := range map[string]*T{
		"f32[2,2] [[1, 2.5], [-0, nan]]":             FromSlice([]int{2, 2}, []float32{1, 2.5, float32(math.Copysign(0, -1)), float32(math.NaN())}),
		"f16[3] [0.1, 65504, 6e-08]":                 FromFloats(F16, []int{3}, []float64{0.1, 65504, 6e-8}),
		"bf16[3] [0.1, 3.14, inf]":                   FromFloats(BF16, []int{3}, []float64{0.1, math.Pi, math.Inf(1)}),
		"f32[] 0.1":                                  Scalar(float32(0.1)),
		"u64[] 18446744073709551615":                 Scalar(uint64(math.MaxUint64)),
		"bool[2] [true, false]":                      vec(true, false),
		"i64[20] [0, 1, ..., 18, 19]":                long,
		"i64[5,4] [[0, ..., 3], ..., [16, ..., 19]]": long.Reshape(5, 4),
		"f32[2,0] [[], []]":                          New(F32, 2, 0),
		"f32[0,9] []":                                New(F32, 0, 9),
		"f32[2147483647,0] []":                       New(F32, math.MaxInt32, 0),
	} {
		if got := v.String(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestPretty(t *testing.T) {
	m := FromSlice([]int{2, 2, 3}, []float32{1, 2.5, -3, 0.125, 4, 5, 6, 7, 8, 9, 10, 11})
	want := `f32[2,2,3]
[[[    1,   2.5,    -3],
  [0.125,     4,     5]],

 [[    6,     7,     8],
  [    9,    10,    11]]]`
	if got := m.Pretty(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	big := New(I32, 1000, 1000)
	big.SetInt(999999, -1)
	want = `i32[1000,1000]
[[ 0,  0,  0, ...,  0,  0,  0],
 [ 0,  0,  0, ...,  0,  0,  0],
 [ 0,  0,  0, ...,  0,  0,  0],
 ...,
 [ 0,  0,  0, ...,  0,  0,  0],
 [ 0,  0,  0, ...,  0,  0,  0],
 [ 0,  0,  0, ...,  0,  0, -1]]`
	if got := big.Pretty(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	row := New(U8, 60)
	want = "u8[60]\n[" + strings.Repeat("0, ", 26) + "\n " + strings.Repeat("0, ", 26) + "\n " + strings.Repeat("0, ", 7) + "0]"
	want = strings.ReplaceAll(want, ", \n", ",\n")
	if got := row.Pretty(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := New(U8, 9, 9, 9, 9, 9, 9, 9).String(); got != "u8[9,9,9,9,9,9,9] [...]" {
		t.Error(got)
	}
}

// The shortest form of every binary16 and bfloat16 reads back as itself.
func TestShortestHalf(t *testing.T) {
	for _, d := range []DType{F16, BF16} {
		for i := range 1 << 16 {
			x := &T{d, []int{}, []byte{byte(i), byte(i >> 8)}}
			v, err := ParseFloat(d, x.Text(0))
			if err != nil {
				t.Fatal(err)
			}
			if w := x.FloatAt(0); v != w && (v == v || w == w) || math.Signbit(v) != math.Signbit(w) && v == v {
				t.Fatalf("%v %04x prints as %s and reads back as %g", d, i, x.Text(0), v)
			}
		}
	}
}

func TestParseNumber(t *testing.T) {
	for _, c := range []struct {
		d    DType
		text string
		want float64
	}{
		{F64, "1_000.5", 1000.5}, {F64, "-1e-5", -1e-5}, {F64, "0x1f", 31}, {F64, "-0x10", -16}, {F64, "5.", 5}, {F64, "+2", 2}, {F64, "1E3", 1000},
		{F64, "0xffffffffffffffffff", 0xffffffffffffffffff}, {F64, "-Infinity", math.Inf(-1)}, {F32, "16777217.0000001", 16777218}, {F32, "16777217", 16777216},
		{F16, "2049.0000000000000000000000000001", 2050}, {F16, "2049", 2048}, {F16, "2048.9999999999999999999999999", 2048}, {F16, "2050.99999999999999999999", 2050}, {F16, "2051", 2052},
		{BF16, "257.00000000000000000001", 258}, {BF16, "257", 256}, {F16, "65519.99999999999999999999999", 65504}, {F16, "1e-400", 0}, {F16, "2.98023223876953125e-8", 0},
		{F16, "2.980232238769531250000000001e-8", 5.960464477539063e-08},
	} {
		if got, err := ParseFloat(c.d, c.text); got != c.want || err != nil {
			t.Errorf("%v(%s) = %v, %v, want %v", c.d, c.text, got, err, c.want)
		}
	}
	for _, c := range []struct {
		d          DType
		text, want string
	}{
		{F16, "65520", "65520 is out of range for f16"}, {F16, "1e39", "1e39 is out of range for f16"}, {F32, "3.5e38", "3.5e38 is out of range for f32"}, {F64, "1e309", "1e309 is out of range for f64"}, {F64, "1e999999999999", "1e999999999999 is out of range for f64"},
		{F64, "", `"" is not a number`}, {F64, "1__0", `"1__0" is not a number`}, {F64, "_1", `"_1" is not a number`}, {F64, "1_", `"1_" is not a number`}, {F64, "--1", `"--1" is not a number`}, {F64, ".5", `".5" is not a number`}, {F64, "1e", `"1e" is not a number`}, {F64, "1e+", `"1e+" is not a number`},
		{F64, "0x", `"0x" is not a number`}, {F64, "0x1p4", `"0x1p4" is not a number`}, {F64, "1.2.3", `"1.2.3" is not a number`}, {F64, strings.Repeat("1", 5000), `"1111111111111111111111111111111111111111..." is not a number`},
	} {
		if v, err := ParseFloat(c.d, c.text); err == nil || err.Error() != c.want {
			t.Errorf("%v(%s) = %v, %v, want %s", c.d, c.text, v, err, c.want)
		}
	}
	for _, c := range []struct {
		d    DType
		text string
		want int64
		bad  bool
	}{
		{I8, "-128", -128, false}, {I8, "128", 0, true}, {U8, "255", 255, false}, {U8, "-1", 0, true}, {U8, "-0", 0, false}, {I64, "-9223372036854775808", math.MinInt64, false},
		{I64, "9223372036854775808", 0, true}, {U64, "18446744073709551615", -1, false}, {U64, "18446744073709551616", 0, true}, {I32, "010", 10, false}, {I32, "0x7fff_ffff", math.MaxInt32, false}, {I32, "1.0", 0, true}, {I32, "inf", 0, true}, {F32, "1", 0, true},
	} {
		if got, err := ParseInt(c.d, c.text); int64(got) != c.want || (err != nil) != c.bad {
			t.Errorf("%v(%s) = %d, %v", c.d, c.text, int64(got), err)
		}
	}
}

func TestParseLiteral(t *testing.T) {
	for _, c := range []struct {
		text string
		d    DType
		want []int
		out  string // String() of the tensor
	}{
		{"3", Invalid, nil, "i64[] 3"}, {" -3.5\n", Invalid, nil, "f32[] -3.5"}, {"true", Invalid, nil, "bool[] true"}, {"[1, 2.5]", Invalid, nil, "f32[2] [1, 2.5]"},
		{"[[1,2],\n [3,nan]]", F16, nil, "f16[2,2] [[1, 2], [3, nan]]"}, {`["inf", "-inf", "nan"]`, F64, nil, "f64[3] [inf, -inf, nan]"}, {"[0x10, -1_000]", I16, nil, "i16[2] [16, -1000]"},
		{"[]", F32, nil, "f32[0] []"}, {"[[], []]", F32, nil, "f32[2,0] [[], []]"}, {"[]", F32, []int{0, 3}, "f32[0,3] []"}, {"[]", F32, []int{5, 0}, "f32[5,0] [[], [], [], [], []]"}, {"[]", F32, []int{-1, 3}, "f32[0,3] []"},
		{"[[[1]], [[2]]]", I8, []int{-1, 1, 1}, "i8[2,1,1] [[[1]], [[2]]]"}, {"[true,false]", Bool, []int{2}, "bool[2] [true, false]"},
	} {
		got, err := ParseLiteral(c.text, c.d, c.want)
		if err != nil || got.String() != c.out {
			t.Errorf("%s: got %v, %v, want %s", c.text, got, err, c.out)
		}
	}
	deep := strings.Repeat("[", 1e6)
	for _, c := range []struct {
		text string
		d    DType
		want []int
		err  string
	}{
		{"", F32, nil, "1:1: there is no value"}, {"[1, 2", F32, nil, "1:1: the list that begins here is never closed"}, {"[1,\n 2", F32, nil, "1:1: the list that begins here is never closed"}, {"[1,]", F32, nil, "1:4: a value must follow the comma"},
		{"[,1]", F32, nil, `1:2: want a number, not ",1]"`}, {"[1 2]", F32, nil, `1:4: want , or ], not "2]"`}, {"1]", F32, nil, `1:2: unexpected "]" after the value`}, {"[[1, 2],\n [3]]", F32, nil, "2:2: this list has length 1, those before it 2"},
		{"[1, [2]]", F32, nil, "1:5: a list where its neighbours are numbers"}, {"[[1], 2]", F32, nil, "1:7: a number where its neighbours are lists"}, {"[[], [1]]", F32, nil, "1:6: this list has length 1, those before it 0"}, {"[[], [[]]]", F32, nil, "1:7: a list where its neighbours are empty lists"}, {"[[1], []]", F32, nil, "1:7: this list has length 0, those before it 1"},
		{"[300]", U8, nil, "1:2: 300 is out of range for u8, which holds 0 to 255"}, {"[1, 2.5]", I32, nil, "1:5: 2.5 is not an integer (the dtype is i32)"}, {"[1]", Bool, nil, "1:2: 1 is not true or false (the dtype is bool)"}, {"[true]", F32, nil, "1:2: true is not a number (the dtype is f32)"}, {"[x]", F32, nil, `1:2: "x" is not a number`},
		{"[1e39]", F32, nil, "1:2: 1e39 is out of range for f32"}, {`["1]`, F32, nil, "1:2: the quote is never closed"}, {deep, F32, nil, "1:65: lists nest more than 64 deep"}, {"[1,2]", F32, []int{3}, "1:1: the value has shape [2], not [3]"}, {"[1,2]", F32, []int{-1, 2}, "1:1: the value has shape [2], not [any, 2]"}, {"[]", F32, []int{4, 5}, "1:1: the value has shape [0], not [4, 5]"}, {"7", F32, []int{1}, "1:1: the value has shape [], not [1]"},
	} {
		got, err := ParseLiteral(c.text, c.d, c.want)
		var at *LiteralError
		if err == nil || err.Error() != c.err || !errors.As(err, &at) {
			t.Errorf("%.40s: got %v, %v, want %s", c.text, got, err, c.err)
		}
	}
}

func TestJSON(t *testing.T) {
	v := FromFloats(F32, []int{2, 2}, []float64{1e6, math.NaN(), math.Inf(-1), 0.1})
	if got := string(AppendJSON(nil, v)); got != `[[1e+06, "nan"], ["-inf", 0.1]]` {
		t.Error(got)
	}
	if got := string(AppendLiteral(nil, v)); got != `[[1e+06, nan], [-inf, 0.1]]` {
		t.Error(got)
	}
	back, err := ParseLiteral(string(AppendJSON(nil, v)), F32, nil)
	if d := Compare(back, v, Exact); err != nil || d != nil {
		t.Error(err, d)
	}
}

func FuzzLiteral(f *testing.F) {
	for _, s := range []string{"1", "[1, 2]", "[[1.5], [nan]]", "[]", "[[], []]", "[true, false]", "[[", "[1,", `["inf"]`, "0x1f", "1_0", "[[1], 2]", "-0", "[1e39]"} {
		f.Add(s, uint8(0))
		f.Add(s, uint8(F16))
	}
	f.Fuzz(func(t *testing.T, text string, d uint8) {
		v, err := ParseLiteral(text, DType(d%uint8(len(dtypes))), nil)
		if err != nil {
			return
		}
		for _, form := range [][]byte{AppendLiteral(nil, v), AppendJSON(nil, v)} {
			back, err := ParseLiteral(string(form), v.DType, v.Shape)
			if err != nil {
				t.Fatalf("%q => %s: %v", text, form, err)
			}
			if d := Compare(back, v, Exact); d != nil {
				t.Fatalf("%q => %s: %v", text, form, d)
			}
		}
		_, _ = v.String(), v.Pretty()
	})
}
