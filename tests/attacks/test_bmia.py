"""BMIA's score, its p-value as a false-positive rate, mixtures, and the plain difference."""

import sys

import mpmath
import numpy as np
import pytest
from scipy import stats

from membership import attacks
from membership.attacks.bmia import student_log_survival


def gaussians(n=6, classes=4, seed=0):
    """Random Gaussian logits, labels, and scores of a target."""
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((n, classes, classes))
    return {
        "target_hinge": rng.standard_normal(n) * 3,
        "mean_logits": rng.standard_normal((n, classes)) * 2,
        "covariance_logits": root @ root.transpose(0, 2, 1),
        "label": rng.integers(0, classes, n),
    }


def direct(target_hinge, mean_logits, covariance_logits, label):
    """The closed form, record by record."""
    scores = []
    for s0, mu, v, y in zip(target_hinge, mean_logits, covariance_logits, label, strict=True):
        j = max((c for c in range(len(mu)) if c != y), key=lambda c: mu[c])
        scores.append((s0 - (mu[y] - mu[j])) / np.sqrt(v[y, y] + v[j, j] - 2 * v[y, j]))
    return np.array(scores)


def test_closed_form_is_the_formula():
    game = gaussians(50)
    np.testing.assert_allclose(attacks.bmia(**game), direct(**game), rtol=1e-12)


def test_the_variance_of_the_difference_will_do():
    game = gaussians(50)
    v, y, rows = game["covariance_logits"], game["label"], np.arange(50)
    j = attacks.runner_up(game["mean_logits"], y)
    variance = v[rows, y, y] + v[rows, j, j] - 2 * v[rows, y, j]
    np.testing.assert_allclose(
        attacks.bmia(**(game | {"covariance_logits": variance})), attacks.bmia(**game), rtol=1e-12
    )


def test_draws_agree_with_the_closed_form_where_the_runner_up_is_safe():
    game = gaussians(30, seed=1)
    rows, y = np.arange(30), game["label"]
    # The runner-up lies 50 standard deviations above the rest.
    game["mean_logits"][rows, (y + 1) % 4] += 200.0
    draws = attacks.sampled_hinge(
        game["mean_logits"], game["covariance_logits"], y, n_samples := 20_000, seed=2
    )
    v, j = game["covariance_logits"], (y + 1) % 4
    mean = game["mean_logits"][rows, y] - game["mean_logits"][rows, j]
    sd = np.sqrt(v[rows, y, y] + v[rows, j, j] - 2 * v[rows, y, j])
    assert (np.abs(draws.mean(axis=0) - mean) < 5 * sd / np.sqrt(n_samples)).all()
    # A standard deviation has relative standard error 1 / sqrt(2 N).
    assert (np.abs(draws.std(axis=0) / sd - 1) < 5 / np.sqrt(2 * n_samples)).all()
    z, exact = attacks.bmia(**game, n_samples=n_samples, seed=2), attacks.bmia(**game)
    error = np.sqrt((1 + exact**2 / 2) / n_samples)
    assert (np.abs(z - exact) < 5 * error).all()


def test_hinges_are_those_of_the_drawn_logits():
    mean = np.array([[3.0, 1.0, 2.0], [0.0, 5.0, -1.0]])
    draws = attacks.sampled_hinge(mean, np.zeros((2, 3, 3)), [2, 1], n_samples=3)
    np.testing.assert_allclose(draws, np.tile([-1.0, 5.0], (3, 1)))


def test_chunks_draw_what_one_piece_would(monkeypatch):
    game = gaussians(20)
    parts = [game[name] for name in ("mean_logits", "covariance_logits", "label")]
    whole = attacks.sampled_hinge(*parts, n_samples=5)
    monkeypatch.setattr(sys.modules["membership.attacks.bmia"], "CHUNK", 60)
    np.testing.assert_array_equal(attacks.sampled_hinge(*parts, n_samples=5), whole)


# Perfect predictions: the target's score and the draws have one law. At a nominal 1% the published
# p-value rejects P(t > q sqrt(N) ...) = 1 - F_{N-1}(q / sqrt(N + 1)) of the non-members.
@pytest.mark.parametrize("n", [10, 30, 100, 300, 1000])
def test_false_positives_of_both_p_values_at_one_percent(n):
    records = 20_000
    rng = np.random.default_rng(n)
    draws, target = rng.standard_normal((n, records)), rng.standard_normal(records)
    quantile = stats.t.isf(0.01, n - 1)
    for calibrated, rate in [(True, 0.01), (False, stats.t.sf(quantile / np.sqrt(n + 1), n - 1))]:
        p = attacks.bmia_p_value(target, draws, calibrated=calibrated)
        error = np.sqrt(rate * (1 - rate) / records)
        assert (p < 0.01).mean() == pytest.approx(rate, abs=4 * error)
    # What the chapter shows: between a fifth and a half, and one half in the limit.
    assert 0.19 < rate < 0.5


def test_p_value_is_algorithm_1():
    rng = np.random.default_rng(1)
    target, draws = rng.standard_normal(8), rng.standard_normal((15, 8))
    d = target - draws
    t = d.mean(axis=0) / (d.std(axis=0, ddof=1) / np.sqrt(15))
    published = attacks.bmia_p_value(target, draws, calibrated=False)
    np.testing.assert_allclose(published, 1 - stats.t.cdf(t, 14), rtol=1e-9)
    assert stats.spearmanr(published, -t).statistic == pytest.approx(1)


def test_log_p_tells_apart_what_p_does_not():
    rng = np.random.default_rng(2)
    draws = rng.standard_normal((1000, 4))
    target = np.array([2.0, 30.0, 40.0, 50.0])
    p = attacks.bmia_p_value(target, draws, calibrated=False)
    assert (p[1:] == 0).all()
    log_p = attacks.bmia_p_value(target, draws, calibrated=False, log=True)
    assert (np.diff(log_p) < -10).all()
    assert np.isfinite(log_p).all()


def test_a_mixture_of_one_ranks_as_bmia_and_keeps_the_tails_apart():
    game = gaussians(40)
    game["target_hinge"] = np.linspace(-400, 400, 40)
    one = {k: v[None] for k, v in game.items() if k in ("mean_logits", "covariance_logits")}
    score, z = attacks.bmia_mixture(**(game | one)), attacks.bmia(**game)
    np.testing.assert_array_equal(np.argsort(score), np.argsort(z))
    assert len(np.unique(score)) == 40


def test_a_mixture_is_the_log_odds_of_its_distribution_function():
    games = [gaussians(25, seed=s) for s in range(3)]
    target, label = games[0]["target_hinge"], games[0]["label"]
    mean = np.stack([g["mean_logits"] for g in games])
    covariance = np.stack([g["covariance_logits"] for g in games])
    z = np.stack([direct(target, m, v, label) for m, v in zip(mean, covariance, strict=True)])
    f = stats.norm.cdf(z).mean(axis=0)
    inner = (f > 1e-6) & (f < 1 - 1e-6)
    assert inner.sum() > 10
    score = attacks.bmia_mixture(target, mean, covariance, label)
    np.testing.assert_allclose(score[inner], np.log(f / (1 - f))[inner], rtol=1e-8, atol=1e-8)


def exact(t: float, dof: int) -> float:
    with mpmath.workdps(60):
        x = mpmath.mpf(dof) / (dof + mpmath.mpf(t) ** 2)
        tail = mpmath.betainc(mpmath.mpf(dof) / 2, mpmath.mpf(1) / 2, 0, x, regularized=True) / 2
        return float(mpmath.log(tail if t >= 0 else 1 - tail))


@pytest.mark.parametrize("dof", [1, 9, 99, 999, 100_000])
@pytest.mark.parametrize("t", [-40.0, -3.0, 0.0, 2.0, 10.0, 37.0, 60.0, 1e4])
def test_it_has_eleven_digits(t, dof):
    answer = student_log_survival(np.array([t]), dof)[0]
    assert answer == pytest.approx(exact(t, dof), rel=1e-11)


def test_it_falls_without_a_step():
    t = np.linspace(-30, 200, 2001)
    for dof in (9, 299, 999):
        assert (np.diff(student_log_survival(t, dof)) < 0).all()


def test_each_entry_has_its_own_degrees():
    t, dof = np.array([-3.0, 2.0, 1e4]), np.array([2.5, 9.0, 99.0])
    alone = [student_log_survival(one[None], d)[0] for one, d in zip(t, dof, strict=True)]
    assert student_log_survival(t, dof).tolist() == alone


def test_it_does_not_notice_a_common_shift_of_the_logits():
    game = gaussians(20)
    shifted = game | {"mean_logits": game["mean_logits"] + np.arange(20)[:, None]}
    np.testing.assert_allclose(attacks.bmia(**shifted), attacks.bmia(**game), rtol=1e-10)
    # Nor one that is random: it adds the same variance to every entry of a record's covariance.
    noisy = game | {"covariance_logits": game["covariance_logits"] + 2.5}
    np.testing.assert_allclose(attacks.bmia(**noisy), attacks.bmia(**game), rtol=1e-10)


def test_draws_lie_below_the_closed_form_where_the_runner_up_is_not_safe():
    game = gaussians(30, seed=3)
    mean = game["mean_logits"] * 0
    draws = attacks.sampled_hinge(mean, game["covariance_logits"], game["label"], 4000)
    # The maximum of three centred Gaussians has a positive mean.
    assert (draws.mean(axis=0) < 0).all()


def test_calibrated_p_values_are_uniform():
    rng = np.random.default_rng(0)
    p = attacks.bmia_p_value(rng.standard_normal(5000), rng.standard_normal((20, 5000)))
    assert stats.kstest(p, "uniform").pvalue > 0.001


def test_the_difference_is_bmia_at_a_constant_deviation():
    game = gaussians(20)
    y, mean = game["label"], game["mean_logits"]
    rows, j = np.arange(20), attacks.runner_up(mean, y)
    plain = attacks.difference(game["target_hinge"], mean[rows, y] - mean[rows, j])
    constant = game | {"covariance_logits": np.ones(20)}
    np.testing.assert_allclose(attacks.bmia(**constant), plain, rtol=1e-12)


def test_the_split_variance_of_one_reference_is_bmia_and_of_agreeing_ones_is_normal():
    rng = np.random.default_rng(4)
    target, mean, sd = rng.standard_normal((3, 9))
    sd = np.abs(sd) + 0.1
    one = attacks.bmia_from_moments(target, mean[None], sd[None], several="variance")
    np.testing.assert_allclose(one, (target - mean) / sd, rtol=1e-15)
    same = attacks.bmia_from_moments(
        target, np.tile(mean, (5, 1)), np.tile(sd, (5, 1)), several="variance"
    )
    np.testing.assert_allclose(same, -stats.norm.logsf(one), rtol=1e-12)


@pytest.mark.parametrize(("within", "between"), [(0.5, 1.0), (1.0, 0.2), (1e-3, 1e3)])
def test_the_split_variance_is_welchs_test(within, between):
    """In fifty digits: one reference's spread is known, theirs is estimated from eight."""
    rng = np.random.default_rng(5)
    mean, target = between * rng.standard_normal((8, 3)), np.array([0.0, 3 * between, -between])
    score = attacks.bmia_from_moments(target, mean, np.full((8, 3), within), several="variance")
    for r in range(3):
        with mpmath.workdps(50):
            m = [mpmath.mpf(float(value)) for value in mean[:, r]]
            centre = sum(m) / 8
            apart = mpmath.mpf(9) / 8 * sum((value - centre) ** 2 for value in m) / 7
            total = apart + mpmath.mpf(within) ** 2
            dof, t = total**2 / (apart**2 / 7), (target[r] - centre) / mpmath.sqrt(total)
            density = lambda x, v=dof: (1 + x**2 / v) ** (-(v + 1) / 2)  # noqa: E731
            whole = mpmath.sqrt(dof) * mpmath.beta(dof / 2, mpmath.mpf(1) / 2)
            wanted = -mpmath.log(mpmath.quad(density, [t, t + 50, mpmath.inf]) / whole)
        assert score[r] == pytest.approx(float(wanted), rel=1e-9)


def test_references_that_disagree_make_the_mixture_accuse_too_often():
    """What the two forms are for: targets drawn as references are, eight of these, asked for 1%."""
    rng = np.random.default_rng(6)
    mean, target = rng.standard_normal((8, 20_000)), rng.standard_normal(20_000)
    target += 0.5 * rng.standard_normal(20_000)
    moments = (target, mean, np.full(mean.shape, 0.5))
    split = np.exp(-attacks.bmia_from_moments(*moments, several="variance"))
    mixed = 1 / (1 + np.exp(attacks.bmia_from_moments(*moments)))
    assert (split < 0.01).mean() == pytest.approx(0.01, abs=0.003)
    assert (mixed < 0.01).mean() > 0.03
