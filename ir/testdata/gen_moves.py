#!/usr/bin/python3
"""Writes moves.jsonl: calls of the convolution, shape, index and make operators
with the results that NumPy 1.24 and SciPy 1.10 give. One JSON object a line:

    {"op": name, "attrs": {name: value}, "in": [tensor or null], "out": [tensor],
     "tol": 0}

A tensor is {"d": dtype, "s": shape, "b": base64 of its little-endian bytes}; a
value of attrs is a number, a string, a list, or {"type": [dtype, shape]}. What
tol is 0 must agree bit for bit, else |a-b| <= tol * max(1, |b|).

Run from this folder: python3 gen_moves.py
"""
import base64
import itertools
import json

import numpy as np
from scipy.signal import correlate

rng = np.random.default_rng(11)
names = {"f64": "<f8", "f32": "<f4", "f16": "<f2", "bf16": "<u2", "i64": "<i8", "i32": "<i4", "i16": "<i2",
         "i8": "i1", "u64": "<u8", "u32": "<u4", "u16": "<u2", "u8": "u1", "bool": "?"}
back = {np.dtype(v): k for k, v in names.items() if k != "bf16"}
FAR = 1 << 41
lines = []


def encode(a, dtype=None):
    if a is None:
        return None
    a = np.asarray(a)
    return {"d": dtype or back[a.dtype], "s": list(a.shape), "b": base64.b64encode(np.ascontiguousarray(a).tobytes()).decode()}


def case(op, ins, outs, tol=0, dtype=None, **attrs):
    """dtype renames the dtype of the tensors whose NumPy dtype is u16 (bf16)."""
    def enc(a):
        named = dtype if a is not None and np.asarray(a).dtype == np.uint16 else None
        return encode(a, named)
    outs = outs if isinstance(outs, (list, tuple)) else [outs]
    attrs = {k: v for k, v in attrs.items() if v is not None}
    lines.append({"op": op, "attrs": attrs, "in": [enc(a) for a in ins], "out": [enc(a) for a in outs], "tol": tol})


def bits(dtype, *shape):
    """Any bits at all: moves keep them, NaN payloads too."""
    d = np.dtype(names[dtype])
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    return np.frombuffer(rng.bytes(int(np.prod(shape)) * d.itemsize), d).reshape(shape)


def special(dtype, *shape):
    """Numbers with many equals and, of floats, NaN, infinities and both zeros."""
    d = np.dtype(names[dtype])
    if d.kind == "f":
        return rng.choice(np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1, 2, 2.5, -1]), shape).astype(d)
    if d.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    info = np.iinfo(d)
    return rng.choice(np.array([info.min, info.max, 0, 1, 2, 3], dtype=d), shape)


def ints(lo, hi, shape, d="<i8"):
    return rng.integers(lo, hi, shape).astype(d)


# Shapes.
for i, dt in enumerate(names):
    x = bits(dt, 2, 3, 4)
    for dims in ([4, 6], [-1], [2, -1, 2], [1, 24, 1]):
        case("reshape", [x], x.reshape(dims), dtype=dt, dims=dims)
    case("transpose", [x], np.swapaxes(x, -1, -2), dtype=dt)
    for perm in list(itertools.permutations(range(3)))[i % 3::2]:
        case("transpose", [x], x.transpose(perm), dtype=dt, perm=list(perm))
    case("flip", [x], np.flip(x), dtype=dt)
    case("expand", [x[:, :1]], np.broadcast_to(x[:, :1], (3, 2, 5, 4)), dtype=dt, dims=[3, -1, 5, 4])
    case("concat", [x, x[:, :0], x[:, :2]], np.concatenate([x, x[:, :0], x[:, :2]], 1), dtype=dt, axis=-2)
    case("tile", [x], np.tile(x, (2, 1, 3)), dtype=dt, reps=[2, 1, 3])
    case("roll", [x], np.roll(x, 5), dtype=dt, shift=[5])
    case("slice", [x], x[1:, ::-2, -3:-1], dtype=dt, starts=[1, FAR, -3], ends=[FAR, -FAR, -1], steps=[1, -2, 1])
    case("gather", [x, np.array([[2, 0], [-1, 1]])], np.take(x, [[2, 0], [-1, 1]], 1), dtype=dt, axis=1)

x = bits("f32", 2, 3, 4, 2)
case("transpose", [x], x.transpose(3, 1, 0, 2), perm=[-1, 1, -4, 2])
v = bits("i16", 5)
case("transpose", [v], v.T)
case("reshape", [x[:0]], x[:0].reshape(3, 0, 2), dims=[3, 0, 2])
s = bits("f64")
case("reshape", [s], s.reshape(1, 1), dims=[1, -1])
case("reshape", [v[:1]], v[:1].reshape(()), dims=[])
case("flatten", [s], s.reshape(1))
case("flatten", [v], v)
case("flatten", [x], x.reshape(2, 24))
case("flatten", [x], x.reshape(48), start=0)
case("flatten", [x], x.reshape(2, 12, 2), start=1, end=2)
case("flatten", [x], x.reshape(2, 12, 2), start=-3, end=-2)
q = bits("u8", 1, 3, 1, 2, 1)
case("squeeze", [q], np.squeeze(q))
case("squeeze", [q], np.squeeze(q, (0, -1)), axis=[0, -1])
case("squeeze", [q], np.squeeze(q, 2), axis=[-3])
for axes in ([0], [-1], [0, 2], [-1, 1, 0], []):
    case("unsqueeze", [x[0]], np.expand_dims(x[0], tuple(axes)), axis=axes)
case("expand", [s], np.broadcast_to(s, (2, 3)), dims=[2, 3])
case("expand", [x[:, :1, :1]], np.broadcast_to(x[:, :1, :1], (2, 0, 3, 2)), dims=[2, 0, 3, 2])
case("expand", [x], x, dims=[2, 3, 4, 2])

# Joining and parting.
for axis in (0, 1, -1):
    parts = [x, x[tuple(slice(0, 1) if a == axis % 4 else slice(None) for a in range(4))]]
    case("concat", parts, np.concatenate(parts, axis), axis=axis)
    case("stack", [x, x[::-1], x[:, ::-1]], np.stack([x, x[::-1], x[:, ::-1]], axis), axis=axis)
case("stack", [s, s], np.stack([s, s]))
case("concat", [x], x)
y = bits("f16", 4, 6)
case("split", [y], np.split(y, 2), parts=2)
case("split", [y], np.split(y, 3, 1), parts=3, axis=1)
case("split", [y], np.split(y, [1, 1, 4], -1), sizes=[1, 0, 3, 2], axis=-1)
case("split", [y[:0]], np.split(y[:0], 2), parts=2)
for n, d in ((3, 7), (4, 5), (2, 6), (3, 0), (1, 4)):
    z = bits("i32", 2, d)
    c = -(-d // n)
    case("chunk", [z], [z[:, i * c:(i + 1) * c] for i in range(n)], n=n, axis=1)
case("tile", [v], np.tile(v, (2, 3)), reps=[2, 3])
case("tile", [x], np.tile(x, (2,)), reps=[2])
case("tile", [x], np.tile(x, (1, 0, 2, 1)), reps=[1, 0, 2, 1])
case("tile", [s], np.tile(s, ()), reps=[])
case("repeat", [x], np.repeat(x, 3), n=3)
case("repeat", [s], np.repeat(s, 2), n=2)
for axis in (0, 1, -1):
    case("repeat", [x], np.repeat(x, 2, axis), n=2, axis=axis)
case("repeat", [x], np.repeat(x, 0, 1), n=0, axis=1)
for axis in ([0], [1, -1], []):
    case("flip", [x], np.flip(x, tuple(axis)), axis=axis)
for shift, axis in (([1], [0]), ([-2], [1]), ([1, 2], [0, -1]), ([3], [1, 2]), ([1, 1], [2, 2]), ([0], [0]), ([-100], [2])):
    case("roll", [x], np.roll(x, shift if len(shift) > 1 else shift[0], tuple(axis)), shift=shift, axis=axis)
case("roll", [x[:0]], x[:0], shift=[2], axis=[0])
case("roll", [s], s, shift=[3])

# Slices: every start, end and step around a short axis.
w = bits("i16", 2, 4)
for start in (None, -6, -4, -1, 0, 2, 5):
    for end in (None, -5, -2, 0, 3, 9):
        for step in (1, 2, -1, -3):
            first = (FAR if step < 0 else 0) if start is None else start
            last = (-FAR if step < 0 else FAR) if end is None else end
            case("slice", [w], w[:, start:end:step], starts=[first], ends=[last], axes=[-1], steps=[step])
case("slice", [w[:, :0]], w[:, :0], starts=[-1], ends=[FAR], axes=[1])
case("slice", [s], s, starts=[], ends=[])

# Padding.
for dt in ("f32", "u64", "bool", "bf16"):
    x = bits(dt, 3, 4)
    for mode in ("constant", "edge", "reflect", "symmetric", "wrap"):
        case("pad", [x], np.pad(x, [(1, 2), (0, 3)], mode), dtype=dt, pairs=[1, 2, 0, 3], mode=mode)
x = rng.standard_normal((3, 4)).astype("<f4")
case("pad", [x], np.pad(x, [(2, 0), (1, 1)], constant_values=-1.5), pairs=[2, 0, 1, 1], value=-1.5)
case("pad", [x], np.pad(x, 2, constant_values=7), pairs=[2], value=7)
case("pad", [x], np.pad(x, (1, 2), constant_values=7), pairs=[1, 2], value=7)
case("pad", [x], np.pad(x[1:, :-2], [(0, 2), (3, 0)]), pairs=[-1, 2, 3, -2])
case("pad", [x], x[1:-1, 2:], pairs=[-1, -1, -2, 0])
for mode in ("edge", "reflect", "symmetric"):
    case("pad", [x], np.pad(x[1:, :-2], [(0, 2), (3, 0)], mode), pairs=[-1, 2, 3, -2], mode=mode)
    case("pad", [x[:1, :2]], np.pad(x[:1, :2], [(3, 2), (7, 5)], mode), pairs=[3, 2, 7, 5], mode=mode)
case("pad", [x[:0]], np.pad(x[:0], [(1, 1), (0, 0)]), pairs=[1, 1, 0, 0])
case("pad", [s], s, pairs=[])

# Indexing.
x = bits("f32", 3, 4, 2)
for axis in (0, 1, 2, -1):
    n = x.shape[axis]
    for shape, d in (((), "<i4"), ((5,), "u1"), ((2, 3), "<i8"), ((0,), "<i4")):
        i = ints(0 if d == "u1" else -n, n, shape, d)
        case("gather", [x, i], np.take(x, i, axis), axis=axis)
    i = ints(-n, n, [6 if a == axis % 3 else k for a, k in enumerate(x.shape)])
    case("take_along", [x, i], np.take_along_axis(x, i, axis), axis=axis)
i = ints(0, 4, (1, 5, 1), "<u4")
case("take_along", [x, i], np.take_along_axis(x, i, 1), axis=1)
i = ints(-3, 3, (2, 4, 2), "<i4")
case("take_along", [x[:, :1], i], np.take_along_axis(x[:, :1], i, 0), axis=0)
table = bits("f16", 6, 3)
for shape in ((), (4,), (2, 3)):
    i = ints(0, 6, shape)
    case("embedding", [table, i], table[i])
for depth in range(4):
    i = np.stack([ints(-n, n, (2, 5)) for n in x.shape[:depth]], -1) if depth else ints(0, 1, (2, 5, 0))
    case("gather_nd", [x, i], x[tuple(np.moveaxis(i, -1, 0))] if depth else np.broadcast_to(x, (2, 5) + x.shape))
i = ints(-4, 4, (3, 6, 1), "<i4")
case("gather_nd", [x, i], np.stack([x[b][i[b, :, 0]] for b in range(3)]), batch_dims=1)
i = ints(-2, 2, (3, 4, 1))
case("gather_nd", [x, i], np.array([[x[a, b, i[a, b, 0]] for b in range(4)] for a in range(3)]), batch_dims=2)

ufuncs = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


def scatter(x, i, u, axis, reduce):
    out = x.copy()
    with np.errstate(all="ignore"):
        for at in np.ndindex(i.shape):
            to = list(at)
            to[axis] = i[at]
            to = tuple(to)
            out[to] = u[at] if reduce == "none" else ufuncs[reduce](out[to], u[at])
    return out


for dt in ("f32", "f64", "i8", "u8", "i64", "u64", "bool"):
    for reduce in ("none", "add", "mul", "max", "min"):
        x, u = special(dt, 3, 4), special(dt, 2, 6)
        if dt in ("f32", "f64") and reduce in ("add", "mul"):
            x, u = ints(-4, 5, (3, 4), names[dt]), ints(-4, 5, (2, 6), names[dt])
        i = ints(-4, 4, (2, 6))
        case("scatter", [x, i, u], scatter(x, i, u, 1, reduce), axis=1, reduce=reduce)
        i, u = ints(-3, 3, (5, 1), "<i4"), u[:, :4].reshape(-1)[:20].repeat(3)[:20].reshape(5, 4)
        out = x.copy()
        with np.errstate(all="ignore"):
            for k in range(5):
                out[i[k, 0]] = u[k] if reduce == "none" else ufuncs[reduce](out[i[k, 0]], u[k])
        case("scatter_nd", [x, i, u], out, reduce=reduce)
x = bits("bf16", 3, 4)
i = np.array([[0, 1], [2, 3], [0, 1], [-1, -4]])
out = x.copy()
for k, (a, b) in enumerate(i):
    out[a, b] = x[k % 3, 0]
case("scatter_nd", [x, i, np.array([x[k % 3, 0] for k in range(4)])], out, dtype="bf16")
case("scatter", [x, ints(0, 3, (0, 4)), x[:0]], x, dtype="bf16", axis=0)

for dt in names:
    if dt == "bf16":
        continue
    i = ints(-5, 5, (2, 3))
    case("one_hot", [i], np.eye(5, dtype=names[dt])[i], n=5, dtype_=dt)
i = ints(0, 4, (2, 3), "u1")
case("one_hot", [i], np.moveaxis(np.eye(4, dtype="<f4")[i], -1, 0), n=4, axis=0)
case("one_hot", [i], np.moveaxis(np.where(np.eye(4)[i] > 0, 2.5, -1).astype("<f4"), -1, 1), n=4, axis=-2, on=2.5, off=-1)
case("one_hot", [ints(1, 2, ())], np.array([0, 1, 0], "<f4"), n=3)


def order(line, descending):
    """Positions that sort a line: stable, NaN the largest."""
    def key(k):
        v, nan = line[k], int(line.dtype.kind == "f" and np.isnan(line[k]))
        v = 0.0 if nan else float(v) if line.dtype.kind == "f" else int(v)
        return (-nan, -v) if descending else (nan, v)
    return np.array(sorted(range(len(line)), key=key), "<i8")


for dt in names:
    if dt == "bf16":
        continue
    x = special(dt, 3, 9)
    at = np.apply_along_axis(order, 1, x, False)
    assert dt == "bool" or np.array_equal(np.sort(x, 1, kind="stable"), np.take_along_axis(x, at, 1), equal_nan=x.dtype.kind == "f")
    case("sort", [x], np.take_along_axis(x, at, 1))
    case("argsort", [x], np.argsort(x, 1, kind="stable"))
    at = np.apply_along_axis(order, 1, x, True)
    case("sort", [x], np.take_along_axis(x, at, 1), descending=1)
    case("argsort", [x], at, descending=1)
    case("topk", [x], [np.take_along_axis(x, at[:, :4], 1), at[:, :4]], k=4)
    at = np.apply_along_axis(order, 0, x, False)[:2]
    case("topk", [x], [np.take_along_axis(x, at, 0), at], k=2, axis=0, largest=0)
x = special("f32", 4, 3, 2)
case("sort", [x], np.take_along_axis(x, np.argsort(x, 1, kind="stable"), 1), axis=1)
case("argsort", [x], np.argsort(x, 0, kind="stable"), axis=-3)
case("sort", [x[:, :0]], x[:, :0], axis=1)
case("topk", [x], [x[:, :0], np.zeros((4, 0, 2), "<i8")], k=0, axis=1)

# Making.
for dt in names:
    if dt == "bf16":
        continue
    d = names[dt]
    case("zeros", [], np.zeros((2, 3), d), type={"type": [dt, [2, 3]]})
    case("ones", [], np.ones((2, 0, 3), d), type={"type": [dt, [2, 0, 3]]})
    case("ones", [], np.ones((), d), type={"type": [dt, []]})
    case("full", [], np.full((3, 2), 1 if dt == "bool" else 5, d), type={"type": [dt, [3, 2]]}, value=1 if dt == "bool" else 5)
    case("eye", [], np.eye(3, dtype=d), n=3, dtype_=dt)
    case("eye", [], np.eye(2, 4, dtype=d), n=2, m=4, dtype_=dt)
    if dt != "bool":
        case("iota", [], np.arange(9).astype(d), n=9, dtype_=dt)
        case("arange", [], np.arange(3, 12, 2).astype(d), a=3, b=12, step=2, dtype_=dt)
    x = bits(dt, 2, 4, 3)
    for k in (None, 1, -2, 7, -7):
        case("triu", [x], np.triu(x, k or 0), k=k)
        case("tril", [x], np.tril(x, k or 0), k=k)
case("full", [], np.full((2, 2), 0.1, "<f2"), type={"type": ["f16", [2, 2]]}, value=0.1)
case("full", [], np.array(-3, "i1"), type={"type": ["i8", []]}, value=-3)
case("iota", [], np.arange(1500), n=1500)
case("arange", [], np.arange(7), a=7)
case("arange", [], np.arange(10, 0, -3), a=10, b=0, step=-3)
case("arange", [], np.arange(5, 2), a=5, b=2)
case("arange", [], np.arange(0, 1, 0.125).astype("<f4"), a=0, b=1, step=0.125)
case("arange", [], np.arange(1, -1, -0.3), tol=1e-15, a=1, b=-1, step=-0.3, dtype_="f64")
for a, b, n in ((0, 1, 5), (-1.5, 2, 8), (3, 3, 4), (2, 7, 1), (1, 0, 0), (0, 1, 11)):
    case("linspace", [], np.linspace(a, b, n), tol=1e-15, a=a, b=b, n=n, dtype_="f64")
    case("linspace", [], np.linspace(a, b, n).astype("<f4"), tol=1e-7, a=a, b=b, n=n)

# Convolution, by SciPy's direct correlation in float64 (or int64) of every
# place, of which strides then pick some.


def conv(x, w, b, stride, pads, dilation, groups):
    n = x.ndim - 2
    wide = np.float64 if x.dtype.kind == "f" else np.int64
    xs = np.pad(x.astype(wide), [(0, 0), (0, 0)] + pads)
    ws = np.zeros(w.shape[:2] + tuple((k - 1) * d + 1 for k, d in zip(w.shape[2:], dilation)), wide)
    ws[(slice(None), slice(None)) + tuple(slice(None, None, d) for d in dilation)] = w
    per, out = x.shape[1] // groups, []
    for image in xs:
        rows = []
        for m, filt in enumerate(ws):
            g = m // (w.shape[0] // groups)
            y = sum(correlate(image[g * per + c], filt[c], "valid", "direct") for c in range(per))
            rows.append(y[tuple(slice(None, None, st) for st in stride)] + (0 if b is None else wide(b[m])))
        out.append(rows)
    return np.array(out).astype(x.dtype)


def flat(pads):
    return [int(v) for p in pads for v in p]


tols = {"f64": 1e-13, "f32": 1e-6, "f16": 1e-3}
shapes = [
    ((2, 3, 9), (4, 3, 3), [1], [(0, 0)], [1], 1),
    ((1, 4, 8), (6, 2, 2), [2], [(1, 0)], [3], 2),
    ((2, 3, 6, 7), (5, 3, 3, 2), [1, 1], [(0, 0), (0, 0)], [1, 1], 1),
    ((1, 2, 7, 5), (2, 2, 3, 3), [2, 1], [(1, 1), (1, 1)], [1, 1], 1),
    ((2, 4, 6, 6), (4, 1, 3, 3), [1, 2], [(2, 0), (0, 1)], [2, 1], 4),
    ((1, 2, 4, 5, 4), (3, 2, 2, 3, 2), [1, 2, 1], [(0, 1), (1, 0), (0, 0)], [1, 1, 2], 1),
    ((3, 70, 5, 5), (67, 70, 2, 2), [1, 1], [(0, 0), (0, 0)], [1, 1], 1),
]
for shape, filt, stride, pads, dilation, groups in shapes:
    small = np.prod(shape) < 1000
    for dt in ("f32", "f64", "f16", "i32", "u8", "i64") if small else ("i8",):
        if dt[0] == "f":
            x, w, b = (rng.standard_normal(s).astype(names[dt]) for s in (shape, filt, filt[:1]))
        else:
            x, w, b = (ints(0, 100, s).astype(names[dt]) for s in (shape, filt, filt[:1]))
        for bias in (None, b):
            case("conv", [x, w] + ([] if bias is None else [b]), conv(x, w, bias, stride, pads, dilation, groups),
                 tol=tols.get(dt, 0), stride=stride, pad=flat(pads), dilation=dilation, groups=groups)
            if not small:
                break
x, w = rng.standard_normal((2, 2, 7, 6)).astype("<f4"), rng.standard_normal((3, 2, 3, 2)).astype("<f4")
case("conv", [x, w], conv(x, w, None, [1, 1], [(1, 1), (0, 1)], [1, 1], 1), tol=1e-6, auto_pad="same")
case("conv", [x, w], conv(x, w, None, [1, 1], [(1, 1), (1, 0)], [1, 1], 1), tol=1e-6, auto_pad="same_lower")
case("conv", [x, w], conv(x, w, None, [2, 2], [(1, 1), (0, 0)], [1, 1], 1), tol=1e-6, auto_pad="same", stride=[2])
case("conv", [x, w], conv(x, w, None, [2, 2], [(1, 1), (1, 1)], [1, 1], 1), tol=1e-6, pad=[1], stride=[2])
case("conv", [x, w], conv(x, w, None, [1, 1], [(2, 2), (1, 1)], [1, 1], 1), tol=1e-6, pad=[2, 1])
case("conv", [x[:0], w], np.zeros((0, 3, 5, 5), "<f4"))

# Pooling, window by window, by the rules that PyTorch documents for MaxPool and
# AvgPool (ceil_mode, count_include_pad).


def places(d, k, stride, pad, dilation, ceil):
    room = d + pad[0] + pad[1] - (k - 1) * dilation - 1
    n = (-(-room // stride) if ceil else room // stride) + 1
    while ceil and (n - 1) * stride >= d + pad[0]:
        n -= 1
    return n


def pool(x, kernel, stride, pads, dilation, ceil, fold):
    dims = x.shape[2:]
    out = np.zeros(x.shape[:2] + tuple(places(*a, ceil) for a in zip(dims, kernel, stride, pads, dilation)), np.float64 if x.dtype.kind == "f" else x.dtype)
    for at in np.ndindex(out.shape[2:]):
        first = [p * s - q[0] for p, s, q in zip(at, stride, pads)]
        sees = [[f + k * dl for k in range(n) if 0 <= f + k * dl < d] for f, n, dl, d in zip(first, kernel, dilation, dims)]
        counts = np.prod([min(f + n, d + q[1]) - f for f, n, d, q in zip(first, kernel, dims, pads)])
        out[(slice(None), slice(None)) + at] = fold(x[np.ix_(range(x.shape[0]), range(x.shape[1]), *sees)].reshape(x.shape[:2] + (-1,)), counts)
    return out.astype(x.dtype)


windows = [
    ((2, 3, 9), [3], [2], [(1, 1)], [1]),
    ((1, 2, 6, 7), [2, 2], [2, 2], [(0, 0), (0, 0)], [1, 1]),
    ((1, 2, 6, 7), [3, 2], [2, 3], [(1, 0), (1, 1)], [1, 1]),
    ((2, 1, 5, 8), [3, 3], [1, 2], [(1, 1), (2, 2)], [1, 2]),
    ((1, 2, 5, 4, 6), [2, 3, 2], [2, 1, 3], [(0, 1), (1, 1), (0, 0)], [1, 1, 1]),
    ((1, 1, 2, 2), [3, 3], [2, 2], [(1, 1), (1, 1)], [1, 1]),
]
for shape, kernel, stride, pads, dilation in windows:
    for ceil in (0, 1):
        common = dict(kernel=kernel, stride=stride, pad=flat(pads), ceil=ceil, dilation=dilation)
        for dt in ("f32", "f16", "i8", "u64", "i64"):
            x = special(dt, *shape)
            case("max_pool", [x], pool(x, kernel, stride, pads, dilation, ceil, lambda v, n: v.max(-1)), **common)
        if max(dilation) == 1:
            for dt in ("f32", "f64", "f16"):
                x = rng.standard_normal(shape).astype(names[dt])
                case("avg_pool", [x], pool(x, kernel, stride, pads, dilation, ceil, lambda v, n: v.astype("f8").mean(-1)), tol=tols[dt], **common)
                case("avg_pool", [x], pool(x, kernel, stride, pads, dilation, ceil, lambda v, n: v.astype("f8").sum(-1) / n), tol=tols[dt], count_pad=1, **common)
x = special("f32", 1, 2, 7)
case("max_pool", [x], pool(x, [2], [2], [(0, 0)], [1], 0, lambda v, n: v.max(-1)), kernel=[2])
case("max_pool", [x], pool(x, [3], [2], [(1, 1)], [1], 0, lambda v, n: v.max(-1)), kernel=[3], stride=[2], auto_pad="same")
for shape in ((2, 3, 4), (2, 3, 4, 5), (1, 2, 3, 2, 2)):
    axes = tuple(range(2, len(shape)))
    for dt in ("f32", "f16", "i32", "u8"):
        x = special(dt, *shape)
        case("global_max_pool", [x], x.max(axes, keepdims=True))
    for dt in ("f32", "f64", "f16"):
        x = rng.standard_normal(shape).astype(names[dt])
        case("global_avg_pool", [x], x.astype("f8").mean(axes, keepdims=True).astype(x.dtype), tol=tols[dt])
x = np.zeros((2, 3, 0, 2), "<f4")
case("global_max_pool", [x], np.full((2, 3, 1, 1), -np.inf, "<f4"))
case("global_avg_pool", [x], np.full((2, 3, 1, 1), np.nan, "<f4"))

# Transposed convolution, by adding the windows up in float64 (or int64).


def conv_transpose(x, w, b, stride, pads, more, dilation, groups):
    wide = np.float64 if x.dtype.kind == "f" else np.int64
    per, outputs = x.shape[1] // groups, w.shape[1]
    full = [(n - 1) * st + (k - 1) * d + 1 + m for n, st, k, d, m in zip(x.shape[2:], stride, w.shape[2:], dilation, more)]
    y = np.zeros([x.shape[0], outputs * groups] + full, wide)
    for g in range(groups):
        for at in itertools.product(*map(range, w.shape[2:])):
            to = tuple(slice(k * d, k * d + (n - 1) * st + 1, st) for k, d, n, st in zip(at, dilation, x.shape[2:], stride))
            y[(slice(None), slice(g * outputs, (g + 1) * outputs)) + to] += np.einsum(
                "nc...,cm->nm...", x[:, g * per:(g + 1) * per].astype(wide), w[(slice(g * per, (g + 1) * per), slice(None)) + at].astype(wide))
    y = y[(slice(None), slice(None)) + tuple(slice(p, n - q) for (p, q), n in zip(pads, full))]
    if b is not None:
        y = y + b.astype(wide).reshape([-1] + [1] * len(full))
    return y.astype(x.dtype)


for shape, filt, stride, pads, more, dilation, groups in [
    ((2, 3, 5), (3, 4, 2), [2], [(0, 0)], [0], [1], 1),
    ((1, 4, 4), (4, 3, 4), [2], [(1, 1)], [0], [1], 2),
    ((1, 2, 4, 3), (2, 3, 3, 3), [2, 2], [(1, 1), (1, 1)], [1, 0], [1, 1], 1),
    ((2, 2, 3, 4), (2, 2, 3, 2), [1, 1], [(1, 0), (0, 1)], [0, 0], [1, 2], 1),
    ((1, 2, 3, 3), (2, 1, 2, 3), [3, 2], [(0, 0), (2, 1)], [2, 1], [1, 2], 2),
    ((1, 1, 3, 2), (1, 2, 4, 3), [2, 4], [(3, 2), (0, 0)], [0, 3], [2, 2], 1),
    ((1, 2, 2, 3, 2), (2, 2, 2, 3, 1), [2, 1, 2], [(0, 1), (1, 1), (0, 0)], [0, 0, 1], [1, 1, 3], 1),
    ((1, 2, 1), (2, 1, 3), [5], [(1, 1)], [4], [1], 1),
]:
    for dt in ("f32", "f64", "f16", "i32", "u8", "i64"):
        if dt[0] == "f":
            x, w, b = (rng.standard_normal(s).astype(names[dt]) for s in (shape, filt, (filt[1] * groups,)))
        else:
            x, w, b = (ints(0, 100, s).astype(names[dt]) for s in (shape, filt, (filt[1] * groups,)))
        for bias in (None, b):
            case("conv_transpose", [x, w] + ([] if bias is None else [b]), conv_transpose(x, w, bias, stride, pads, more, dilation, groups),
                 tol=tols.get(dt, 0), stride=stride, pad=flat(pads), output_pad=more, dilation=dilation, groups=groups)
x, w = rng.standard_normal((1, 2, 3, 2)).astype("<f4"), rng.standard_normal((2, 3, 3, 3)).astype("<f4")
case("conv_transpose", [x, w], conv_transpose(x, w, None, [2, 2], [(1, 1), (1, 1)], [0, 0], [1, 1], 1), tol=1e-6, stride=[2], pad=[1])
case("conv_transpose", [x, w], conv_transpose(x, w, None, [1, 1], [(2, 2), (1, 1)], [0, 0], [1, 1], 1), tol=1e-6, pad=[2, 1])
case("conv_transpose", [x[:0], w], np.zeros((0, 3, 5, 4), "<f4"))
case("conv_transpose", [x[:, :, :, :0], w], np.zeros((1, 3, 5, 2), "<f4"))

with open("moves.jsonl", "w") as f:
    for line in lines:
        line["attrs"] = {k.rstrip("_"): v for k, v in line["attrs"].items()}
        f.write(json.dumps(line, separators=(",", ":")) + "\n")
print(len(lines), "cases")
