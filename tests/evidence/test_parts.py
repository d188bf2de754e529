"""Parts of evidence are found once, in any order, by any number of jobs."""

import functools
import threading

import numpy as np
import pytest

from membership import evidence, shares

CALLS: list[int] = []


def look(item: int, scale: float = 1.0) -> dict[str, np.ndarray]:
    """What a look at one model may hold."""
    CALLS.append(item)
    form = np.array([item * scale, np.nan])
    return {"form": form, "known": np.array([item > 1]), "n": np.array([[item]])}


def look_twice(item: int) -> dict[str, np.ndarray]:
    """Another function."""
    return look(item, 2.0)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MEMBERSHIP_CACHE", str(tmp_path))
    CALLS.clear()


def test_every_part_is_found_once_and_read_back_as_it_was():
    for _ in range(2):
        found = evidence.in_parts(look, [2, 0, 1], "inputs")
        for one, item in zip(found, (2, 0, 1), strict=True):
            for name, value in look(item).items():
                np.testing.assert_array_equal(one[name], value)
                assert one[name].dtype == value.dtype
        assert CALLS[:3] == [2, 0, 1]
    assert len(CALLS) == 3 + 2 * 3


@pytest.mark.parametrize(
    ("function", "inputs"),
    [
        (look, ["others"]),
        (look, ["inputs", np.arange(3)]),
        (look_twice, ["inputs"]),
    ],
    ids=["another input", "one more input", "another function"],
)
def test_what_determines_a_part_is_in_its_key(function, inputs):
    evidence.in_parts(look, [1], "inputs")
    evidence.in_parts(function, [1], *inputs)
    assert CALLS == [1, 1]


def test_a_share_begins_at_its_own_part_and_takes_what_others_have_left(monkeypatch):
    monkeypatch.setenv(shares.VARIABLE, "2/2")
    evidence.in_parts(look, [0, 1, 2, 3])
    assert CALLS == [2, 3, 0, 1]


def test_jobs_side_by_side_find_no_part_twice():
    slow = functools.partial(_wait_and_look, threading.Event())
    found = []
    jobs = [
        threading.Thread(target=lambda: found.append(evidence.in_parts(slow, range(6))))
        for _ in range(3)
    ]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
    assert sorted(CALLS) == list(range(6))
    assert [[int(part["n"][0, 0]) for part in each] for each in found] == [list(range(6))] * 3


def _wait_and_look(never: threading.Event, item: int) -> dict[str, np.ndarray]:
    never.wait(0.02)
    return look(item)
