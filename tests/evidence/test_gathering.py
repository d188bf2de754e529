"""Evidence is gathered once and says by what; its parts are found once by any number of jobs."""

import functools
import threading
from importlib import metadata

import numpy as np
import pytest

from membership import evidence, paths, shared_work
from membership.evidence import gathering
from tests.evidence.examples import outputs

CALLS: list[str | int] = []


def observe(seed: int = 0):
    """What a chapter's gathering function does, and a note that it was called."""
    CALLS.append("observed")
    return outputs(seed=seed)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MEMBERSHIP_CACHE", str(tmp_path / "cache"))
    CALLS.clear()
    return tmp_path / "cache"


def test_it_is_gathered_once_and_read_back(tmp_path):
    folder = tmp_path / "results"
    first = evidence.gathered("digits", observe, {"n_models": 3}, folder)
    assert first.equals(outputs())
    assert first.identical(evidence.load(folder / "digits.evidence"))
    second = evidence.gathered("digits", observe, {"n_models": 3}, tmp_path / "elsewhere")
    assert second.identical(first)
    assert CALLS == ["observed"]
    one, two = (tmp_path / d / "digits.evidence" for d in ("results", "elsewhere"))
    assert one.read_bytes() == two.read_bytes()


def test_it_is_gathered_without_the_libraries_that_extras_bring(tmp_path, monkeypatch):
    installed = metadata.version

    def version(library):
        if library in {"laplace-torch", "jax", "neural-tangents"}:
            raise metadata.PackageNotFoundError(library)
        return installed(library)

    monkeypatch.setattr(metadata, "version", version)
    monkeypatch.setattr(gathering, "versions", gathering.versions.__wrapped__)
    found = gathering.versions()
    assert {name for name, said in found.items() if said == "absent"} == {
        "laplace-torch", "jax", "neural-tangents"
    }  # fmt: skip
    assert found["numpy"] == np.__version__
    assert evidence.gathered("digits", observe, {}, tmp_path).equals(outputs())
    (part,) = evidence.in_parts(lambda item: {"a": np.full(2, item)}, [3])
    assert part["a"].tolist() == [3, 3]


@pytest.mark.slow
def test_what_is_read_back_is_what_a_file_holds(tmp_path):
    large = functools.partial(outputs, 300, 1000)
    found = evidence.gathered("large", large, {}, tmp_path)
    assert not (found["log_odds"].values.view(np.uint32) & 0x7F).any()


def test_other_inputs_names_functions_and_libraries_are_gathered_again(tmp_path, monkeypatch):
    evidence.gathered("digits", observe, {"n_models": 3}, tmp_path)
    evidence.gathered("digits", observe, {"n_models": 4}, tmp_path)
    evidence.gathered("other", observe, {"n_models": 3}, tmp_path)
    assert len(CALLS) == 3
    monkeypatch.setattr(gathering, "versions", lambda: {"numpy": "3"})
    evidence.gathered("digits", observe, {"n_models": 3}, tmp_path)
    assert len(CALLS) == 4
    again = evidence.version(2)(lambda: observe())
    evidence.gathered("digits", again, {"n_models": 3}, tmp_path)
    assert len(CALLS) == 5
    monkeypatch.setattr(gathering, "TRAINING", 0)
    evidence.gathered("digits", again, {"n_models": 3}, tmp_path)
    assert len(CALLS) == 6


def test_of_a_file_the_content_counts_and_not_the_path(tmp_path):
    for name, content in (("a", b"1"), ("b", b"1"), ("c", b"2")):
        (tmp_path / name).write_bytes(content)
        found = evidence.gathered("own", observe, {"dataset": str(tmp_path / name)}, tmp_path)
        assert str(tmp_path) not in str(found.attrs)
    assert len(CALLS) == 2


def test_a_cache_that_holds_evidence_is_marked_as_ours(tmp_path, cache):
    evidence.gathered("digits", observe, {}, tmp_path)
    assert paths.is_marked(cache)
    (cache / paths.MARK).unlink()
    paths.made_cache_dir()
    assert paths.is_marked(cache)


@pytest.mark.parametrize("number", [1, 3])
def test_evidence_says_by_what_it_was_gathered(tmp_path, number):
    function = functools.partial(observe, 1)
    if number > 1:
        function = functools.partial(evidence.version(number)(lambda seed: observe(seed)), 1)
    found = evidence.gathered("digits", function, {"n_models": 3}, tmp_path)
    assert found.attrs["version"] == evidence.version_of(function) == number
    assert found.attrs["inputs"] == {"device": "cpu", "n_models": 3}
    assert found.attrs["versions"]["numpy"] == np.__version__


def look(item: int, scale: float = 1.0) -> dict[str, np.ndarray]:
    """What a look at one model may hold."""
    CALLS.append(item)
    form = np.array([item * scale, np.nan])
    return {"form": form, "known": np.array([item > 1]), "n": np.array([[item]])}


def look_twice(item: int) -> dict[str, np.ndarray]:
    """Another function."""
    return look(item, 2.0)


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
    monkeypatch.setenv(shared_work.VARIABLE, "2/2")
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
