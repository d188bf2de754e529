"""The law of SGD's epochs against SGD itself, a sum over batches, and closed forms."""

import numpy as np
import pytest

from membership.curvature import epochs_variance
from membership.curvature.noise import Sgd, stationary_covariance
from membership.errors import InputError

RECIPE = {"momentum": 0.9, "rates": [0.02] * 12, "sizes": [8] * 6 + [4]}


def slow(curvature, noise, momentum, rates, sizes, shuffled):
    """What each batch leaves at the end, and the batches' covariances, summed one by one."""
    steps = [(rate, size, epoch) for epoch, rate in enumerate(rates) for size in sizes]
    left = []
    for place, (rate, _, _) in enumerate(steps):
        w, h = -rate, 1.0
        for later, _, _ in steps[place + 1 :]:
            h = momentum * h + curvature * w
            w = w - later * h
        left.append(w)
    total = 0.0
    for (_, size, epoch), a in zip(steps, left, strict=True):
        total += a * a * noise / size
        same = [b for (_, _, other), b in zip(steps, left, strict=True) if other == epoch]
        total -= shuffled * a * noise * sum(same) / sum(sizes)
    return total


@pytest.mark.parametrize("shuffled", [True, False])
@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_it_is_the_sum_over_all_pairs_of_batches(momentum, shuffled):
    curvature, noise = np.array([0.0, 0.01, 0.3, 4.0]), np.array([1.0, 2.0, 0.5, 3.0])
    recipe = {"momentum": momentum, "rates": [0.05, 0.03, 0.0, 0.01], "sizes": [5, 5, 5, 2]}
    found = epochs_variance(curvature, noise, **recipe, shuffled=shuffled)
    expected = [
        slow(k, g, *recipe.values(), shuffled) for k, g in zip(curvature, noise, strict=True)
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-18)


@pytest.mark.parametrize("shuffled", [True, False])
def test_it_is_the_spread_of_sgd_over_records(shuffled):
    rng = np.random.default_rng(8)
    k, runs, count = 0.6, 20_000, 52
    gradient = rng.standard_normal(count)
    gradient -= gradient.mean()
    w, h = np.zeros((2, runs))
    for rate in RECIPE["rates"]:
        order = rng.random((runs, count)).argsort(1)
        if not shuffled:
            order = rng.integers(count, size=(runs, count))
        first = 0
        for size in RECIPE["sizes"]:
            batch = gradient[order[:, first : first + size]].mean(1)
            first += size
            h = RECIPE["momentum"] * h + k * w + batch
            w = w - rate * h
    law = epochs_variance([k], [gradient.var()], **RECIPE, shuffled=shuffled)[0]
    # A variance of normal numbers has a relative error of sqrt(2 / runs): this is four of them.
    assert abs(w.var() / law - 1) < 4 * np.sqrt(2 / runs)


def test_batches_drawn_anew_end_in_the_stationary_law():
    sgd, k, noise = Sgd(0.05, 0.9, 0.01), np.array([0.4, 3.0]), np.array([2.0, 0.7])
    stationary = stationary_covariance(sgd, np.diag(k), np.diag(noise) / 16)
    found = epochs_variance(k + 0.01, noise, 0.9, [0.05] * 400, [16] * 10, shuffled=False)
    np.testing.assert_allclose(found, np.diag(stationary), rtol=1e-10)


def test_small_steps_without_momentum_have_the_closed_form():
    k, steps, rate = np.array([0.3, 3.0, 30.0]), 2000, 1e-4
    recipe = {"momentum": 0.0, "rates": [rate] * 400, "sizes": [4] * steps}
    dealt, anew = (epochs_variance(k, [1.0] * 3, **recipe, shuffled=s) for s in (True, False))
    a = rate * k * steps / 2
    np.testing.assert_allclose(dealt / anew, 1 - np.tanh(a) / a, rtol=0.01)


BAD = {
    "noise that is negative": ({"noise": [-1.0]}, "noise has shape"),
    "another number of noises": ({"noise": [1.0, 2.0]}, "noise has shape"),
    "momentum of 1": ({"momentum": 1.0}, "momentum = 1.0"),
    "no batches": ({"sizes": []}, "sizes has shape"),
    "a negative rate": ({"rates": [-0.1]}, "rates and sizes"),
}


@pytest.mark.parametrize(("change", "says"), BAD.values(), ids=BAD)
def test_what_is_refused(change, says):
    good = {"curvature": [1.0], "noise": [1.0], **RECIPE}
    assert epochs_variance(**good).shape == (1,)
    with pytest.raises(InputError, match=says):
        epochs_variance(**{**good, **change})
