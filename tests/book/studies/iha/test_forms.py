"""Quadratic forms of a network too large to decompose, and numbers over every record."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.func import functional_call

from membership import attacks, metrics
from membership.attacks.iha import iha_at
from membership.book.studies.iha import evaluation, experiment, forms, inversion, subjects
from membership.book.studies.iha.forms import (
    inverses,
    observe,
    observe_factored,
    opened,
    training_records,
)
from membership.curvature import inverse as room

# The smaller leaves a matrix that is not positive definite.
LARGE, DAMPING = 2.0, 1e-3


@pytest.fixture(scope="module")
def network(settings, own_cache):
    return experiment.train(experiment.task(subjects.Subject("digits"), settings), settings)


@pytest.mark.slow
@pytest.mark.parametrize("damping", [LARGE, DAMPING])
def test_the_forms_are_those_of_the_eigendecomposition(network, damping, monkeypatch):
    monkeypatch.setattr(room, "BLOCK", 100)
    found, expected = (look(network, 0, damping) for look in (observe_factored, observe))
    # Where it was raised, eigenvalues are known to a few digits here.
    near = 1e-9 if damping == LARGE else 1e-3
    np.testing.assert_allclose(found["amount"], expected["amount"], rtol=near)
    assert (expected["amount"][0] > damping) == (damping < LARGE)
    for name in ("norm", "known", "n_known"):
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-9)
    for name in ("main", "mean2", "mean3"):
        rows = zip(
            *(one[name].reshape(-1, one[name].shape[-1]) for one in (found, expected)), strict=True
        )
        for one, other in rows:
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=5 * near * np.abs(other).max())


def test_a_damping_that_leaves_a_matrix_indefinite_is_raised_until_it_does(network, monkeypatch):
    train = training_records(network, 0)
    how = opened(network.ensemble.module(0), network.task.config, train)
    least = how.spectrum.values.min()
    assert least < 0
    _, amount = inverses(how.goal, *how.goal.records(*train), -least / 4, 5e-4)
    assert amount + least > 0


def test_it_keeps_no_sweep_and_no_eigenvalues(network):
    assert {"sweep", "eigenvalue"}.isdisjoint(observe_factored(network, 1, LARGE))


@pytest.fixture(scope="module")
def public(trained):
    """The same models where there are test records: some of the pool's stand for them."""
    task = trained.task
    return replace(trained, task=replace(task, test=task.pool.select(np.arange(50))))


@pytest.fixture(scope="module")
def found(public):
    names, value = forms.whole_attacks(public), forms.observe_all(public, 1, 0.2)["value"]
    return dict(zip(names, value, strict=True))


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("IHA, damping 0.5", {"damping": 0.5}),
        ("IHA*, damping 0.2", {"damping": 0.2, "stationarity": "regularised"}),
        ("IHA, low rank 0.1", {"damping": 0.1, "conditioning": "low-rank"}),
    ],
)
def test_a_number_is_that_of_the_attack_on_all_records(trained, found, name, options):
    every = np.arange(len(trained.task.pool))
    member = trained.task.membership[1]
    score = attacks.iha(
        trained.ensemble.module(1),
        trained.task.config.loss_of,
        forms.training_records(trained, 1),
        forms.records(trained, every),
        member,
        **trained.recipe,
        **options,
    ).score
    expected = [
        metrics.auc(score, member),
        *(100 * metrics.tpr_at_fpr(score, member, r) for r in (0.01, 0.001)),
    ]
    np.testing.assert_allclose(found[name], expected, atol=1e-9)


def test_the_loss_is_a_number_of_its_own(found):
    assert found["LOSS"][0] != found["IHA, damping 0.2"][0]


@pytest.mark.parametrize("name", forms.ELSEWHERE)
def test_another_gradient_takes_the_place_of_the_others(public, found, name):
    """Against the formula with autograd's gradients and Hessian."""
    task, module = public.task, public.ensemble.module(1).double()
    weights = {k: v.detach() for k, v in module.named_parameters()}
    w = torch.cat([part.flatten() for part in weights.values()])

    def losses(flat, x, y):
        parts, at = {}, 0
        for key, part in weights.items():
            parts[key] = flat[at : at + part.numel()].view_as(part)
            at += part.numel()
        return task.config.loss_of(functional_call(module, parts, (x,)), y)

    def of(records):
        return torch.tensor(records.x).double(), torch.tensor(records.y)

    train = of(task.pool.select(np.flatnonzero(task.membership[1])))
    hessian = torch.autograd.functional.hessian(lambda v: losses(v, *train).mean(), w).numpy()
    gradient = torch.autograd.functional.jacobian(lambda v: losses(v, *of(task.pool)), w).numpy()
    decay = task.config.weight_decay
    others = -decay * w.numpy()
    if forms.PUBLIC in name:
        test = of(task.test)
        others = torch.autograd.functional.jacobian(lambda v: losses(v, *test).mean(), w).numpy()
    count = len(gradient)
    recipe = tuple(public.recipe.values())
    score = iha_at(
        np.tile(w.numpy(), (count, 1)),
        losses(w, *of(task.pool)).numpy(),
        gradient,
        np.tile(others, (count, 1)),
        hessian,
        task.n_members,
        recipe,
        {"IHA": "published", "IHA*": "regularised"}[forms.ELSEWHERE[name]],
        damping=0.2,
    )
    assert found[name][0] == pytest.approx(metrics.auc(score, task.membership[1]), abs=1e-9)


def test_without_test_records_there_is_no_public_gradient(trained):
    assert trained.task.test is None
    assert not [name for name in forms.whole_attacks(trained) if forms.PUBLIC in name]


def test_numbers_over_every_record_stand_for_scores(source):
    (one,) = evaluation.read(source, subjects.WHOLE, subjects.whole)
    assert one.label == "Digits-Odd"
    assert len(one.member[0]) == one.attrs["pool"]
    swept = evaluation.read(source, subjects.SWEPT, subjects.decomposed)
    damped = inversion.most_asked(swept, [one])
    assert [each.is_whole for each in damped] == [True, False]
    assert damped[0].has("IHA, damping 0.5")
    assert not damped[0].has("IHA, damping 77")
