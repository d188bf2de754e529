"""Arrays as bytes that compress well, and back."""

import math

import numpy as np

from membership.errors import InputError

ITEM = {"float32": 4, "float64": 8, "int32": 4, "uint8": 1}


def size_of(dtype: str, shape: tuple[int, ...]) -> int:
    """Bytes of an array: eight truth values take one."""
    count = math.prod(shape)
    return -(-count // 8) if dtype == "bool" else count * ITEM[dtype]


def encode(values: np.ndarray) -> bytes:
    """Truth as bits; of numbers all first bytes, then all second ones, and so on."""
    flat = values.reshape(-1)
    if flat.dtype == bool:
        return np.packbits(flat, bitorder="little").tobytes()
    little = np.ascontiguousarray(flat, dtype=flat.dtype.newbyteorder("<"))
    return little.view(np.uint8).reshape(-1, flat.dtype.itemsize).T.tobytes()


def decode(payload: bytes, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """Read what `encode` wrote.

    Raises
    ------
    InputError
        The payload is of another length than this array's.
    """
    if len(payload) != size_of(dtype, shape):
        raise InputError(f"{len(payload)} bytes for an array of {dtype} of shape {shape}")
    raw = np.frombuffer(payload, np.uint8)
    count = math.prod(shape)
    if dtype == "bool":
        return np.unpackbits(raw, count=count, bitorder="little").astype(bool).reshape(shape)
    planes = np.ascontiguousarray(raw.reshape(ITEM[dtype], count).T)
    native = planes.reshape(-1).view(np.dtype(dtype).newbyteorder("<"))
    return native.astype(dtype, copy=False).reshape(shape)
