import math
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
import xarray as xr

from membership.running import device_check
from membership.running.device_check import Step, apart
from workflow import check_gpu


class Gathered:
    """A source whose evidence lies ready, or fails to be made."""

    def __init__(self, device):
        self.device = device

    def gatherers(self):
        return dict.fromkeys(("outputs-a", "times-a", "fails"), self)

    def gather(self, name):
        if name == "fails" and self.device != "cpu":
            raise RuntimeError("no such kernel\nand a long story")
        return Path(self.device)


@pytest.fixture
def two_devices(monkeypatch):
    values = {"cpu": [1.0, 2.0, 2.0], "cuda": [1.0, 2.0, 2.03]}
    monkeypatch.setattr(device_check, "_source", lambda chapter, profile, device: Gathered(device))
    monkeypatch.setattr(
        device_check.evidence, "load", lambda path: xr.Dataset({"v": ("i", values[str(path)])})
    )


def test_each_step_is_compared_and_seconds_are_not(two_devices):
    outputs, times, fails = device_check.steps("chapter", "tiny")
    assert outputs.apart == pytest.approx(0.01)
    assert math.isnan(times.apart)
    assert times.is_good
    assert fails.error == "no such kernel"
    assert not fails.is_good


def test_the_tolerance_divides_good_from_bad():
    step = partial(Step, "chapter", "evidence", (1.0, 2.0))
    assert step(device_check.TOLERANCE).is_good
    assert not step(1.01 * device_check.TOLERANCE).is_good
    assert not step(math.inf).is_good
    assert device_check.cells(step(0.5)) == [
        "chapter evidence", "1.0", "2.0", "5.0e-01", "differs"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ([3.0, 4.0], [3.0, 4.0], 0.0),
        ([3.0, 4.0], [3.0, 4.5], 0.1),
        ([3.0, np.nan, 4.0], [3.0, np.nan, 4.5], 0.1),
        ([np.inf, 5.0], [np.inf, 5.5], 0.1),
        ([1.0, np.nan], [1.0, 0.0], math.inf),
        ([1.0], [1.0, 2.0], math.inf),
        ([0.0], [1e-9], math.inf),
        ([True, False], [True, True], math.inf),
        ([1, 2], [1, 2], 0.0),
    ],
)
def test_apart_is_the_relative_root_mean_square(left, right, expected):
    found = apart(xr.Dataset({"v": ("i", left)}), xr.Dataset({"v": ("i", right)}))
    assert found == pytest.approx(expected)


def test_another_variable_is_infinitely_far():
    assert apart(xr.Dataset({"a": 1}), xr.Dataset({"b": 1})) == math.inf


def test_without_a_gpu_one_line_says_so(monkeypatch, capsys):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert check_gpu.main([]) == 0
    assert capsys.readouterr().out.count("\n") == 1
