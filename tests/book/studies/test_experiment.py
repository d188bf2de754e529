"""What the chapters' experiments have in common."""

import pytest
from pydantic import Field

from membership.book.settings import ChapterSettings
from membership.book.studies import experiment


@pytest.mark.parametrize(
    ("datasets", "words"),
    [
        (["purchase_like:10000", "digits"], ["purchase-like-10000", "digits"]),
        (["a/x.npz", "b/x.csv", "c/x.npz"], ["x", "x-2", "x-3"]),
        (["digits", "digits"], ["digits"]),
        (["__.npz", "MNIST-odd"], ["own", "mnist-odd"]),
    ],
)
def test_each_data_set_has_a_word_of_its_own(datasets, words):
    assert list(experiment.words(datasets).values()) == words


def test_work_is_timed_by_the_clock_that_is_given():
    ticks = iter([3.0, 5.5])
    assert experiment.timed(lambda: "done", lambda: next(ticks)) == ("done", 2.5)


class Settings(ChapterSettings):
    """With a list."""

    some: list[int] = Field([])


def test_equal_settings_are_one_key():
    first, again = (Settings.from_values({"some": [1, 2]}) for _ in range(2))
    assert {first: "made"}[again] == "made"
    assert hash(first) != hash(Settings.from_values({"some": [2, 1]}))
    assert first.model_copy(update={"n_jobs": 2}) not in {first: "made"}
