"""Upstream files of the image sets: IDX (MNIST, Fashion-MNIST) and CIFAR's binary archives."""

import gzip
import struct
import tarfile
from pathlib import Path

import numpy as np

from membership.data.npz import Prepared

CIFAR_SHAPE = (3, 32, 32)


def read_idx(path: Path) -> np.ndarray:
    """Read one gzipped IDX file of bytes.

    The format (LeCun's page of MNIST): two zero bytes, the type (8: unsigned byte), the number
    of dimensions, each dimension as a big-endian 32-bit number, then the values.
    """
    content = gzip.decompress(path.read_bytes())
    if content[:3] != b"\x00\x00\x08" or len(content) < 4:
        raise ValueError("this is no IDX file of bytes")
    n_dimensions = content[3]
    shape = struct.unpack_from(f">{n_dimensions}I", content, 4)
    values = np.frombuffer(content, dtype=np.uint8, offset=4 + 4 * n_dimensions)
    return values.reshape(shape)


def idx(folder: Path) -> Prepared:
    """Join the four files of MNIST or Fashion-MNIST."""
    splits = ("train", "t10k")
    x = [read_idx(folder / f"{split}-images-idx3-ubyte.gz") for split in splits]
    y = [read_idx(folder / f"{split}-labels-idx1-ubyte.gz") for split in splits]
    return _join(x, y)


def cifar10(folder: Path) -> Prepared:
    """Read CIFAR-10, binary version: a record is its label and 3,072 bytes of pixels."""
    archive = folder / "cifar-10-binary.tar.gz"
    batches = [f"cifar-10-batches-bin/data_batch_{i}.bin" for i in range(1, 6)]
    members = _members(archive, [*batches, "cifar-10-batches-bin/test_batch.bin"])
    return _cifar(b"".join(members[:-1]), members[-1], label_bytes=1)


def cifar100(folder: Path) -> Prepared:
    """Read CIFAR-100, binary version: coarse label, fine label (the one kept), pixels."""
    archive = folder / "cifar-100-binary.tar.gz"
    train, test = _members(archive, ["cifar-100-binary/train.bin", "cifar-100-binary/test.bin"])
    return _cifar(train, test, label_bytes=2)


def _members(archive: Path, names: list[str]) -> list[bytes]:
    """Read named files out of an archive; nothing is unpacked to disk."""
    with tarfile.open(archive) as tar:
        return [tar.extractfile(name).read() for name in names]


def _cifar(train: bytes, test: bytes, label_bytes: int) -> Prepared:
    x, y = [], []
    for content in (train, test):
        records = np.frombuffer(content, dtype=np.uint8)
        records = records.reshape(-1, label_bytes + int(np.prod(CIFAR_SHAPE)))
        y.append(records[:, label_bytes - 1])
        planes = records[:, label_bytes:].reshape(-1, *CIFAR_SHAPE)
        x.append(planes.transpose(0, 2, 3, 1))
    return _join(x, y)


def _join(x: list[np.ndarray], y: list[np.ndarray]) -> Prepared:
    for images, labels in zip(x, y, strict=True):
        if len(images) != len(labels):
            raise ValueError(f"there are {len(images)} images and {len(labels)} labels")
    train = np.repeat([True, False], [len(x[0]), len(x[1])])
    return Prepared(np.concatenate(x), np.concatenate(y).astype(np.int64), train)
