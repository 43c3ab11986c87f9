"""Writes the .npy and .npz files of this folder, and expect.json, which holds
their dtypes, shapes and values as NumPy sees them: floats in hexadecimal,
integers and bools in decimal. Run in this folder: python3 generate.py
"""

import io
import json
import zipfile

import numpy as np
from numpy.lib import format as npy

NAMES = {"f8": "f64", "f4": "f32", "f2": "f16", "i8": "i64", "i4": "i32", "i2": "i16", "i1": "i8",
         "u8": "u64", "u4": "u32", "u2": "u16", "u1": "u8", "b1": "bool"}
expect = {}


def text(v):
    if isinstance(v, (bool, np.bool_)):
        return str(int(v))
    if isinstance(v, (float, np.floating)):
        return float(v).hex()
    return str(int(v))


def note(name, a, dtype=None):
    expect[name] = {"dtype": dtype or NAMES[a.dtype.str[1:]], "shape": list(a.shape),
                    "values": [text(v) for v in a.flatten(order="C").tolist()]}


def save(name, a, version=None):
    with open(name + ".npy", "wb") as f:
        npy.write_array(f, a, version=version)
    note(name, a)


def values(kind, n):
    r = np.random.RandomState(n)
    if kind[0] == "f":
        v = r.standard_normal(n) * 10.0 ** r.randint(-6, 5, n)
        v[:6] = [0.0, -0.0, np.inf, -np.inf, np.nan, 6e-8]
        with np.errstate(over="ignore"):
            return v.astype(kind)
    if kind == "b1":
        return r.randint(0, 2, n).astype(bool)
    info = np.iinfo(kind)
    v = r.randint(info.min, info.max, n, dtype=kind)
    v[:2] = [info.min, info.max]
    return v


for kind in NAMES:
    a = values(kind, 24).reshape(2, 3, 4)
    save("c_" + kind, a)
    save("f_" + kind, np.asfortranarray(a))
    if kind[1] != "1":
        save("be_" + kind, a.astype(">" + kind))
save("be_fortran", np.asfortranarray(values("f4", 60).reshape(5, 1, 3, 4).astype(">f4")))
save("fortran_1d", np.asfortranarray(np.arange(5, dtype="i4").reshape(5, 1)))
save("fortran_wide", np.asfortranarray(np.arange(70 * 37, dtype="i2").reshape(70, 37)))
save("scalar", np.array(1.5, "f4"))
save("empty", np.zeros((0, 3), "f4"))
save("one_axis", np.arange(3, dtype="u1"))
save("version2", np.arange(6, dtype="i8").reshape(2, 3), (2, 0))
save("version3", np.arange(6, dtype="i8").reshape(2, 3), (3, 0))

# bfloat16, as ml_dtypes saves it: the upper halves of float32, as opaque pairs.
top = (np.array([1.0, -2.5, np.inf, 3.140625], "f4").view("u4") >> 16).astype("u2")
with open("bf16.npy", "wb") as f:
    npy.write_array(f, top.view("V2"))
note("bf16", (top.astype("u4") << 16).view("f4"), "bf16")

for name, a in {"bad_complex": np.zeros(2, "c8"), "bad_text": np.array(["ab"]), "bad_bytes": np.array([b"ab"]),
                "bad_struct": np.zeros(2, [("x", "f4")]), "bad_date": np.zeros(2, "M8[s]"), "bad_long": np.zeros(1, "g")}.items():
    np.save(name + ".npy", a)
np.save("bad_object.npy", np.array([{}, None]), allow_pickle=True)

members = {"weight": values("f4", 12).reshape(3, 4), "bias": values("f8", 6), "steps": np.arange(4), "on": np.array(True)}
for name, method in (("stored", zipfile.ZIP_STORED), ("deflated", zipfile.ZIP_DEFLATED)):
    with zipfile.ZipFile(name + ".npz", "w", method) as z:
        for key, a in members.items():
            b = io.BytesIO()
            npy.write_array(b, np.asanyarray(a))
            # A fixed time: the files must not change from run to run.
            z.writestr(zipfile.ZipInfo(key + ".npy"), b.getvalue(), method)
for key, a in members.items():
    note("npz/" + key, np.asanyarray(a))
np.savez("savez.npz", **members)

with open("expect.json", "w") as f:
    f.write("{\n" + ",\n".join(json.dumps(k) + ": " + json.dumps(expect[k]) for k in sorted(expect)) + "\n}\n")
