"""Shuffled epochs in the clean game: samplers, the score of a law, and spreads by band."""

import numpy as np
import pytest
import xarray as xr
from scipy.stats import multivariate_normal

from membership.book.studies.iha import shuffled, subjects, theory
from membership.curvature.noise import Sgd, theorem_covariance

SGD = Sgd(0.02, 0.9, 5e-4)


@pytest.fixture(scope="module")
def problem():
    return theory.problem(np.random.default_rng(5))


def test_both_samplers_spread_as_their_law_says(problem):
    rng, (x, y) = np.random.default_rng(6), problem
    centre, hessian, _ = theory.minimum(SGD, x, y)
    noise = shuffled._noise(centre, x, y)
    flattest = np.linalg.eigh(hessian)[1][:, 0]
    spreads = []
    for dealt in (True, False):
        w = shuffled.trained(rng, SGD, x, y, 4000, shuffled=dealt)
        law = shuffled.spread(SGD, hessian, noise, len(x), shuffled=dealt)
        found = ((w - centre) @ flattest).var()
        # The noise at the minimum stands for that on the way: a tenth at most.
        assert found == pytest.approx(flattest @ law @ flattest, rel=0.15)
        spreads.append(found)
    assert spreads[0] < spreads[1] / 5


def test_the_score_of_a_law_is_the_ratio_of_its_normal_laws(problem):
    x, y = problem
    n, hessian = len(x), x[:-1].T @ x[:-1] / len(x)
    total, law = SGD.total(hessian), np.diag(np.geomspace(1e-4, 1e-2, x.shape[1]))
    w = np.random.default_rng(7).normal(size=(4, x.shape[1]))
    for one, score in zip(w, shuffled.by_law(SGD, law, hessian, x, y, w), strict=True):
        laws = []
        for rows in (slice(n - 1), slice(n)):
            gradient = x[rows].T @ (x[rows] @ one - y[rows]) / n + SGD.weight_decay * one
            laws.append(multivariate_normal(one - np.linalg.solve(total, gradient), law))
        assert score == pytest.approx(laws[1].logpdf(one) - laws[0].logpdf(one), rel=1e-6)


def test_with_the_theorems_law_it_ranks_as_the_corrected_attack_without_the_loss(problem):
    x, y = problem
    base, n = x[:-1], len(x)
    hessian = base.T @ base / n
    w = theory.minimum(SGD, x, y)[0] + 0.1 * np.random.default_rng(8).normal(size=(50, x.shape[1]))
    law = theorem_covariance(SGD, hessian, hessian)
    error = w @ x[-1] - y[-1]
    own, others = error[:, None] * x[-1], (w @ base.T - y[:-1]) @ base / n
    exact = theory.iha_scores(w, 0 * error, own, others, hessian, SGD, n)["IHA*"]
    found = shuffled.by_law(SGD, law, hessian, x, y, w)
    # The loss that is left out stands for a part of relative size rate times curvature.
    assert np.corrcoef(found, exact)[0, 1] == pytest.approx(1, abs=1e-5)


def test_a_band_has_the_mean_ratio_of_its_directions(settings):
    subject = subjects.Subject(subjects.EMBEDDED)
    game = shuffled.gathered(subject, settings)
    table = shuffled.control_23([game])
    case = game.isel(case=game["case"].values.tolist().index("constant, shuffled"))
    values = case["eigenvalue"].values
    here = (values > 0.01) & (values <= 0.03)
    law = shuffled._laws(case, "constant")["law of shuffled epochs"]
    variance = case["along"].values.astype(float).var(0, ddof=1)
    row = table[
        (table["schedule"] == "constant")
        & (table["sampler"] == shuffled.SHUFFLED)
        & (table["over"] == "law of shuffled epochs")
        & (table["eigenvalues"] == "0.01 to 0.03")
    ].iloc[0]
    assert row["value"] == pytest.approx(np.mean(variance[here] / law[here]))
    assert row["directions"] == here.sum()


def test_models_of_one_sampler_differ_in_their_batches_alone(settings):
    game = shuffled.gathered(subjects.Subject(subjects.EMBEDDED), settings)
    assert isinstance(game, xr.Dataset)
    along = game["along"].values
    assert (np.abs(along).max(axis=(1, 2)) > 0).all()
    assert not np.array_equal(along[0], along[1])
