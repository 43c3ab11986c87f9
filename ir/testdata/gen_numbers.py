#!/usr/bin/python3
"""Writes numbers.jsonl: calls of the unary, activation, binary, choose, product,
reduction, normalisation and attention operators with the results that NumPy
1.24 and SciPy 1.10 give. One JSON object a line, tensors as in gen_moves.py:

    {"op": name, "attrs": {name: value}, "in": [tensor or null], "out": [tensor],
     "ulp": 0, "signs": true}

Floats may be off by ulp steps of their dtype; with signs, zeros must agree in
their sign. What is expected of floats is computed in the 80-bit floats of x86
where NumPy has the function for them, and rounded once.

Run from this folder: python3 gen_numbers.py
"""
import base64
import json
import math
import warnings

import numpy as np
from scipy import special

rng = np.random.default_rng(7)
np.seterr(all="ignore")
warnings.simplefilter("ignore")
names = {"f64": "<f8", "f32": "<f4", "f16": "<f2", "bf16": "<u2", "i64": "<i8", "i32": "<i4", "i16": "<i2",
         "i8": "i1", "u64": "<u8", "u32": "<u4", "u16": "<u2", "u8": "u1", "bool": "?"}
FLOATS, INTS = ["f64", "f32", "f16", "bf16"], ["i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8"]
SIGNED = [d for d in INTS if d[0] == "i"]
NUMBERS = FLOATS + INTS
L = np.longdouble
lines = []


def to_bf16(a):
    """The bits of the nearest bfloat16, ties to even."""
    shape, a = np.shape(a), np.asarray(a, L).reshape(-1)
    f = a.astype("<f4")
    # Round to odd first, so that the second rounding does not see a false tie.
    b = f.view("<u4").astype(np.int64)
    exact = f.astype(L) == a
    up = np.abs(f.astype(L)) > np.abs(a)
    b = np.where(exact | np.isnan(a) | np.isinf(a), b, np.where(up, b - 1, b) | 1)
    r = (b + 0x7fff + ((b >> 16) & 1)) >> 16
    r = np.where(np.isnan(a), 0x7fc0, r)
    return r.astype("<u2").reshape(shape)


def from_bf16(u):
    u = np.asarray(u)
    return (u.reshape(-1).astype("<u4") << 16).view("<f4").reshape(u.shape)


class T:
    """A tensor: its dtype's name and its bits; v is its values, floats as 80 bits."""

    def __init__(self, dtype, values):
        self.d = dtype
        a = np.asarray(values)
        if dtype == "bf16":
            self.bits = to_bf16(a)
        elif dtype[0] in "iu":
            self.bits = wrap(dtype, a)
        else:
            self.bits = a.astype(names[dtype])

    @property
    def v(self):
        if self.d == "bf16":
            return from_bf16(self.bits).astype(L)
        return self.bits.astype(L) if self.d[0] == "f" else self.bits

    def json(self):
        raw = np.ascontiguousarray(self.bits).tobytes()
        return {"d": self.d, "s": list(self.bits.shape), "b": base64.b64encode(raw).decode()}


def wrap(dtype, a):
    """Python integers of any size into the dtype, modulo its width."""
    width = np.dtype(names[dtype]).itemsize * 8
    flat = [int(x) % (1 << width) for x in np.asarray(a, object).reshape(-1)]
    return np.array(flat, f"<u{width // 8}").astype(names[dtype] if dtype[0] == "u" else f"<u{width // 8}").view(names[dtype]).reshape(np.shape(a))


def case(op, ins, outs, ulp=0, signs=False, **attrs):
    outs = outs if isinstance(outs, list) else [outs]
    lines.append({"op": op, "attrs": attrs, "in": [x and x.json() for x in ins], "out": [y.json() for y in outs],
                  "ulp": ulp, "signs": signs})


def obj(x):
    return x.bits.astype(object)


def draw(dtype, *shape):
    if dtype == "bool":
        return T(dtype, rng.integers(0, 2, shape).astype(bool))
    if dtype[0] == "f" or dtype == "bf16":
        return T(dtype, rng.standard_normal(shape) * 2)
    info = np.iinfo(names[dtype])
    return T(dtype, rng.integers(info.min, info.max, shape, dtype=names[dtype], endpoint=True))


def positive(dtype, *shape):
    """Of f64 positive numbers, since sums that cancel differ in more than the last bits."""
    x = draw(dtype, *shape)
    return T("f64", np.abs(x.v)) if dtype == "f64" else x


SPECIAL = [0.0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 3, 1e-3, -1e-3, np.inf, -np.inf, np.nan]
WIDE = SPECIAL + [1e-300, -1e-300, 5e-324, 1e300, -1e300, 1 + 2 ** -52, 1 - 2 ** -53, 1 + 1e-10, 1 - 1e-10, -1 + 2 ** -53,
                  1e-10, -1e-10, 1e-20, 700, -700, 709.5, 709.9, -709.9, 710.2, -710.2, -745, 1000, -1000, 8, 1024, 1e22, 2 ** 60, math.pi, math.pi / 2,
                  1e5, -1e5, 20, -20, 37, -37, 88, 89, -88, -103, 6.1e-5, 65504, 3.3e38, 0.9999, 0.99, -0.99]


def grid(dtype):
    parts = [np.array(WIDE, np.float64), rng.standard_normal(40) * 3, rng.uniform(-1, 1, 20), rng.uniform(0, 3, 20)]
    if dtype != "f64":
        parts = [np.array(SPECIAL + [709.5, 88, 89, -88, -103, 6.1e-5, 65504, 3.3e38, 0.9999, 1e-10, 20, -20]), rng.standard_normal(12) * 3]
    return T(dtype, np.concatenate(parts))


# Unary. f is given 80-bit floats.
def unary(op, f, ulp64=0, ulp=0, result=None, signs=True, dtypes=FLOATS, only=None, **attrs):
    for d in dtypes:
        for x in [grid(d), T(d, np.float64(0.75)), T(d, np.zeros((2, 0)))]:
            if only is not None:
                x = T(d, only(x.v))
            case(op, [x], T(result or d, f(x.v)), ulp64 if d == "f64" else ulp, signs and result is None, **attrs)


def iunary(op, f, dtypes=INTS):
    for d in dtypes:
        info = np.iinfo(names[d])
        x = T(d, np.array([info.min, info.max, 0, 1, 2, 7, 100, info.max - 1], names[d]))
        case(op, [x], T(d, np.array([f(int(v)) for v in x.bits], object)))


one = L(1)
unary("abs", np.abs)
unary("neg", lambda x: -x)
unary("sign", np.sign, signs=False)
unary("ceil", np.ceil), unary("floor", np.floor), unary("round", np.rint), unary("trunc", np.trunc)


def double(f):
    """f in float64: right for what IEEE rounds once, where 80 bits would round twice."""
    return lambda *a: f(*[v.astype(float) for v in a])


unary("sqrt", double(np.sqrt)), unary("rsqrt", lambda x: one / np.sqrt(x), 1), unary("cbrt", np.cbrt, 1)
unary("reciprocal", double(lambda x: 1 / x)), unary("square", double(lambda x: x * x))
unary("exp", np.exp, 1), unary("exp2", np.exp2, 1), unary("expm1", np.expm1, 1)
unary("log", np.log, 1), unary("log2", np.log2, 1), unary("log10", np.log10, 1), unary("log1p", np.log1p, 1)
unary("sin", np.sin, 1), unary("cos", np.cos, 1), unary("tan", np.tan, 2)
unary("asin", np.arcsin, 2), unary("acos", np.arccos, 2), unary("atan", np.arctan, 1)
unary("sinh", np.sinh, 2), unary("cosh", np.cosh, 2), unary("tanh", np.tanh, 2)
unary("asinh", np.arcsinh, 2), unary("acosh", np.arccosh, 2), unary("atanh", np.arctanh, 2)
unary("erf", lambda x: special.erf(x.astype(float)), 2)
unary("is_nan", np.isnan, result="bool"), unary("is_inf", np.isinf, result="bool"), unary("is_finite", np.isfinite, result="bool")
unary("copy", lambda x: x)
iunary("abs", abs), iunary("neg", lambda v: -v), iunary("sign", lambda v: (v > 0) - (v < 0)), iunary("square", lambda v: v * v)
for name in ["ceil", "floor", "round", "trunc", "copy"]:
    iunary(name, lambda v: v)
iunary("bit_not", lambda v: ~v)
B = T("bool", np.array([True, False, True]))
case("logical_not", [B], T("bool", ~B.bits)), case("bit_not", [B], T("bool", ~B.bits)), case("copy", [B], B)


# Activations, from their definitions.
def sigmoid(x):
    return np.where(x < 0, np.exp(x) / (1 + np.exp(x)), one / (1 + np.exp(-x)))


def softplus(x):
    return np.logaddexp(L(0), x)


def keep(x, y):
    return np.where(np.isnan(x), x, y)


def moderate(x):
    """Away from where 80 bits overflow or cancel otherwise than 64 do."""
    return x[np.isnan(x) | (np.abs(x) < 600)]


unary("relu", lambda x: keep(x, np.where(x < 0, L(0), x)))
unary("relu6", lambda x: keep(x, np.clip(x, 0, 6)), signs=False)
unary("leaky_relu", lambda x: np.where(x < 0, L(0.01) * x, x))
unary("leaky_relu", lambda x: np.where(x < 0, L(-1.5) * x, x), slope=-1.5)
unary("elu", lambda x: np.where(x < 0, np.expm1(x), x), 1)
unary("elu", lambda x: np.where(x < 0, L(0.3) * np.expm1(x), x), 2, alpha=0.3)
unary("celu", lambda x: np.where(x < 0, L(0.3) * np.expm1(x / L(0.3)), x), 2, alpha=0.3)
unary("selu", lambda x: L("1.0507009873554804934193349852946") * np.where(x < 0, L("1.6732632423543772848170429916717") * np.expm1(x), x), 3)
unary("gelu", lambda x: x / 2 * special.erfc(-x.astype(float) / np.sqrt(2)), 64, only=lambda x: x[~(x < -20)], signs=False)
unary("gelu", lambda x: x / 2 * (1 + np.tanh(np.sqrt(2 / L(np.pi)) * (x + L(0.044715) * x ** 3))), 8, approx="tanh",
      only=lambda x: moderate(x)[~(moderate(x) < -3)], signs=False)
unary("silu", lambda x: x * sigmoid(x), 2, only=moderate)
unary("sigmoid", sigmoid, 2, only=moderate)
unary("log_sigmoid", lambda x: -softplus(-x), 2, only=moderate, signs=False)
unary("softplus", softplus, 2, only=moderate)
unary("softsign", lambda x: x / (1 + np.abs(x)), 1)
unary("mish", lambda x: x * np.tanh(softplus(x)), 3, only=moderate)
unary("hardsigmoid", lambda x: keep(x, np.clip(L(1 / 6) * x + L(0.5), 0, 1)), 64, 1, signs=False)
unary("hardsigmoid", lambda x: keep(x, np.clip(L(-0.7) * x + L(0.4), 0, 1)), 256, 1, alpha=-0.7, beta=0.4, signs=False)
unary("hardswish", lambda x: x * np.clip(x + 3, 0, 6) / 6, 2, signs=False)
unary("hardtanh", lambda x: keep(x, np.clip(x, -1, 1)))
unary("hardtanh", lambda x: keep(x, np.clip(x, -0.25, 4)), lo=-0.25, hi=4)
unary("threshold", lambda x: np.where(x <= 0.5, L(-3), x), t=0.5, v=-3)
iunary("relu", lambda v: max(v, 0)), iunary("relu6", lambda v: min(max(v, 0), 6))
for d in NUMBERS:
    x = grid(d) if d in FLOATS else draw(d, 2, 3, 4)
    s = draw(d, *x.v.shape)
    case("prelu", [x, s], T(d, np.where(x.v < 0, double(np.multiply)(x.v, s.v), x.v) if d in FLOATS else np.where(x.bits < 0, obj(x) * obj(s), obj(x))), signs=True)
    x, lo, hi = draw(d, 3, 4), draw(d, 4), draw(d, 3, 1)
    case("clip", [x, lo, hi], T(d, np.minimum(np.maximum(x.v, lo.v), hi.v)))
    case("clip", [x, None, hi], T(d, np.minimum(x.v, hi.v)))
    case("clip", [x, lo], T(d, np.maximum(x.v, lo.v)))
    case("clip", [x], x)
n = T("f32", [np.nan, 1.0, -1.0])
case("clip", [n, T("f32", 0.0), T("f32", np.nan)], T("f32", [np.nan] * 3))
case("clip", [n, T("f32", 2.0), T("f32", -2.0)], T("f32", [np.nan, -2, -2]))


# Binary.
SHAPES = [((3, 4), (3, 4)), ((2, 1, 4), (3, 1)), ((), (5,)), ((), ()), ((0, 3), (3,)), ((2, 300), (2, 1)), ((4, 1, 2), (1, 3, 2))]


def binary(op, f, g=None, ulp64=0, result=None, dtypes=NUMBERS, signs=True, nonzero=False):
    """f over 80-bit floats, g over Python integers."""
    for d in dtypes:
        for p, q in SHAPES:
            if 300 in p and d not in ["f32", "i64"]:
                continue
            a, b = draw(d, *p), draw(d, *q)
            if nonzero and d not in FLOATS:
                b = T(d, np.where(b.bits == 0, 3, b.bits))
            if d in FLOATS:
                out = f(a.v, b.v)
            else:
                x, y = np.broadcast_arrays(obj(a), obj(b))
                out = np.array([g(int(u), int(v)) for u, v in zip(x.reshape(-1), y.reshape(-1))], object).reshape(x.shape)
            case(op, [a, b], T(result or d, out.astype(bool) if result else out), ulp64 if d == "f64" else 0, signs and not result)
        if d in FLOATS:
            s = np.array(SPECIAL)
            a, b = T(d, s[:, None]), T(d, s)
            out = f(a.v, b.v)
            case(op, [a, b], T(result or d, out), ulp64 if d == "f64" else 0, signs and not result)
        else:
            info = np.iinfo(names[d])
            e = np.array([info.min, info.max, 0 if not nonzero else 3, 1, 2, info.max // 2] + ([-1, -3] if info.min else []), names[d])
            a, b = T(d, e[:, None]), T(d, e)
            if nonzero:
                b = T(d, np.where(b.bits == 0, 3, b.bits))
            out = np.array([[g(int(u), int(v)) for v in b.bits] for u in e], object)
            case(op, [a, b], T(result or d, out.astype(bool) if result else out))


def trunc_div(a, b):
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def ordered_max(a, b):
    r = np.maximum(a, b)
    return np.where((a == 0) & (b == 0), np.where(np.signbit(a) & np.signbit(b), L(-0.0), L(0)), r)


def ordered_min(a, b):
    r = np.minimum(a, b)
    return np.where((a == 0) & (b == 0), np.where(np.signbit(a) | np.signbit(b), L(-0.0), L(0)), r)


binary("add", double(np.add), lambda a, b: a + b)
binary("sub", double(np.subtract), lambda a, b: a - b)
binary("mul", double(np.multiply), lambda a, b: a * b)
binary("div", double(np.divide), trunc_div, nonzero=True)
binary("rem", np.fmod, lambda a, b: a - b * trunc_div(a, b), nonzero=True)
binary("fmod", np.fmod, lambda a, b: a - b * trunc_div(a, b), nonzero=True)
binary("maximum", ordered_max, max), binary("minimum", ordered_min, min)
binary("atan2", np.arctan2, ulp64=1, dtypes=FLOATS), binary("hypot", np.hypot, ulp64=1, dtypes=FLOATS)
binary("logaddexp", np.logaddexp, ulp64=64, dtypes=FLOATS, signs=False), binary("copysign", np.copysign, dtypes=FLOATS)
binary("pow", np.power, ulp64=1, dtypes=FLOATS)
binary("equal", np.equal, lambda a, b: a == b, result="bool"), binary("not_equal", np.not_equal, lambda a, b: a != b, result="bool")
binary("less", np.less, lambda a, b: a < b, result="bool"), binary("less_equal", np.less_equal, lambda a, b: a <= b, result="bool")
binary("greater", np.greater, lambda a, b: a > b, result="bool"), binary("greater_equal", np.greater_equal, lambda a, b: a >= b, result="bool")
binary("bit_and", None, lambda a, b: a & b, dtypes=INTS), binary("bit_or", None, lambda a, b: a | b, dtypes=INTS)
binary("bit_xor", None, lambda a, b: a ^ b, dtypes=INTS)
p, q = T("bool", [[True], [False]]), T("bool", [True, False])
for op, f in [("logical_and", np.logical_and), ("logical_or", np.logical_or), ("logical_xor", np.logical_xor), ("bit_and", np.logical_and),
              ("bit_or", np.logical_or), ("bit_xor", np.logical_xor), ("equal", np.equal), ("not_equal", np.not_equal)]:
    case(op, [p, q], T("bool", f(p.bits, q.bits)))
# Powers far from what repeated squaring gets right, and shifts.
x = T("f64", [1 + 1e-10, 1 - 1e-10, 1 + 2 ** -52, 10, 10, 2, 2, 0.5, 1.0001, -2, -3, -2, 7e-300, 1e155])
y = T("f64", [1e10, -3e10, 2.0 ** 52, 22, -22, 1023, -1074, 1074, 7e6, 3, 4, 0.5, 1.05, 1.98])
case("pow", [x, y], T("f64", np.power(x.v, y.v)), 1)
for d in INTS:
    w = np.dtype(names[d]).itemsize * 8
    a, b = draw(d, 6, 1), T(d, [0, 1, 3, 7, w - 1, w, w + 1, 100])
    out = [[int(u) << int(v) for v in b.bits] for u in a.bits[:, 0]]
    case("shift_left", [a, b], T(d, np.array(out, object)))
    case("shift_right", [a, b], T(d, np.array([[int(u) >> int(v) for v in b.bits] for u in a.bits[:, 0]], object)))
    a, b = draw(d, 5, 1), T(d, [0, 1, 2, 5, 13])
    case("pow", [a, b], T(d, np.array([[int(u) ** int(v) for v in b.bits] for u in a.bits[:, 0]], object)))


# Choice and conversion.
for d in NUMBERS + ["bool"]:
    for p, q, r in [((3, 1), (3, 4), (4,)), ((), (2, 2), ()), ((0, 2), (2,), (1, 2)), ((2, 3), (), ())]:
        c, a, b = draw("bool", *p), draw(d, *q), draw(d, *r)
        out = T(d, np.zeros(np.broadcast_shapes(p, q, r)))
        out.bits = np.where(c.bits, a.bits, b.bits)
        case("where", [c, a, b], out, signs=True)
for src in NUMBERS + ["bool"]:
    for dst in NUMBERS + ["bool"]:
        x = grid(src) if src in FLOATS else draw(src, 9)
        if dst == "bool":
            out = T(dst, x.v != 0)
        elif src in FLOATS and dst in INTS:
            info = np.iinfo(names[dst])
            ints = [0 if np.isnan(v) else int(min(max(np.trunc(v), L(info.min)), L(info.max))) for v in x.v]
            out = T(dst, np.array(ints, object))
        else:
            out = T(dst, x.v.astype(object) if dst in INTS else x.v.astype(L))
        case("cast", [x], out, dtype=dst)
for src in NUMBERS + ["bool"]:
    for dst in NUMBERS:
        if np.dtype(names[src]).itemsize == np.dtype(names[dst]).itemsize:
            x = draw(src, 2, 3)
            out = T(dst, np.zeros((2, 3)))
            out.bits = x.bits.view(names[dst])
            case("bitcast", [x], out, signs=True, dtype=dst)


# Reductions.
AXES = [((2, 3, 4), None), ((2, 3, 4), [1]), ((2, 3, 4), [-1]), ((2, 3, 4), [0, 2]), ((2, 3, 4), [2, 0]), ((2, 3, 4), []), ((), None), ((3, 0, 2), [1]),
        ((3, 0, 2), [0]), ((0,), None), ((5, 300), [0]), ((2, 600), [1])]


def reduction(op, f, dtypes=NUMBERS, ulp64=0, result=None, ulp=0, **attrs):
    for d in dtypes:
        for i, (shape, axes) in enumerate(AXES):
            if max(shape, default=0) > 100 and d not in ["f32", "u8"]:
                continue
            keepdims = i % 2
            x = positive(d, *shape)
            axis = None if axes is None else tuple(axes)
            y = f(x.v if d in FLOATS + ["bool"] else obj(x), axis=axis, keepdims=bool(keepdims))
            at = dict(attrs, keepdims=keepdims)
            if axes is not None:
                at["axis"] = axes
            case(op, [x], T(result or d, y), ulp64 if d == "f64" else ulp, **at)


reduction("sum", lambda v, axis, keepdims: np.add.reduce(v, axis=axis, keepdims=keepdims), ulp64=64)
reduction("prod", lambda v, axis, keepdims: np.multiply.reduce(v, axis=axis, keepdims=keepdims), dtypes=["f64", "f32"] + INTS, ulp64=512)
reduction("mean", np.mean, FLOATS, 64)
reduction("sum_square", lambda v, axis, keepdims: np.add.reduce(v * v, axis=axis, keepdims=keepdims), ulp64=64)
reduction("norm1", lambda v, axis, keepdims: np.add.reduce(abs(v), axis=axis, keepdims=keepdims), ulp64=64)
reduction("norm2", lambda v, axis, keepdims: np.sqrt((v * v).sum(axis=axis, keepdims=keepdims)), FLOATS, 32)
reduction("logsumexp", lambda v, axis, keepdims: np.log(np.exp(v).sum(axis=axis, keepdims=keepdims)), FLOATS, 8)
reduction("variance", np.var, FLOATS, 64)
reduction("std", np.std, FLOATS, 32)
for op, f in [("variance", np.var), ("std", np.std)]:
    for c in [1, 2, 7]:
        x = draw("f32", 3, 5)
        y = f(x.v, axis=1, ddof=c)
        case(op, [x], T("f32", np.where(c < 5, y, np.nan)), axis=[1], correction=c)
for d in NUMBERS:
    lo, hi = (-np.inf, np.inf) if d in FLOATS else (np.iinfo(names[d]).min, np.iinfo(names[d]).max)
    reduction("max", lambda v, axis, keepdims: np.maximum.reduce(v, axis=axis, keepdims=keepdims, initial=lo), [d])
    reduction("min", lambda v, axis, keepdims: np.minimum.reduce(v, axis=axis, keepdims=keepdims, initial=hi), [d])
few = lambda d, *s: T(d, rng.integers(0, 2, s))
for d in NUMBERS + ["bool"]:
    for shape, axes in AXES[:-2]:
        x = few(d, *shape)
        axis = None if axes is None else tuple(axes)
        at = {} if axes is None else {"axis": axes}
        case("all", [x], T("bool", np.all(x.bits != 0, axis=axis)), **at)
        case("any", [x], T("bool", np.any(x.bits != 0, axis=axis)), **at)
        case("count_nonzero", [x], T("i64", np.count_nonzero(x.bits, axis=axis if axes != [] else ()) if axes != [] else (x.bits != 0)), **at)
for d in NUMBERS:
    for shape, axis in [((2, 3, 4), None), ((2, 3, 4), 1), ((2, 3, 4), -1), ((2, 300), 1), ((7,), 0), ((0, 3), 1), ((), None)]:
        if 300 in shape and d not in ["f32", "u8"]:
            continue
        x = T(d, rng.integers(0, 4, shape))  # with equals
        at = {} if axis is None else {"axis": axis}
        for op, f in [("argmax", np.argmax), ("argmin", np.argmin)]:
            case(op, [x], T("i64", f(x.bits if d != "bf16" else x.v, axis=axis)), **at)
            case(op, [x], T("i64", f(x.bits if d != "bf16" else x.v, axis=axis, keepdims=True)), keepdims=1, **at)
n = T("f32", [[1, np.nan, 3, np.nan], [-np.inf, -np.inf, np.inf, np.inf]])
for op, f in [("argmax", np.argmax), ("argmin", np.argmin)]:
    case(op, [n], T("i64", f(n.bits, axis=1)), axis=1)
for op, f in [("max", np.max), ("min", np.min), ("sum", np.sum), ("mean", np.mean), ("prod", np.prod)]:
    case(op, [n], T("f32", f(n.v, axis=1)), axis=[1])
case("logsumexp", [n], T("f32", [np.nan, np.inf]), axis=[1])
case("logsumexp", [T("f32", [[1000.0, 1000], [-1000, -1000], [-np.inf, -np.inf]])], T("f32", [1000 + np.log(2), -1000 + np.log(2), -np.inf]), axis=[1])
case("norm2", [T("f64", [[3e200, 4e200], [3e-200, 4e-200], [0, 0], [np.inf, 1]])], T("f64", [5e200, 5e-200, 0, np.inf]), 1, axis=[1])
case("norm2", [T("f64", [np.nan, np.inf])], T("f64", np.nan))
for d in NUMBERS:
    for shape, axis in [((2, 3, 4), 1), ((2, 3, 4), -1), ((5,), 0), ((2, 0), 1), ((0, 2), 1)]:
        x = draw(d, *shape)
        v = x.v if d in FLOATS else obj(x)
        case("cumsum", [x], T(d, np.cumsum(v, axis=axis)), 8 if d == "f64" else 0, axis=axis)
        case("cumprod", [x], T(d, np.cumprod(v, axis=axis)), 8 if d == "f64" else 0, axis=axis)


# Products.
for d in NUMBERS:
    ulp = 4 if d == "f64" else 0
    vals = lambda x: x.v if d in FLOATS else obj(x)
    for p, q in [((3, 4), (4, 5)), ((2, 3, 4), (4, 5)), ((2, 3, 4), (2, 4, 5)), ((2, 1, 3, 4), (5, 4, 2)), ((4,), (4,)), ((4,), (3, 4, 2)), ((2, 3, 4), (4,)),
                 ((3, 0), (0, 2)), ((0, 3), (3, 2)), ((1, 1), (1, 1))]:
        a, b = positive(d, *p), positive(d, *q)
        case("matmul", [a, b], T(d, np.matmul(vals(a), vals(b)) if 0 not in p + q else np.zeros(np.matmul(np.zeros(p), np.zeros(q)).shape)), ulp)
    x, w, b = positive(d, 2, 3, 4), positive(d, 5, 4), positive(d, 5)
    xw = T(d, np.matmul(vals(x), vals(w).T))
    case("linear", [x, w], xw, ulp)
    if d not in ["f64"]:
        case("linear", [x, w, b], T(d, vals(xw) + vals(b)))
    case("bias_add", [x, T(d, vals(w)[0])], T(d, vals(x) + vals(T(d, vals(w)[0]))))
    a, c = positive(d, 6), positive(d, 6)
    case("dot", [a, c], T(d, np.dot(vals(a), vals(c))), ulp)
    case("outer", [a, b], T(d, np.outer(vals(a), vals(b))))
    case("outer", [T(d, np.zeros(0)), b], T(d, np.zeros((0, 5))))
for p, q in [((2, 300), (300, 3)), ((66, 2), (2, 3)), ((2, 3), (3, 300))]:  # more than one tile each way
    a, b = draw("i32", *p), draw("i32", *q)
    case("matmul", [a, b], T("i32", a.bits.astype(object) @ b.bits.astype(object)))
EINSUM = [("ij,jk->ik", (2, 3), (3, 4)), ("bij,bjk->bik", (2, 3, 4), (2, 4, 2)), ("bhsd,bhtd->bhst", (2, 2, 3, 4), (2, 2, 5, 4)), ("ij->ji", (2, 3)), ("ii->i", (3, 3)),
          ("ii", (3, 3)), ("ij->", (2, 3)), ("ij->j", (2, 3)), ("i,i", (4,), (4,)), ("i,j->ij", (2,), (3,)), ("ij,ij->ij", (2, 3), (2, 3)), ("i j , j", (2, 3), (3,)),
          ("...i,ij->...j", (2, 2, 3), (3, 4)), ("...ij,...jk->...ik", (2, 1, 3, 4), (5, 4, 2)), ("a,ab,b->", (2,), (2, 3), (3,)), ("ab,bc,cd->ad", (2, 3), (3, 2), (2, 4)),
          ("ijj,j->i", (2, 3, 3), (3,)), ("ij,kj", (2, 3), (4, 3)), ("ba", (2, 3)), ("...", (2, 3)), ("i...->...", (3, 2)), ("...i->i...", (2, 3, 4)),
          ("->", ()), (",i->i", (), (3,)), ("iij,jk,k->i", (2, 2, 3), (3, 4), (4,)), ("ij,jk->ik", (2, 0), (0, 3)), ("ij,jk->ik", (0, 2), (2, 3)), ("i,j,i,j->", (3,), (4,), (3,), (4,)),
          ("ij,jk->ik", (2, 1), (3, 4)), ("ij,ij->i", (2, 1), (1, 3)), ("aB,Bc", (2, 3), (3, 2))]
for d in ["f64", "f32", "f16", "i32", "i8", "u64"]:
    for spec, *shapes in EINSUM:
        mixed = spec == "ij,jk->ik" and shapes[0][1] != shapes[1][0]
        shapes_full = mixed and [(2, 3), (3, 4)]  # the C loop of NumPy does not broadcast a 1 here
        xs = [positive(d, *s) for s in shapes]
        vs = [x.v if d in FLOATS else x.bits.astype("<i8") for x in xs]  # 64 bits wrap as narrower ones do
        if shapes_full:
            vs = [np.broadcast_to(v, s) for v, s in zip(vs, shapes_full)]
        out = np.einsum(spec, *vs, optimize=False)
        case("einsum", xs, T(d, out), 4 if d == "f64" else 0, spec=spec)


# Normalisations.
def softmax(v, axis):
    e = np.exp(v - v.max(axis=axis, keepdims=True)) if v.size else v
    return e / e.sum(axis=axis, keepdims=True)


def standard(v, axes, eps):
    m = v.mean(axis=axes, keepdims=True)
    return (v - m) / np.sqrt(((v - m) ** 2).mean(axis=axes, keepdims=True) + L(eps))


for d in FLOATS:
    ulp = 32 if d == "f64" else 1
    for shape, axis in [((3, 5), -1), ((3, 5), 0), ((2, 3, 4), 1), ((4,), 0), ((0, 3), 1), ((3, 0), 0)]:
        x = draw(d, *shape)
        case("softmax", [x], T(d, softmax(x.v, axis)), ulp, axis=axis)
        case("log_softmax", [x], T(d, np.log(softmax(x.v, axis))), 256 if d == "f64" else 1, axis=axis)
        case("l2_normalize", [x], T(d, x.v / np.maximum(np.sqrt((x.v ** 2).sum(axis=axis, keepdims=True)), L(1e-12))), ulp, axis=axis)
    for shape, axes in [((3, 5), [-1]), ((2, 3, 4), [1, 2]), ((2, 3, 4), [2, 0]), ((2, 3, 4), [1]), ((2, 3), [])]:
        x = draw(d, *shape)
        norm = tuple(a % len(shape) for a in axes)
        dims = [shape[a] for a in norm]
        w, b = draw(d, *dims), draw(d, *dims)
        order = np.argsort(norm)
        full = lambda t: np.transpose(t.v, order).reshape([n if i in norm else 1 for i, n in enumerate(shape)])
        y = standard(x.v, norm, 1e-5) if axes else (x.v - x.v)
        case("layernorm", [x, w, b], T(d, y * full(w) + full(b)), 4096 if d == "f64" else 2, axis=axes)
        case("layernorm", [x, None, b], T(d, y + full(b)), 4096 if d == "f64" else 2, axis=axes)
        case("layernorm", [x], T(d, standard(x.v, norm, 0.1) if axes else y), 4096 if d == "f64" else 2, axis=axes, eps=0.1)
    x, w = draw(d, 2, 3, 4), draw(d, 4)
    rms = x.v / np.sqrt((x.v ** 2).mean(axis=-1, keepdims=True) + L(1e-6))
    case("rmsnorm", [x, w], T(d, rms * w.v), ulp), case("rmsnorm", [x], T(d, rms), ulp)
    for shape in [(2, 4, 3), (2, 4, 2, 3), (2, 4)]:
        x, w, b, m = draw(d, *shape), draw(d, 4), draw(d, 4), draw(d, 4)
        var = T(d, np.abs(draw(d, 4).v))
        ch = lambda t: t.v.reshape([1, 4] + [1] * (len(shape) - 2))
        case("batchnorm", [x, w, b, m, var], T(d, (x.v - ch(m)) / np.sqrt(ch(var) + L(1e-5)) * ch(w) + ch(b)), 4096 if d == "f64" else 2)
        case("batchnorm", [x, None, None, m, var], T(d, (x.v - ch(m)) / np.sqrt(ch(var) + L(0.5))), ulp, eps=0.5)
        spatial = tuple(range(2, len(shape)))
        if spatial:
            y = standard(x.v, spatial, 1e-5)
            case("instancenorm", [x, w, b], T(d, y * ch(w) + ch(b)), 4096 if d == "f64" else 2)
            case("instancenorm", [x], T(d, y), 4096 if d == "f64" else 2)
        g = x.v.reshape([2, 2, 2] + list(shape[2:]))
        y = standard(g, tuple(range(2, g.ndim)), 1e-5).reshape(shape)
        case("groupnorm", [x, w, b], T(d, y * ch(w) + ch(b)), 4096 if d == "f64" else 2, groups=2)
        case("groupnorm", [x], T(d, y), 4096 if d == "f64" else 2, groups=2)
case("softmax", [T("f32", [[1000.0, 1000], [-np.inf, 0], [np.nan, 1], [-np.inf, -np.inf]])], T("f32", [[0.5, 0.5], [0, 1], [np.nan, np.nan], [np.nan, np.nan]]))
case("l2_normalize", [T("f64", [[3e200, 4e200], [0, 0], [3e-200, 0]])], T("f64", [[0.6, 0.8], [0, 0], [3e-188, 0]]), 1)


# Attention.
def attention(q, k, v, mask=None, scale=None, causal=False):
    h, g = q.shape[-3], k.shape[-3]
    k, v = np.repeat(k, h // g, axis=-3), np.repeat(v, h // g, axis=-3)
    s = q @ np.swapaxes(k, -1, -2) * (L(scale) if scale is not None else 1 / np.sqrt(L(q.shape[-1])))
    sees = np.ones(s.shape, bool)
    if mask is not None:
        sees &= mask if mask.dtype == bool else ~np.isneginf(mask)
        s = s if mask.dtype == bool else s + mask
    if causal:
        sees &= np.tril(np.ones(s.shape[-2:], bool))
    p = softmax(np.where(sees, s, -np.inf), -1)
    return np.where(sees.any(axis=-1, keepdims=True), p, 0) @ v


for d in FLOATS:
    ulp = 4096 if d == "f64" else 2
    for lead, h, g, s, t in [((2,), 2, 2, 3, 3), ((), 4, 2, 3, 5), ((2, 2), 3, 1, 5, 3), ((1,), 1, 1, 1, 4)]:
        q, k, v = draw(d, *lead, h, s, 4), draw(d, *lead, g, t, 4), draw(d, *lead, g, t, 6)
        case("attention", [q, k, v], T(d, attention(q.v, k.v, v.v)), ulp)
        case("attention", [q, k, v], T(d, attention(q.v, k.v, v.v, scale=0.3, causal=True)), ulp, scale=0.3, causal=1)
        m = draw(d, h, s, t)
        case("attention", [q, k, v, m], T(d, attention(q.v, k.v, v.v, m.v)), ulp)
        m = T("bool", rng.integers(0, 3, (s, t)) > 0)
        m.bits[0] = False  # a row that attends to nothing
        case("attention", [q, k, v, m], T(d, attention(q.v, k.v, v.v, m.bits, causal=True)), ulp, causal=1)
    case("attention", [draw(d, 1, 2, 3), T(d, np.zeros((1, 0, 3))), T(d, np.zeros((1, 0, 2)))], T(d, np.zeros((1, 2, 2))))
    x = draw(d, 2, 3, 5, 8)
    angle = rng.uniform(0, 6, (5, 4))
    cos, sin = T(d, np.cos(angle)), T(d, np.sin(angle))
    a, b = x.v[..., :4], x.v[..., 4:]
    y = T(d, np.concatenate([a * cos.v - b * sin.v, b * cos.v + a * sin.v], axis=-1))
    cancel = 4096 if d == "f64" else 0
    case("rope", [x, cos, sin], y, cancel)
    twice = lambda t: T(d, np.concatenate([t.v, t.v], axis=-1))
    case("rope", [x, twice(cos), twice(sin)], y, cancel)
    a, b = x.v[..., 0::2], x.v[..., 1::2]
    y = np.stack([a * cos.v - b * sin.v, b * cos.v + a * sin.v], axis=-1).reshape(x.v.shape)
    case("rope", [x, cos, sin], T(d, y), cancel, interleaved=1)


# Products whose sums are wider than their operands; what they draw stands behind all else, so that
# the lines before stay as they are.
for d in ["bf16", "f16"]:
    for p, q in [((3, 4), (4, 5)), ((2, 3, 300), (300, 5)), ((2, 1, 3, 4), (5, 4, 2)), ((4,), (4,)), ((3, 0), (0, 2))]:
        a, b = positive(d, *p), positive(d, *q)
        case("matmul", [a, b], T("f32", np.matmul(a.v, b.v) if 0 not in p else np.zeros((3, 2))), dtype="f32")
    x, w, b = positive(d, 2, 3, 4), positive(d, 5, 4), positive("f32", 5)
    xw = T("f32", np.matmul(x.v, w.v.T))
    case("linear", [x, w], xw, dtype="f32")
    case("linear", [x, w, b], T("f32", xw.v + b.v), dtype="f32")
for d, e in [("i8", "i8"), ("u8", "u8"), ("u8", "i8"), ("i8", "u8")]:
    for p, q in [((3, 4), (4, 5)), ((2, 3, 300), (300, 5)), ((4,), (4,)), ((3, 0), (0, 2))]:
        a, b = draw(d, *p), draw(e, *q)
        case("matmul", [a, b], T("i32", np.matmul(a.bits.astype(np.int64), b.bits.astype(np.int64))), dtype="i32")
    x, w, b = draw(d, 2, 3, 4), draw(e, 5, 4), T("i32", [2**31 - 1, -2**31, 5, 0, -7])  # some wrap
    case("linear", [x, w, b], T("i32", (x.bits.astype(np.int64) @ w.bits.astype(np.int64).T + b.bits).astype(object)), dtype="i32")


# Quantizing: the quotient is rounded to the dtype of x first.
def quantize(x, scale, zero, to):
    y = T(x.d, x.v / scale.v).v
    lo, hi = (-128, 127) if to == "i8" else (0, 255)
    y = np.where(np.isnan(y), 0, np.rint(y)) + (zero.v.astype(L) if zero else 0)
    return T(to, np.clip(y, lo, hi).astype(np.int64))


def dequantize(q, scale, zero):
    whole = q.bits.astype(np.int64) - (zero.bits.astype(np.int64) if zero else 0)
    return T(scale.d, T(scale.d, whole).v * scale.v)


for d in FLOATS:
    x = T(d, np.concatenate([rng.normal(0, 40, 20), [0.5, 1.5, 2.5, -0.5, -1.5, 127.5, 128.5, -128.5, 254.5, 255.5, np.inf, -np.inf, np.nan, 0.0, -0.0, 1e4]]).reshape(4, 9))
    for to in ["i8", "u8"]:
        for shape in [(), (4, 1), (9,), (4, 9)]:
            scale, zero = T(d, np.exp2(rng.uniform(-2, 2, shape))), draw(to, *shape)
            case("quantize_linear", [x, scale], quantize(x, scale, None, to), dtype=to)
            case("quantize_linear", [x, scale, zero], quantize(x, scale, zero, to))
        one = T(d, 1.0)
        case("quantize_linear", [x, one], quantize(x, one, None, to), dtype=to)
        case("quantize_linear", [x, T(d, 0.0)], quantize(x, T(d, 0.0), None, to), dtype=to)
    case("quantize_linear", [x, T(d, 0.75)], quantize(x, T(d, 0.75), None, "u8"))
    for q in ["i8", "u8", "i32"]:
        y = draw(q, 4, 9) if q != "i32" else T(q, rng.integers(-2**31, 2**31, (4, 9)))
        for shape in [(), (4, 1), (9,)]:
            scale = T(d, np.exp2(rng.uniform(-6, 2, shape)))
            case("dequantize_linear", [y, scale], dequantize(y, scale, None))
            zero = draw(q, *shape)
            case("dequantize_linear", [y, scale, zero], dequantize(y, scale, zero))

with open("numbers.jsonl", "w") as f:
    for line in lines:
        f.write(json.dumps(line, separators=(",", ":")) + "\n")
