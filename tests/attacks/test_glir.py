import numpy as np
import pytest
from scipy import stats

from membership import metrics, privacy
from membership.attacks.glir import glir, glir_log_ratio, glir_steps
from membership.curvature import gradient_moments, whitening
from membership.errors import InputError


def game(rng, d, n, root=None, runs=1):
    """Played rounds: published means, queried gradients (n members, then n others), moments."""
    root = np.eye(d) if root is None else root
    rounds = []
    for _ in range(runs):
        batch, fresh = rng.standard_normal((2, n, root.shape[0])) @ root
        rounds.append((batch.mean(axis=0), np.concatenate([batch, fresh])))
    return rounds, np.zeros(root.shape[1]), root.T @ root


def scores(rounds, *arguments, **keywords):
    return np.concatenate([glir(m, x, *arguments, **keywords) for m, x in rounds])


def test_it_is_algorithm_1_on_one_record():
    rng = np.random.default_rng(0)
    d, n = 6, 15
    ((m, x),), mean, covariance = game(rng, d, n, rng.standard_normal((d, d)))
    inverse = np.linalg.inv(covariance)
    expected = [
        -stats.ncx2.logcdf(
            n * (m - q) @ inverse @ (m - q), d, n * (q - mean) @ inverse @ (q - mean)
        )
        for q in x
    ]
    np.testing.assert_allclose(glir(m, x, mean, covariance, n), expected, rtol=1e-8)


def test_it_reaches_the_theorem():
    d, n = 130, 100
    rounds, mean, covariance = game(np.random.default_rng(2), d, n, runs=100)
    member = np.tile(np.arange(2 * n) < n, 100)
    score = scores(rounds, mean, covariance, n)
    auc = privacy.gaussian_auc(privacy.mip_mu_step(d, n, d))
    # Records share their batch's mean; 20,000 pairs leave an error of some 0.004.
    assert metrics.auc(score, member) == pytest.approx(auc, abs=0.01)
    expected = float(privacy.mip_tpr(0.1, d, n, d))
    assert metrics.tpr_at_fpr(score, member, 0.1) == pytest.approx(expected, abs=0.02)


def test_a_singular_covariance_is_attacked_on_its_rank():
    rng = np.random.default_rng(3)
    small, n = 40, 60
    basis = rng.standard_normal((small, small))
    # One more column that repeats the sum of the others, as the classes of a softmax layer do.
    wide = np.c_[basis, -basis.sum(axis=1)]
    ((m, x),), mean, covariance = game(rng, small + 1, n, wide)
    reduced = glir(m[:-1], x[:, :-1], mean[:-1], covariance[:-1, :-1], n)
    np.testing.assert_allclose(glir(m, x, mean, covariance, n), reduced, rtol=1e-6)
    assert whitening(covariance).shape == (small + 1, small)


def test_whitening_is_the_pseudo_inverse():
    rng = np.random.default_rng(4)
    root = rng.standard_normal((5, 12))
    covariance = root.T @ root
    w = whitening(covariance)
    np.testing.assert_allclose(w @ w.T, np.linalg.pinv(covariance), atol=1e-10)


def test_authors_invert_another_matrix():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(5)
    d, n = 8, 12
    ((m, x),), mean, covariance = game(rng, d, n, rng.standard_normal((d, d)))
    inverse = torch.cholesky_inverse(torch.tensor(covariance)).numpy()
    expected = [
        -max(
            stats.ncx2.logcdf(
                (n - 1) * (m - q) @ inverse @ (m - q), d, n * (q - mean) @ inverse @ (q - mean)
            ),
            -250.0,
        )
        for q in x
    ]
    found = glir(m, x, mean, covariance, n, convention="authors")
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_scores_stay_finite_and_distinct_far_away():
    d, n = 10, 20
    direction = np.eye(d)[0]
    # Records ever further out, each in a batch that lies on it as far as a batch can.
    distance = np.array([20.0, 40.0, 80.0, 160.0])
    score = [
        glir(a * direction, a * direction[None] * 1.01, np.zeros(d), np.eye(d), n)[0]
        for a in distance
    ]
    assert np.isfinite(score).all()
    assert (np.diff(score) > 0).all()
    assert score[-1] > 10_000


def correlated_steps(rng, d, n, steps, correlation, runs):
    """Gradients of one record at successive steps that correlate, and their joint covariance."""
    step = np.full((steps, steps), correlation) + (1 - correlation) * np.eye(steps)
    root = np.linalg.cholesky(step).T
    rounds = []
    for _ in range(runs):
        noise = rng.standard_normal((2 * n, d, steps)) @ root
        x = noise.transpose(2, 0, 1)
        rounds.append((x[:, :n].mean(axis=1), x))
    return rounds, np.zeros((steps, d)), np.stack([np.eye(d)] * steps), np.kron(step, np.eye(d))


@pytest.mark.slow
@pytest.mark.parametrize("correlation", [0.0, 0.99])
def test_the_joint_test_reaches_the_full_level_whatever_the_correlation(correlation):
    d, n, steps, runs = 20, 60, 5, 60
    rng = np.random.default_rng(6)
    rounds, mean, single, joint = correlated_steps(rng, d, n, steps, correlation, runs)
    member = np.tile(np.arange(2 * n) < n, runs)
    together, added = (
        metrics.auc(
            np.concatenate([glir_steps(m, x, mean, c, n, combine) for m, x in rounds]), member
        )
        for combine, c in (("joint", joint), ("sum-log", single))
    )
    mu = privacy.mip_mu_step(d, n, d)
    full = privacy.gaussian_auc(privacy.composed_mu(mu, steps))
    assert together == pytest.approx(full, abs=0.02)
    if correlation:
        assert added == pytest.approx(privacy.gaussian_auc(mu), abs=0.02)
    else:
        assert added < together


def test_one_step_is_one_step():
    rng = np.random.default_rng(7)
    ((m, x),), mean, covariance = game(rng, 4, 9)
    for combine, c in (("sum-log", covariance[None]), ("joint", covariance)):
        found = glir_steps(m[None], x[None], mean[None], c, 9, combine)
        np.testing.assert_allclose(found, glir(m, x, mean, covariance, 9))


def test_moments_are_numpys():
    x = np.random.default_rng(8).standard_normal((50, 6))
    found = gradient_moments(x)
    np.testing.assert_allclose(found.mean, x.mean(axis=0))
    np.testing.assert_allclose(found.covariance, np.cov(x.T))
    shrunk = gradient_moments(x[:5], shrinkage="ledoit-wolf")
    assert np.linalg.matrix_rank(shrunk.covariance) == 6


def test_few_records_do_for_a_rank_that_is_small_by_nature():
    rng = np.random.default_rng(9)
    x = rng.standard_normal((30, 5)) @ rng.standard_normal((5, 60))
    assert whitening(gradient_moments(x).covariance).shape[1] == 5


def test_gradients_without_spread_are_refused():
    with pytest.raises(InputError, match="rank zero"):
        whitening(gradient_moments(np.ones((5, 3))).covariance)


@pytest.mark.slow
def test_p_values_are_uniform_for_non_members():
    d, n = 650, 500
    rounds, mean, covariance = game(np.random.default_rng(1), d, n, runs=6)
    member = np.tile(np.arange(2 * n) < n, 6)
    p = np.exp(-scores(rounds, mean, covariance, n))[~member]
    assert stats.kstest(p, "uniform").pvalue > 0.001
    # The released code's (n - 1) D^2 is not calibrated: about 14% below 5%. The covariance is
    # the identity, so that its inverse is right here.
    p = np.exp(-scores(rounds, mean, covariance, n, convention="authors"))[~member]
    assert (p < 0.05).mean() > 0.10


@pytest.mark.parametrize("n", [2, 3, 40])
def test_the_log_ratio_is_that_of_two_normal_means(n):
    rng = np.random.default_rng(n)
    published, records = rng.standard_normal(3), 2 * rng.standard_normal((6, 3))
    others = stats.multivariate_normal(np.zeros(3), np.eye(3) / n)
    expected = [
        stats.multivariate_normal(x / n, np.eye(3) * (n - 1) / n**2).logpdf(published)
        - others.logpdf(published)
        for x in records
    ]
    distance, k = np.square(published - records).sum(1), np.square(records).sum(1)
    np.testing.assert_allclose(glir_log_ratio(distance, k, n, 3), expected, rtol=1e-12)
