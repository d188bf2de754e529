"""What else a promise says: delta at an epsilon, AUC, advantage, posterior, all records, a line."""

import math

import mpmath
import numpy as np
import pytest

import membership
from membership import privacy
from membership.errors import InputError

LOGGED = {"rate": 0.004, "steps": 1000, "sigma": 0.9}
SCHEMES = [("poisson", "add-remove"), ("poisson", "replace-one"), ("fixed", "replace-one")]


def exact_delta(mu, epsilon):
    """delta of N(mu, 1) against N(0, 1), in 60 digits."""
    with mpmath.workdps(60):
        mu, e = mpmath.mpf(mu), mpmath.mpf(epsilon)
        return mpmath.ncdf(mu / 2 - e / mu) - mpmath.exp(e) * mpmath.ncdf(-mu / 2 - e / mu)


@pytest.mark.parametrize("mu", [0.05, 0.5, 1.0, 5.0, 30.0])
@pytest.mark.parametrize("epsilon", [0.0, 1e-3, 1.0, 10.0, 500.0])
def test_the_gaussian_delta_has_its_digits(mu, epsilon):
    found, exact = privacy.gaussian_delta(mu, epsilon), exact_delta(mu, epsilon)
    # Below the smallest of float64 it is 0; the logarithms of what cancels have 16 digits.
    assert found == pytest.approx(float(exact), rel=1e-8, abs=1e-300)
    if 1e-100 < found < 1:
        assert privacy.gaussian_epsilon(mu, found) == pytest.approx(epsilon, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(("sampling", "adjacency"), SCHEMES)
@pytest.mark.parametrize("d", [None, 65])
def test_epsilon_and_delta_go_back_and_forth(sampling, adjacency, d):
    found = privacy.assess(
        40, 10_000, 4, d, sigma=0.9, sampling=sampling, adjacency=adjacency, delta=1e-6
    )
    for level in (found.differential, found.membership):
        for delta in (0.01, 1e-7, 1e-12, 1e-60):
            epsilon = level.epsilon_at(delta)
            assert level.delta_at(epsilon) == pytest.approx(delta, rel=0.05)
    assert found.differential.epsilon_at(1e-6) == found.epsilon


@pytest.mark.parametrize(("sampling", "adjacency"), SCHEMES)
def test_auc_and_advantage_are_the_curves(sampling, adjacency):
    level = privacy.assess(
        40, 4000, 4, sigma=0.9, sampling=sampling, adjacency=adjacency
    ).differential
    rates = np.linspace(0.0, 1.0, 20_001)
    tpr = level.tpr_at(rates)
    assert level.advantage == pytest.approx((tpr - rates).max(), abs=1e-6)
    assert level.advantage == level.delta_at(0.0)
    # In the swapped order a test has the mirrored curve and the same AUC; that of both is larger.
    each = [np.trapezoid(one.tpr(rates), rates) for one in level.curve.promises[0]]
    assert each == pytest.approx([level.auc] * len(each), abs=1e-5)
    assert np.trapezoid(tpr, rates) >= level.auc - 1e-6


def test_membership_has_the_better_of_both():
    found = privacy.assess(
        400, 48_000, 10, 650, sigma=1.0, sampling="fixed", adjacency="replace-one"
    )
    own, implied = found.membership, found.differential
    assert own.auc < implied.auc
    assert own.advantage < implied.advantage
    assert own.epsilon_at(1e-5) < implied.epsilon_at(1e-5) == found.epsilon


def test_without_noise_nothing_is_promised():
    level = privacy.assess(400, 48_000, 10).differential
    assert (level.auc, level.advantage, level.delta_at(3.0)) == (1.0, 1.0, 1.0)
    assert level.posterior(0.01) == pytest.approx([1 / (1 + 99 * a) for a in privacy.RATES])


@pytest.mark.parametrize("prior", [1e-6, 0.01, 0.5, 0.99])
def test_a_posterior_is_bayes_rule(prior):
    level = privacy.assess(**LOGGED).differential
    expected = [
        prior * tpr / (prior * tpr + (1 - prior) * fpr)
        for tpr, fpr in zip(level.tpr, privacy.RATES, strict=True)
    ]
    assert level.posterior(prior) == pytest.approx(expected, rel=1e-12)


def test_batches_of_one_and_a_billion_records():
    found = privacy.assess(1, 1e9, 1e-3, sigma=0.7, delta=1e-12)
    assert found.steps == 10**6
    assert 0 < found.epsilon < 8
    assert found.differential.delta_at(found.epsilon) == pytest.approx(1e-12, rel=0.05)


def test_several_records_are_attacked_together():
    run = {"n": 100, "n_records": 2000, "epochs": 3, "d": 40}
    each = [5.0, 40.0, 200.0]
    found = privacy.assess(**run, k=each)
    alone = [privacy.assess(**run, k=k) for k in each]
    steps = [one.membership.step for one in alone]
    fnr = privacy.composed_mixture_tradeoff(privacy.RATES, steps, 100, 2000, found.steps)
    assert found.mixture == pytest.approx(1 - fnr, rel=1e-9)
    assert found.membership == alone[-1].membership
    assert alone[0].mixture == ()
    for one, low, high in zip(found.mixture, *(a.membership.tpr for a in alone[::2]), strict=True):
        assert low < one < high


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (
            {"rate": 0.01, "steps": 200, "sigma": 2.0},
            "one record added or removed; Poisson sampling, rate 0.01, 200 steps, noise "
            "multiplier 2; numerical composition of privacy losses",
        ),
        (
            {"n": 10, "n_records": 10, "epochs": 4, "sigma": 5.0, "group": 3},
            "3 records added or removed; Poisson sampling, rate 1, 4 steps, noise multiplier 5; "
            "Gaussian differential privacy in closed form",
        ),
        (
            {"history": [LOGGED, LOGGED | {"sigma": 1.25}], "adjacency": "replace-one"},
            "one record replaced; Poisson sampling, rate 0.004, 1000 steps, noise multiplier 0.9; "
            "then rate 0.004, 1000 steps, noise multiplier 1.25; numerical composition of privacy "
            "losses",
        ),
    ],
)
def test_a_line_states_what_a_reader_needs(given, line):
    found = privacy.assess(**given)
    stated = f"-differential privacy, {line} (membership {membership.__version__})"
    assert found.statement.endswith(stated)
    epsilon, delta = found.statement.removesuffix(stated).strip("()").split(", ")
    assert found.epsilon <= float(epsilon) < found.epsilon + 0.001
    assert float(delta) == found.delta == 1e-5


def test_no_promise_is_stated_as_none():
    assert privacy.assess(10, 100, 1).statement.startswith("(infinite, 1e-05)-")


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda level: level.delta_at(-1.0), "epsilon = -1.0: give 0 to 600"),
        (lambda level: level.delta_at(math.nan), "epsilon = nan"),
        (lambda level: level.epsilon_at(0.0), "delta = 0.0: give"),
        (lambda level: level.posterior(0.0), "prior = 0.0: give a share of members above 0"),
        (lambda level: level.posterior(1.0), "prior = 1.0"),
        (lambda level: level.tpr_at(1.5), "rates = 1.5: give numbers in"),
    ],
)
def test_what_cannot_be_asked_is_refused(ask, said):
    level = privacy.assess(10, 10, 1, sigma=1.0).differential
    with pytest.raises(InputError, match=said):
        ask(level)
