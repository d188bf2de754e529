"""Rank and K of a model's gradients, against leaving out every record in turn."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy, mse_loss

from membership import curvature, privacy
from membership.errors import InputError
from membership.privacy.susceptible import of_gradients

RNG = np.random.default_rng(4)
X, Y = RNG.normal(size=(60, 4)), RNG.integers(0, 3, 60)


def model():
    torch.manual_seed(2)
    return nn.Linear(4, 3)


def each(output, y):
    return cross_entropy(output, y, reduction="none")


def slow(gradients):
    """K of each record, whose moments are computed anew from the others."""
    found = []
    for i, x in enumerate(gradients):
        others = np.delete(gradients, i, axis=0)
        inverse = np.linalg.pinv(np.cov(others.T), rcond=1e-12, hermitian=True)
        found.append((x - others.mean(axis=0)) @ inverse @ (x - others.mean(axis=0)))
    return np.array(found)


@pytest.mark.parametrize("clip", [None, 0.7])
def test_k_is_that_of_a_record_beside_all_others(clip):
    found = privacy.susceptibility(model(), (X, Y), clip=clip)
    gradients = curvature.per_record_gradients(model(), each, X, Y)
    if clip:
        norm = np.linalg.norm(gradients, axis=1, keepdims=True)
        gradients = gradients * np.minimum(1, clip / norm)
    # A softmax layer's gradients sum to zero over its classes: (q + 1)(c - 1) directions.
    assert found.rank == 10
    np.testing.assert_allclose(found.k, slow(gradients), rtol=1e-8)


def test_of_many_normal_gradients_k_has_the_rank_as_its_mean():
    found = of_gradients(RNG.normal(size=(20_000, 12)) @ RNG.normal(size=(12, 12)))
    assert found.rank == 12
    assert found.k.mean() == pytest.approx(12, rel=0.02)
    np.testing.assert_array_equal(found.quantiles([0, 1]), [found.k.min(), found.k.max()])
    share = (found.k[:, None] <= found.quantiles()).mean(axis=0)
    np.testing.assert_allclose(share, (0.01, 0.5, 0.99, 1.0), atol=1e-4)


def test_an_outlier_does_not_hide_itself():
    gradients = RNG.normal(size=(50, 3))
    gradients[7] *= 1e4
    assert of_gradients(gradients).k[7] == pytest.approx(slow(gradients)[7], rel=1e-5)
    gradients[7], gradients[:, 0] = 0, 0
    gradients[7, 0] = 1.0
    found = of_gradients(gradients)
    assert found.k[7] == found.quantiles(1.0) == np.inf
    assert np.isfinite(np.delete(found.k, 7)).all()


def test_it_takes_another_loss_and_what_is_trained():
    net = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 1))
    net[0].requires_grad_(False)
    target = RNG.normal(size=(60, 1))

    def squared(output, y):
        return mse_loss(output, y, reduction="none").sum(1)

    assert privacy.susceptibility(net, (X, target), loss=squared).rank == 6


def test_it_gives_what_assess_takes():
    own = privacy.susceptibility(model(), (X, Y))
    sizes = {"n": 20, "n_records": 400, "epochs": 2, "sigma": 2.0}
    found = privacy.assess(**sizes, d=own.rank, k=own.quantiles([0.5, 0.99]))
    assert len(found.mixture) == 3


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: privacy.susceptibility(model(), (X[:15], Y[:15])), "15 records for gradients of"),
        (lambda: privacy.susceptibility(model(), X), "data is a ndarray; give the pair"),
        (lambda: privacy.susceptibility(model(), (X, Y), clip=0.0), "clip = 0.0"),
        (lambda: privacy.susceptibility(model(), (X[:2], Y[:2])), "data has 2 records"),
        (lambda: of_gradients(np.ones((9, 2))), "all gradients are the same"),
        (lambda: of_gradients(X).quantiles(1.5), "levels = 1.5"),
    ],
)
def test_what_tells_no_k_is_refused(call, said):
    with pytest.raises(InputError, match=said):
        call()
