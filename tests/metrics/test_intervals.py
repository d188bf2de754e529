import numpy as np
import pytest
from scipy.stats import beta

from membership import metrics
from membership.errors import InputError


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


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"statistic": "f1"}, "statistic is 'f1'; give one of accuracy, auc"),
        ({"level": 1.0}, "level is 1.0"),
        ({"method": "wald"}, "method is 'wald'"),
        ({"method": "clopper-pearson"}, '"clopper-pearson" takes "tpr_at_fpr" or "accuracy"'),
        ({"score": [0.0, np.nan, 1.0]}, "score holds 1 NaN"),
        ({}, "at least two members and two non-members"),
    ],
)
def test_bad_input_is_refused(changes, message):
    request = {"statistic": "auc", "score": [0.0, 1.0, 2.0], "member": [0, 1, 1]} | changes
    with pytest.raises(InputError, match=message):
        metrics.interval(**request)
