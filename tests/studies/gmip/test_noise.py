"""The best attack under noise; the level of a record against the spectrum, and other bounds."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from membership import evidence, metrics, privacy
from membership.attacks.glir import glir_log_ratio
from membership.exhibits import declared
from membership.studies.gmip import drawings, experiment, noise
from membership.studies.gmip import evidence as gathering
from membership.studies.gmip.settings import Settings

SETTINGS = SimpleNamespace(seed=0, simulated_repeats=3, simulated_records=2000)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(noise, "SIZES", {"CIFAR-10": (130, 100)})
    monkeypatch.setattr(noise, "CLIPPED", ((65, 50, 0.5), (2, 20, 0.1)))


def test_the_log_ratio_is_that_of_two_normal_densities():
    rng = np.random.default_rng(3)
    n, tau, variance = 6, 0.3, np.array([2.0, 0.5, 1.0])
    mean, x = rng.standard_normal(3), rng.standard_normal((4, 3))
    inside, out = variance * (n - 1) / n**2 + tau**2, variance / n + tau**2
    expected = [
        stats.multivariate_normal.logpdf(mean, each / n, np.diag(inside))
        - stats.multivariate_normal.logpdf(mean, np.zeros(3), np.diag(out))
        for each in x
    ]
    found = noise.log_ratio(mean, x, variance, n, tau)
    np.testing.assert_allclose(found - found[0], np.array(expected) - expected[0], rtol=1e-10)


def test_noise_that_halves_the_level_takes_the_auc_of_half_the_level():
    tau = noise.halving_noise(130, 100, 1.0)
    whole, half = (privacy.mip_mu_step(130, 100, 130, each, 1.0) for each in (0.0, tau))
    assert half == pytest.approx(whole / 2)
    table = noise.under_noise([], SETTINGS).set_index(["case", "quantity"])["value"]
    at = table[noise.HALVED]
    assert at[noise.WITHOUT] == pytest.approx(100 * privacy.gaussian_auc(whole), abs=1.5)
    assert at[noise.WITH] == pytest.approx(100 * privacy.gaussian_auc(half), abs=1.5)


def test_clipped_gradients_with_noise_for_gdp_stay_below_its_curve():
    table = noise.under_noise([], SETTINGS)
    excess = table[table["quantity"] == noise.EXCESS]
    assert len(excess) == len(noise.GDP_LEVELS) * len(noise.CLIPPED)
    # The greatest of ten estimated rates, where the curve itself is near 1.
    assert excess["value"].max() < 0.5


def test_noise_free_ratios_rank_as_the_attack_on_distances():
    rng = np.random.default_rng(5)
    x, n = rng.standard_normal((40, 6)), 20
    mean = x[:n].mean(axis=0)
    distance, k = np.square(x - mean).sum(axis=1), np.square(x).sum(axis=1)
    expected = glir_log_ratio(distance, k, n, 6)
    found = noise.log_ratio(mean, x, np.ones(6), n, 0.0)
    np.testing.assert_allclose(found - found[0], expected - expected[0], rtol=1e-9, atol=1e-12)


def test_noise_of_half_the_level_hides_records(tmp_path):
    made = gathering.sources(Settings.from_values({"profile": "tiny"}))["noised-digits"]()
    one = evidence.load(evidence.save(tmp_path / "noised.evidence", made))
    table = noise.under_noise([one], SETTINGS).set_index(["data", "quantity"])["value"]
    assert table["digits", noise.WITHOUT] > 60
    assert 45 < table["digits", noise.WITH] < 55


N = 40


@pytest.fixture
def made():
    """Normal gradients along their eigenvectors, of variances that differ a hundredfold."""
    rng = np.random.default_rng(1)
    variance = np.geomspace(0.01, 1, 12)
    law, asked = (rng.standard_normal((size, 12)) * np.sqrt(variance) for size in (20_000, 500))
    clip = float(np.linalg.norm(np.concatenate([law, asked]), axis=1).max())
    return noise.Gradients(law, asked, np.square(asked), variance, clip)


def slow_level(delta, covariance, n, tau):
    published = covariance / n + tau**2 * np.eye(len(delta))
    return np.sqrt(delta @ np.linalg.solve(published, delta)) / n


def test_levels_are_those_of_the_matrix_in_any_coordinates(made):
    rng = np.random.default_rng(2)
    turn = np.linalg.qr(rng.standard_normal((12, 12)))[0]
    covariance = turn @ np.diag(made.variance) @ turn.T
    levels = noise.record_levels(made.square, made.variance, N, 0.07)
    for record in range(5):
        expected = slow_level(turn @ made.queries[record], covariance, N, 0.07)
        assert levels[record] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("tau", [0.0, 0.05, 0.3])
def test_no_record_has_more_than_the_other_bounds_give(tau, made):
    levels = noise.record_levels(made.square, made.variance, N, tau)
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
    mu = float(noise.record_levels(made.square[:1], made.variance, N, tau)[0])
    drawn = rng.standard_normal((2, draws, 12)) * np.sqrt(published)
    score = (drawn + np.array([0.0, 1.0])[:, None, None] * delta / N) @ (delta / published)
    truth = np.repeat([False, True], draws)
    for rate in (0.01, 0.1, 0.5):
        found = metrics.tpr_at_fpr(score.ravel(), truth, rate)
        assert found == pytest.approx(float(privacy.gaussian_tpr(rate, mu)), abs=5e-3)


@pytest.mark.parametrize("method", [noise.PAPER, noise.NORM, noise.SPECTRUM])
@pytest.mark.parametrize("share", [0.5, 0.99, 1.0])
def test_the_noise_found_gives_the_level(method, share, made):
    tau = noise.needed(made, N, 0.2, share, method)
    levels = noise.record_levels(made.square, made.variance, N, tau)
    at = float(np.quantile(levels, share))
    assert tau > 0
    if method == noise.SPECTRUM:
        assert at == pytest.approx(0.2, rel=1e-6)
    else:
        assert at <= 0.2 * 1.02


def test_a_level_that_no_noise_takes_needs_none(made):
    most = float(noise.record_levels(made.square, made.variance, N, 0.0).max())
    assert noise.needed(made, N, 1.01 * most, 1.0, noise.SPECTRUM) == 0
    assert noise.needed(made, N, 0.99 * most, 1.0, noise.SPECTRUM) > 0


def test_the_attack_on_normal_gradients_finds_what_is_promised(made):
    found, promised = noise.attacked(made, N, 0.05, np.random.default_rng(3))
    np.testing.assert_allclose(found[:, 0], promised[:, 0], atol=5)
    assert (promised[1] > promised[0]).all()


@pytest.mark.slow
def test_gradients_are_turned_and_not_stretched():
    settings = Settings.from_values({"profile": "tiny"})
    task = experiment.task("digits", settings)
    wide, fitting = (noise.gradients(task, settings, 0, norm) for norm in noise.NORMS)
    assert fitting.clip < wide.clip
    np.testing.assert_allclose(wide.law.var(axis=0, ddof=1), wide.variance, rtol=1e-6)
    assert np.linalg.norm(fitting.queries, axis=1).max() <= 2 * fitting.clip
    assert np.linalg.norm(wide.law, axis=1).max() <= 2 * wide.clip


@pytest.mark.slow
def test_a_run_is_told_and_drawn():
    settings = Settings.from_values({"profile": "tiny"})
    table = noise.by_spectrum([gathering.sources(settings)["spectral-digits"]()])
    ratio = table[table["quantity"] == drawings.OVER_GDP]
    by = ratio.groupby("method")["value"].max()
    assert by[noise.SPECTRUM] <= by[noise.NORM] < 1 < by[noise.PAPER]
    assert len(drawings.noise_by_bound(table).axes) == 2
    (exhibit,) = (exhibit for exhibit in declared("gmip") if exhibit.id == "gmip-ctl-21")
    assert "99% of records" in exhibit.described(table)
    assert 0 < len(exhibit.says(table).split()) <= 25
