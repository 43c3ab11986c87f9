#!/usr/bin/python3
"""Computes what the standard library's tests expect, with NumPy and SciPy in
float64, and writes it into the test blocks below each file's marker line:

    python3 stdlib/testdata/gen_stdlib.py && npu fmt -w stdlib/*.npu

It also writes the weights of nn_test.npu, testdata/nn.safetensors. The output is
the same on every run (NumPy 1.24, SciPy 1.10). Formulas are those of PyTorch's
documentation; where NumPy or SciPy has the function, it is called.
"""
import json
import os
import struct

import numpy as np
from scipy import special, stats

HERE = os.path.dirname(os.path.abspath(__file__))
LIB = os.path.dirname(HERE)
MARKER = "// The tests below are written by testdata/gen_stdlib.py (NumPy, SciPy)."


# ------------------------------------------------------------ literals

def number(v):
    v = np.float32(v)
    if np.isnan(v):
        return "nan"
    if np.isinf(v):
        return "inf" if v > 0 else "-inf"
    text = repr(float(str(v)))
    return text


def lit(a):
    """The bracket list of an array; integers stay integers."""
    a = np.asarray(a)
    if a.ndim == 0:
        return str(int(a)) if a.dtype.kind in "iu" else number(a)
    return "[" + ", ".join(lit(x) for x in a) + "]"


def scalar(a):
    return "f32(%s)" % lit(a)


rng = np.random.default_rng(20240607)


def data(*shape, scale=1.0):
    """Random inputs with two decimals, so that the literals are short."""
    return np.round(rng.standard_normal(shape) * scale, 2) + 0.0


def test(name, *lines):
    return 'test "%s" {\n%s}\n' % (name, "".join("    %s\n" % s for s in lines))


def agree(call, want):
    return "expect %s ~= %s" % (call, lit(want))


# ------------------------------------------------------------ act.npu

def sigmoid(x):
    return special.expit(x)


def silu(x):
    return x * special.expit(x)


def gelu(x):
    return x * stats.norm.cdf(x)


def softmax(x, axis=-1):
    return special.softmax(x, axis=axis)


def sparsemax(row):
    """By bisection on the threshold: another road than the sorted one."""
    lo, hi = row.min() - 1.0, row.max()
    for _ in range(200):
        mid = (lo + hi) / 2
        if np.maximum(row - mid, 0).sum() > 1:
            lo = mid
        else:
            hi = mid
    return np.maximum(row - hi, 0)


def act():
    x = np.array([[-3.0, -1.25, -0.5, -0.1], [0.0, 0.3, 1.5, 8.0]])
    g, u = data(2, 3), data(2, 3)
    gated = "%s, %s" % (lit(g), lit(u))
    z = data(2, 5)
    out = [
        test("glu", agree("glu(%s)" % lit(x), x[:, :2] * sigmoid(x[:, 2:]))),
        test("swiglu", agree("swiglu(%s)" % gated, silu(g) * u)),
        test("geglu", agree("geglu(%s)" % gated, gelu(g) * u)),
        test("reglu", agree("reglu(%s)" % gated, np.maximum(g, 0) * u)),
    ]
    shrunk = np.sign(x) * np.maximum(np.abs(x) - 0.5, 0)
    for name, want in [
        ("quick_gelu", x * sigmoid(1.702 * x)),
        ("relu_squared", np.maximum(x, 0) ** 2),
        ("squareplus", (x + np.sqrt(x * x + 4)) / 2),
        ("tanhshrink", x - np.tanh(x)),
        ("softshrink", shrunk),
        ("hardshrink", np.where(np.abs(x) > 0.5, x, 0)),
        ("lisht", x * np.tanh(x)),
        ("gaussian", np.exp(-x * x)),
        ("snake", x + np.sin(x) ** 2),
        ("softmin", softmax(-x)),
    ]:
        out.append(test(name, agree("%s(%s)" % (name, lit(x)), want)))
    out += [
        test("softshrink with another bound, and nan",
             agree("softshrink([nan, 2.0, -2.0, 0.5], bound=1.0)", [np.nan, 1.0, -1.0, 0.0])),
        test("snake with a frequency", agree("snake(%s, a=3.0)" % lit(z), z + np.sin(3 * z) ** 2 / 3)),
        test("softmin along another axis", agree("softmin(%s, axis=0)" % lit(z), softmax(-z, 0))),
        test("softmax_with_temperature", agree("softmax_with_temperature(%s, 0.5)" % lit(z), softmax(z / 0.5))),
        test("sparsemax", agree("sparsemax(%s)" % lit(z), np.array([sparsemax(r) for r in z]))),
        test("activations keep the dtype",
             "expect tanhshrink(f64([0.5, -2.0])) ~= f64(%s)" % exact([0.5 - np.tanh(0.5), -2 - np.tanh(-2.0)])),
    ]
    return out


def exact(values):
    return "[" + ", ".join(repr(float(v)) for v in values) + "]"


# ------------------------------------------------------------ loss.npu

def loss():
    x, y = data(3, 4), data(3, 4)
    xy = "%s, %s" % (lit(x), lit(y))
    d = np.abs(x - y)

    def huber(delta):
        return np.mean(special.huber(delta, x - y))

    target = np.array([2, 0, 3])
    logp = special.log_softmax(x, axis=1)
    rows = np.arange(3)
    nll = -np.mean(logp[rows, target])
    p = np.round(rng.uniform(0.05, 0.95, (3, 4)), 2)
    bits = (rng.uniform(size=(3, 4)) > 0.5) * 1.0
    big = np.array([[100.0, -100.0, 0.0]])
    bigbits = np.array([[0.0, 1.0, 1.0]])
    q = softmax(data(3, 4))
    q[0] = [0.0, 0.5, 0.25, 0.25]
    q = np.float32(q).astype(np.float64)
    signs = np.sign(y)
    a, pos, neg = data(2, 3), data(2, 3), data(2, 3)
    cos = [np.dot(u, v) / np.linalg.norm(u) / np.linalg.norm(v) for u, v in zip(x, y)]
    var = np.round(rng.uniform(0.5, 2.0, (3, 4)), 2)
    counts = np.array([[0.0, 1.0, 3.0, 2.0]])
    rate = data(1, 4)

    def norm(v):
        return np.sqrt(np.sum(v * v, axis=-1))

    def one(name, call, want):
        return test(name, "expect %s ~= %s" % (call, lit(np.float64(want))))

    logp32 = np.float32(logp).astype(np.float64)
    return [
        one("mse", "mse(%s)" % xy, np.mean((x - y) ** 2)),
        one("rmse", "rmse(%s)" % xy, np.sqrt(np.mean((x - y) ** 2))),
        one("mae", "mae(%s)" % xy, np.mean(d)),
        one("huber", "huber(%s)" % xy, huber(1.0)),
        one("huber with another bound", "huber(%s, delta=0.5)" % xy, huber(0.5)),
        one("smooth_l1", "smooth_l1(%s, beta=0.25)" % xy, huber(0.25) / 0.25),
        one("log_cosh", "log_cosh(%s)" % xy, np.mean(np.log(np.cosh(x - y)))),
        one("log_cosh far from zero", "log_cosh([1000.0], [0.0])", 1000 - np.log(2)),
        one("nll", "nll(%s, %s)" % (lit(logp), lit(target)), -np.mean(logp32[rows, target])),
        one("cross_entropy", "cross_entropy(%s, %s)" % (lit(x), lit(target)), nll),
        one("cross_entropy with smoothing", "cross_entropy(%s, %s, smoothing=0.1)" % (lit(x), lit(target)),
            -np.mean(np.sum((0.9 * np.eye(4)[target] + 0.1 / 4) * logp, axis=1))),
        one("soft_cross_entropy", "soft_cross_entropy(%s, %s)" % (lit(x), lit(q)),
            -np.mean(np.sum(q * logp, axis=1))),
        one("bce", "bce(%s, %s)" % (lit(p), lit(bits)),
            -np.mean(bits * np.log(p) + (1 - bits) * np.log(1 - p))),
        one("bce of certainties", "bce([0.0, 1.0, 0.0], [0.0, 1.0, 1.0])", 100 / 3),
        one("bce_with_logits", "bce_with_logits(%s, %s)" % (lit(x), lit(bits)),
            -np.mean(bits * np.log(sigmoid(x)) + (1 - bits) * np.log(sigmoid(-x)))),
        one("bce_with_logits of large ones", "bce_with_logits(%s, %s)" % (lit(big), lit(bigbits)),
            (100 + 100 + np.log(2)) / 3),
        one("kl_div", "kl_div(%s, %s)" % (lit(logp), lit(q)),
            np.mean(np.sum(special.rel_entr(q, np.exp(logp32)), axis=1))),
        one("cosine", "cosine(%s)" % xy, np.mean(1 - np.array(cos))),
        one("hinge", "hinge(%s, %s)" % (lit(x), lit(signs)), np.mean(np.maximum(0, 1 - x * signs))),
        one("triplet_margin", "triplet_margin(%s, %s, %s)" % (lit(a), lit(pos), lit(neg)),
            np.mean(np.maximum(0, 1 + norm(a - pos) - norm(a - neg)))),
        one("gaussian_nll", "gaussian_nll(%s, %s)" % (xy, lit(var)),
            np.mean(-stats.norm.logpdf(y, x, np.sqrt(var)) - 0.5 * np.log(2 * np.pi))),
        one("poisson_nll", "poisson_nll(%s, %s)" % (lit(rate), lit(counts)),
            np.mean(-stats.poisson.logpmf(counts, np.exp(rate)) - special.gammaln(counts + 1))),
    ]


# ------------------------------------------------------------ math.npu

def maths():
    x, y = data(2, 4), data(2, 4)
    a, b = data(3, 2), data(4, 2)
    p = np.round(rng.uniform(0.05, 0.95, (2, 3)), 2)
    dist = np.float32(softmax(data(2, 4))).astype(np.float64)
    dist[1] = [0.0, 0.5, 0.5, 0.0]
    m = data(3, 3)
    v, w = data(2, 3), data(2, 3)
    coef = data(4)
    hi = data(3) + 2
    lo = hi - np.array([0.01, 0.5, 20.0])
    positive = np.abs(x) + 0.5
    avg = [x[0]]
    for row in x[1:]:
        avg.append(0.3 * row + 0.7 * avg[-1])

    def cosine(u, v):
        return np.sum(u * v, -1) / np.linalg.norm(u, axis=-1) / np.linalg.norm(v, axis=-1)

    ints = np.array([[1, 4, 9, 16]])
    return [
        test("constants", "expect sin([pi / 2.0, tau]) ~= [1.0, 0.0]", "expect log([e]) ~= [1.0]"),
        test("clamp", agree("clamp([-3.0, 0.25, 7.0, nan], -1.0, 2.5)", [-1.0, 0.25, 2.5, np.nan])),
        test("lerp", agree("lerp(%s, %s, 0.25)" % (lit(x), lit(y)), x + 0.25 * (y - x))),
        test("deg2rad", agree("deg2rad([180.0, -45.0, 30.0])", np.deg2rad([180.0, -45.0, 30.0]))),
        test("rad2deg", agree("rad2deg([1.0, -0.5])", np.rad2deg([1.0, -0.5]))),
        test("sinc", agree("sinc([0.0, 0.5, -1.5, 0.01])", np.sinc([0.0, 0.5, -1.5, 0.01]))),
        test("heaviside", agree("heaviside([-2.0, 0.0, 3.0, nan], at_zero=0.25)",
                                np.heaviside([-2.0, 0.0, 3.0, np.nan], 0.25))),
        test("logit", agree("logit(%s)" % lit(p), special.logit(p))),
        test("xlogy", agree("xlogy([0.0, 2.0, 0.0, 1.0], [0.0, 3.0, nan, 0.0])",
                            special.xlogy([0.0, 2.0, 0.0, 1.0], [0.0, 3.0, np.nan, 0.0]))),
        test("log_add", agree("log_add([1000.0, -3.0], [1000.5, 2.0])", np.logaddexp([1000.0, -3.0], [1000.5, 2.0]))),
        test("log_sub", agree("log_sub(%s, %s)" % (lit(hi), lit(lo)),
                              np.log(np.exp(np.float32(hi).astype(float)) - np.exp(np.float32(lo).astype(float))))),
        test("entropy", agree("entropy(%s)" % lit(dist), stats.entropy(dist, axis=-1))),
        test("standardize", agree("standardize(%s)" % lit(x), stats.zscore(x, axis=-1))),
        test("standardize of a constant row", agree("standardize([[2.0, 2.0]], eps=1e-5)", [[0.0, 0.0]])),
        test("minmax_scale", agree("minmax_scale(%s)" % lit(x), (x - x.min(-1, keepdims=True)) / np.ptp(x, -1, keepdims=True))),
        test("rms", agree("rms(%s)" % lit(x), np.sqrt(np.mean(x * x, -1)))),
        test("geometric_mean", agree("geometric_mean(%s)" % lit(positive), stats.gmean(positive, axis=-1))),
        test("cosine_similarity", agree("cosine_similarity(%s, %s)" % (lit(x), lit(y)), cosine(x, y))),
        test("pairwise_distance", agree("pairwise_distance(%s, %s)" % (lit(a), lit(b)),
                                        np.linalg.norm(a[:, None] - b[None], axis=-1))),
        test("cross", agree("cross(%s, %s)" % (lit(v), lit(w)), np.cross(v, w))),
        test("polyval", agree("polyval(%s, %s)" % (lit(coef), lit(x)), np.polyval(coef, x))),
        test("diff", agree("diff(%s)" % lit(x), np.diff(x))),
        test("diff of integers", "expect diff(%s) == %s" % (lit(ints), lit(np.diff(ints)))),
        test("trapezoid", agree("trapezoid(%s, dx=0.5)" % lit(x), np.trapz(x, dx=0.5))),
        test("ema", agree("ema(%s, 0.3)" % lit(x), avg)),
        test("trace", "expect trace(%s) ~= %s" % (lit(m), lit(np.trace(m)))),
        test("kron", agree("kron(%s, %s)" % (lit(v), lit(a)), np.kron(v, a))),
        test("cov", agree("cov(%s)" % lit(x), np.cov(x))),
        test("matrix_power", agree("matrix_power(%s, 3)" % lit(m), np.linalg.matrix_power(m, 3)),
             agree("matrix_power(%s, 0)" % lit(m), np.eye(3))),
    ]


# ------------------------------------------------------------ nn.npu

weights = {}


def param(name, *shape, scale=0.5, shift=0.0):
    w = np.float32(rng.standard_normal(shape) * scale + shift)
    weights[name] = w
    return w.astype(np.float64)


def linear(x, name, outputs, inputs, bias=True):
    y = x @ param(name + ".weight", outputs, inputs).T
    return y + param(name + ".bias", outputs) if bias else y


def known(x, name, bias=True):
    """The linear layer of weights that are there already."""
    y = x @ weights[name + ".weight"].astype(np.float64).T
    return y + weights[name + ".bias"].astype(np.float64) if bias else y


def normalised(x, axes, eps):
    mean = x.mean(axis=axes, keepdims=True)
    return (x - mean) / np.sqrt(x.var(axis=axes, keepdims=True) + eps)


def layernorm(x, name, eps):
    n = x.shape[-1]
    w, b = param(name + ".weight", n, shift=1.0), param(name + ".bias", n)
    return normalised(x, -1, eps) * w + b


def conv(x, w, b, stride, pad, dilation, groups):
    """Convolution by the definition, any number of axes."""
    rank = x.ndim - 2
    x = np.pad(x, [(0, 0), (0, 0)] + [(pad, pad)] * rank)
    kernel = w.shape[2:]
    size = [(x.shape[2 + i] - dilation * (kernel[i] - 1) - 1) // stride + 1 for i in range(rank)]
    out = np.zeros([x.shape[0], w.shape[0]] + size)
    per_in, per_out = w.shape[1], w.shape[0] // groups
    for place in np.ndindex(*size):
        window = tuple(slice(p * stride, p * stride + dilation * (k - 1) + 1, dilation) for p, k in zip(place, kernel))
        for o in range(w.shape[0]):
            g = o // per_out
            part = x[(slice(None), slice(g * per_in, (g + 1) * per_in)) + window]
            out[(slice(None), o) + place] = (part * w[o]).reshape(len(x), -1).sum(1)
    if b is not None:
        out += b.reshape([1, -1] + [1] * rank)
    return out


def conv_transpose(x, w, b, stride, pad, more, groups):
    per, outputs = x.shape[1] // groups, w.shape[1]
    full = [(n - 1) * stride + k + more for n, k in zip(x.shape[2:], w.shape[2:])]
    y = np.zeros((x.shape[0], outputs * groups) + tuple(full))
    for g in range(groups):
        for at in np.ndindex(w.shape[2:]):
            to = tuple(slice(k, k + (n - 1) * stride + 1, stride) for k, n in zip(at, x.shape[2:]))
            y[(slice(None), slice(g * outputs, (g + 1) * outputs)) + to] += np.einsum(
                "nc...,cm->nm...", x[:, g * per:(g + 1) * per], w[(slice(g * per, (g + 1) * per), slice(None)) + at].astype(np.float64))
    y = y[(slice(None), slice(None)) + tuple(slice(pad, n - pad) for n in full)]
    return y if b is None else y + b.astype(np.float64).reshape([-1] + [1] * len(full))


def pool(x, kernel, stride, pad, fold, fill):
    rank = x.ndim - 2
    x = np.pad(x, [(0, 0), (0, 0)] + [(pad, pad)] * rank, constant_values=fill)
    size = [(n - kernel) // stride + 1 for n in x.shape[2:]]
    out = np.zeros(list(x.shape[:2]) + size)
    for place in np.ndindex(*size):
        window = tuple(slice(p * stride, p * stride + kernel) for p in place)
        out[(slice(None), slice(None)) + place] = fold(x[(slice(None), slice(None)) + window].reshape(x.shape[0], x.shape[1], -1), axis=-1)
    return out


def attend(q, k, v, heads, mask=None):
    def cut(t):
        b, s, e = t.shape
        return t.reshape(b, s, heads, e // heads).transpose(0, 2, 1, 3)

    q, k, v = cut(q), cut(k), cut(v)
    scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores + mask
    y = softmax(scores) @ v
    b, h, s, d = y.shape
    return y.transpose(0, 2, 1, 3).reshape(b, s, h * d)


def mha_params(name, e):
    param(name + ".in_proj_weight", 3 * e, e)
    param(name + ".in_proj_bias", 3 * e)
    param(name + ".out_proj.weight", e, e)
    param(name + ".out_proj.bias", e)


def mha(query, key, value, name, heads, mask=None):
    w = np.split(weights[name + ".in_proj_weight"].astype(np.float64), 3)
    b = np.split(weights[name + ".in_proj_bias"].astype(np.float64), 3)
    y = attend(query @ w[0].T + b[0], key @ w[1].T + b[1], value @ w[2].T + b[2], heads, mask)
    return known(y, name + ".out_proj")


def encoder_params(name, e, hidden):
    mha_params(name + ".self_attn", e)
    for layer, o, i in [("linear1", hidden, e), ("linear2", e, hidden)]:
        param("%s.%s.weight" % (name, layer), o, i)
        param("%s.%s.bias" % (name, layer), o)
    for norm in ["norm1", "norm2"]:
        param("%s.%s.weight" % (name, norm), e, shift=1.0)
        param("%s.%s.bias" % (name, norm), e)


def norm_known(x, name, eps):
    return normalised(x, -1, eps) * weights[name + ".weight"] + weights[name + ".bias"]


def encoder(x, name, heads, act, first, mask=None):
    def feed(t):
        return known(act(known(t, name + ".linear1")), name + ".linear2")

    def norm(t, n):
        return norm_known(t, "%s.%s" % (name, n), 1e-5)

    def attn(t):
        return mha(t, t, t, name + ".self_attn", heads, mask)

    if first:
        h = x + attn(norm(x, "norm1"))
        return h + feed(norm(h, "norm2"))
    h = norm(x + attn(x), "norm1")
    return norm(h + feed(h), "norm2")


def relu(x):
    return np.maximum(x, 0)


def bert(x, mask, name, e, heads, hidden):
    for part in ["query", "key", "value"]:
        param("%s.attention.self.%s.weight" % (name, part), e, e)
        param("%s.attention.self.%s.bias" % (name, part), e)
    at = name + ".attention.self."
    y = attend(known(x, at + "query"), known(x, at + "key"), known(x, at + "value"), heads, mask[:, None, None])
    y = linear(y, name + ".attention.output.dense", e, e)
    a = layernorm(y + x, name + ".attention.output.LayerNorm", 1e-12)
    h = gelu(linear(a, name + ".intermediate.dense", hidden, e))
    return layernorm(linear(h, name + ".output.dense", e, hidden) + a, name + ".output.LayerNorm", 1e-12)


def recurrent_params(name, gates, inputs, hidden, ending=""):
    return [param(name + ".%s_l0%s" % (n, ending), *shape) for n, shape in [
        ("weight_ih", (gates * hidden, inputs)), ("weight_hh", (gates * hidden, hidden)),
        ("bias_ih", (gates * hidden,)), ("bias_hh", (gates * hidden,))]]


def gru_cell(x, h, wi, wh, bi, bh):
    xr, xz, xn = np.split(x @ wi.T + bi, 3, axis=-1)
    hr, hz, hn = np.split(h @ wh.T + bh, 3, axis=-1)
    r, z = sigmoid(xr + hr), sigmoid(xz + hz)
    n = np.tanh(xn + r * hn)
    return (1 - z) * n + z * h


def lstm_cell(x, h, c, wi, wh, bi, bh):
    i, f, g, o = np.split(x @ wi.T + bi + h @ wh.T + bh, 4, axis=-1)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


def gru(x, h, p):
    ys = []
    for row in x:
        h = gru_cell(row, h, *p)
        ys.append(h)
    return np.array(ys), h


def lstm(x, h, c, p):
    ys = []
    for row in x:
        h, c = lstm_cell(row, h, c, *p)
        ys.append(h)
    return np.array(ys), h, c


def rnn(x, h, p):
    ys = []
    for row in x:
        h = np.tanh(row @ p[0].T + p[2] + h @ p[1].T + p[3])
        ys.append(h)
    return np.array(ys), h


def cells():
    """The functions of nn.npu that need no weights file."""
    x, h, c = data(2, 3), data(2, 2), data(2, 2)
    g = [data(6, 3), data(6, 2), data(6), data(6)]
    l = [data(8, 3), data(8, 2), data(8), data(8)]
    heads = np.arange(12.0).reshape(1, 2, 6)
    img = data(1, 2, 2, 3)
    lh, lc = lstm_cell(x, h, c, *l)
    cut = heads.reshape(1, 2, 3, 2).transpose(0, 2, 1, 3)
    out = [
        test("gru_cell", agree("gru_cell(%s)" % ", ".join(lit(a) for a in [x, h] + g), gru_cell(x, h, *g))),
        test("lstm_cell", "state, cell = lstm_cell(%s)" % ", ".join(lit(a) for a in [x, h, c] + l),
             agree("state", lh), agree("cell", lc)),
        test("split_heads and join_heads", "cut = split_heads(%s, 3)" % lit(heads),
             "expect cut == %s" % lit(cut), "expect join_heads(cut) == %s" % lit(heads)),
        test("global_average", agree("global_average(%s)" % lit(img), img.mean(axis=(2, 3)))),
    ]
    for name, f in [("relu", relu), ("gelu", gelu), ("silu", silu), ("tanh", np.tanh), ("sigmoid", sigmoid),
                    ("gelu_tanh", lambda v: v / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (v + 0.044715 * v ** 3))))]:
        out.append(test("activate by the name " + name, agree('activate(%s, "%s")' % (lit(x), name), f(x))))
    out.append(test("activate by an unknown name", 'expect error "rellu" {', '    y = activate([1.0], "rellu")', "}"))
    return out


def layers():
    """The tests of nn_test.npu; makes the weights as it goes."""
    out = []

    def case(name, call, want):
        out.append(test(name, agree(call, want)))

    def several(name, names, call, wants):
        out.append(test(name, "%s = %s" % (", ".join(names), call), *[agree(n, w) for n, w in zip(names, wants)]))

    x = data(2, 3)
    case("Linear", "linear_case(%s)" % lit(x), linear(x, "fc", 2, 3))
    case("Linear without bias", "linear_plain_case(%s)" % lit(x), linear(x, "plain", 2, 3, bias=False))
    w = param("table.weight", 5, 3)
    case("Embedding", "embedding_case([[4, 0], [2, 2]])", w[np.array([[4, 0], [2, 2]])])
    case("MLP", "mlp_case(%s)" % lit(x), linear(gelu(linear(x, "mlp.fc1", 4, 3)), "mlp.fc2", 2, 4))
    gate, up = linear(x, "gated.gate_proj", 4, 3, bias=False), linear(x, "gated.up_proj", 4, 3, bias=False)
    case("GatedMLP", "gated_case(%s)" % lit(x), linear(silu(gate) * up, "gated.down_proj", 3, 4, bias=False))

    case("LayerNorm", "layernorm_case(%s)" % lit(x), layernorm(x, "ln", 1e-5))
    case("RMSNorm", "rmsnorm_case(%s)" % lit(x),
         x / np.sqrt(np.mean(x * x, -1, keepdims=True) + 1e-6) * param("rms.weight", 3, shift=1.0))
    img = data(2, 4, 1, 2)
    w, b = param("bn.weight", 4, shift=1.0), param("bn.bias", 4)
    mean, var = param("bn.running_mean", 4), np.abs(param("bn.running_var", 4)) + 0.5
    weights["bn.running_var"] = np.float32(var)
    var = weights["bn.running_var"].astype(np.float64)

    def chan(v):
        return v.reshape(1, -1, 1, 1)

    case("BatchNorm", "batchnorm_case(%s)" % lit(img), (img - chan(mean)) / np.sqrt(chan(var) + 1e-5) * chan(w) + chan(b))
    flat = data(2, 4)
    case("BatchNorm of rows", "batchnorm_rows_case(%s)" % lit(flat), (flat - mean) / np.sqrt(var + 1e-5) * w + b)
    w, b = param("gn.weight", 4, shift=1.0), param("gn.bias", 4)
    grouped = normalised(img.reshape(2, 2, 4), -1, 1e-5).reshape(img.shape)
    case("GroupNorm", "groupnorm_case(%s)" % lit(img), grouped * chan(w) + chan(b))

    sig = data(1, 2, 7)
    case("Conv1d", "conv1d_case(%s)" % lit(sig),
         conv(sig, param("conv1.weight", 2, 2, 3), param("conv1.bias", 2), 2, 1, 1, 1))
    case("Conv1d with dilation, groups, no bias", "conv1d_groups_case(%s)" % lit(sig),
         conv(sig, param("conv1g.weight", 4, 1, 3), None, 1, 0, 2, 2))
    pic = data(1, 2, 5, 4)
    case("Conv2d", "conv2d_case(%s)" % lit(pic),
         conv(pic, param("conv2.weight", 3, 2, 3, 3), param("conv2.bias", 3), 2, 1, 1, 1))
    case("Conv2d without bias", "conv2d_plain_case(%s)" % lit(pic),
         conv(pic, param("conv2p.weight", 2, 2, 2, 2), None, 1, 0, 1, 1))
    case("MaxPool1d", "maxpool1d_case(%s)" % lit(sig), pool(sig, 3, 2, 1, np.max, -np.inf))
    case("MaxPool2d", "maxpool2d_case(%s)" % lit(pic), pool(pic, 2, 2, 0, np.max, -np.inf))
    case("AvgPool1d", "avgpool1d_case(%s)" % lit(sig), pool(sig, 3, 2, 1, np.mean, 0.0))
    case("AvgPool2d without its padding", "avgpool2d_case(%s)" % lit(pic), pool(pic, 2, 2, 1, np.nanmean, np.nan))

    q, kv = data(1, 2, 4), data(1, 3, 4)
    mask = np.array([[[[0.0, -1e4, 0.0]]]])
    mha_params("attn", 4)
    qkv = "%s, %s, %s" % (lit(q), lit(kv), lit(kv))
    case("MultiHeadAttention", "attention_case(%s)" % qkv, mha(q, kv, kv, "attn", 2))
    case("MultiHeadAttention with a mask", "attention_masked_case(%s, %s)" % (qkv, lit(mask)), mha(q, kv, kv, "attn", 2, mask))
    case("MultiHeadAttention over one sequence", "attention_self_case(%s)" % lit(kv), mha(kv, kv, kv, "attn", 2))
    mha_params("causal", 4)
    case("MultiHeadAttention, causal", "attention_causal_case(%s)" % lit(kv),
         mha(kv, kv, kv, "causal", 2, np.triu(np.full((3, 3), -np.inf), 1)))

    seq = data(1, 3, 4)
    encoder_params("post", 4, 6)
    case("TransformerEncoderLayer, post-norm", "post_case(%s)" % lit(seq), encoder(seq, "post", 2, relu, False))
    case("TransformerEncoderLayer with a mask", "post_masked_case(%s, %s)" % (lit(seq), lit(mask)),
         encoder(seq, "post", 2, relu, False, mask))
    encoder_params("pre", 4, 6)
    case("TransformerEncoderLayer, pre-norm", "pre_case(%s)" % lit(seq), encoder(seq, "pre", 2, gelu, True))
    encoder_params("stack.layers.0", 4, 6)
    encoder_params("stack.layers.1", 4, 6)
    y = encoder(encoder(seq, "stack.layers.0", 2, relu, False), "stack.layers.1", 2, relu, False)
    case("TransformerEncoder", "stack_case(%s)" % lit(seq), y)

    two = data(2, 3, 4)
    hide = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, -1e4]])
    y = bert(bert(two, hide, "bert.layer.0", 4, 2, 6), hide, "bert.layer.1", 4, 2, 6)
    case("BertEncoder", "bert_case(%s, %s)" % (lit(two), lit(hide)), y)
    words, places, kinds = [param("embed.%s_embeddings.weight" % n, k, 4) for n, k in
                            [("word", 6), ("position", 5), ("token_type", 2)]]
    ids, types = np.array([[5, 1, 1]]), np.array([[0, 0, 1]])
    case("BertEmbeddings", "bert_embeddings_case(%s, %s)" % (lit(ids), lit(types)),
         layernorm(words[ids] + kinds[types] + places[:3], "embed.LayerNorm", 1e-12))

    s, h0, c0 = data(4, 2, 3), data(2, 2), data(2, 2)
    zero = np.zeros((2, 2))
    p = recurrent_params("gru", 3, 3, 2)
    several("GRU", ["y", "h"], "gru_case(%s)" % lit(s), gru(s, zero, p))
    several("GRU from a state", ["y", "h"], "gru_resume_case(%s, %s)" % (lit(s), lit(h0)), gru(s, h0, p))
    p, r = recurrent_params("bigru", 3, 3, 2), recurrent_params("bigru", 3, 3, 2, "_reverse")
    y, h = gru(s, zero, p)
    z, g = gru(s[::-1], zero, r)
    several("BiGRU", ["y", "h"], "bigru_case(%s)" % lit(s), [np.concatenate([y, z[::-1]], -1), np.stack([h, g])])
    p = recurrent_params("lstm", 4, 3, 2)
    several("LSTM", ["y", "h", "c"], "lstm_case(%s)" % lit(s), lstm(s, zero, zero, p))
    several("LSTM from a state", ["y", "h", "c"], "lstm_resume_case(%s, %s, %s)" % (lit(s), lit(h0), lit(c0)),
            lstm(s, h0, c0, p))
    several("RNN", ["y", "h"], "rnn_case(%s)" % lit(s), rnn(s, zero, recurrent_params("rnn", 1, 3, 2)))

    short, small = data(1, 2, 3), data(1, 2, 2, 2)
    case("ConvTranspose1d with groups, no bias", "conv_transpose1d_case(%s)" % lit(short),
         conv_transpose(short, param("wider1.weight", 2, 2, 4), None, 2, 1, 0, 2))
    case("ConvTranspose2d", "conv_transpose2d_case(%s)" % lit(small),
         conv_transpose(small, param("wider2.weight", 2, 1, 3, 3), param("wider2.bias", 1), 2, 1, 1, 1))
    return out


# ------------------------------------------------------------ files

def write_safetensors(path, tensors):
    header, at = {}, 0
    for name in sorted(tensors):
        a = tensors[name]
        header[name] = {"dtype": "F32", "shape": list(a.shape), "data_offsets": [at, at + a.nbytes]}
        at += a.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        for name in sorted(tensors):
            f.write(np.ascontiguousarray(tensors[name], dtype="<f4").tobytes())


def fill(name, tests):
    """Puts the tests below the file's marker."""
    path = os.path.join(LIB, name)
    with open(path) as f:
        head = f.read().split(MARKER)[0].rstrip("\n")
    with open(path, "w") as f:
        f.write(head + "\n\n" + MARKER + "\n\n" + "\n".join(tests))


fill("act.npu", act())
fill("loss.npu", loss())
fill("math.npu", maths())
fill("nn.npu", cells())
fill("nn_test.npu", layers())
write_safetensors(os.path.join(HERE, "nn.safetensors"), weights)
