"""Composition against closed forms, quadrature and simulation."""

import math

import mpmath
import numpy as np
import pytest
from scipy.special import ndtr

from membership import privacy
from membership.privacy import numerical

ALPHA = np.array([0.001, 0.01, 0.1, 0.5, 0.9])


def test_without_subsampling_it_encloses_the_gaussian_curve():
    found = privacy.numerical_tradeoff(ALPHA, 0.4, 100, 100, 9, grid=16)
    exact = privacy.gaussian_tradeoff(ALPHA, 1.2)
    assert (found.low <= exact).all()
    assert (exact <= found.high).all()
    assert (found.high - found.low).max() < 5e-3


def test_one_subsampled_step_is_the_closed_form():
    # FPR(z) = Phi(-z) and TPR(z) = (1 - p) Phi(-z) + p Phi(mu - z) for the same observation z.
    p, mu = 0.3, 1.5
    exact = 1 - ((1 - p) * ALPHA + p * privacy.gaussian_tpr(ALPHA, mu))
    found = privacy.numerical_tradeoff(ALPHA, mu, 30, 100, 1, grid=18)
    assert (found.low <= exact + 1e-9).all()
    assert (exact <= found.high + 1e-9).all()
    assert (found.high - found.low).max() < 1e-3


def test_a_finer_grid_is_a_tighter_enclosure_around_the_same_curve():
    coarse, fine = (
        privacy.numerical_tradeoff(ALPHA, 1.0, 50, 1000, 200, grid=grid) for grid in (16, 19)
    )
    assert (coarse.low <= fine.low + 1e-9).all()
    assert (fine.high <= coarse.high + 1e-9).all()
    assert (fine.high - fine.low < (coarse.high - coarse.low) / 4).all()


def test_it_encloses_a_simulation():
    p, mu, steps, runs = 0.05, 1.0, 100, 100_000
    rng = np.random.default_rng(0)

    def ratios(member):
        total = np.zeros(runs)
        for _ in range(steps):
            z = rng.standard_normal(runs)
            if member:
                z += mu * (rng.random(runs) < p)
            total += np.logaddexp(math.log1p(-p), math.log(p) + mu * z - mu**2 / 2)
        return total

    threshold = np.quantile(ratios(False), 1 - ALPHA)
    fnr = (ratios(True)[:, None] <= threshold).mean(axis=0)
    found = privacy.numerical_tradeoff(ALPHA, mu, 50, 1000, steps, grid=19)
    # Two standard deviations of the quantile and of the rate, each below 0.0032 in FNR.
    assert (found.low - 0.01 <= fnr).all()
    assert (fnr <= found.high + 0.01).all()


@pytest.mark.slow
def test_the_limit_theorem_holds_in_the_limit():
    mu = privacy.subsampled_mu(0.3, 10, 10_000, 100_000, order="fixed")
    found = privacy.numerical_tradeoff(ALPHA, 0.3, 10, 10_000, 100_000, grid=22)
    limit = privacy.gaussian_tradeoff(ALPHA, mu)
    np.testing.assert_allclose(found.low, limit, atol=1e-3)
    assert (limit <= found.high).all()


def test_the_limit_theorem_is_no_bound_for_few_steps():
    n, n_records, d, steps = 100, 10_000, 400, 10
    step = privacy.mip_mu_step(d, n, d)
    found = privacy.numerical_tradeoff(0.001, step, n, n_records, steps)
    best, attained = (100 * (1 - float(fnr)) for fnr in found)
    assert attained <= best
    assert [attained, best] == pytest.approx([0.53, 0.53], abs=0.005)
    for order, limit in (("either", 0.28), ("fixed", 0.21)):
        mu = privacy.subsampled_mu(step, n, n_records, steps, order=order)
        assert 100 * privacy.gaussian_tpr(0.001, mu) == pytest.approx(limit, abs=0.005)


def hockey_stick(epsilon, mu, p):
    """delta(epsilon) of one step, by its closed form, in whichever order is larger."""

    def drawn(e):  # the mixture against N(0, 1)
        inside = np.exp(e) - 1 + p
        z = np.log(np.maximum(inside, 1e-300) / p) / mu + mu / 2
        found = (1 - p) * ndtr(-z) + p * ndtr(mu - z) - np.exp(e) * ndtr(-z)
        return np.where(inside > 0, found, 1 - np.exp(e))

    # Of the other order by the symmetry delta(-e) = 1 - exp(-e) + exp(-e) delta'(e).
    return np.maximum(drawn(epsilon), 1 - np.exp(epsilon) + np.exp(epsilon) * drawn(-epsilon))


@pytest.mark.parametrize(("mu", "p"), [(0.8, 0.1), (2.0, 0.3), (1.5, 0.01)])
def test_fixed_batches_are_composed_as_the_larger_of_two_orders(mu, p):
    """Two steps by quadrature: the second's delta, averaged over the first's loss."""
    z = np.linspace(mu / 2, mu + 12, 200_001)
    loss = np.logaddexp(np.log1p(-p), np.log(p) + mu * z - mu**2 / 2)
    null = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    rest = 1 - np.trapezoid(null * (1 + np.exp(loss)), z)
    for steps in (1, 2):
        losses = numerical.compose([(numerical.Pair("either", mu, p), steps)], 16)
        for delta in (1e-3, 1e-5):
            epsilon = numerical.epsilon(losses, delta)
            found = hockey_stick(epsilon, mu, p)
            if steps == 2:
                up = np.exp(loss) * hockey_stick(epsilon - loss, mu, p)
                down = hockey_stick(epsilon + loss, mu, p)
                found = rest * found + np.trapezoid(null * (up + down), z)
            assert found == pytest.approx(delta, rel=1e-4)


@pytest.mark.parametrize("kind", ["joined", "left", "either", "exchanged"])
def test_without_subsampling_every_pair_is_the_gaussian_one(kind):
    for mu, steps in ((0.1, 1), (2.0, 1), (1.0, 9), (14.0, 1)):
        step = mu / 2 if kind == "exchanged" else mu
        losses = numerical.compose([(numerical.Pair(kind, step, 1.0), steps)], 16)
        total = mu * math.sqrt(steps)
        epsilon = numerical.epsilon(losses, 1e-5)
        delta = ndtr(total / 2 - epsilon / total) - math.exp(epsilon) * ndtr(
            -total / 2 - epsilon / total
        )
        assert delta == pytest.approx(1e-5, rel=1e-4)
        found = numerical.tpr(losses, ALPHA)
        np.testing.assert_allclose(found, privacy.gaussian_tpr(ALPHA, total), rtol=1e-6)


def test_ends_of_the_curve():
    found = privacy.numerical_tradeoff([0.0, 1.0], 1.0, 50, 1000, 20, grid=14)
    np.testing.assert_array_equal(found.low, [1.0, 0.0])
    np.testing.assert_array_equal(found.high, [1.0, 0.0])


def exactly(kind, epsilon, mu, p):
    """delta(epsilon) of one step in 130 digits."""
    e, mu, p = map(mpmath.mpf, (epsilon, mu, p))

    def normal(x):
        return mpmath.erfc(-x / mpmath.sqrt(2)) / 2

    if kind == "exchanged":
        half, drawn = (1 - p) * mpmath.expm1(e) / 2, p * mpmath.exp(-(mu**2) / 2)
        z = mpmath.log((half + mpmath.sqrt(half**2 + drawn**2 * mpmath.exp(e))) / drawn) / mu
        other = (1 - p) * normal(-z) + p * normal(-mu - z)
    else:
        z = mpmath.log((mpmath.exp(e) - 1 + p) / p) / mu + mu / 2
        other = normal(-z)
    return (1 - p) * normal(-z) + p * normal(mu - z) - mpmath.exp(e) * other


@pytest.mark.parametrize("kind", ["joined", "either", "exchanged"])
@pytest.mark.parametrize(
    ("mu", "p"), [(0.9, 0.004), (2.0, 0.3), (0.2, 0.01), (1.0, 0.9), (8, 1e-3)]
)
def test_small_deltas_keep_their_digits(kind, mu, p):
    """One step against its closed form: epsilon is never too small, and hardly too large."""
    pair = numerical.Pair(kind, mu, p)
    with mpmath.workdps(130):
        for delta in (1e-8, 1e-12, 1e-30, 1e-100):
            losses = numerical.compose([(pair, 1)], 16, tail=delta)
            found = numerical.epsilon(losses, delta)
            assert exactly(kind, found, mu, p) <= delta
            assert exactly(kind, found * (1 - 2e-4), mu, p) >= delta


@pytest.mark.parametrize("delta", [1e-8, 1e-12, 1e-30])
@pytest.mark.parametrize("kind", ["joined", "left", "either", "exchanged"])
def test_small_deltas_of_many_steps_are_the_gaussian_ones(kind, delta):
    step = 0.05 if kind == "exchanged" else 0.1
    losses = numerical.compose([(numerical.Pair(kind, step, 1.0), 400)], 16, tail=delta)
    expected = privacy.gaussian_epsilon(2.0, delta)
    assert numerical.epsilon(losses, delta) == pytest.approx(expected, rel=1e-4)


def test_what_only_removal_shows_ends_at_pure_privacy():
    """Added, a record makes no output less likely than 1 - p times: epsilon is at most that."""
    most = -math.log1p(-0.3)
    losses = numerical.compose([(numerical.Pair("left", 2.0, 0.3), 1)], 16, tail=1e-50)
    assert most <= numerical.epsilon(losses, 1e-50) <= 1.01 * most


@pytest.mark.parametrize("delta", [1e-9, 1e-11])
def test_what_a_small_delta_leaves_out_does_not_come_round(delta):
    """Rare large losses, beyond those that count, were folded onto them: epsilon 2.41 for 2.01."""
    pair = numerical.Pair("joined", 1 / 0.9, 0.004)
    alone, tilted = (numerical.compose([(pair, 1000)], 18, tail=tail) for tail in (None, delta))
    # Untilted, a share of 1e-12 counts as told in full.
    expected = numerical.epsilon(alone, delta + (alone.infinite - tilted.infinite))
    assert numerical.epsilon(tilted, delta) == pytest.approx(expected, rel=2e-3)
