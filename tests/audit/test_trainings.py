"""What a gathering keeps as it goes, what it says of a training that failed, and two loaders."""

import os
import random
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset

from membership import audit, evidence
from membership.errors import InputError

RNG = np.random.default_rng(7)
X = RNG.normal(size=(90, 6)).astype(np.float32)
Y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)
SIZES = {"n_reference": 4, "n_targets": 2, "seed": 3}


class Training:
    """A training that counts itself, and may fail at one of its calls."""

    def __init__(self, fails_at: int = 0, scale: float = 1.0, how: object = None) -> None:
        self.seeds: list[int] = []
        self.fails_at, self.scale, self.how = fails_at, scale, how

    def __call__(self, x, y, seed):
        self.seeds.append(seed)
        torch.manual_seed(seed)
        model = nn.Linear(6, 3)
        with torch.no_grad():
            model.weight.mul_(self.scale)
        if len(self.seeds) == self.fails_at:
            if self.how is None:
                model.weight.data[:] = float("nan")
            else:
                raise self.how
        return model


def gathered(train, keep=None):
    return audit.gather(X, Y, train, keep=keep, **SIZES)


def same(one, other) -> bool:
    return evidence.digest(one) == evidence.digest(other)


@pytest.mark.parametrize("how", [None, RuntimeError("out of memory"), KeyboardInterrupt()])
@pytest.mark.parametrize("fails_at", [1, 2, 3, 7])
def test_what_failed_goes_on_from_where_it_was(tmp_path, how, fails_at):
    whole, first = Training(), Training(fails_at, how=how)
    wanted = gathered(whole)
    with pytest.raises(InputError if how is None else type(how)) as failed:
        gathered(first, tmp_path / "kept")
    told = str(failed.value) + "".join(getattr(failed.value, "__notes__", ()))
    assert f"(seed = {first.seeds[-1]})" in told
    assert (f"kept in {tmp_path / 'kept'}" in told) == (fails_at > 2)
    again = Training()
    assert same(gathered(again, tmp_path / "kept"), wanted)
    # One that was kept is trained once more, to see whether `train` is as it was.
    assert len(again.seeds) <= len(whole.seeds) - max(fails_at - 2, 0)
    taken = Training()
    assert same(gathered(taken, tmp_path / "kept"), wanted)
    assert len(taken.seeds) == 1


def test_without_a_folder_it_says_how_to_keep_them():
    with pytest.raises(InputError, match=r"training 2 of 6 \(seed = 4\).*with keep=FOLDER"):
        gathered(Training(4))


def test_another_training_is_not_taken_for_the_one_that_was_kept(tmp_path, capsys):
    gathered(Training(), tmp_path)
    with pytest.raises(InputError, match="has changed; name another folder"):
        gathered(Training(scale=2.0), tmp_path)
    other = audit.gather(X[:80], Y[:80], Training(), keep=tmp_path, **SIZES)
    assert other.sizes["record"] == 80
    gathered(Training(), tmp_path)
    assert f"6 of 6 trainings are taken from {tmp_path}" in capsys.readouterr().err


KILLED = """
import os, runpy
from membership import audit

of = runpy.run_path({file!r})


class Killed(of["Training"]):
    def __call__(self, x, y, seed):
        if len(self.seeds) == 4:
            os.kill(os.getpid(), 9)
        return super().__call__(x, y, seed)


audit.gather(of["X"], of["Y"], Killed(), keep={folder!r}, **of["SIZES"])
"""


@pytest.mark.slow
def test_a_gathering_that_was_killed_goes_on(tmp_path):
    script = KILLED.format(file=str(Path(__file__)), folder=str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, env=os.environ
    )
    assert done.returncode == -9, done.stderr
    again = Training()
    assert same(gathered(again, tmp_path), gathered(Training()))
    assert len(again.seeds) < 6


@pytest.mark.parametrize("loader", [False, True])
def test_members_and_others_come_as_two(loader):
    parts = [TensorDataset(torch.tensor(X[rows]), torch.tensor(Y[rows])) for rows in (HALF, ~HALF)]
    given = [DataLoader(part, batch_size=16) for part in parts] if loader else parts
    torch.manual_seed(1)
    model = nn.Linear(6, 3)
    order = np.r_[np.flatnonzero(HALF), np.flatnonzero(~HALF)]

    def train(x, y, seed):
        torch.manual_seed(seed)
        return nn.Linear(6, 3)

    found = audit.gather(*given, train, model=model, n_reference=4)
    wanted = audit.gather(X[order], Y[order], train, model=model, member=HALF[order], n_reference=4)
    for name in ("member", "log_odds"):
        np.testing.assert_allclose(found[name], wanted[name], rtol=1e-5)
    with pytest.raises(InputError, match="member is given beside two Datasets"):
        audit.gather(*given, train, model=model, member=HALF)


HALF = np.arange(90) % 2 == 0


class One(Dataset):
    """60 records and labels, of which one is another's."""

    def __init__(self, *other):
        self.other = other

    def __len__(self):
        return 60

    def __getitem__(self, place):
        return self.other if place == 41 else (torch.zeros(6), place % 2)


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ((torch.zeros(3), 1), "record 0 has shape (6,) and record 41 (3,)"),
        ((torch.zeros(6), torch.zeros(2)), "label 0 has shape () and label 41 (2,)"),
        ((torch.zeros(6), 1, 1), "gives record 0 in 2 parts and record 41 in 3"),
    ],
)
def test_a_record_that_is_unlike_the_first_is_named(other, said):
    with pytest.raises(InputError, match=re.escape(said)):
        audit.gather(One(*other), None, Training(), **SIZES)


def test_answers_from_0_to_1_are_taken_where_their_kind_is_said():
    def small(x, y, seed):
        return lambda records: 0.7 + 0.02 * np.tanh(records[:, :1]) * (1 + seed)

    y = (X[:, 0] > 0).astype(int)
    with pytest.raises(InputError, match="outputs="):
        audit.gather(X, y, small, **SIZES)
    found = audit.gather(X, y, small, outputs="logits", **SIZES)
    answers = small(X, y, 3)(X)[:, 0]
    np.testing.assert_allclose(found["log_odds"][0], np.where(y == 1, answers, -answers), rtol=1e-5)
    as_odds = audit.gather(X, y, small, outputs="probabilities", **SIZES)
    odds = np.log(answers / (1 - answers))
    np.testing.assert_allclose(as_odds["log_odds"][0], np.where(y == 1, odds, -odds), rtol=1e-4)
    with pytest.raises(InputError, match="outputs"):
        audit.gather(X, y, small, outputs="odds", **SIZES)


class Drawing(Dataset):
    """Records with noise, from one of the generators that seeds reach, or from one of its own."""

    def __init__(self, source) -> None:
        self.source = source

    def __len__(self) -> int:
        return len(Y)

    def __getitem__(self, place: int):
        return torch.as_tensor(X[place] + 0.1 * self.source(), dtype=torch.float32), Y[place]


OWN = np.random.default_rng(0)
SOURCES = {
    "torch": lambda: torch.randn(6).numpy(),
    "NumPy": lambda: np.random.normal(size=6),  # noqa: NPY002
    "Python": lambda: np.array([random.random() for _ in range(6)]),
    "its own": lambda: OWN.normal(size=6),
}


@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize("name", SOURCES)
def test_a_dataset_that_draws_is_said_and_asked_about_one_draw(name, workers):
    stream = DataLoader(Drawing(SOURCES[name]), num_workers=workers)
    before = random.getstate(), torch.get_rng_state(), np.random.get_state()[1]  # noqa: NPY002
    found = audit.gather(stream, None, Training(), **SIZES)
    after = random.getstate(), torch.get_rng_state(), np.random.get_state()[1]  # noqa: NPY002
    if name == "its own" and workers:
        # A worker begins with a copy of the generator each time, so that all readings are alike.
        assert found.attrs["warnings"] == []
        return
    first, *others = found.attrs["warnings"]
    assert first.startswith("The Dataset draws its records anew at each reading")
    if name == "its own":
        assert "each model was asked about other draws" in first
    else:
        assert "one and the same draw" in first
        assert others == []
        assert same(found, audit.gather(stream, None, Training(), **SIZES))
        assert before[0] == after[0]
        np.testing.assert_array_equal(before[2], after[2])


def test_groups_of_the_report_bear_the_names_of_classes():
    y, names = np.arange(90) % 3, ["bag", "coat", "pullover"]
    found = audit.gather(X, y, Training(), names=names, **SIZES)
    groups = audit.compare(found)["strongest"]["groups"]
    assert {group["group"] for group in groups} == set(names)
    for given, said in (
        ({"names": names[:2]}, "names: 2 given to a classification; give one for each of the lab"),
        ({"names": "abc"}, "names: 3 given to a classification"),
        ({"names": names, "task": "regression"}, "names: 3 given to a regression; give none"),
        ({"keep": 3}, "keep = 3: expected the path of a folder"),
        ({"keep": ""}, "keep = '': expected the path of a folder"),
    ):
        with pytest.raises(InputError, match=said):
            audit.gather(X, y, Training(), **given, **SIZES)


def test_a_training_that_is_no_function_is_refused():
    with pytest.raises(InputError, match="train is of type str; give a function"):
        audit.gather(X, Y, "train.py", **SIZES)
