import copy
from dataclasses import fields, replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from membership import attacks, curvature, models
from membership.errors import InputError

RECIPE = {"learning_rate": 0.01, "momentum": 0.9, "weight_decay": 5e-4}
TERMS = ("score", "loss", "i1", "i2", "i3", "i4")


def cross_entropy(output, y):
    return nn.functional.cross_entropy(output, y, reduction="none")


def problem(seed=0, n=40, extra=20, hidden=(15,), steps=60):
    """A partly trained network of 243 parameters, its training records and a queried set."""
    torch.manual_seed(seed)
    model = models.mlp(12, hidden, 3)
    x, y = torch.randn(n + extra, 12), torch.randint(0, 3, (n + extra,))
    optimiser = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for _ in range(steps):
        optimiser.zero_grad()
        cross_entropy(model(x[:n]), y[:n]).mean().backward()
        optimiser.step()
    member = np.arange(10, n + extra) < n
    return model, (x[:n], y[:n]), (x[10:], y[10:]), member


def reference(model, train, query, member, conditioned, convention="paper", alpha=None, decay=0.0):
    """IHA and SIF record by record: dense matrices, loops, nothing shared with the package."""
    lam, mu = RECIPE["learning_rate"], RECIPE["momentum"]
    alpha = RECIPE["weight_decay"] if alpha is None else alpha
    model = copy.deepcopy(model).double()
    names = [name for name, _ in model.named_parameters()]
    shapes = [p.shape for p in model.parameters()]
    w = torch.nn.utils.parameters_to_vector(model.parameters()).detach()

    def losses(vector, x, y):
        parts = vector.split([shape.numel() for shape in shapes])
        values = {k: v.view(s) for k, v, s in zip(names, parts, shapes, strict=True)}
        return cross_entropy(torch.func.functional_call(model, values, (x.double(),)), y)

    def mean_loss(vector):
        return losses(vector, *train).mean()

    h = torch.func.hessian(mean_loss)(w).numpy()
    mean = torch.func.grad(mean_loss)(w).numpy()
    n = len(train[0])
    outer, inner = conditioned(h), conditioned(h + decay * np.eye(len(h)))
    s1, s2 = 1 - lam * alpha / (1 + mu), 2 - lam * alpha / (1 + mu)
    s1 = s2 / 2 if decay else s1
    rows, sif = [], []
    for x, y, m in zip(*query, member, strict=True):
        g = torch.func.grad(lambda v, x=x, y=y: losses(v, x[None], y[None]).sum())(w).numpy()
        value = float(losses(w, x[None], y[None]))
        g0 = mean.copy()
        if m:
            g0 = (n * mean - g) / (n - 1) if convention == "authors" else mean - g / n
        u, u0 = inner @ g, inner @ (g0 + decay * w.numpy())
        i1, i2 = s1 / n * u @ u, 2 * s1 * u0 @ u
        i3, i4 = alpha * s2 / (2 * n) * u @ outer @ u, alpha * s2 * u0 @ outer @ u
        rows.append([value / (1 + mu) - (i1 + i2 + i3 + i4) / lam, value, i1, i2, i3, i4])
        sif.append(-g @ outer @ g)
    return dict(zip(TERMS, np.array(rows).T, strict=True)), np.array(sif)


def damped(h):
    return np.linalg.inv(h + 0.2 * np.eye(len(h)))


def low_rank(h, threshold=0.02):
    values, vectors = np.linalg.eigh(h)
    kept = vectors[:, values > threshold]
    return kept @ np.diag(1 / values[values > threshold]) @ kept.T


def assert_terms(ours, expected):
    for name in TERMS:
        np.testing.assert_allclose(getattr(ours, name), expected[name], rtol=1e-8, atol=1e-12)


def test_every_term_is_the_reference_on_243_parameters():
    model, train, query, member = problem()
    assert sum(p.numel() for p in model.parameters()) == 243
    expected, sif = reference(model, train, query, member, damped)
    assert_terms(attacks.iha(model, cross_entropy, train, query, member, **RECIPE), expected)
    np.testing.assert_allclose(attacks.sif(model, cross_entropy, train, query), sif, rtol=1e-8)


def test_low_rank_and_the_released_code_are_references_too():
    model, train, query, member = problem(1)
    expected, _ = reference(model, train, query, member, low_rank)
    options = {"damping": 0.02, "conditioning": "low-rank"}
    ours = attacks.iha(model, cross_entropy, train, query, member, **RECIPE, **options)
    assert_terms(ours, expected)
    expected, _ = reference(model, train, query, member, damped, convention="authors")
    ours = attacks.iha(
        model, cross_entropy, train, query, member, **RECIPE, convention="authors"
    )
    assert_terms(ours, expected)


def test_regularised_stationarity_is_its_reference():
    model, train, query, member = problem(2)
    recipe = RECIPE | {"weight_decay": 0.02}
    expected, _ = reference(model, train, query, member, damped, alpha=0.02, decay=0.02)
    ours = attacks.iha(
        model, cross_entropy, train, query, member, **recipe, stationarity="regularised"
    )
    assert_terms(ours, expected)


@pytest.mark.parametrize("stationarity", ["published", "regularised"])
@pytest.mark.parametrize("weight_decay", [0.0, 0.02])
def test_conjugate_gradients_give_the_exact_scores(stationarity, weight_decay):
    model, train, query, member = problem(3)
    arguments = (model, cross_entropy, train, query)
    recipe = RECIPE | {"weight_decay": weight_decay, "stationarity": stationarity}
    exact = attacks.iha(*arguments, member, **recipe)
    ours = attacks.iha(*arguments, member, **recipe, solver="cg")
    scale = np.abs(exact.score).max()
    np.testing.assert_allclose(ours.score, exact.score, rtol=1e-4, atol=1e-6 * scale)
    assert 0 < ours.residual.max() <= 1e-6
    np.testing.assert_array_equal(exact.residual, 0)
    np.testing.assert_allclose(
        attacks.sif(*arguments, solver="cg"), attacks.sif(*arguments), rtol=1e-4
    )
