"""The rule by which a number is judged, on its own cases, and how often it errs (5% at most)."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from membership.book import published
from membership.book.published.verdicts import DESIGNS, MARGIN, Design, error_rates, shares
from membership.errors import InputError

INF = math.inf

# value, standard error, degrees, published; margin; spread, n_models; decimals; word, low, high
CASES = [
    ((1.5, 0, INF, 1.5), {"margin": 0.01}, "agrees", 0.0, 0.0),
    ((0.61, 0, INF, 0.60), {"margin": 0.01}, "agrees", 0.01, 0.01),
    ((2.8377, 0, INF, 2.84), {"margin": 0.011, "decimals": 2}, "agrees", -0.0080, 0.0034),
    ((2.8449, 0, INF, 2.84), {"margin": 0.011, "decimals": 2}, "agrees", -0.0008, 0.0106),
    ((2.8449, 0, INF, 2.84), {"margin": 0.01, "decimals": 2}, "compatible", -0.0008, 0.0106),
    ((2.853, 0, INF, 2.84), {"margin": 0.011, "decimals": 2}, "differs", 0.0073, 0.0187),
    ((0.606, 0.001, 9, 0.60), {"margin": 0.01}, "agrees", 0.0037, 0.0083),
    ((0.608, 0.002, 9, 0.60), {"margin": 0.01}, "differs", 0.0035, 0.0125),
    (
        (0.608, 0.002, 9, 0.60),
        {"margin": 0.01, "spread": 0.0063246, "n_models": 10},
        *("differs", 0.0021, 0.0139),
    ),
    (
        (0.6038, 0.002209, 9, 0.594),
        {"margin": 0.01, "spread": 0.019, "n_models": 10, "decimals": 3},
        *("compatible", -0.0042, 0.0238),
    ),
    ((53, 0.5, 4, 50), {"margin": 1, "decimals": 1}, "differs", 1.6131, 4.3869),
    ((53, 1.2247449, 4, 50), {"margin": 1, "decimals": 1}, "compatible", -0.3999, 6.3999),
]


@pytest.mark.parametrize(("numbers", "known", "word", "low", "high"), CASES)
def test_the_rules_own_cases(numbers, known, word, low, high):
    found = published.verdict(*numbers, **known)
    assert found.word == word
    assert found.difference == pytest.approx(numbers[0] - numbers[3])
    assert (found.low, found.high) == pytest.approx((low, high), abs=6e-5)


@pytest.mark.parametrize(
    "known",
    [
        {"spread": 0.01, "n_models": None},
        {"spread": None, "n_models": 10},
        {"spread": 0.01, "n_models": 1},
        {"spread": -0.01, "n_models": 10},
        {"spread": math.inf, "n_models": 10},
        {"margin": -0.01},
        {"margin": math.nan},
        {"decimals": math.nan},
    ],
)
def test_a_published_error_or_margin_that_says_nothing_is_refused(known):
    with pytest.raises(InputError, match="|".join(known)):
        published.verdict(0.6, 0.01, 9, 0.6, **{"margin": 0.01, **known})


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_numbers_must_be_finite_and_degrees_may_be_infinite(place, bad):
    numbers = [0.6, 0.01, 9.0, 0.6]
    numbers[place] = bad
    if place == 2 and bad == math.inf:
        assert published.verdict(*numbers, margin=0.1).word == "agrees"
        return
    with pytest.raises(InputError, match=r"finite|degrees"):
        published.verdict(*numbers, margin=0.1)


@pytest.mark.parametrize(("error", "degrees"), [(-0.1, 9), (0.1, 0), (0.1, -1)])
def test_an_error_below_zero_or_no_degrees_are_refused(error, degrees):
    with pytest.raises(InputError, match=r"at least 0|above 0"):
        published.verdict(0.6, error, degrees, 0.6, margin=0.1)


SIZES = st.floats(0, 10)


@given(st.floats(-100, 100), st.floats(-100, 100), SIZES, st.floats(1, 50), SIZES)
def test_the_word_says_where_the_interval_lies(value, printed, error, degrees, margin):
    found = published.verdict(value, error, degrees, printed, margin=margin)
    slack = 1e-6
    if -margin + slack < found.low and found.high < margin - slack:
        assert found.word == "agrees"
    elif found.low > slack or found.high < -slack:
        assert found.word in ("differs", "agrees")
        if found.high > margin + slack or found.low < -margin - slack:
            assert found.word == "differs"
    elif found.low < -slack and found.high > slack:
        assert found.word in ("compatible", "agrees")


@given(st.floats(-1, 1), st.floats(0, 0.1), st.integers(2, 30), st.floats(0.001, 0.1))
def test_no_published_error_turns_a_difference_into_its_opposite(value, error, n, spread):
    """More uncertainty on the paper's side never makes a number differ that did not."""
    bare = published.verdict(value, error, 9, 0.0, margin=0.01)
    wide = published.verdict(value, error, 9, 0.0, margin=0.01, spread=spread, n_models=n)
    if bare.word == "compatible":
        # Welch's degrees may rise, so that the interval can shrink a little, but not by more.
        assert wide.high - wide.low > 0.9 * (bare.high - bare.low)


@pytest.mark.parametrize("decimals", [0, 1, 2, 3, -1])
def test_a_correctly_rounded_exact_number_always_agrees_with_the_least_margin(decimals):
    unit = 10.0**-decimals
    for value in np.linspace(-0.5, 0.5, 101) * unit:
        found = published.verdict(value, 0, INF, 0.0, margin=1.1 * unit, decimals=decimals)
        assert found.word == "agrees"


def test_an_imputed_error_is_that_of_both_means():
    rng = np.random.default_rng(0)
    ours, theirs = rng.normal(size=(40_000, 5)), rng.normal(size=(40_000, 3))
    apart = (ours.mean(axis=1) - theirs.mean(axis=1)).std()
    known = published.imputed(1 / math.sqrt(5), 5, 3)
    assert apart == pytest.approx(known, rel=4 / math.sqrt(2 * 40_000))
    assert published.imputed(0.5, 5) == pytest.approx(1.2247449)
    assert published.imputed(0.1, 5, 10, ratio=2.0) == pytest.approx(0.1 * math.sqrt(3))


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
    assert MARGIN == 0.01
