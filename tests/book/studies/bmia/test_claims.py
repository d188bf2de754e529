"""The claims on the committed results, and on numbers altered so that they should flip."""

import pandas as pd
import pytest

from membership.book.published import outcomes
from membership.book.studies.bmia import tables
from membership.book.studies.bmia.claims import CLAIMS
from membership.errors import InputError
from tests.book.studies.altered import Altered, committed_run

BY_ID = {claim.id: claim for claim in CLAIMS}
SUPPORTED, CONTRADICTED = outcomes.SUPPORTED, outcomes.CONTRADICTED


@pytest.fixture(scope="module")
def committed():
    return committed_run("bmia")


def as_printed(table):
    return table.assign(computed=table["printed"])


def own_reference(rate):
    """Every target's rate with a reference of its own architecture, another."""
    return lambda table: table.assign(
        value=table["value"].where(table["target"] != table["reference"], rate)
    )


FLIPS = [
    ("bmia-o07", "bmia-ctl-8", as_printed, CONTRADICTED),
]


@pytest.mark.parametrize(("claim", "exhibit", "change", "word"), FLIPS)
def test_altered_numbers_turn_a_claim(committed, claim, exhibit, change, word):
    assert BY_ID[claim].test(committed).word not in {word, outcomes.NOT_TESTED}
    assert BY_ID[claim].test(Altered(committed, exhibit, change)).word == word


def test_one_deviation_alone_and_proposition_4_2_are_refuted_by_formula(committed):
    for found in (BY_ID["bmia-c06"].former(committed), BY_ID["bmia-c07"].test(committed)):
        assert found.word == CONTRADICTED
        assert found.numbers[0].difference > 1e-3
    assert BY_ID["bmia-c06"].test(committed).word == SUPPORTED


@pytest.mark.parametrize(("rate", "share"), [(100.0, 1.0), (0.0, 0.0)])
def test_four_architectures_are_counted_and_decide_nothing(committed, rate, share):
    found = BY_ID["bmia-c14"].test(Altered(committed, "bmia-fig-4", own_reference(rate)))
    assert found.numbers[0].difference == pytest.approx(share - 0.5)
    assert found.word == outcomes.UNDECIDED


def table(share, n_repeats=3, error=0.01):
    """Ratios of one data set, with the interval of so many timings."""
    ratios = {tables.SHARE: share, tables.LIRA: (1 + share) / 8}
    row = {"dataset": "CIFAR-10", "attack": "BMIA", "n_reference": 1}
    made = pd.DataFrame(
        [
            row | {"metric": k, "value": v, "low": v - error, "high": v + error}
            for k, v in ratios.items()
        ]
    ).assign(n_repeats=n_repeats)
    made.attrs = {"sizes": {tables.TIMINGS: str(n_repeats)}}
    return made


class Made:
    def __init__(self, made):
        self.made = made

    def table(self, exhibit):
        assert exhibit == "bmia-ctl-10"
        return self.made


@pytest.mark.parametrize(
    ("share", "word"),
    [
        (0.05, outcomes.SUPPORTED),
        (0.13, outcomes.CONTRADICTED),
        (0.095, outcomes.UNDECIDED),
    ],
)
def test_inference_is_weighed_against_one_training(share, word):
    assert BY_ID["bmia-c03"].test(Made(table(share))).word == word


def test_two_timings_are_too_few():
    with pytest.raises(InputError, match="it takes 3 timings; there are 2"):
        BY_ID["bmia-c03"].test(Made(table(0.05, n_repeats=2)))
