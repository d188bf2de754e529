import math
import statistics

import numpy as np
import pytest
import torch
from scipy.stats import norm

from membership import attacks, metrics
from membership.errors import InputError

SETTINGS = [
    (variance, centre) for variance in ("per-record", "global") for centre in ("mean", "median")
]


@pytest.fixture
def signals():
    """Target, references and membership with 2 to 5 IN models of 7 a record."""
    rng = np.random.default_rng(0)
    spread = rng.uniform(0.5, 3, 9)
    reference = spread * rng.standard_normal((7, 9)) + rng.normal(0, 5, 9)
    member = np.array([rng.permutation(7) < 2 + i % 4 for i in range(9)]).T
    reference += member
    return reference.mean(axis=0) + rng.standard_normal(9), reference, member


def log_density(x, mean, std):
    return -math.log(std * math.sqrt(2 * math.pi)) - ((x - mean) / std) ** 2 / 2


def slow_moments(reference, chosen, variance, centre):
    """Mean and standard deviation of each record's chosen models, with the statistics module."""
    own = [
        [x for x, yes in zip(column, flags, strict=True) if yes]
        for column, flags in zip(reference.T.tolist(), chosen.T, strict=True)
    ]
    middle = [getattr(statistics, centre)(values) for values in own]
    if variance == "per-record":
        return middle, [statistics.stdev(values) for values in own]
    squares = sum((x - statistics.mean(values)) ** 2 for values in own for x in values)
    pooled = math.sqrt(squares / sum(len(values) - 1 for values in own))
    return middle, [pooled] * len(own)


@pytest.mark.parametrize(("variance", "centre"), SETTINGS)
def test_online_is_the_log_likelihood_ratio(signals, variance, centre):
    phi, reference, member = signals
    inside = slow_moments(reference, member, variance, centre)
    outside = slow_moments(reference, ~member, variance, centre)
    expected = [
        log_density(x, inside[0][i], inside[1][i]) - log_density(x, outside[0][i], outside[1][i])
        for i, x in enumerate(phi)
    ]
    found = attacks.lira(
        torch.tensor(phi),
        torch.tensor(reference),
        torch.tensor(member),
        variance=variance,
        centre=centre,
    )
    assert found.dtype == np.float64
    assert found == pytest.approx(np.array(expected), rel=1e-11, abs=1e-11)


@pytest.mark.parametrize(("variance", "centre"), SETTINGS)
def test_offline_one_sided_ranks_as_the_tail_probability(signals, variance, centre):
    phi, reference, member = signals
    mean, std = slow_moments(reference, ~member, variance, centre)
    expected = np.array([(x - mean[i]) / std[i] for i, x in enumerate(phi)])
    found = attacks.lira(phi, reference, member, "offline", variance, centre=centre)
    assert found == pytest.approx(expected, rel=1e-11)
    tail = 1 - norm.sf(phi, mean, std)
    np.testing.assert_array_equal(np.argsort(found), np.argsort(tail))


def test_offline_two_sided_is_minus_the_log_density(signals):
    phi, reference, member = signals
    mean, std = slow_moments(reference, ~member, "per-record", "mean")
    expected = [-log_density(x, mean[i], std[i]) for i, x in enumerate(phi)]
    found = attacks.lira(phi, reference, member, "offline", sided="two")
    assert found == pytest.approx(np.array(expected), rel=1e-11)


def test_offline_does_not_saturate():
    reference = np.array([[-1.0, -1.0], [1.0, 1.0]])
    low, high = attacks.lira([100.0, 101.0], reference, mode="offline")
    assert low < high
    assert norm.cdf(low) == norm.cdf(high) == 1


def test_models_that_agree_exactly_take_the_global_variance(signals):
    phi, reference, member = signals
    reference[~member[:, 2], 2] = 0.1
    everywhere = attacks.lira(phi, reference, member, "offline", "global")
    found = attacks.lira(phi, reference, member, "offline")
    assert found[2] == pytest.approx(everywhere[2])
    assert np.isfinite(attacks.lira(phi, reference, member)).all()
    # Three tenths have a mean that is not one tenth: rounding is no spread.
    reference = np.array([[0.1, 1.0], [0.1, 2.0], [0.1, 4.0]])
    assert abs(attacks.lira([0.2, 2.0], reference, mode="offline")[0]) < 1


def test_online_reaches_the_neyman_pearson_test_with_many_models():
    rng = np.random.default_rng(0)
    inside = np.array([rng.permutation(128) < 64 for _ in range(6000)]).T
    signal = rng.normal(0, 5, 6000) + inside + rng.standard_normal((128, 6000))
    member = inside[0]
    best = norm.cdf(1 / np.sqrt(2))
    # Hanley and McNeil's standard error of an AUC, members and non-members half each.
    q1, q2 = best / (2 - best), 2 * best**2 / (1 + best)
    n = member.sum()
    variance = (best * (1 - best) + (n - 1) * (q1 + q2 - 2 * best**2)) / n**2
    found = metrics.auc(attacks.lira(signal[0], signal[1:], inside[1:], variance="global"), member)
    # Estimated means add a variance of about 1 / 32 to the unit one.
    estimated = norm.cdf(1 / np.sqrt(2 * (1 + 1 / 32)))
    assert estimated - 4 * np.sqrt(variance) < found < best + 4 * np.sqrt(variance)


def test_records_with_too_few_models_are_counted(signals):
    phi, reference, member = signals
    member[:, 4], member[:, 6] = np.arange(7) == 3, False
    with pytest.raises(
        InputError, match="2 of 9 records have fewer than 2 IN models, one of them 0"
    ):
        attacks.lira(phi, reference, member)
    with pytest.raises(
        InputError, match="1 of 9 records have fewer than 1 IN models, one of them 0"
    ):
        attacks.lira(phi, reference, member, variance="global")


def gaussian_game(models, spread_in, seed=0, records=6000):
    """Signals of a known shift and spread, and the exact log-likelihood ratio."""
    rng = np.random.default_rng(seed)
    inside = np.array([rng.permutation(models + 1) < (models + 1) // 2 for _ in range(records)]).T
    easy = rng.normal(0, 5, records)
    noise = rng.standard_normal((models + 1, records))
    phi = easy + np.where(inside, 1 + spread_in * noise, noise)
    exact = norm.logpdf(phi[0], easy + 1, spread_in) - norm.logpdf(phi[0], easy, 1)
    return phi[0], phi[1:], inside[1:], inside[0], exact


def test_online_with_unequal_spreads_approaches_the_exact_ratio():
    phi, reference, inside, member, exact = gaussian_game(255, 0.4, records=2000)
    score = attacks.lira(phi, reference, inside)
    best = metrics.auc(exact, member)
    assert abs(metrics.auc(score, member) - best) < 0.01
    few = attacks.lira(phi, reference[:24], inside[:24])
    assert metrics.auc(few, member) < metrics.auc(score, member)
    assert metrics.auc(attacks.lira(phi, reference, inside, "offline"), member) < best - 0.02


def test_two_sided_is_chance_where_membership_decides_the_side():
    rng = np.random.default_rng(2)
    member = np.arange(6000) % 2 == 0
    easy = rng.normal(0, 5, 6000)
    reference = easy + rng.standard_normal((16, 6000))
    phi = easy + rng.standard_normal(6000) + np.where(member, 1, -1)
    two = attacks.lira(phi, reference, mode="offline", sided="two")
    # The standard error of the AUC of equal distributions.
    error = np.sqrt((6000 + 1) / (12 * 3000 * 3000))
    assert abs(metrics.auc(two, member) - 0.5) < 4 * error
    assert metrics.auc(attacks.lira(phi, reference, mode="offline"), member) > 0.9


def test_a_target_among_its_own_references_gives_itself_away():
    # Signals that do not depend on membership at all: whatever is found is an artefact.
    rng = np.random.default_rng(3)
    reference = rng.standard_normal((16, 4000))
    inside = np.array([rng.permutation(16) < 8 for _ in range(4000)]).T
    error = np.sqrt(4001 / (12 * 2000 * 2000))
    clean = attacks.lira(reference[0], reference[1:], inside[1:], variance="global")
    assert abs(metrics.auc(clean, inside[0]) - 0.5) < 4 * error
    leaking = attacks.lira(reference[0], reference, inside, variance="global")
    assert metrics.auc(leaking, inside[0]) > 0.6
