"""A small project of its own: a data folder with a registry of tiny sets."""

import gzip
import io
import struct
import tarfile

import numpy as np
import pytest

from membership import paths


@pytest.fixture
def data_folder(tmp_path, monkeypatch):
    """An empty ``data/`` in place of the project's, and no ``$MEMBERSHIP_DATA``."""
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setattr(paths, "data_dir", lambda: folder)
    monkeypatch.setattr(paths, "shipped", lambda name: folder)
    monkeypatch.delenv("MEMBERSHIP_DATA", raising=False)
    return folder


@pytest.fixture
def write_registry(data_folder):
    """Write ``registry.toml``: a set for each keyword, with fields besides the usual ones."""

    def write(**sets):
        lines = []
        for name, fields in sets.items():
            usual = {
                "title": name.title(),
                "licence": "none",
                "homepage": f"https://{name}.example",
                "records": 30,
                "n_classes": 3,
                "shape": [4],
            }
            lines.append(f"[{name}]")
            lines += [f"{key} = {_toml(value)}" for key, value in {**usual, **fields}.items()]
        (data_folder / "registry.toml").write_text("\n".join(lines))
        return data_folder

    return write


def _toml(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f'"{k}" = {_toml(v)}' for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return f'"{value}"' if isinstance(value, str) else str(value)


@pytest.fixture
def tiny_table():
    """Thirty records of four bytes, three classes, no split."""
    rng = np.random.default_rng(3)
    return rng.integers(0, 9, (30, 4), dtype=np.uint8), np.arange(30) % 3


@pytest.fixture
def write_idx():
    """Write an array of bytes as a gzipped IDX file, row by row as the format says."""

    def write(path, array):
        header = struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape)
        path.write_bytes(gzip.compress(header + array.tobytes(), compresslevel=1))

    return write


@pytest.fixture
def write_tar():
    """Write a gzipped archive with these members, name to bytes."""

    def write(path, members):
        with tarfile.open(path, "w:gz") as archive:
            for name, content in members.items():
                header = tarfile.TarInfo(name)
                header.size = len(content)
                archive.addfile(header, io.BytesIO(content))

    return write
