"""The level of a record against the spectrum, and other bounds."""

import numpy as np
import pytest

from membership import metrics, privacy
from membership.book.studies.gmip import experiment, spectrum

N = 40


@pytest.fixture
def made():
    """Normal gradients along their eigenvectors, of variances that differ a hundredfold."""
    rng = np.random.default_rng(1)
    variance = np.geomspace(0.01, 1, 12)
    law, asked = (rng.standard_normal((size, 12)) * np.sqrt(variance) for size in (20_000, 500))
    clip = float(np.linalg.norm(np.concatenate([law, asked]), axis=1).max())
    return spectrum.Gradients(law, asked, np.square(asked), variance, clip)


def slow_level(delta, covariance, n, tau):
    published = covariance / n + tau**2 * np.eye(len(delta))
    return np.sqrt(delta @ np.linalg.solve(published, delta)) / n


def test_levels_are_those_of_the_matrix_in_any_coordinates(made):
    rng = np.random.default_rng(2)
    turn = np.linalg.qr(rng.standard_normal((12, 12)))[0]
    covariance = turn @ np.diag(made.variance) @ turn.T
    levels = spectrum.record_levels(made.square, made.variance, N, 0.07)
    for record in range(5):
        expected = slow_level(turn @ made.queries[record], covariance, N, 0.07)
        assert levels[record] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("tau", [0.0, 0.05, 0.3])
def test_no_record_has_more_than_the_other_bounds_give(tau, made):
    levels = spectrum.record_levels(made.square, made.variance, N, tau)
    k = made.square @ (1 / made.variance)
    n_e = privacy.effective_batch_size(N, tau, made.clip)
    assert made.variance.max() <= made.clip**2
    assert (levels**2 <= k / n_e * (1 + 1e-12)).all()
    if tau:
        assert (levels <= 2 * made.clip / (N * tau)).all()
        norm = np.linalg.norm(made.queries, axis=1)
        assert (levels <= norm / (N * tau) * (1 + 1e-12)).all()


@pytest.mark.parametrize("tau", [0.0, 0.1])
def test_the_likelihood_ratio_of_normal_means_reaches_the_level(tau, made):
    """Monte Carlo: 100,000 draws a hypothesis, so that a rate is off by at most 0.5 points."""
    rng = np.random.default_rng(5)
    delta, draws = made.queries[0], 100_000
    published = made.variance / N + tau**2
    mu = float(spectrum.record_levels(made.square[:1], made.variance, N, tau)[0])
    drawn = rng.standard_normal((2, draws, 12)) * np.sqrt(published)
    score = (drawn + np.array([0.0, 1.0])[:, None, None] * delta / N) @ (delta / published)
    truth = np.repeat([False, True], draws)
    for rate in (0.01, 0.1, 0.5):
        found = metrics.tpr_at_fpr(score.ravel(), truth, rate)
        assert found == pytest.approx(float(privacy.gaussian_tpr(rate, mu)), abs=5e-3)


@pytest.mark.parametrize("method", [spectrum.PAPER, spectrum.NORM, spectrum.SPECTRUM])
@pytest.mark.parametrize("share", [0.5, 0.99, 1.0])
def test_the_noise_found_gives_the_level(method, share, made):
    tau = spectrum.needed(made, N, 0.2, share, method)
    levels = spectrum.record_levels(made.square, made.variance, N, tau)
    at = float(np.quantile(levels, share))
    assert tau > 0
    if method == spectrum.SPECTRUM:
        assert at == pytest.approx(0.2, rel=1e-6)
    else:
        assert at <= 0.2 * 1.02


def test_a_level_that_no_noise_takes_needs_none(made):
    most = float(spectrum.record_levels(made.square, made.variance, N, 0.0).max())
    assert spectrum.needed(made, N, 1.01 * most, 1.0, spectrum.SPECTRUM) == 0
    assert spectrum.needed(made, N, 0.99 * most, 1.0, spectrum.SPECTRUM) > 0


def test_the_attack_on_normal_gradients_finds_what_is_promised(made):
    found, promised = spectrum.attacked(made, N, 0.05, np.random.default_rng(3), 150)
    np.testing.assert_allclose(found[:, 0], promised[:, 0], atol=5)
    assert (promised[1] > promised[0]).all()


def test_it_does_so_where_noise_is_as_large_as_the_spread(made):
    """The direction that the test looks along is another than without noise."""
    larger = made._replace(queries=8 * made.queries, square=64 * made.square)
    found, promised = spectrum.attacked(larger, N, 0.3, np.random.default_rng(4), 1500)
    np.testing.assert_allclose(found[:, 0], promised[:, 0], atol=2)
    assert ((promised[:, 0] > 70) & (promised[:, 0] < 95)).all()


@pytest.mark.slow
def test_gradients_are_turned_and_not_stretched(settings):
    task = experiment.task("digits", settings)
    wide, fitting = (spectrum.gradients(task, settings, 0, norm) for norm in spectrum.NORMS)
    assert fitting.clip < wide.clip
    np.testing.assert_allclose(wide.law.var(axis=0, ddof=1), wide.variance, rtol=1e-6)
    assert np.linalg.norm(fitting.queries, axis=1).max() <= 2 * fitting.clip
    assert np.linalg.norm(wide.law, axis=1).max() <= 2 * wide.clip


def test_batches_are_drawn_without_replacement():
    values = np.random.default_rng(6).standard_normal((700, 3))
    rng = np.random.default_rng(7)
    expected = [values[rng.choice(700, 30, replace=False)].sum(axis=0) for _ in range(501)]
    made = spectrum._batch_sums(values, 30, 501, np.random.default_rng(7))
    np.testing.assert_allclose(made, expected, rtol=1e-10, atol=1e-12)
