"""Every fault that a file of the cache can have: noticed, computed anew, and the same numbers."""

import os
import re
import tempfile
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch

import membership
from membership import data, evidence, models, training
from membership.errors import InputError
from membership.training.cache import Cache
from tests.evidence.examples import outputs

CONFIG = training.TrainingConfig(learning_rate=0.1, epochs=2, batch_size=64)


def train(folder):
    digits = data.load("digits")
    halves = np.random.default_rng(0).random((4, len(digits.y))) < 0.5
    factory = partial(models.mlp, digits.x[0].size, [8], digits.n_classes)
    return training.train(
        factory, digits, halves, CONFIG, range(4), cache_folder=folder, progress=False
    )


def swap(one, other):
    content = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(content)


def flip(one, _):
    content = bytearray(one.read_bytes())
    content[-7] ^= 1
    one.write_bytes(content)


FAULTS = {
    "exchanged": swap,
    "copied": lambda one, other: one.write_bytes(other.read_bytes()),
    "one bit": flip,
    "cut": lambda one, _: one.write_bytes(one.read_bytes()[:-9]),
    "empty": lambda one, _: one.write_bytes(b""),
    "garbage": lambda one, _: one.write_bytes(b"\xff" * 5000),
    "another program's": lambda one, _: one.write_text("not a model"),
}


MISNAMED = ("exchanged", "copied")


@pytest.mark.parametrize("fault", FAULTS)
def test_a_model_that_is_not_what_its_name_says_is_trained_again(tmp_path, fault):
    first = train(tmp_path)
    one, other, *_ = sorted((tmp_path / "models").iterdir())
    FAULTS[fault](one, other)
    said = "is not the model its name says" if fault in MISNAMED else "is damaged"
    with pytest.warns(UserWarning, match=f"{said}.* its model is trained again"):
        again = train(tmp_path)
    for name, values in first.parameters.items():
        assert torch.equal(again.parameters[name], values)


@pytest.mark.parametrize("fault", FAULTS)
def test_evidence_that_is_not_what_its_name_says_is_gathered_again(tmp_path, monkeypatch, fault):
    monkeypatch.setenv("MEMBERSHIP_CACHE", str(tmp_path / "cache"))
    gather = {name: partial(outputs, seed=i) for i, name in enumerate(("one", "two"))}
    first = {name: evidence.gathered(name, gather[name], {}, tmp_path) for name in gather}
    one, other = sorted((tmp_path / "cache" / "evidence").iterdir())
    before = {path: path.read_bytes() for path in (one, other)}
    FAULTS[fault](one, other)
    said = "is not the evidence that its name says" if fault in MISNAMED else "or damaged"
    with pytest.warns(UserWarning, match=f"{said}.* it is gathered again"):
        again = {name: evidence.gathered(name, gather[name], {}, tmp_path) for name in gather}
    assert all(again[name].identical(first[name]) for name in gather)
    assert {path: path.read_bytes() for path in (one, other)} == before


def test_whoever_keeps_tensors_keeps_them_in_the_one_cache():
    package = Path(membership.__file__).parent
    using = {
        str(path.relative_to(package))
        for path in package.rglob("*.py")
        if re.search(r"^\s*(import|from) safetensors|torch\.save\(", path.read_text(), re.MULTILINE)
    }
    assert using == {"training/cache.py"}


def damaged_and_read_only(cache):
    cache.path("key").write_bytes(b"")
    cache.path("key").parent.chmod(0o555)


OTHERS = {
    "is damaged and cannot be removed": damaged_and_read_only,
    "cannot read": lambda cache: cache.path("key").chmod(0),
    "cannot lock": lambda cache: (cache.folder / "locks" / "key.lock").chmod(0),
    "cannot write to the cache": lambda cache: cache.folder.chmod(0),
}


@pytest.fixture
def shared():
    """A cache that everybody may use, with one model in it."""
    with tempfile.TemporaryDirectory() as folder:
        cache = Cache(Path(folder) / "cache")
        with cache.lock("key"):
            cache.save("key", {"x": torch.zeros(3)})
        for path in [Path(folder), *Path(folder).rglob("*")]:
            path.chmod(0o777)
        yield cache
        cache.folder.chmod(0o777)
        for path in cache.folder.iterdir():
            path.chmod(0o777)


@contextmanager
def somebody():
    """Root may do everything: be somebody whom permissions bind."""
    if os.getuid() == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(os.getuid())


@pytest.mark.filterwarnings("ignore:.*is damaged:UserWarning")
@pytest.mark.parametrize("said", OTHERS)
def test_another_user_s_cache_is_one_clear_line(shared, said):
    OTHERS[said](shared)
    with somebody(), pytest.raises(InputError) as refusal, shared.lock("key"):
        shared.load("key")
    assert said in str(refusal.value)
    assert "Permission denied; set MEMBERSHIP_CACHE" in str(refusal.value)
