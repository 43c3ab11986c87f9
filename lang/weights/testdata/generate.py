"""Writes the safetensors files of this folder, by struct and json, and
expect.json: dtypes, shapes and values as NumPy sees them, floats in
hexadecimal. Run in this folder: python3 generate.py
"""

import json
import struct

import numpy as np

NAMES = {"F64": "f8", "F32": "f4", "F16": "f2", "I64": "i8", "I32": "i4", "I16": "i2", "I8": "i1",
         "U64": "u8", "U32": "u4", "U16": "u2", "U8": "u1", "BOOL": "b1"}
expect = {}


def write(name, tensors, pad=True, metadata=None):
    header, body = {}, b""
    if metadata:
        header["__metadata__"] = metadata
    for key, (dtype, shape, data) in tensors.items():
        header[key] = {"dtype": dtype, "shape": shape, "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header).encode()
    if pad:
        text += b" " * (-len(text) % 8)
    with open(name + ".safetensors", "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + body)


def text(v):
    return float(v).hex() if isinstance(v, float) else str(int(v))


def note(key, dtype, a):
    expect[key] = {"dtype": dtype, "shape": list(a.shape), "values": [text(v) for v in a.flatten().tolist()]}


def all_dtypes():
    out = {}
    for dtype, kind in NAMES.items():
        r = np.random.RandomState(len(out))
        if kind[0] == "f":
            a = (r.standard_normal(6) * 10).astype(kind)
            a[:3] = [-0.0, np.inf, np.nan]
        elif kind == "b1":
            a = np.array([True, False, True, True, False, False])
        else:
            info = np.iinfo(kind)
            a = r.randint(info.min, info.max, 6, dtype=kind)
            a[:2] = [info.min, info.max]
        a = a.reshape(2, 3)
        out["t." + dtype] = (dtype, [2, 3], a.tobytes())
        note("t." + dtype, dtype, a)
    top = (np.array([1.0, -2.5, np.inf, 3.140625], "f4").view("u4") >> 16).astype("u2")
    out["t.BF16"] = ("BF16", [4], top.tobytes())
    note("t.BF16", "BF16", (top.astype("u4") << 16).view("f4"))
    scalar, empty = np.array(2.5, "f4"), np.zeros((0, 7), "f4")
    out["scalar"] = ("F32", [], scalar.tobytes())
    note("scalar", "F32", scalar)
    out["empty"] = ("F32", [0, 7], b"")
    note("empty", "F32", empty)
    return out


tensors = all_dtypes()
write("dtypes", tensors, metadata={"format": "pt"})
# The byte in front puts every other tensor at an odd address.
write("odd", {"a": ("U8", [1], b"\x07"), **tensors}, pad=False)
write("float8", {"w": ("F8_E4M3", [3], b"\x01\x02\x03"), "b": ("F32", [1], struct.pack("<f", 1.5))})

with open("expect.json", "w") as f:
    f.write("{\n" + ",\n".join(json.dumps(k) + ": " + json.dumps(expect[k]) for k in sorted(expect)) + "\n}\n")
