"""What records and groups change at any query, against refits without them; noise, likewise."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from membership import lood, nngp
from membership.errors import InputError

RNG = np.random.default_rng(1)
X, Y = RNG.normal(size=(25, 3)), RNG.normal(size=(25, 2))
QUERY, NOISE = RNG.normal(size=(6, 3)), 0.2
KERNEL = nngp.rbf(0.7)
N = np.arange(25)
GROUPS = [np.array([3]), np.array([0, 5, 9]), np.array([9, 2])]


def refit(rows, query, noise=NOISE):
    """Mean (q, outputs) and covariance (q, q) from the definition."""
    inverse = np.linalg.inv(KERNEL(X[rows]) + noise * np.eye(len(rows)))
    cross = KERNEL(query, X[rows])
    return cross @ inverse @ Y[rows], KERNEL(query) - cross @ inverse @ cross.T


def divergences(rows, query):
    """Both KLs and half the squared distance of means, of all queries jointly."""
    (mean, cov), (mean_s, cov_s) = refit(np.delete(N, rows), query), refit(N, query)
    moved = mean - mean_s

    def kl(a, b):
        inverse = np.linalg.inv(b)
        logs = np.linalg.slogdet(b)[1] - np.linalg.slogdet(a)[1]
        spread = 2 * (logs - len(a) + np.trace(inverse @ a))
        return 0.5 * (spread + (moved * (inverse @ moved)).sum())

    return kl(cov, cov_s), kl(cov_s, cov), np.square(moved).sum() / 2


@pytest.mark.parametrize("groups", [None, GROUPS])
def test_one_inverse_gives_what_refits_give(groups):
    found = lood.influence(KERNEL, X, Y, QUERY, NOISE, groups=groups)
    mean, covariance = refit(N, QUERY)
    for i, rows in enumerate(groups or N[:, None]):
        without, wider = refit(np.delete(N, rows), QUERY)
        np.testing.assert_allclose(found.mean[i], mean - without, rtol=1e-10, atol=1e-10)
        fall = np.diagonal(wider - covariance)
        np.testing.assert_allclose(found.variance[i], fall, rtol=1e-10, atol=1e-10)
        expected = np.array([divergences(rows, query[None]) for query in QUERY]).T
        measures = found.contrast.kl(), found.contrast.kl_reverse(), found.contrast.mean_distance
        for measured, want in zip(measures, expected, strict=True):
            np.testing.assert_allclose(measured[i], want, rtol=1e-10, atol=1e-10)


def test_matrices_and_their_diagonal_give_the_same():
    expected = lood.influence(KERNEL, X, Y, QUERY, NOISE)
    own = KERNEL(QUERY)
    for last in (own, np.diagonal(own)):
        found = lood.influence((KERNEL(X), KERNEL(QUERY, X), last), y=Y, noise=NOISE)
        np.testing.assert_allclose(found.mean, expected.mean, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(found.contrast.auc(), expected.contrast.auc(), rtol=1e-12)


def test_a_record_asked_of_itself_is_left_out_as_elsewhere():
    found = lood.influence(KERNEL, X, Y, X, NOISE).contrast
    expected = lood.leave_one_out(KERNEL, X, Y, NOISE)
    for measured, want in ((found.kl(), expected.kl), (found.auc(), expected.auc)):
        np.testing.assert_allclose(np.diagonal(measured), want, rtol=1e-10)
        # No query tells more than the record's own.
        assert (measured <= want[:, None] * (1 + 1e-10)).all()


def test_groups_left_out_are_refits_at_their_own_records():
    found = lood.leave_groups_out(KERNEL, X, Y, GROUPS, NOISE)
    expected = np.array([divergences(rows, X[rows]) for rows in GROUPS]).T
    measures = found.kl(), found.kl_reverse(), found.mean_distance
    np.testing.assert_allclose(measures, expected, rtol=1e-9)
    single = lood.leave_groups_out(KERNEL, X, Y, N[:, None], NOISE)
    of_all = lood.leave_one_out(KERNEL, X, Y, NOISE)
    np.testing.assert_allclose(single.auc(), of_all.auc, rtol=1e-10)
    comparison = lood.compare(KERNEL, X[3:], Y[3:], (X[:3], Y[:3]), NOISE)
    three = lood.leave_groups_out(KERNEL(X), None, Y, [[0, 1, 2]], NOISE)
    assert three.auc()[0] == pytest.approx(comparison.measure(X[:3], "auc", joint=True), rel=1e-9)


def test_much_noise_leaves_groups_their_digits():
    found = lood.leave_groups_out(KERNEL, X, Y, GROUPS, 1e9)
    assert found.kl()[0] == pytest.approx(lood.leave_one_out(KERNEL, X, Y, 1e9).kl[3], rel=1e-9)


def test_a_twin_hides_a_record_and_both_together_do_not():
    x = np.concatenate([X, X[:1] + 1e-6])
    y = np.concatenate([Y, Y[:1]])
    groups = lood.twins(KERNEL, x)
    assert [len(rows) for rows in groups] == [2, *[1] * 24, 2]
    np.testing.assert_array_equal(groups[25], [0, 25])
    alone = lood.leave_one_out(KERNEL, x, y, NOISE).auc
    together = lood.leave_groups_out(KERNEL, x, y, groups, NOISE).auc()
    assert alone[0] < together[0] - 0.05
    np.testing.assert_allclose(together[1:25], alone[1:25], rtol=1e-9)


def test_the_likelihood_of_a_noise_is_that_of_refits():
    found = lood.choose_noise(KERNEL, X, Y, [0.05, 0.2, 3.0])
    for noise, likelihood in zip(found.noises, found.log_likelihood, strict=True):
        expected = 0.0
        for i in N:
            mean, variance = refit(np.delete(N, i), X[i : i + 1], noise)
            law = multivariate_normal(mean[0], (variance[0, 0] + noise) * np.eye(2))
            expected += law.logpdf(Y[i])
        assert likelihood == pytest.approx(expected, rel=1e-10)
        assert lood.leave_one_out(KERNEL, X, Y, noise).log_density.sum() == pytest.approx(expected)


def test_the_noise_chosen_is_the_best_and_near_the_true_one():
    x = np.linspace(0, 20, 400)[:, None]
    y = np.sin(x[:, 0]) + np.random.default_rng(2).normal(0, 0.3, 400)
    found = lood.choose_noise(nngp.rbf(0.5), x, y)
    assert found.noise == pytest.approx(0.09, rel=0.2)
    near = lood.choose_noise(nngp.rbf(0.5), x, y, found.noise * np.array([0.99, 1.0, 1.01]))
    assert near.log_likelihood.argmax() == 1
    # Labels without a pattern ask for all the noise there is.
    alone = lood.choose_noise(np.eye(50), y=np.random.default_rng(3).normal(0, 9, 50))
    assert alone.noise == pytest.approx(80, rel=0.3)


REFUSED = [
    (lambda: lood.influence(KERNEL, X, Y, noise=NOISE), "x or query is missing"),
    (lambda: lood.influence(KERNEL, X, Y, QUERY), "noise = None"),
    (lambda: lood.influence(KERNEL, X, Y, QUERY[:, :2], NOISE), "query has records of shape"),
    (lambda: lood.influence(KERNEL, X, Y, QUERY, NOISE, groups=[]), "groups is empty"),
    (lambda: lood.influence(KERNEL, X, Y, QUERY, NOISE, groups=[[0, 0]]), "names a row twice"),
    (lambda: lood.leave_groups_out(KERNEL, X, Y, [[0], [25]], NOISE), r"groups\[1\] has 25"),
    (lambda: lood.leave_groups_out(KERNEL, X, Y, [[0.5]], NOISE), r"groups\[0\] has shape"),
    (lambda: lood.leave_groups_out(KERNEL, X, Y, 3, NOISE), "groups = 3"),
    (lambda: lood.influence(KERNEL, X[[0, 0]], Y[:2], QUERY, 1e-300), "rounding hides the noise"),
    (lambda: lood.twins(KERNEL, X, 1.5), "least = 1.5"),
    (lambda: lood.twins(KERNEL), "x is missing"),
    (lambda: lood.choose_noise(KERNEL, X, Y, [0.0, 1.0]), "give variances above 0 that rise"),
    (lambda: lood.choose_noise(KERNEL, X, Y, [1.0, 0.5]), "give variances above 0 that rise"),
    (lambda: lood.choose_noise(-np.eye(3), y=np.ones(3)), "give a covariance"),
    (lambda: lood.choose_noise(KERNEL, X, Y[:5]), "y has 5 labels for 25"),
]


@pytest.mark.parametrize(("call", "words"), REFUSED)
def test_what_is_refused_is_one_line(call, words):
    with pytest.raises(InputError, match=words) as refused:
        call()
    assert "\n" not in str(refused.value)
