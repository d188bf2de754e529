"""Image formats, on small files written as the formats say."""

import gzip

import numpy as np
import pytest

from membership.data import images


def test_read_idx(tmp_path, write_idx):
    array = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    write_idx(tmp_path / "a.gz", array)
    np.testing.assert_array_equal(images.read_idx(tmp_path / "a.gz"), array)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00\x00\x08",
        b"\x00\x00\x0d\x01\x00\x00\x00\x01\x00",
        b"\x00\x00\x08\x01\x00\x00\x00\x03ab",
        b"\x00\x00\x08\x01\x00\x00\x00\x03abcd",
    ],
)
def test_read_idx_refuses_other_headers_and_lengths(tmp_path, content):
    (tmp_path / "a.gz").write_bytes(gzip.compress(content))
    with pytest.raises(ValueError, match=r"IDX|reshape"):
        images.read_idx(tmp_path / "a.gz")


def test_idx_joins_four_files(tmp_path, write_idx):
    rng = np.random.default_rng(0)
    parts = {}
    for split, n in (("train", 5), ("t10k", 3)):
        parts[split] = rng.integers(0, 256, (n, 4, 4), dtype=np.uint8), rng.integers(0, 10, n)
        write_idx(tmp_path / f"{split}-images-idx3-ubyte.gz", parts[split][0])
        write_idx(tmp_path / f"{split}-labels-idx1-ubyte.gz", parts[split][1].astype(np.uint8))
    prepared = images.idx(tmp_path)
    for k, joined in enumerate((prepared.x, prepared.y)):
        np.testing.assert_array_equal(joined, np.concatenate([p[k] for p in parts.values()]))
    assert prepared.train.tolist() == [True] * 5 + [False] * 3


def test_idx_refuses_a_missing_label(tmp_path, write_idx):
    for split in ("train", "t10k"):
        write_idx(tmp_path / f"{split}-images-idx3-ubyte.gz", np.zeros((2, 1, 1), np.uint8))
        write_idx(tmp_path / f"{split}-labels-idx1-ubyte.gz", np.zeros(1, np.uint8))
    with pytest.raises(ValueError, match="2 images and 1 labels"):
        images.idx(tmp_path)


def cifar_record(labels, image):
    """One record of the binary version: labels, then red, green and blue planes by row."""
    planes = [
        bytes(int(image[row, column, colour]) for row in range(32) for column in range(32))
        for colour in range(3)
    ]
    return bytes(labels) + b"".join(planes)


@pytest.fixture
def pictures():
    rng = np.random.default_rng(1)
    return rng.integers(0, 256, (12, 32, 32, 3), dtype=np.uint8)


def test_cifar10(tmp_path, write_tar, pictures):
    names = [f"cifar-10-batches-bin/data_batch_{i}.bin" for i in (1, 2, 3, 4, 5)]
    names.append("cifar-10-batches-bin/test_batch.bin")
    content = {
        name: b"".join(cifar_record([2 * i + j], pictures[2 * i + j]) for j in range(2))
        for i, name in enumerate(names)
    }
    write_tar(tmp_path / "cifar-10-binary.tar.gz", dict(reversed(content.items())))
    prepared = images.cifar10(tmp_path)
    np.testing.assert_array_equal(prepared.x, pictures)
    assert prepared.y.tolist() == list(range(12))
    assert prepared.train.tolist() == [True] * 10 + [False] * 2


def test_cifar100_keeps_the_fine_label(tmp_path, write_tar, pictures):
    records = [cifar_record([99, i], picture) for i, picture in enumerate(pictures)]
    write_tar(
        tmp_path / "cifar-100-binary.tar.gz",
        {
            "cifar-100-binary/train.bin": b"".join(records[:9]),
            "cifar-100-binary/test.bin": b"".join(records[9:]),
        },
    )
    prepared = images.cifar100(tmp_path)
    np.testing.assert_array_equal(prepared.x, pictures)
    assert prepared.y.tolist() == list(range(12))
    assert prepared.train.sum() == 9


def test_cifar_refuses_a_cut_record(tmp_path, write_tar):
    write_tar(
        tmp_path / "cifar-100-binary.tar.gz",
        {"cifar-100-binary/train.bin": bytes(3073), "cifar-100-binary/test.bin": bytes(3074)},
    )
    with pytest.raises(ValueError, match="reshape"):
        images.cifar100(tmp_path)
