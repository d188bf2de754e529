import copy

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from membership import attacks, curvature, models
from membership.attacks.iha import iha_at
from membership.attacks.residual import residual_at
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
    ours = attacks.iha(model, cross_entropy, train, query, member, **RECIPE, convention="authors")
    assert_terms(ours, expected)


def test_regularised_stationarity_is_its_reference():
    model, train, query, member = problem(2)
    recipe = RECIPE | {"weight_decay": 0.02}
    expected, _ = reference(model, train, query, member, damped, alpha=0.02, decay=0.02)
    ours = attacks.iha(
        model, cross_entropy, train, query, member, **recipe, stationarity="regularised"
    )
    assert_terms(ours, expected)


@pytest.mark.slow
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


def test_the_membership_bit_enters_as_a_sign_only():
    """The algebra of the fidelity of Theorem 3.2: members and others differ by twice one term."""
    model, *records = problem(6)
    arguments = (model, cross_entropy, *records)
    recipe = RECIPE | {"weight_decay": 0.0}
    # Everyone as a member, and nobody: marks of one's own would contradict the training records.
    yes = attacks.iha(*arguments, **recipe, knowledge="everyone-less-own")
    no = attacks.iha(*arguments, **recipe, knowledge="everyone")
    np.testing.assert_allclose(yes.score - no.score, 2 * no.i1 / 0.01, rtol=1e-8)
    assert (yes.score > no.score).all()


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["exact", "cg"])
def test_controls_take_the_gradient_over_the_others_the_same_way_for_everyone(solver):
    model, train, query, member = problem(7)
    arguments = (model, cross_entropy, train, query)
    everyone = attacks.iha(*arguments, member, **RECIPE, knowledge="everyone", solver=solver)
    less = attacks.iha(*arguments, member, **RECIPE, knowledge="everyone-less-own", solver=solver)
    truth = attacks.iha(*arguments, member, **RECIPE, solver=solver)
    tolerance = {"rtol": 1e-9 if solver == "exact" else 1e-4}
    np.testing.assert_allclose(
        truth.score, np.where(member, less.score, everyone.score), **tolerance
    )
    # The controls do not read the mask.
    blind = attacks.iha(*arguments, ~member, **RECIPE, knowledge="everyone", solver=solver)
    np.testing.assert_allclose(blind.score, everyone.score, **tolerance)


def test_the_identity_in_the_place_of_the_inverse_is_the_residual_test():
    model, train, query, member = problem(8)
    view = curvature.white_box_view(model, cross_entropy, train, query)
    forms = attacks.quadratic_forms(view, None, 0.0, "identity")
    plain = attacks.iha_from_forms(forms, view.loss, member, view.n_train, 0.01, 0.9, 0.0)
    n = len(train[0])
    rest = (plain.score - plain.loss / 1.9) * 0.01
    expected = n * attacks.residual(model, cross_entropy, train, query, member, 0.0)
    np.testing.assert_allclose(rest, expected, rtol=1e-9, atol=1e-14)


def test_a_low_rank_that_keeps_nothing_leaves_the_loss():
    model, train, query, member = problem(9)
    arguments = (model, cross_entropy, train, query)
    how = {"damping": 1e6, "conditioning": "low-rank"}
    ours = attacks.iha(*arguments, member, **RECIPE, **how)
    np.testing.assert_array_equal(ours.score, ours.loss / 1.9)
    influence = attacks.sif(*arguments, **how)
    np.testing.assert_array_equal(influence, 0.0)
    assert not np.signbit(influence).any()


@settings(max_examples=10)
@given(st.integers(0, 1000))
def test_the_order_of_records_does_not_matter(seed):
    model, train, query, member = problem(seed, n=15, extra=5, hidden=(3,), steps=10)
    rng = np.random.default_rng(seed)
    first, second = rng.permutation(15), rng.permutation(len(member))
    keywords = RECIPE | {"damping": 5.0}
    ours = attacks.iha(model, cross_entropy, train, query, member, **keywords)
    again = attacks.iha(
        model,
        cross_entropy,
        tuple(part[first] for part in train),
        tuple(part[second] for part in query),
        member[second],
        **keywords,
    )
    for name in TERMS:
        expected = getattr(ours, name)[second]
        scale = np.abs(expected).max()
        np.testing.assert_allclose(
            getattr(again, name), expected, rtol=1e-7, atol=1e-9 * scale + 1e-300
        )


@settings(max_examples=10)
@given(st.integers(0, 1000))
def test_relabelled_hidden_units_do_not_matter(seed):
    model, train, query, member = problem(seed, n=15, extra=5, hidden=(4,), steps=10)
    keywords = RECIPE | {"damping": 5.0}
    ours = attacks.iha(model, cross_entropy, train, query, member, **keywords)
    units = torch.randperm(4, generator=torch.Generator().manual_seed(seed))
    hidden, out = model.features[1], model.classifier
    with torch.no_grad():
        hidden.weight.copy_(hidden.weight[units].clone())
        hidden.bias.copy_(hidden.bias[units].clone())
        out.weight.copy_(out.weight[:, units].clone())
    again = attacks.iha(model, cross_entropy, train, query, member, **keywords)
    scale = np.abs(ours.score).max()
    np.testing.assert_allclose(again.score, ours.score, rtol=1e-7, atol=1e-9 * scale)


BAD = {
    "learning_rate": ({"learning_rate": 0.0}, "learning_rate = 0.0: expected a number above 0"),
    "momentum": ({"momentum": 1.0}, "momentum = 1.0"),
    "weight_decay": ({"weight_decay": -1e-3}, "weight_decay = -0.001"),
    "damping": ({"damping": -0.2}, "damping = -0.2"),
    "conditioning": ({"conditioning": "ridge"}, "conditioning = 'ridge'"),
    "solver": ({"solver": "lu"}, "solver = 'lu': expected one of exact, cg"),
    "convention": ({"convention": "ours"}, "convention = 'ours'"),
    "stationarity": ({"stationarity": "none"}, "stationarity = 'none'"),
    "knowledge": ({"knowledge": "all"}, "knowledge = 'all'"),
    "both": ({"solver": "cg", "conditioning": "low-rank"}, "use solver='exact'"),
    "tolerance": ({"solver": "cg", "tolerance": 2.0}, "tolerance = 2.0"),
    "indefinite": ({"damping": 0.0}, "not positive definite; a damping of"),
    "indefinite, cg": ({"damping": 0.0, "solver": "cg"}, "not positive definite; a damping of"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_clear_line(name):
    keywords, expected = BAD[name]
    model, train, query, member = problem(10, steps=5)
    with pytest.raises(InputError) as error:
        attacks.iha(model, cross_entropy, train, query, member, **(RECIPE | keywords))
    assert expected in str(error.value)
    assert "\n" not in str(error.value)


def test_the_mask_and_the_records_must_fit():
    model, train, query, member = problem(11)
    with pytest.raises(InputError, match=r"query_member has shape \(49,\); give \(50,\)"):
        attacks.iha(model, cross_entropy, train, query, member[1:], **RECIPE)
    with pytest.raises(InputError, match="the same number of records"):
        attacks.iha(model, cross_entropy, train, (query[0], query[1][1:]), member, **RECIPE)
    other = curvature.spectrum(models.mlp(12, (3,), 3), cross_entropy, *train)
    with pytest.raises(InputError, match="51 eigenvalues, and the model 243 parameters"):
        attacks.sif(model, cross_entropy, train, query, spectrum=other)


@pytest.mark.parametrize("knowledge", ["leave-one-out", "everyone", "everyone-less-own"])
def test_one_damping_and_many_give_the_same_scores(knowledge):
    model, train, query, member = problem(4)
    arguments = (model, cross_entropy, train, query)
    decomposed = curvature.spectrum(model, cross_entropy, *train)
    options = RECIPE | {"knowledge": knowledge}
    by_factor = attacks.iha(*arguments, member, **options)
    by_spectrum = attacks.iha(*arguments, member, **options, spectrum=decomposed)
    for name in TERMS:
        expected = getattr(by_spectrum, name)
        np.testing.assert_allclose(getattr(by_factor, name), expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        attacks.sif(*arguments), attacks.sif(*arguments, spectrum=decomposed), rtol=1e-10
    )


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
