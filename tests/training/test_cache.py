"""The store of trained models: what it returns, what it refuses, and what determines a key."""

import importlib

import numpy as np
import pytest
import safetensors
import safetensors.torch
import torch
from torch import nn

from membership import paths
from membership.errors import InputError, RunError
from membership.training.cache import Cache, architecture, digest


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


def test_a_file_without_a_key_is_computed_anew(tmp_path, tensors):
    cache = Cache(tmp_path)
    cache.save("key", tensors)
    digest = {"digest": safetensors.safe_open(cache.path("key"), "pt").metadata()["digest"]}
    safetensors.torch.save_file(tensors, cache.path("key"), metadata=digest)
    with pytest.warns(UserWarning, match="not the model its name says"):
        assert cache.load("key") is None


def test_a_damaged_file_that_cannot_be_removed_is_one_line(tmp_path, tensors, monkeypatch):
    cache = Cache(tmp_path)
    cache.save("key", tensors)
    cache.path("key").write_bytes(b"")

    def refused(*_, **__):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("pathlib.Path.unlink", refused)
    with (
        pytest.warns(UserWarning, match="damaged"),
        pytest.raises(InputError, match="is damaged and cannot be removed: Read-only file system"),
    ):
        cache.load("key")


def test_a_lock_that_cannot_be_taken_is_one_line(tmp_path):
    (tmp_path / "locks" / "key.lock").mkdir(parents=True)
    with pytest.raises(InputError, match=r"cannot lock .*key\.lock: "), Cache(tmp_path).lock("key"):
        pass


def test_an_error_under_a_lock_is_left_as_it_is(tmp_path):
    with pytest.raises(OSError, match="the work's own"), Cache(tmp_path).lock("key"):
        raise OSError("the work's own")
    with Cache(tmp_path).lock("key"):
        pass


def test_a_new_cache_is_marked_and_a_folder_of_others_is_not(tmp_path, tensors):
    Cache(tmp_path / "new").save("key", tensors)
    assert paths.is_marked(tmp_path / "new")
    (tmp_path / "old" / "models").mkdir(parents=True)
    with Cache(tmp_path / "old").lock("key"):
        assert paths.is_marked(tmp_path / "old")
    paths.atomic_write(tmp_path / "mine" / "thesis.tex", "")
    Cache(tmp_path / "mine").save("key", tensors)
    assert not paths.is_marked(tmp_path / "mine")


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


OWN = """
from torch import nn

class Scaling(nn.Module):
    def forward(self, x):
        return {factor} * x
"""


def test_the_code_of_own_classes_counts_and_that_of_torch_does_not(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    torch_only = architecture(nn.Sequential(nn.Linear(2, 2), nn.Tanh()))
    assert torch_only == architecture(nn.Linear(3, 1))
    own = []
    for factor in (2, 3):
        (tmp_path / f"scaling_by_{factor}.py").write_text(OWN.format(factor=factor))
        scaling = importlib.import_module(f"scaling_by_{factor}").Scaling()
        own.append(architecture(nn.Sequential(nn.Linear(2, 2), scaling)))
    assert len({torch_only, *own}) == 3
