"""Evidence on disk: a zip of raw arrays with one JSON header, safe to open, the same bytes twice.

The zip's comment is the SHA-256 of all bytes before it, so that any flipped bit or missing end is
seen before anything is read. A file made to deceive can have the right digest: every size that it
declares is checked before memory is taken, and nothing in it is run or written anywhere.
"""

import hashlib
import io
import json
import lzma
import math
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from membership import paths
from membership.errors import InputError
from membership.evidence.schema import canonical, stored

SUFFIX = ".evidence"
FORMAT = "membership-evidence 1"
HEADER = "header.json"
COMMITTED_BYTES = 10 * 10**6
"""The most that a committed file may take."""
MOST_FILE, MOST_HEADER, MOST_ARRAYS = 1 << 28, 1 << 24, 1 << 30
# Arrays of so many bytes are packed by LZMA, a twentieth smaller than deflated and slower to write.
# It is given as much memory to unpack as a file asks for; what is written here asks for half of it.
LARGE, MOST_WINDOW = 1 << 15, 1 << 24
_DIGEST = 64
# What reading a zip or a header that was made to deceive may raise.
_BROKEN = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError),
    *(RecursionError, MemoryError),
    *(ValueError, TypeError, KeyError, AttributeError, OverflowError, RuntimeError),
)


def save(path: Path | str, dataset: xr.Dataset) -> Path:
    """Write evidence: the whole file or none of it, and the same bytes for the same evidence.

    Parameters
    ----------
    path : pathlib.Path or str
        Ends in ``.evidence``; its folder is made where it is missing.
    dataset : xarray.Dataset
        With ``attrs["kind"]``; checked against that kind's schema.

    Returns
    -------
    pathlib.Path
        The file.

    Raises
    ------
    InputError
        The evidence does not fit its kind, or the file cannot be written.
    RunError
        The disk is full.

    Notes
    -----
    xarray's own `to_netcdf` takes attributes of words and numbers, and the recipe of evidence is an
    object. Where a program wants NetCDF, give it
    ``dataset.assign_attrs({name: json.dumps(value) for name, value in dataset.attrs.items()})``.
    """
    path = Path(path)
    if path.suffix != SUFFIX:
        raise InputError(f"{path}: a file of evidence ends in {SUFFIX}")
    paths.atomic_write(path, to_bytes(dataset))
    return path


def load(path: Path | str) -> xr.Dataset:
    """Read evidence from a file that may come from anywhere.

    Parameters
    ----------
    path : pathlib.Path or str

    Returns
    -------
    xarray.Dataset
        As its kind has it; writing it again gives the same bytes.

    Raises
    ------
    InputError
        There is no such file, it is damaged, it declares more than 1 GB, or what it holds is not
        what its kind has.
    """
    return read(path)[0]


def read(path: Path | str) -> tuple[xr.Dataset, str]:
    """What `load` gives, and the SHA-256 of the file as it was read."""
    path = Path(path)
    payload = paths.content_of(path, MOST_FILE)
    try:
        return from_bytes(payload), hashlib.sha256(payload).hexdigest()
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def digest(dataset: xr.Dataset) -> str:
    """SHA-256 of what a file of this evidence would say, whatever compresses it.

    Raises
    ------
    InputError
        As `save`.
    """
    plain = stored(dataset)
    total = hashlib.sha256(canonical(_header(plain)))
    for name in _arrays(plain):
        total.update(np.ascontiguousarray(plain[name].values).tobytes())
    return total.hexdigest()


def to_bytes(dataset: xr.Dataset) -> bytes:
    """The content of a file of evidence; errors as `save`."""
    plain = stored(dataset)
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        archive.comment = b"0" * _DIGEST
        archive.writestr(_member(HEADER), canonical(_header(plain)))
        for name in _arrays(plain):
            content = encode(plain[name].values)
            archive.writestr(_member(name, len(content) >= LARGE), content)
    body = whole.getvalue()[:-_DIGEST]
    return body + hashlib.sha256(body).hexdigest().encode()


def from_bytes(payload: bytes) -> xr.Dataset:
    """Read the content of a file of evidence.

    Raises
    ------
    InputError
        As `load`, without the file's name.
    """
    body, comment = payload[:-_DIGEST], payload[-_DIGEST:]
    if hashlib.sha256(body).hexdigest().encode() != comment:
        raise InputError("no evidence, or damaged: its digest does not fit its content")
    try:
        with zipfile.ZipFile(io.BytesIO(payload)) as archive:
            return stored(_read(archive))
    except InputError:
        raise
    except _BROKEN as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise InputError(f"no evidence, or made wrongly ({reason})") from None


def _member(name: str, large: bool = False) -> zipfile.ZipInfo:
    """A member whose header says nothing of when or where it was written."""
    info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    info.compress_type = zipfile.ZIP_LZMA if large else zipfile.ZIP_DEFLATED
    info.create_system = 3
    return info


def _header(dataset: xr.Dataset) -> dict[str, Any]:
    listed = {}
    for name in sorted(map(str, dataset.variables)):
        variable = dataset.variables[name]
        words = variable.dtype.kind in "UOT"
        listed[name] = {
            "dims": list(variable.dims),
            "shape": list(variable.shape),
            "dtype": "str" if words else variable.dtype.name,
        }
        if words:
            listed[name]["words"] = [str(word) for word in variable.values.flat]
    return {"format": FORMAT, "attributes": dataset.attrs, "variables": listed}


def _arrays(dataset: xr.Dataset) -> list[str]:
    return sorted(str(n) for n in dataset.variables if dataset[n].dtype.kind not in "UOT")


def _read(archive: zipfile.ZipFile) -> xr.Dataset:
    header = json.loads(_content(archive, HEADER, MOST_HEADER), parse_constant=_refuse)
    if header.get("format") != FORMAT:
        raise InputError(f"format {header.get('format')!r:.80}; this is {FORMAT!r}")
    listed = {name: _declared(name, variable) for name, variable in header["variables"].items()}
    arrays = {name for name, (_, _, dtype) in listed.items() if dtype != "str"}
    if sorted(archive.namelist()) != sorted({HEADER, *arrays}):
        raise InputError("its parts are not those that its header names")
    # In memory a truth value takes a byte.
    total = sum(math.prod(s) * ITEM.get(d, 1) for _, s, d in listed.values())
    if total > MOST_ARRAYS:
        raise InputError(f"it declares {total:,} bytes; evidence has at most {MOST_ARRAYS:,}")
    variables = {}
    for name, (dims, shape, dtype) in listed.items():
        if dtype == "str":
            values = _words(name, header["variables"][name]["words"], shape)
        else:
            size = size_of(dtype, shape)
            values = decode(_content(archive, name, size), dtype, shape)
        variables[name] = (dims, values)
    # What is named as the one dimension it lies over becomes that dimension's labels.
    return xr.Dataset(variables, attrs=header["attributes"])


def _declared(name: str, declared: dict) -> tuple[tuple[str, ...], tuple[int, ...], str]:
    dims, shape, dtype = tuple(declared["dims"]), tuple(declared["shape"]), declared["dtype"]
    whole = all(type(n) is int and 0 <= n <= MOST_ARRAYS for n in shape)
    if not whole or len(set(dims)) != len(shape) or len(dims) > 8:
        raise InputError(f"{name!r:.80} declares no shape of an array")
    if dtype not in (*ITEM, "bool", "str"):
        raise InputError(f"{name!r:.80} declares numbers of type {dtype!r:.80}")
    return dims, shape, dtype


def _words(name: str, words: Any, shape: tuple[int, ...]) -> np.ndarray:
    if len(words) != math.prod(shape) or not all(isinstance(word, str) for word in words):
        raise InputError(f"{name!r:.80} declares other words than it holds")
    # NumPy gives every word the room of the longest, four bytes a letter.
    if 4 * len(words) * max(map(len, words), default=0) > MOST_HEADER:
        raise InputError(f"{name!r:.80} holds more or longer words than evidence has")
    array = np.empty(len(words), dtype=object)
    array[:] = words
    return array.reshape(shape)


def _content(archive: zipfile.ZipFile, name: str, most: int) -> bytes:
    """One member, refused where it declares or holds more than is due."""
    info = archive.getinfo(name)
    if info.file_size > most:
        raise InputError(f"{name!r:.80} has {info.file_size:,} bytes; {most:,} are due")
    if info.compress_type == zipfile.ZIP_LZMA and _window(archive, info) > MOST_WINDOW:
        raise InputError(f"{name!r:.80} asks for more memory to unpack than evidence takes")
    with archive.open(info) as member:
        return member.read(most + 1)


def _window(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> int:
    """Bytes of memory that unpacking a member of LZMA begins with taking.

    After a header of 30 bytes, the member's name and what it says more come a version and a length,
    two bytes each, one byte and this number.
    """
    whole = archive.fp
    whole.seek(info.header_offset + 26)
    lengths = struct.unpack("<HH", whole.read(4))
    whole.seek(info.header_offset + 30 + sum(lengths) + 5)
    return struct.unpack("<I", whole.read(4))[0]


def _refuse(constant: str) -> None:
    raise InputError(f"its header holds {constant}, which is no JSON")


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
