"""Files that are no data sets, or none that a chapter can use: each function writes one."""

import io
import struct
import zipfile
from pathlib import Path

import numpy as np

RNG = np.random.default_rng(0)
N = 400
X, Y = RNG.normal(size=(N, 8)).astype(np.float32), np.arange(N) % 4


def a_folder(file: Path) -> None:
    file.mkdir()


def an_empty_file(file: Path) -> None:
    file.write_bytes(b"")


def a_text(file: Path) -> None:
    file.write_text("x,y\n1,2\n")


def a_plain_array(file: Path) -> None:
    with file.open("wb") as out:
        np.save(out, X)


def a_truncated_file(file: Path) -> None:
    np.savez(file, x=X, y=Y)
    file.write_bytes(file.read_bytes()[:-200])


def a_flipped_byte(file: Path) -> None:
    np.savez(file, x=X, y=Y)
    content = bytearray(file.read_bytes())
    content[2000] ^= 0xFF
    file.write_bytes(content)


def no_members(file: Path) -> None:
    zipfile.ZipFile(file, "w").close()


def pickles(file: Path) -> None:
    np.savez(file, x=np.array([{"a": 1}] * N, dtype=object), y=Y)


def only_x(file: Path) -> None:
    np.savez(file, x=X)


def only_y(file: Path) -> None:
    np.savez(file, y=Y)


def other_names(file: Path) -> None:
    np.savez(file, features=X, labels=Y)


def _npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def _raw(file: Path, x: bytes, name: str = "x.npy", compression: int = zipfile.ZIP_STORED) -> None:
    with zipfile.ZipFile(file, "w", compression) as archive:
        archive.writestr(name, x)
        archive.writestr("y.npy", _npy(Y))


def _header(text: str) -> bytes:
    padded = text.encode().ljust(118) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(padded)) + padded


def eighteen_terabytes(file: Path) -> None:
    text = "{'descr': '<f8', 'fortran_order': False, 'shape': (1500000, 1500000), }"
    _raw(file, _header(text))


def a_negative_shape(file: Path) -> None:
    _raw(file, _header("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, 8), }"))


def a_deep_header(file: Path) -> None:
    _raw(file, _header("(" * 5000))


def a_very_long_header(file: Path) -> None:
    _raw(file, _header("{" + " " * 20_000 + "}"))


def a_header_of_no_dictionary(file: Path) -> None:
    _raw(file, _header("[1, 2"))


def a_wrong_type_in_the_header(file: Path) -> None:
    _raw(file, _header("{'descr': 'zz9', 'fortran_order': False, 'shape': (400, 8), }"))


def no_array(file: Path) -> None:
    _raw(file, b"these are no numbers" * 400)


def a_member_without_a_suffix(file: Path) -> None:
    _raw(file, b"these are no numbers", name="x")


def an_unknown_version(file: Path) -> None:
    _raw(file, b"\x93NUMPY\x09\x00" + b"\0" * 200)


def an_odd_compression(file: Path) -> None:
    _raw(file, _npy(X), compression=zipfile.ZIP_BZIP2)


def _patched(file: Path, old: bytes, at: int, new: bytes) -> None:
    """Change bytes behind each of the two headers of the first member."""
    content = bytearray(file.read_bytes())
    place = content.find(old)
    content[place + at : place + at + len(new)] = new
    file.write_bytes(content)


def an_unknown_compression(file: Path) -> None:
    np.savez(file, x=X, y=Y)
    _patched(file, b"PK\x03\x04", 8, struct.pack("<H", 99))
    _patched(file, b"PK\x01\x02", 10, struct.pack("<H", 99))


def an_encrypted_member(file: Path) -> None:
    np.savez(file, x=X, y=Y)
    _patched(file, b"PK\x03\x04", 6, struct.pack("<H", 1))
    _patched(file, b"PK\x01\x02", 8, struct.pack("<H", 1))


def more_than_is_packed(file: Path) -> None:
    """The directory claims 4 GB where there are a few bytes."""
    text = "{'descr': '|u1', 'fortran_order': False, 'shape': (1000000, 4000), }"
    _raw(file, _header(text) + b"\0" * 100, compression=zipfile.ZIP_DEFLATED)
    _patched(file, b"PK\x01\x02", 24, struct.pack("<I", 4_000_000_128))


def _saved(name: str, **arrays: object):
    def make(file: Path) -> None:
        np.savez(file, **arrays)

    make.__name__ = name
    return make


BAD_X = X.copy()
BAD_X[7, 3] = np.nan
INFINITE = X.copy()
INFINITE[7, 3] = np.inf
PIXELS = RNG.integers(0, 256, (N, 8, 8), dtype=np.uint8)

ANY = [
    a_folder, an_empty_file, a_text, a_plain_array, a_truncated_file, a_flipped_byte, no_members,
    pickles, only_x, only_y, other_names, eighteen_terabytes, a_negative_shape, a_deep_header,
    a_very_long_header, a_header_of_no_dictionary, a_wrong_type_in_the_header, no_array,
    a_member_without_a_suffix, an_unknown_version, an_odd_compression, an_unknown_compression,
    an_encrypted_member, more_than_is_packed,
    _saved("columns_of_no_dimension", x=X, y=Y, columns="a"),
    _saved("columns_of_numbers", x=X, y=Y, columns=np.arange(8)),
    _saved("too_few_columns", x=X, y=Y, columns=["a", "b"]),
    _saved("names_of_no_dimension", x=X, y=Y, columns=list("abcdefgh"), names_a="b"),
    _saved("no_features", x=X[:, :0], y=Y),
    _saved("no_records", x=X[:0], y=Y[:0]),
    _saved("no_pixels", x=PIXELS[:, :0], y=Y),
    _saved("one_class", x=X, y=0 * Y),
    _saved("a_gap_in_the_labels", x=X, y=2 * Y),
    _saved("negative_labels", x=X, y=Y - 1),
    _saved("huge_labels", x=X, y=Y.astype(np.uint64) + np.uint64(2**63)),
    _saved("fractional_labels", x=X, y=Y / 2),
    _saved("labels_in_words", x=X, y=Y.astype(str)),
    _saved("one_hot_labels", x=X, y=np.eye(4)[Y].astype(int)),
    _saved("too_few_labels", x=X, y=Y[:-1]),
    _saved("not_a_number", x=BAD_X, y=Y),
    _saved("infinity", x=INFINITE, y=Y),
    _saved("beyond_float32", x=X.astype(np.float64) * 1e39, y=Y),
    _saved("complex_numbers", x=X.astype(complex), y=Y),
    _saved("words", x=X.astype(str), y=Y),
    _saved("dates", x=np.zeros((N, 2), "M8[s]"), y=Y),
    _saved("a_row_only", x=X[:, 0], y=Y),
    _saved("five_axes", x=np.zeros((N, 2, 2, 2, 2)), y=Y),
    _saved("seven_channels", x=np.zeros((N, 5, 5, 7)), y=Y),
    _saved("splits_of_two_shapes", x_train=X, y_train=Y, x_test=X[:, :3], y_test=Y),
    _saved("a_test_split_without_labels", x_train=X, y_train=Y, x_test=X, y_test=Y[:3]),
]  # fmt: skip

TINY_PIXELS = RNG.integers(0, 256, (N, 2, 2), dtype=np.uint8)
ONE_BLANK = PIXELS.copy()
ONE_BLANK[4] = 0
UNFIT = {
    _saved("unscaled", x=X * [1, 1, 1, 1, 1, 1, 1, 5000], y=Y): ("bmia", "iha"),
    _saved("unscaled_pictures", x=PIXELS.astype(np.float32), y=Y): ("bmia", "iha", "lood"),
    _saved(
        "a_blank_picture", x=PIXELS * (np.arange(N) != 4)[:, None, None].astype(np.uint8), y=Y
    ): ("lood",),
    _saved("few_pixels", x=TINY_PIXELS, y=Y): ("lood", "bmia", "bayes_optimal"),
    _saved("the_same_pictures", x=np.ones_like(PIXELS), y=Y): ("lood",),
    _saved("few_records", x=X[:20], y=Y[:20]): ("bayes_optimal", "bmia", "gmip", "iha"),
    _saved("few_pictures", x=PIXELS[:20], y=Y[:20]): ("lood",),
    _saved("many_classes", x=X, y=np.arange(N) // 2): ("bayes_optimal", "gmip"),
}
