"""Intervals against closed forms, and their coverage with a stated Monte Carlo error."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.stats import beta

from membership import metrics


@pytest.fixture
def overlapping():
    rng = np.random.default_rng(0)
    member = np.arange(300) < 100
    return rng.standard_normal(300) + member, member


def test_bootstrap_of_a_difference_of_means_is_nearly_normal(overlapping):
    score, member = overlapping

    def difference(score, member):
        return score[member].mean() - score[~member].mean()

    low, high = metrics.interval(difference, score, member, level=0.9, seed=1)
    spread = np.sqrt(score[member].var() / 100 + score[~member].var() / 200)
    # A 5% quantile of 1,000 draws has a standard error of 0.067 spreads; allow four.
    assert low == pytest.approx(difference(score, member) - 1.645 * spread, abs=0.27 * spread)
    assert high == pytest.approx(difference(score, member) + 1.645 * spread, abs=0.27 * spread)


def test_bootstrap_resamples_each_class_on_its_own(overlapping):
    sizes = []

    def count(score, member):
        sizes.append((member.sum(), (~member).sum()))
        return float(sizes[-1][0])

    assert metrics.interval(count, *overlapping) == (100.0, 100.0)
    assert set(sizes) == {(100, 200)}


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_bootstrap_is_scipys(overlapping, level):
    score, member = overlapping

    def difference(members, others):
        return members.mean() - others.mean()

    expected = stats.bootstrap(
        (score[member], score[~member]),
        difference,
        n_resamples=1_000,
        batch=1,
        vectorized=False,
        confidence_level=level,
        method="percentile",
        random_state=np.random.default_rng(2),
    ).confidence_interval
    found = metrics.interval(
        lambda s, m: difference(s[m], s[~m]), score, member, level=level, seed=2
    )
    assert found == pytest.approx(tuple(expected), rel=1e-14)


@pytest.mark.slow
def test_bootstrap_repeats_with_its_seed(overlapping):
    first = metrics.interval("auc", *overlapping, seed=5)
    assert first == metrics.interval(metrics.auc, *overlapping, seed=5)
    assert first != metrics.interval("auc", *overlapping, seed=6)
    assert first[0] < metrics.auc(*overlapping) < first[1]


@pytest.mark.slow
def test_a_higher_level_is_wider(overlapping):
    narrow = metrics.interval("auc", *overlapping, level=0.5)
    wide = metrics.interval("auc", *overlapping, level=0.99)
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


@pytest.mark.slow
def test_arguments_reach_the_statistic(overlapping):
    low, high = metrics.interval("tpr_at_fpr", *overlapping, fpr=0.1)
    assert low <= metrics.tpr_at_fpr(*overlapping, 0.1) <= high


def test_clopper_pearson_is_the_beta_interval(overlapping):
    score, member = overlapping
    caught = round(100 * metrics.tpr_at_fpr(score, member, 0.05))
    found = metrics.interval("tpr_at_fpr", score, member, method="clopper-pearson", fpr=0.05)
    expected = beta.ppf(0.025, caught, 101 - caught), beta.ppf(0.975, caught + 1, 100 - caught)
    assert found == pytest.approx(expected)
    right = np.sum((score >= 0.5) == member)
    found = metrics.interval("accuracy", score, member, method="clopper-pearson", threshold=0.5)
    assert found == pytest.approx(
        (beta.ppf(0.025, right, 301 - right), beta.ppf(0.975, right + 1, 300 - right))
    )


def test_clopper_pearson_of_a_perfect_score_is_not_a_point():
    member = np.arange(60) < 30
    low, high = metrics.interval(
        "tpr_at_fpr", member.astype(float), member, method="clopper-pearson", fpr=0.01
    )
    assert (low, high) == (pytest.approx(0.025 ** (1 / 30)), 1.0)


RUNS = 300


def draw(n: int, m: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return np.r_[rng.normal(1, 1, n), rng.normal(0, 1, m)], np.arange(n + m) < n


@pytest.mark.parametrize(("n", "m"), [(25, 25), (60, 200)])
def test_the_auc_interval_covers(n: int, m: int) -> None:
    truth = stats.norm.cdf(1 / np.sqrt(2))
    found = [metrics.auc_interval(*draw(n, m, s)) for s in range(RUNS)]
    # Three binomial standard errors of 300 runs: .038.
    assert np.mean([low <= truth <= high for low, high in found]) >= 0.95 - 0.038


@pytest.mark.parametrize(("n", "m", "fpr"), [(25, 25, 0.1), (60, 300, 0.01), (60, 300, 0.1)])
def test_the_tpr_interval_covers(n: int, m: int, fpr: float) -> None:
    truth = stats.norm.sf(stats.norm.isf(fpr) - 1)
    found = [metrics.tpr_interval(*draw(n, m, s), fpr) for s in range(RUNS)]
    assert np.mean([low <= truth <= high for low, high in found]) >= 0.95 - 0.038


@pytest.mark.slow
def test_the_tpr_interval_covers_no_more_than_it_says() -> None:
    truth = stats.norm.sf(stats.norm.isf(0.1) - 1)
    found = [metrics.tpr_interval(*draw(400, 400, s), 0.1) for s in range(RUNS)]
    assert 0.95 - 0.038 <= np.mean([low <= truth <= high for low, high in found]) <= 0.95 + 0.038


def test_the_tpr_interval_shrinks_to_the_truth() -> None:
    low, high = metrics.tpr_interval(*draw(40_000, 40_000, 0), 0.1)
    truth = stats.norm.sf(stats.norm.isf(0.1) - 1)
    assert low < truth < high
    assert high - low < 0.04


def test_delong_by_hand() -> None:
    score, member = draw(12, 9, 4)
    wins = score[member][:, None] > score[~member]
    error = np.sqrt(wins.mean(1).var(ddof=1) / 12 + wins.mean(0).var(ddof=1) / 9)
    area = wins.mean()
    low, high = metrics.auc_interval(score, member)
    centre, half = np.log(area / (1 - area)), 1.959964 * error / (area * (1 - area))
    assert np.log(low / (1 - low)) == pytest.approx(centre - half, rel=1e-5)
    assert np.log(high / (1 - high)) == pytest.approx(centre + half, rel=1e-5)


def test_a_perfect_attack_has_an_interval_too() -> None:
    low, high = metrics.auc_interval(np.arange(20), np.arange(20) >= 10)
    assert high == 1.0
    assert low == pytest.approx(0.025 ** (1 / 10))


def test_few_non_members_say_nothing_of_a_low_rate() -> None:
    low, high = metrics.tpr_interval(*draw(50, 20, 0), 0.001)
    assert low == 0.0
    assert high > 0.3


@given(st.integers(0, 50))
def test_only_the_order_of_scores_counts(seed: int) -> None:
    score, member = draw(30, 40, seed)
    assert metrics.auc_interval(score, member) == metrics.auc_interval(np.exp(score), member)
    assert metrics.tpr_interval(score, member, 0.1) == metrics.tpr_interval(score**3, member, 0.1)


def test_ties_count_against_the_attack_below_and_for_it_above() -> None:
    score, member = draw(300, 300, 1)
    tied = np.round(score)
    low, high = metrics.tpr_interval(tied, member, 0.1)
    assert low <= metrics.tpr_interval(score, member, 0.1)[0]
    assert high >= metrics.tpr_at_fpr(tied, member, 0.1)


@given(st.lists(st.floats(-10, 10), min_size=2, max_size=20))
def test_without_units_the_summary_is_students(values):
    found = metrics.summary(values)
    half = stats.t.ppf(0.975, len(values) - 1) * stats.sem(values)
    assert (found["low"], found["high"]) == pytest.approx(
        (np.mean(values) - half, np.mean(values) + half), abs=1e-9
    )
    assert found["value"] == pytest.approx(np.mean(values), abs=1e-12)
    assert (found["degrees_of_freedom"], found["n_repeats"]) == (len(values) - 1, len(values))


def test_ten_targets_that_are_five_units_are_five():
    rng = np.random.default_rng(0)
    values = np.repeat(rng.normal(size=5), 2) + np.tile([0.1, -0.1], 5)
    found = metrics.summary(values, np.arange(10) // 2)
    alone = metrics.summary(values.reshape(5, 2).mean(axis=1))
    assert found == pytest.approx(alone)
    assert found["degrees_of_freedom"] == 4


@pytest.mark.slow
def test_units_of_other_sizes_keep_the_mean_and_the_coverage():
    """Shared noise within a unit: 95% of the intervals hold the mean, within 3 standard errors."""
    rng, units, repeats = np.random.default_rng(1), np.array([0, 0, 1, 1, 2, 2, 3, 3, 4]), 4_000
    hits = 0
    for _ in range(repeats):
        values = rng.normal(size=5)[units] + 0.02 * rng.normal(size=9)
        found = metrics.summary(values, units)
        assert found["value"] == pytest.approx(values.mean())
        hits += found["low"] <= 0 <= found["high"]
    assert hits / repeats == pytest.approx(0.95, abs=3 * math.sqrt(0.95 * 0.05 / repeats) + 0.01)


def test_one_unit_has_no_interval():
    found = metrics.summary([0.4, 0.6], [0, 0])
    assert found["value"] == 0.5
    assert found["degrees_of_freedom"] == 0
    assert math.isnan(found["low"])
    assert math.isnan(found["standard_error"])


def test_the_interval_is_cut_and_the_standard_error_is_not():
    found = metrics.summary([0.0, 0.1, 0.0, 0.2], lowest=0, highest=1)
    assert found["low"] == 0
    assert found["standard_error"] == pytest.approx(np.std([0, 0.1, 0, 0.2], ddof=1) / 2)


def test_five_zeros_are_not_exact():
    found = metrics.summary([0.0] * 5, asked=500, scale=100, lowest=0)
    p = 0.5 / 501
    assert found["standard_error"] == pytest.approx(100 * math.sqrt(p * (1 - p) / 500))
    assert metrics.summary([1.0, 2.0], asked=500, scale=100)["standard_error"] < 0.51
    assert metrics.summary([0.0] * 5)["standard_error"] == 0


def test_an_exact_number_has_no_width():
    found = metrics.exactly(2.5)
    assert (found["low"], found["high"], found["standard_error"]) == (2.5, 2.5, 0.0)
    assert found["degrees_of_freedom"] == math.inf
