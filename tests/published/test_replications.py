"""The rule's error rates where the published spread is known: 5% at most, on both sides."""

import math

import pytest

from membership.published import replications
from membership.published.replications import DESIGNS, Design, error_rates, shares

REPEATS = 20_000
# Three Monte-Carlo standard errors of a share of 5%.
ALLOWED = 0.05 + 3 * math.sqrt(0.05 * 0.95 / REPEATS)


@pytest.mark.parametrize("design", [one for one in DESIGNS if one.m > 1], ids=str)
def test_false_verdicts_are_rare_where_the_spread_is_printed(design):
    exact = shares(design, 0, "printed", repeats=REPEATS, seed=1)
    edge = shares(design, 1, "printed", repeats=REPEATS, seed=2)
    assert exact["differs"] <= ALLOWED
    assert edge["agrees"] <= ALLOWED
    assert sum(exact.values()) == pytest.approx(1)


def test_a_published_number_taken_as_exact_differs_far_too_often():
    """What the rule is for: the same replications judged by one side's error alone."""
    found = shares(Design(10, 10, 0.01, 0.01), 0, "ignored", repeats=REPEATS)
    assert found["differs"] == pytest.approx(0.127, abs=0.01)


def test_precise_replications_agree_and_large_shifts_differ():
    design = Design(10, 10, 0.005, 0.005)
    assert shares(design, 0, "printed", repeats=REPEATS)["agrees"] == pytest.approx(0.973, abs=0.01)
    assert shares(design, 3, "printed", repeats=REPEATS)["differs"] > 0.999


def test_the_table_of_error_rates_names_every_design():
    found = error_rates(repeats=200)
    printed = found[found["error"] == "printed"]
    assert len(found) == len(DESIGNS) + len(printed)
    assert len(printed) == sum(one.m > 1 for one in DESIGNS)
    assert replications.MARGIN == 0.01
