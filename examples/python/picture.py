"""A PNG file of a 2D array, by the standard library alone."""

import struct
import zlib

import numpy as np


def write_png(path, values, low=None, high=None):
    """Black, red, yellow, white from the lowest value to the highest."""
    values = np.asarray(values, "float64")
    low = values.min() if low is None else low
    high = values.max() if high is None else high
    t = np.clip((values - low) / ((high - low) or 1), 0, 1)
    colours = np.stack([np.clip(3 * t - shift, 0, 1) for shift in (0, 1, 2)], axis=-1)
    rows = np.concatenate([np.zeros((len(t), 1), "uint8"), (255 * colours).astype("uint8").reshape(len(t), -1)], axis=1)

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", t.shape[1], t.shape[0], 8, 2, 0, 0, 0)
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header))
        f.write(chunk(b"IDAT", zlib.compress(rows.tobytes())) + chunk(b"IEND", b""))
    print(f"wrote {path}")
