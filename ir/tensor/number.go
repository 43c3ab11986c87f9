package tensor

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// maxNumber bounds the text of one number. The longest exact decimal of a
// float64 has some 770 digits.
const maxNumber = 4096

// ParseFloat reads a decimal number, inf or nan into the float dtype d,
// rounded once to nearest even. A finite number that becomes infinite is an
// error. Digits may be grouped by _ as in the language; hexadecimal integers
// are allowed.
func ParseFloat(d DType, s string) (float64, error) {
	if !d.IsFloat() {
		return 0, fmt.Errorf("%v is not a float dtype", d)
	}
	class, plain := classify(s)
	switch class {
	case notNumber:
		return 0, fmt.Errorf("%s is not a number", quote(s))
	case special:
		return specialValue(plain), nil
	}
	v, ok := decimal(d, plain)
	if !ok || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%s is out of range for %v", quote(s), d)
	}
	return v, nil
}

// ParseInt reads an integer, decimal or hexadecimal, into the integer dtype d
// and returns it in two's complement: int64(bits) for a signed dtype. One that
// does not fit is an error.
func ParseInt(d DType, s string) (bits uint64, err error) {
	if !d.IsInt() {
		return 0, fmt.Errorf("%v is not an integer dtype", d)
	}
	class, plain := classify(s)
	if class != whole {
		return 0, fmt.Errorf("%s is not an integer", quote(s))
	}
	negative := strings.HasPrefix(plain, "-")
	m, err := parseMagnitude(strings.TrimLeft(plain, "+-"))
	limit := MaxInt(d)
	if negative {
		limit = -uint64(MinInt(d))
	}
	if err != nil || m > limit {
		return 0, fmt.Errorf("%s is out of range for %v, which holds %d to %d", quote(s), d, MinInt(d), MaxInt(d))
	}
	if negative {
		m = -m
	}
	return m, nil
}

// A class is what a number's spelling makes of it.
type class uint8

const (
	notNumber class = iota
	whole           // an integer
	point           // with a point or an exponent
	special         // inf, nan
)

// classify checks the spelling of a number and returns it without the _ that
// group its digits.
func classify(s string) (class, string) {
	body := strings.TrimLeft(s, "+-")
	if len(s)-len(body) > 1 || body == "" || len(s) > maxNumber {
		return notNumber, ""
	}
	if strings.EqualFold(body, "inf") || strings.EqualFold(body, "nan") || strings.EqualFold(body, "infinity") {
		return special, strings.ToLower(s)
	}
	if strings.HasPrefix(body, "0x") || strings.HasPrefix(body, "0X") {
		if rest := digits(body[2:], isHex); rest != "" || len(body) == 2 {
			return notNumber, ""
		}
		return whole, strings.ReplaceAll(s, "_", "")
	}
	c, rest := whole, digits(body, isDigit)
	if rest == body {
		return notNumber, ""
	}
	if strings.HasPrefix(rest, ".") {
		c, rest = point, digits(rest[1:], isDigit)
	}
	if rest != "" && (rest[0] == 'e' || rest[0] == 'E') {
		exp := rest[1:]
		if exp != "" && (exp[0] == '+' || exp[0] == '-') {
			exp = exp[1:]
		}
		if c, rest = point, digits(exp, isDigit); exp == "" || rest == exp {
			return notNumber, ""
		}
	}
	if rest != "" {
		return notNumber, ""
	}
	return c, strings.ReplaceAll(s, "_", "")
}

// digits cuts the leading digits off s; a _ may stand between two of them.
func digits(s string, is func(byte) bool) string {
	i := 0
	for i < len(s) && (is(s[i]) || s[i] == '_' && i > 0 && s[i-1] != '_' && i+1 < len(s) && is(s[i+1])) {
		i++
	}
	return s[i:]
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isHex(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

func specialValue(s string) float64 {
	switch {
	case strings.HasSuffix(s, "nan"):
		return math.NaN()
	case s[0] == '-':
		return math.Inf(-1)
	}
	return math.Inf(1)
}

// parseMagnitude reads an unsigned integer. strconv's base 0 would take a
// leading 0 for octal.
func parseMagnitude(s string) (uint64, error) {
	if len(s) > 2 && s[1]|0x20 == 'x' {
		return strconv.ParseUint(s[2:], 16, 64)
	}
	return strconv.ParseUint(s, 10, 64)
}

// decimal rounds a well-spelled number to d.
func decimal(d DType, s string) (float64, bool) {
	if body := strings.TrimLeft(s, "+-"); len(body) > 2 && body[1]|0x20 == 'x' {
		i, ok := new(big.Int).SetString(body[2:], 16)
		if !ok {
			return 0, false
		}
		s = strings.TrimSuffix(s, body) + i.String()
	}
	bits := 64
	if d == F32 {
		bits = 32
	}
	v, err := strconv.ParseFloat(s, bits)
	if err != nil {
		return 0, false
	}
	if d == F16 || d == BF16 {
		return Round(d, leanFromTie(d, v, s)), true
	}
	return v, true
}

// leanFromTie moves v, the float64 nearest to the number s, off a tie of the
// half dtype d toward s itself. A decimal that lies within half a float64 ulp
// of the tie would otherwise be rounded twice.
func leanFromTie(d DType, v float64, s string) float64 {
	r := Round(d, v)
	if r == v || v == 0 || math.IsInf(r, 0) && math.Abs(v) > 1e39 {
		return v
	}
	up, down := math.Nextafter(v, math.Inf(1)), math.Nextafter(v, math.Inf(-1))
	if Round(d, up) == Round(d, down) {
		return v
	}
	exact, ok := new(big.Rat).SetString(s)
	if !ok {
		return v
	}
	switch exact.Cmp(new(big.Rat).SetFloat64(v)) {
	case 1:
		return up
	case -1:
		return down
	}
	return v
}

// quote shortens what is shown of a user's text.
func quote(s string) string {
	const most = 40
	if len(s) > most {
		s = s[:most] + "..."
	}
	if class, _ := classify(s); class != notNumber {
		return s
	}
	return strconv.Quote(s)
}
