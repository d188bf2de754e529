"""The store of trained models: what it returns, and what it refuses."""

import numpy as np
import pytest
import torch
from torch import nn

from membership.errors import InputError, RunError
from membership.training.cache import Cache, digest, source_of


@pytest.fixture
def tensors():
    return {"weight": torch.arange(6.0).reshape(2, 3), "bias": torch.tensor([1, 2])}


def test_what_was_saved_comes_back(tmp_path, tensors):
    cache = Cache(tmp_path)
    cache.save("key", tensors)
    found = cache.load("key")
    assert found.keys() == tensors.keys()
    assert all(torch.equal(found[name], tensors[name]) for name in tensors)
    assert cache.load("another") is None


@pytest.mark.parametrize("where", [0.0, 0.5, 0.99])
def test_one_flipped_bit_is_found_and_the_file_dropped(where, tmp_path, tensors):
    cache = Cache(tmp_path)
    cache.save("key", tensors)
    content = bytearray(cache.path("key").read_bytes())
    content[int(where * len(content))] ^= 1
    cache.path("key").write_bytes(content)
    with pytest.warns(UserWarning, match="damaged"):
        assert cache.load("key") is None
    assert not cache.path("key").exists()


def test_a_truncated_file_is_found_and_dropped(tmp_path, tensors):
    cache = Cache(tmp_path)
    cache.save("key", tensors)
    content = cache.path("key").read_bytes()
    cache.path("key").write_bytes(content[:-4])
    with pytest.warns(UserWarning, match="damaged"):
        assert cache.load("key") is None


def test_nothing_half_written_is_left_when_the_disk_is_full(tmp_path, tensors, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    cache = Cache(tmp_path)
    with pytest.raises(RunError, match="disk is full"):
        cache.save("key", tensors)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_cache_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="MEMBERSHIP_CACHE"), Cache(tmp_path / "file").lock("key"):
        pass


def test_digest_tells_arrays_apart_by_content_shape_and_type():
    values = np.arange(6)
    variants = [
        values,
        values.reshape(2, 3),
        values.astype(np.int32),
        values[::-1],
        torch.zeros(6, dtype=torch.int64),
        [0, 1, 2, 3, 4, 5],
    ]
    assert len({digest(v) for v in variants}) == len(variants)
    assert digest(torch.arange(6)) == digest(values)
    assert digest(values[::-1]) == digest(values[::-1].copy())


def test_the_source_of_own_classes_counts_and_that_of_torch_does_not():
    class Doubling(nn.Module):
        def forward(self, x):
            return 2 * x

    assert source_of(nn.Sequential(nn.Linear(2, 2), nn.Tanh())) == []
    (source,) = source_of(nn.Sequential(nn.Linear(2, 2), Doubling()))
    assert "2 * x" in source
