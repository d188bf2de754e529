"""IHA and SIF by matrix, solver and damping, against dense inverses."""

import numpy as np
import pytest
import torch
from torch import nn

from membership import attacks, curvature
from membership.curvature.kronecker import kronecker
from membership.curvature.objective import objective
from membership.errors import InputError
from membership.models.residual import small_resnet
from tests.attacks.networks import RECIPE, TERMS, Seen, cross_entropy, problem


@pytest.fixture(scope="module")
def seen():
    model, train, query, member = problem(4, steps=30)
    return (model, cross_entropy, train, query), member


def reference(arguments, member, matrix, damping, weight_decay, stationarity):
    """The terms, from the matrix's inverse."""
    model, _, train, query = arguments
    told = Seen(model, train, query)
    told.hessian = matrix
    inverse = lambda h: np.linalg.inv(h + damping * np.eye(len(h)))  # noqa: E731
    return told.iha(member, weight_decay, inverse, stationarity, "leave-one-out", "paper")


def factors(arguments, corrected):
    model, loss, train, _ = arguments
    goal = objective(model, loss, *train, matrix="ggn")
    found = kronecker(goal, *goal.records(*train), corrected)
    rows = found.rotate(torch.eye(goal.size, dtype=torch.float64)).numpy()
    return rows @ np.diag(found.values) @ rows.T


@pytest.mark.parametrize("damping", [0.2, "least"])
@pytest.mark.parametrize("stationarity", ["published", "regularised"])
@pytest.mark.parametrize(
    "how",
    [
        {},
        {"solver": "cg", "tolerance": 1e-12},
        {"matrix": "ggn"},
        {"matrix": "ggn", "solver": "cg", "tolerance": 1e-12},
        {"matrix": "ggn", "spectrum": True},
        {"matrix": "ggn", "solver": "kfac"},
        {"matrix": "ggn", "solver": "ekfac"},
        {"batch_size": 3},
        {"matrix": "ggn", "solver": "cg", "tolerance": 1e-12, "batch_size": 3},
        {"matrix": "ggn", "solver": "ekfac", "batch_size": 3},
    ],
    ids=str,
)
def test_every_matrix_and_solver_has_the_score_of_its_dense_inverse(
    seen, how, stationarity, damping
):
    arguments, member = seen
    name, solver = how.get("matrix", "hessian"), how.get("solver", "exact")
    matrix = getattr(curvature, name)(*arguments[:2], *arguments[2])
    if solver.endswith("kfac"):
        matrix = factors(arguments, solver == "ekfac")
    if how.get("spectrum"):
        how = how | {"spectrum": curvature.spectrum(*arguments[:2], *arguments[2], matrix="ggn")}
    recipe = RECIPE | {"weight_decay": 0.02}
    found = attacks.iha(
        *arguments, member, **recipe, damping=damping, stationarity=stationarity, **how
    )
    values = np.linalg.eigvalsh(matrix)
    if damping == "least":
        largest = np.abs(values).max()
        np.testing.assert_allclose(found.damping, 1e-3 * largest - values[0], atol=1e-4 * largest)
    else:
        assert found.damping == damping
    expected, sif = reference(arguments, member, matrix, found.damping, 0.02, stationarity)
    for term in TERMS:
        scale = np.abs(expected[term]).max()
        np.testing.assert_allclose(
            getattr(found, term), expected[term], rtol=1e-4, atol=1e-5 * scale
        )
    ours = attacks.sif(*arguments, damping=damping, **how)
    np.testing.assert_allclose(ours, sif, rtol=1e-4, atol=1e-5 * np.abs(sif).max())


def test_a_refusal_of_an_indefinite_hessian_names_ways_out_that_are(seen):
    arguments, member = seen
    for solver in ("exact", "cg"):
        with pytest.raises(InputError, match="not positive definite") as refused:
            attacks.iha(*arguments, member, **RECIPE, damping=1e-6, solver=solver)
        for way in ("damping='least'", "matrix='ggn'", "parameters="):
            assert way in str(refused.value)
        for way in ({"damping": "least"}, {"matrix": "ggn", "damping": 1e-6}):
            assert np.isfinite(attacks.sif(*arguments, solver=solver, **way)).all()


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"damping": "most"}, "damping = 'most'"),
        ({"damping": "least", "conditioning": "low-rank"}, "damping = 'least'.*threshold"),
        ({"matrix": "fisher"}, "matrix = 'fisher': expected one of hessian, ggn"),
        ({"solver": "kfac"}, "solver = 'kfac'.*matrix='ggn'"),
        ({"solver": "ekfac", "spectrum": True, "matrix": "ggn"}, "spectrum.*solver='exact'"),
        ({"spectrum": True, "matrix": "ggn"}, "spectrum: it is of matrix = 'hessian'"),
    ],
    ids=str,
)
def test_choices_that_do_not_go_together_are_told(seen, how, words):
    arguments, _ = seen
    if how.get("spectrum"):
        how = how | {"spectrum": curvature.spectrum(*arguments[:2], *arguments[2])}
    with pytest.raises(InputError, match=words):
        attacks.sif(*arguments, **how)


def small():
    """A convolutional network with batch norm and dropout, of the kind that readers train."""
    return nn.Sequential(
        nn.Conv2d(1, 6, 3, padding=1), nn.BatchNorm2d(6), nn.ReLU(inplace=True), nn.MaxPool2d(2),
        nn.Dropout(0.3), nn.Flatten(), nn.Linear(6 * 16, 4),
    )  # fmt: skip


def test_a_network_with_batch_norm_and_dropout_has_a_score_by_every_solver():
    torch.manual_seed(5)
    model, x, y = small(), torch.randn(40, 1, 8, 8), torch.randint(0, 4, (40,))
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(30):
        optimiser.zero_grad()
        cross_entropy(model(x[:25]), y[:25]).mean().backward()
        optimiser.step()
    model.eval()
    member = np.arange(40) < 25
    given = model, cross_entropy, (x[:25], y[:25]), (x, y), member
    ways = [{"damping": "least"}] + [
        {"matrix": "ggn", "damping": "least", "solver": solver}
        for solver in ("exact", "cg", "kfac", "ekfac")
    ]
    found = [attacks.iha(*given, **RECIPE, **how) for how in ways]
    for each in found:
        assert np.isfinite(each.score).all()
        assert each.damping > 0
    np.testing.assert_allclose(found[1].damping, found[2].damping, rtol=0.2)
    assert np.corrcoef(found[1].score, found[2].score)[0, 1] > 0.99


def test_the_last_block_of_a_residual_network_has_a_score_by_name_and_by_predicate():
    torch.manual_seed(3)
    model, x, y = small_resnet((2, 3, 4), 3, 1), torch.randn(30, 1, 8, 8), torch.arange(30) % 3
    model(x)  # moves the running statistics of its norms
    model.eval()
    member = np.arange(30) < 20
    given = model, cross_entropy, (x[:20], y[:20]), (x, y), member
    how = {"matrix": "ggn", "damping": "least", **RECIPE}
    for solver in ("exact", "kfac", "ekfac"):
        one, other = (
            attacks.iha(*given, **how, solver=solver, parameters=part).score
            for part in (["features.6"], lambda name: name.startswith("features.6."))
        )
        np.testing.assert_array_equal(one, other)
        assert np.isfinite(one).all()
    whole = attacks.iha(*given, **how).score
    assert not np.allclose(one, whole)
