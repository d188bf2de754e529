"""Draws of logits have the law they are drawn from, and queries are checked."""

import numpy as np
import pytest

from membership.curvature import last_layer_laplace
from membership.errors import InputError

DRAWS = 20_000


def fit(last_layer_problem, structure):
    layer = {"weight": last_layer_problem.weight, "bias": last_layer_problem.bias}
    return last_layer_laplace(
        last_layer_problem.features, last_layer_problem.logits, 0.7, structure, **layer
    )


@pytest.mark.parametrize("structure", ["full", "kron", "diag"])
@pytest.mark.parametrize("method", ["mc", "lln"])
def test_draws_have_the_posteriors_mean_and_covariance(last_layer_problem, structure, method):
    posterior = fit(last_layer_problem, structure)
    draws = posterior.sample(last_layer_problem.query, DRAWS, seed=1, method=method)
    expected = last_layer_problem.covariance(structure, 0.7)
    sd = np.sqrt(np.einsum("ncc->nc", expected))
    mean = last_layer_problem.query @ last_layer_problem.weight.T + last_layer_problem.bias
    # Some 150 comparisons at five standard errors each.
    assert (np.abs(draws.mean(axis=0) - mean) < 5 * sd / np.sqrt(DRAWS)).all()
    for record, v in enumerate(expected):
        error = np.sqrt((np.outer(np.diag(v), np.diag(v)) + v**2) / DRAWS)
        assert (np.abs(np.cov(draws[:, record].T) - v) < 5 * error).all()


@pytest.mark.parametrize("structure", ["full", "kron", "diag"])
def test_records_share_the_weights_in_mc_and_nothing_in_lln(last_layer_problem, structure):
    posterior = fit(last_layer_problem, structure)
    twice = np.vstack([last_layer_problem.query[:1]] * 2)
    shared = posterior.sample(twice, 50, method="mc")
    np.testing.assert_allclose(shared[:, 0], shared[:, 1], rtol=1e-12)
    apart = posterior.sample(twice, DRAWS, method="lln")
    correlation = np.corrcoef(apart[:, 0, 0], apart[:, 1, 0])[0, 1]
    assert abs(correlation) < 5 / np.sqrt(DRAWS)


def test_same_seed_same_draws(last_layer_problem):
    posterior = fit(last_layer_problem, "kron")
    first, again, other = (
        posterior.sample(last_layer_problem.query, 5, seed) for seed in (3, 3, 4)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_bad_queries_are_named(last_layer_problem):
    posterior = fit(last_layer_problem, "kron")
    n = len(last_layer_problem.query)
    with pytest.raises(InputError, match=r"features has \d columns; the last layer reads"):
        posterior.covariance(last_layer_problem.query[:, :1].repeat(9, axis=1))
    with pytest.raises(InputError, match="n_samples = 1: expected a whole number from 2 up"):
        posterior.sample(last_layer_problem.query, 1)
    with pytest.raises(InputError, match="method = 'nn': expected one of mc, lln"):
        posterior.sample(last_layer_problem.query, 2, method="nn")
    with pytest.raises(InputError, match="second: classes 9 to 9 do not fit"):
        posterior.difference_variance(last_layer_problem.query, np.zeros(n), np.full(n, 9))
    bare = last_layer_laplace(last_layer_problem.features, last_layer_problem.logits, 0.7)
    with pytest.raises(InputError, match="weight and bias were not given"):
        bare.sample(last_layer_problem.query, 2)
    assert bare.log_marginal_likelihood is None


def test_a_covariance_beyond_memory_is_refused(last_layer_problem, monkeypatch):
    posterior = fit(last_layer_problem, "kron")
    monkeypatch.setattr("membership.memory.available", lambda device: 10.0)
    with pytest.raises(InputError, match="query fewer records at once"):
        posterior.covariance(last_layer_problem.query)
