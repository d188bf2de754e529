"""Curvature of the model that was given: modules as users have them, against plain autograd."""

import numpy as np
import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from membership import attacks, curvature
from membership.curvature.layered import linear_chain
from membership.curvature.objective import objective
from tests.curvature.odd_modules import MODULES, Y, chain, cross_entropy, made, records


def by_autograd(name):
    """Gradients record by record and the Hessian entry by entry, by torch alone, in float64."""
    model, x = made(name).double(), records(name)
    if name == "constants":
        model.net.scale = model.net.scale.double()
    x = x.double() if x.is_floating_point() else x
    parameters = list(model.parameters())

    def flat(value, **how):
        parts = torch.autograd.grad(value, parameters, materialize_grads=True, **how)
        return torch.cat([part.reshape(-1) for part in parts])

    if name == "sparse tokens":
        model[0].sparse = False  # torch has no second derivatives of the sparse layout
    # Nor has it any of the fast ways of attention.
    with sdpa_kernel(SDPBackend.MATH):
        rows = [
            flat(cross_entropy(model(a[None].clone()), b[None])[0])
            for a, b in zip(x, Y, strict=True)
        ]

        def gradient():
            return flat(cross_entropy(model(x.clone()), Y).mean(), create_graph=True)

        if "weight norm" in name:
            # torch's own second derivatives of it leave out the share of the norm.
            hessian = by_differences(gradient, parameters)
        else:
            hessian = torch.stack([flat(one, retain_graph=True) for one in gradient()])
    return torch.stack(rows).detach().numpy(), hessian.detach().numpy()


def by_differences(gradient, parameters, step=1e-5):
    """Central differences of the gradient, of the fourth order."""

    def moved(value, at, by):
        value.data.view(-1)[at] += by
        found = gradient().detach()
        value.data.view(-1)[at] -= by
        return found

    return torch.stack(
        [
            sum(
                weight * (moved(value, at, by * step) - moved(value, at, -by * step))
                for by, weight in ((1, 2 / 3), (2, -1 / 12))
            )
            / step
            for value in parameters
            for at in range(value.numel())
        ]
    )


@pytest.mark.parametrize("name", MODULES)
def test_gradients_and_hessian_are_those_of_the_model_that_was_given(name):
    gradients, hessian = by_autograd(name)
    model, x = made(name), records(name)
    before = x.clone()
    found = curvature.per_record_gradients(model, cross_entropy, x, Y)
    np.testing.assert_allclose(found, gradients, rtol=1e-9, atol=1e-12)
    found = curvature.hessian(model, cross_entropy, x, Y)
    rounding = 1e-9 if "weight norm" in name else 1e-10
    np.testing.assert_allclose(found, hessian, rtol=1e-9, atol=rounding)
    assert torch.equal(x, before)


@pytest.mark.parametrize("solver", ["exact", "cg"])
@pytest.mark.parametrize(
    "name",
    [
        "pre-hook on the container",
        "pruned",
        "in place",
        "LSTM",
        "padded tokens",
        "mask made permanent",
    ],
)
def test_self_influence_has_gradients_and_hessian_of_one_model(name, solver):
    gradients, hessian = by_autograd(name)
    damping = 0.1 - min(0.0, np.linalg.eigvalsh(hessian)[0])
    expected = -np.einsum(
        "np,np->n",
        gradients,
        np.linalg.solve(hessian + damping * np.eye(len(hessian)), gradients.T).T,
    )
    given = (records(name), Y)
    found = attacks.sif(made(name), cross_entropy, given, given, damping, solver=solver)
    np.testing.assert_allclose(found, expected, rtol=1e-9 if solver == "exact" else 1e-4)


def test_only_torch_s_own_parts_with_nothing_put_on_them_take_the_short_way():
    short = {
        name
        for name in MODULES
        if linear_chain(
            goal := objective(made(name), cross_entropy, records(name), Y),
            goal.records(records(name), Y)[0],
        )
    }
    assert short == {"plain", "in place", "in place, first"}


def test_a_default_precision_of_double_does_no_harm():
    recipe = {"learning_rate": 0.1, "momentum": 0.9, "weight_decay": 5e-4, "damping": 2.0}
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(40, 6)).astype("f4"), rng.integers(0, 3, 40)
    torch.manual_seed(0)
    given = (chain(), cross_entropy, (x, y), (x, y), np.ones(40, bool))
    expected = attacks.iha(*given, **recipe, solver="cg").score
    torch.set_default_dtype(torch.float64)
    try:
        found = attacks.iha(*given, **recipe, solver="cg").score
    finally:
        torch.set_default_dtype(torch.float32)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
