"""Scores from quadratic forms are those from the gradients themselves, record by record."""

import itertools

import numpy as np
import pytest
import torch

from membership import attacks, curvature, models
from membership.attacks.forms import forms_of
from membership.curvature.gradients import views
from membership.curvature.inverse import Inversion
from membership.curvature.objective import objective

CONVENTIONS = list(itertools.product(("published", "regularised"), ("paper", "authors")))
KNOWLEDGE = ("leave-one-out", "everyone", "everyone-less-own")
RATE, MOMENTUM, DECAY = RECIPE = (0.05, 0.9, 5e-3)
MEMBER = np.arange(20) < 10
DAMPING = 0.5


@pytest.fixture(scope="module")
def problem():
    torch.manual_seed(0)
    model = models.mlp(4, (3,), 3)
    x, y = torch.randn(40, 4), torch.randint(3, (40,))
    return model, torch.nn.CrossEntropyLoss(reduction="none"), (x, y), (x[10:30], y[10:30])


@pytest.fixture(scope="module")
def seen(problem):
    *arguments, train, query = problem
    spectrum = curvature.spectrum(*arguments, *train)
    return curvature.white_box_view(*arguments, train, query, spectrum), spectrum.values


def gradients(view, knowledge, convention, decay=0.0):
    """Each record's gradient, and that over the others, with so much weight decay."""
    for g, member in zip(view.gradient, MEMBER, strict=True):
        others, n = view.mean_gradient, view.n_train
        if knowledge == "everyone-less-own" or (knowledge == "leave-one-out" and member):
            others = (n * others - g) / (n - 1) if convention == "authors" else others - g / n
        yield g, others + decay * view.weight


def dense(view, values, stationarity, knowledge, convention):
    """The score by Equation 8, with matrices."""
    regularised = stationarity == "regularised"
    between = np.diag(1 / (values + DAMPING))
    inverse = np.diag(1 / (values + DAMPING + DECAY)) if regularised else between
    s2 = 2 - RATE * DECAY / (1 + MOMENTUM)
    s1 = s2 / 2 if regularised else s2 - 1
    scores = []
    decay = DECAY if regularised else 0.0
    pairs = gradients(view, knowledge, convention, decay)
    for loss, (g, others) in zip(view.loss, pairs, strict=True):
        u, u0 = inverse @ g, inverse @ others
        terms = s1 / view.n_train * u @ u + 2 * s1 * u0 @ u
        terms += DECAY * s2 * (u @ between @ u / (2 * view.n_train) + u0 @ between @ u)
        scores.append(loss / (1 + MOMENTUM) - terms / RATE)
    return scores


@pytest.mark.parametrize(("stationarity", "convention"), CONVENTIONS)
@pytest.mark.parametrize("knowledge", KNOWLEDGE)
def test_iha_from_forms_is_iha_from_gradients(seen, stationarity, convention, knowledge):
    view, values = seen
    forms = attacks.quadratic_forms(view, values, DECAY, "damping", DAMPING, stationarity)
    score = attacks.iha_from_forms(
        *(forms, view.loss, MEMBER, view.n_train, *RECIPE),
        stationarity=stationarity,
        knowledge=knowledge,
        convention=convention,
    ).score
    expected = dense(view, values, stationarity, knowledge, convention)
    np.testing.assert_allclose(score, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("convention", ["paper", "authors"])
@pytest.mark.parametrize("knowledge", KNOWLEDGE)
def test_the_residual_from_forms_is_that_from_gradients(seen, convention, knowledge):
    view, _ = seen
    forms = attacks.quadratic_forms(view, None, DECAY, "identity")
    pairs, n = list(gradients(view, knowledge, convention, DECAY)), view.n_train
    expected = {
        "norm": [rest @ rest - (rest + g / n) @ (rest + g / n) for g, rest in pairs],
        "product": [-rest @ g for g, rest in pairs],
    }
    for statistic, scores in expected.items():
        options = {"statistic": statistic, "convention": convention, "knowledge": knowledge}
        ours = attacks.residual_from_forms(forms, MEMBER, n, **options)
        np.testing.assert_allclose(ours, scores, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("damping", [0.1, 0.3])
def test_influence_from_forms_keeps_what_is_above_the_low_rank(seen, damping):
    view, values = seen
    low = attacks.quadratic_forms(view, values, DECAY, "low-rank", damping)
    kept = values > damping
    expected = -(view.gradient[:, kept] ** 2 / values[kept]).sum(1)
    np.testing.assert_allclose(attacks.sif_from_forms(low), expected, rtol=1e-10)


@pytest.mark.parametrize("shift", [0.0, DECAY])
def test_every_inverse_gives_the_same_forms(problem, shift):
    model, loss, train, query = problem
    goal = objective(model, loss, *train)
    records = goal.records(*train)
    spectrum = curvature.spectrum(model, loss, *train)
    of = {}
    for name, options in {
        "eigenvalues": {"solver": "exact", "spectrum": spectrum},
        "factors": {"solver": "exact"},
        "conjugate gradients": {"solver": "cg", "tolerance": 1e-8},
    }.items():
        inversion = Inversion(DAMPING, "damping", "paper", **options)
        inverse, basis = inversion.of(goal, records, 20, shift)
        (of[name],) = forms_of(views(goal, records, query, basis), [inverse], DECAY)
    for name, tolerance in (("factors", 1e-9), ("conjugate gradients", 1e-5)):
        for term, expected in of["eigenvalues"].items():
            scale = np.abs(expected).max()
            np.testing.assert_allclose(of[name][term], expected, atol=tolerance * scale)
