"""What gathering predicts of a hinge, for QMIA and BMIA: against the same by hand."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import TensorDataset

from membership import attacks, audit, curvature, training
from membership.attacks.bmia import frozen_moments

RNG = np.random.default_rng(3)
X = RNG.normal(size=(120, 6))
Y = (X[:, 0] > 0).astype(int) + (X[:, 2] > 0.5)
HELD = (RNG.normal(size=(40, 6)), RNG.integers(0, 3, 40))
SMALL = {"n_reference": 4, "n_targets": 2, "held": HELD}


def network(x, y, seed):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(6, 4), nn.Tanh(), nn.Linear(4, 3)).double()


@pytest.fixture(scope="module")
def found():
    return audit.gather(X, Y, network, **SMALL, seed=5)


def test_the_regression_is_that_of_each_target_on_held_records(found) -> None:
    asked, held = (np.c_[x, np.eye(3)[y]] for x, y in ((X, Y), HELD))
    for target in range(2):
        fitted = training.fit_qmia(held, found["held_hinge"][target].values, seed=5)
        mean, sd = fitted.predict(asked)
        np.testing.assert_allclose(found["regressed_mean"][target], mean, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(found["regressed_sd"][target], sd, rtol=1e-4)
        score = attacks.registry()["qmia"].on(found, target=target)
        z = (found["hinge"][target].values - mean) / sd
        np.testing.assert_array_equal(np.argsort(score[::7]), np.argsort(z[::7]))
    assert np.isnan(found["regressed_mean"][2:]).all()


def test_a_reference_predicts_by_its_last_layer_where_the_record_was_not_its_own(found) -> None:
    each = []
    for at in range(2, 6):
        # Seeds are those of gathering: its own, and the number of the training.
        model, inside = network(X, Y, 5 + at), found["member"][at].values
        layer = curvature.last_layer(model, X, layer="2")
        posterior = curvature.last_layer_laplace(
            layer.features[inside], layer.logits[inside], "marginal-likelihood",
            weight=layer.weight, bias=layer.bias, label=Y[inside],
        )  # fmt: skip
        covariance = posterior.covariance(layer.features)
        moments = frozen_moments(layer.logits, covariance, Y)
        np.testing.assert_allclose(found["posterior_mean"][at], moments[0], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(found["posterior_sd"][at], np.sqrt(moments[1]), rtol=1e-4)
        each.append(~inside)
    assert np.isnan(found["posterior_mean"][:2]).all()
    # A target's first reference moves with the target; a member's prediction is another's.
    for target in range(2):
        seen = attacks.observe(found, target=target)
        assert seen["posterior.closed form.mean"].shape == (2, 120)
        order = np.roll(np.arange(2, 6), -target)
        for record in range(0, 120, 11):
            own = [at for at in order if not found["member"][at, record]]
            wanted = found["posterior_mean"].values[own, record]
            np.testing.assert_array_equal(
                seen["posterior.closed form.mean"][:, record], wanted.astype(float)
            )


def test_they_are_attacks_of_the_comparison_and_are_left_out_with_what_they_take(found) -> None:
    there = {"qmia", "bmia-closed", "bmia-mixture", "rmia-warm", "base-warm"}
    assert there <= set(attacks.scores(found).score)
    stream = TensorDataset(torch.tensor(X), torch.tensor(Y))
    for other in (
        audit.gather(stream, None, network, n_reference=4, n_targets=1),
        audit.gather(X, Y, None, model=network(X, Y, 1), member=np.arange(120) < 60),
    ):
        report = audit.compare(other)
        lacks = {one["name"]: one["lacks"] for one in report["left_out"]}
        assert there - set(lacks) <= {"rmia-warm", "base-warm"}
        assert lacks["qmia"].endswith("held ones that no model has seen")
        assert "linear layer" in lacks["bmia-closed"]
        assert "attacks.iha" in lacks["iha"]
        assert [name for name, text in lacks.items() if ": " not in text] == []
