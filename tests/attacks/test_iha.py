import itertools

import numpy as np
import pytest
import torch

from membership import attacks, curvature
from membership.attacks.iha import iha_at
from membership.attacks.residual import residual_at
from tests.attacks.networks import KNOWLEDGE, RECIPE, TERMS, Seen, cross_entropy, problem


def damped(h):
    return np.linalg.inv(h + 0.2 * np.eye(len(h)))


def low_rank(h, threshold=0.02):
    values, vectors = np.linalg.eigh(h)
    kept = vectors[:, values > threshold]
    return kept @ np.diag(1 / values[values > threshold]) @ kept.T


@pytest.fixture(scope="module")
def seen():
    model, train, query, member = problem()
    assert sum(p.numel() for p in model.parameters()) == 243
    arguments = (model, cross_entropy, train, query)
    spectrum = curvature.spectrum(model, cross_entropy, *train)
    return arguments, member, spectrum, Seen(model, train, query)


CASES = [
    (damped, {}, *case)
    for case in itertools.product(("published", "regularised"), KNOWLEDGE, ("paper", "authors"))
]
LOW_RANK = {"damping": 0.02, "conditioning": "low-rank"}


@pytest.mark.parametrize(
    ("conditioned", "how", "stationarity", "knowledge", "convention"),
    [*CASES, (low_rank, LOW_RANK, "published", "leave-one-out", "paper")],
)
@pytest.mark.parametrize("decomposed", [False, True])
def test_every_term_is_the_reference_on_243_parameters(
    seen, conditioned, how, stationarity, knowledge, convention, decomposed
):
    arguments, member, spectrum, reference = seen
    options = {"stationarity": stationarity, "knowledge": knowledge, "convention": convention}
    expected, sif = reference.iha(member, 0.02, conditioned, **options)
    how = how | {"spectrum": spectrum if decomposed else None}
    ours = attacks.iha(*arguments, member, **RECIPE | {"weight_decay": 0.02}, **options, **how)
    for name in TERMS:
        np.testing.assert_allclose(getattr(ours, name), expected[name], rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(attacks.sif(*arguments, **how), sif, rtol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stationarity", "weight_decay", "knowledge"),
    [
        ("published", 0.0, "leave-one-out"),
        ("published", 0.02, "everyone"),
        ("regularised", 0.0, "everyone-less-own"),
        ("regularised", 0.02, "leave-one-out"),
    ],
)
def test_conjugate_gradients_give_the_exact_scores(stationarity, weight_decay, knowledge):
    model, train, query, member = problem(3)
    arguments = (model, cross_entropy, train, query)
    recipe = RECIPE | {"weight_decay": weight_decay, "stationarity": stationarity}
    exact = attacks.iha(*arguments, member, **recipe, knowledge=knowledge)
    ours = attacks.iha(*arguments, member, **recipe, knowledge=knowledge, solver="cg")
    scale = np.abs(exact.score).max()
    np.testing.assert_allclose(ours.score, exact.score, rtol=1e-4, atol=1e-6 * scale)
    assert 0 < ours.residual.max() <= 1e-3
    np.testing.assert_array_equal(exact.residual, 0)
    np.testing.assert_allclose(
        attacks.sif(*arguments, solver="cg"), attacks.sif(*arguments), rtol=1e-4
    )


def released_code(h, mean, n, gradients, losses, member, damping, conditioning):
    """What the released code computes, written out from its description: one record at a time.

    An explicit inverse, the mean over the others by removing a member's share, the last two terms
    as one expression with a factor of one half, and low rank by absolute value.
    """
    lam, mu, alpha = RECIPE["learning_rate"], RECIPE["momentum"], RECIPE["weight_decay"]
    if conditioning == "damping":
        inverse = np.linalg.inv(h + damping * np.eye(len(h)))
    else:
        values, vectors = np.linalg.eigh(h)
        inverse = np.zeros_like(h)
        for value, vector in zip(values, vectors.T, strict=True):
            if abs(value) > damping:
                inverse += np.outer(vector, vector) / value
    scores, sif = [], []
    for g, loss, is_member in zip(gradients, losses, member, strict=True):
        others = (mean * n - g) / (n - 1) if is_member else mean
        datapoint_ihvp = inverse @ g
        others_ihvp = inverse @ others
        ihvp_alpha = inverse @ datapoint_ihvp
        i1 = loss / (1 + mu)
        i2 = (1 - lam * alpha / (1 + mu)) * np.dot(datapoint_ihvp, datapoint_ihvp) / n
        i3 = (1 - lam * alpha / (1 + mu)) * np.dot(others_ihvp, datapoint_ihvp) * 2
        i45 = np.dot(datapoint_ihvp, ihvp_alpha) / n + 2 * np.dot(others_ihvp, ihvp_alpha)
        i45 *= (alpha / 2) * (2 - lam * alpha / (1 + mu))
        scores.append(i1 - (i2 + i3 + i45) / lam)
        sif.append(-np.dot(g, datapoint_ihvp))
    return np.array(scores), np.array(sif)


@pytest.mark.parametrize(
    ("conditioning", "damping"), [("damping", 0.2), ("low-rank", 0.02), ("low-rank", 0.001)]
)
def test_convention_authors_is_what_the_released_code_computes(conditioning, damping):
    model, train, query, member = problem(4, steps=30)
    arguments = (model, cross_entropy, train, query)
    view = curvature.white_box_view(*arguments)
    h = curvature.hessian(model, cross_entropy, *train)
    # A large negative eigenvalue is what the two conventions treat differently.
    assert np.linalg.eigvalsh(h)[0] < -0.001
    scores, sif = released_code(
        h, view.mean_gradient, 40, view.gradient, view.loss, member, damping, conditioning
    )
    how = {"damping": damping, "conditioning": conditioning, "convention": "authors"}
    ours = attacks.iha(*arguments, member, **RECIPE, **how)
    scale = np.abs(scores).max()
    np.testing.assert_allclose(ours.score, scores, rtol=1e-8, atol=1e-10 * scale)
    np.testing.assert_allclose(attacks.sif(*arguments, **how), sif, rtol=1e-8)
    paper = attacks.iha(*arguments, member, **RECIPE, **(how | {"convention": "paper"}))
    assert not np.allclose(paper.score, scores, rtol=1e-6)


def test_one_decomposition_serves_all_conditionings():
    model, train, query, member = problem(5)
    arguments = (model, cross_entropy, train, query)
    spectrum = curvature.spectrum(model, cross_entropy, *train)
    view = curvature.white_box_view(*arguments, spectrum)
    recipe = tuple(RECIPE.values())
    for damping, conditioning in ((0.1, "damping"), (1.0, "damping"), (0.05, "low-rank")):
        how = {"damping": damping, "conditioning": conditioning}
        whole = attacks.iha(*arguments, member, **RECIPE, **how, spectrum=spectrum)
        forms = attacks.quadratic_forms(view, spectrum.values, recipe[2], conditioning, damping)
        ours = attacks.iha_from_forms(forms, view.loss, member, view.n_train, *recipe)
        np.testing.assert_array_equal(ours.score, whole.score)
        np.testing.assert_array_equal(
            attacks.sif_from_forms(forms), attacks.sif(*arguments, **how, spectrum=spectrum)
        )


def test_a_low_rank_that_keeps_nothing_leaves_the_loss():
    model, train, query, member = problem(9)
    arguments = (model, cross_entropy, train, query)
    how = {"damping": 1e6, "conditioning": "low-rank"}
    ours = attacks.iha(*arguments, member, **RECIPE, **how)
    np.testing.assert_array_equal(ours.score, ours.loss / 1.9)
    influence = attacks.sif(*arguments, **how)
    np.testing.assert_array_equal(influence, 0.0)
    assert not np.signbit(influence).any()


def test_one_damping_asks_for_no_eigendecomposition(monkeypatch):
    eigh, asked = torch.linalg.eigh, []
    monkeypatch.setattr(torch.linalg, "eigh", lambda *given: asked.append(given) or eigh(*given))
    model, train, query, member = problem(4)
    attacks.iha(model, cross_entropy, train, query, member, **RECIPE)
    attacks.sif(model, cross_entropy, train, query)
    assert asked == []
    curvature.spectrum(model, cross_entropy, *train)
    assert len(asked) == 1


TRIPLE = (0.1, 0.9, 0.05)


@pytest.fixture(scope="module")
def game():
    rng = np.random.default_rng(0)
    return rng.standard_normal((12, 3)), rng.standard_normal(12), rng.standard_normal((4, 3))


def squared(output, y):
    return (output[:, 0] - y) ** 2 / 2


def model_at(w):
    layer = torch.nn.Linear(3, 1, bias=False).double()
    layer.weight.data[:] = torch.tensor(w)
    return layer


@pytest.mark.parametrize("stationarity", ["published", "regularised"])
def test_each_weight_gets_the_score_of_the_attack_on_its_model(game, stationarity):
    """The record left out is asked: as many others as the attack divides by."""
    x, y, weights = game
    z, n = 11, 11
    others, error = (weights @ x[:z].T - y[:z]) @ x[:z] / n, weights @ x[z] - y[z]
    hessian = x[:z].T @ x[:z] / n
    seen = (weights, error**2 / 2, error[:, None] * x[z], others, hessian, n, TRIPLE)
    found = iha_at(*seen, stationarity, damping=0.2)
    each = iha_at(*seen[:4], np.stack([hessian] * 4), *seen[5:], stationarity, damping=0.2)
    np.testing.assert_allclose(each, found, rtol=1e-12)
    rest = residual_at(weights, error[:, None] * x[z], others, n, TRIPLE[2])
    x, y = torch.tensor(x), torch.tensor(y)
    for w, score, norm in zip(weights, found, rest, strict=True):
        told = (model_at(w), squared, (x[:z], y[:z]), (x[z:], y[z:]), [False])
        expected = attacks.iha(*told, *TRIPLE, stationarity=stationarity)
        np.testing.assert_allclose(score, expected.score[0], rtol=1e-9)
        np.testing.assert_allclose(norm, attacks.residual(*told, TRIPLE[2])[0], rtol=1e-9)
