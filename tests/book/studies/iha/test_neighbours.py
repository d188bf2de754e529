"""The models of the clean game at scale, and what is read of them."""

import numpy as np
import pytest
import torch
from torch import nn

from membership import attacks, training
from membership.book.studies.iha import clean_game, neighbours, subjects
from membership.errors import RunError


@pytest.fixture(scope="module")
def game(settings):
    return neighbours.set_up(subjects.EMBEDDED, settings)


@pytest.fixture(scope="module")
def weights(game, settings):
    return neighbours.weights(game, settings)


@pytest.fixture(scope="module")
def found(settings):
    return neighbours.pairs(subjects.Subject(subjects.EMBEDDED), settings)


def test_the_sets_and_their_records_have_nothing_in_common(game):
    rows = np.concatenate([game.base.ravel(), game.added.ravel()])
    assert len(np.unique(rows)) == len(rows)
    assert game.base.shape == (2, 100)
    assert game.added.shape == (2, 3)


def test_every_model_is_another_one(weights):
    every = np.concatenate([part.reshape(-1, part.shape[-1]) for part in weights.values()])
    assert len(np.unique(every, axis=0)) == len(every) == 2 * 4 + 2 * 3 * 4


def test_a_model_is_trained_on_its_set_and_its_record(game, weights, settings):
    """By the trainer of single models: the same records, in float32 and in the same batches."""
    x, y = game.records(game.base[1])
    z, label = game.records(game.added[1])
    # The second set, with a record, its third seed; the second record.
    order = (1 * 2 + 1) * 4 + 2
    start = 10_000_000 + 1000 * order + 1
    added = z[[1]], label[[1]]
    alone = training.train_neighbours(x, y, added, game.task.config, order, [start])
    np.testing.assert_allclose(weights["with"][1, 1, 2], alone[0], rtol=1e-4, atol=1e-6)


def _module(weight):
    layer = nn.Linear(len(weight) - 1, 1)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor(weight[None, :-1]))
        layer.bias.copy_(torch.tensor(weight[-1:]))
    return layer


def test_scores_are_those_of_the_attacks_on_a_record_outside(game, weights, found, settings):
    """From evidence as from the model itself, for one model on D' and one on D' + z."""
    scores, config = clean_game.scored(found), game.task.config
    place, r, k = 1, 2, 3
    models = weights["without"][place, k], weights["with"][place, r, k]
    for side, weight in enumerate(models):
        arguments = (
            _module(weight),
            config.loss_of,
            game.records(game.base[place]),
            game.records(game.added[place][[r]]),
        )
        # Model 3 is played with models 0 and 2 as references.
        at = (0, 3 * place + r, side, 1)
        how = (config.learning_rate, config.momentum, config.weight_decay, settings.damping)
        for name, stationarity in (("IHA", "published"), ("IHA*", "regularised")):
            public = attacks.iha(*arguments, [False], *how, stationarity=stationarity)
            np.testing.assert_allclose(scores[name][at], public.score[0], rtol=1e-4)
        public = attacks.sif(*arguments, settings.damping)
        np.testing.assert_allclose(scores["SIF"][at], public[0], rtol=1e-4)
        for statistic in ("norm", "cosine"):
            public = attacks.residual(*arguments, [False], config.weight_decay, statistic)
            np.testing.assert_allclose(scores[f"residual {statistic}"][at], public[0], rtol=1e-4)


def test_derivatives_are_those_of_autograd():
    rng = np.random.default_rng(3)
    x, y = torch.tensor(rng.normal(size=(9, 3))), torch.tensor(rng.integers(2, size=9))
    toy, w = neighbours.Logistic.of(x, y), torch.tensor(rng.normal(size=4))

    def loss(weight):
        return ((torch.sigmoid(toy.x @ weight) - toy.y) ** 2).mean()

    np.testing.assert_allclose(toy.mean_gradient(w[None])[0], torch.func.grad(loss)(w), atol=1e-12)
    np.testing.assert_allclose(toy.hessian(w), torch.func.hessian(loss)(w), atol=1e-12)
    mean = toy.gradients(w[None])[0].mean(0)
    np.testing.assert_allclose(mean, torch.func.grad(loss)(w), atol=1e-12)


def test_a_solution_solves_and_what_cannot_be_solved_is_an_error():
    rng = np.random.default_rng(5)
    x, y = torch.tensor(rng.normal(size=(30, 4))), torch.tensor(rng.integers(2, size=30))
    toy, w = neighbours.Logistic.of(x, y), torch.tensor(rng.normal(size=(2, 5)))
    b = torch.tensor(rng.normal(size=(2, 3, 5)))
    near = torch.linalg.inv(toy.hessian(w.mean(0)) + 0.4 * torch.eye(5).double())
    solved = toy.solver(w, 0.4, near)(b)
    for m in range(2):
        full = toy.hessian(w[m]) + 0.4 * torch.eye(5).double()
        np.testing.assert_allclose(solved[m], torch.linalg.solve(full, b[m].T).T, rtol=1e-3)
    with pytest.raises(RunError, match="could not be solved"):
        toy.solver(w, 0.4, -near)(b)


def test_a_projection_is_along_the_move_of_the_minimum_over_the_noise(game, weights, found):
    """By hand, one record and one model, the noise a moving average over all 65 directions."""
    config, place, r, k = game.task.config, 0, 1, 2
    x, y = game.records(game.base[place], torch.float64)
    toy = neighbours.Logistic.of(x, y)
    asked = neighbours.Logistic.of(*game.records(game.added[place], torch.float64))
    out = torch.tensor(weights["without"][place][1::2]).double()
    centre = out.mean(0)
    hessian = toy.hessian(centre)
    gradient = asked.gradients(centre[None])[0, r]
    w = torch.tensor(weights["with"][place, r, k]).double()
    damped = torch.linalg.solve(hessian + 0.2 * torch.eye(len(w)).double(), gradient)
    form = found["form"].sel(term=subjects.PROJECTED[1], side="with").values[r, k]
    assert form[0] == pytest.approx(-float((w - centre) @ damped), rel=1e-4)
    # In the same basis: pixels that are always 0 have eigenvalue 0, and no basis of their own.
    values, basis = (part.numpy() for part in torch.linalg.eigh(hessian))
    noise = np.log(((out - centre).numpy() @ basis).var(0, ddof=1))
    wide = [noise[max(0, i - 12) : i + 13].mean() for i in range(len(noise))]
    time = sum(config.learning_rate_at(e) for e in range(config.epochs)) * 4 / (1 - config.momentum)
    k_ = values + config.weight_decay
    factor = (1 - np.exp(-time * k_)) / k_ / np.exp(wide)
    direction = basis @ (factor * (basis.T @ gradient.numpy()))
    assert form[3] == pytest.approx(-float((w - centre).numpy() @ direction), rel=1e-3)


def test_what_is_expected_is_the_distance_of_two_normal_laws(game, weights, found):
    """Of a move m and a covariance C: the best direction's, and that of the log-odds."""
    config, r = game.task.config, 2
    toy = neighbours.Logistic.of(*game.records(game.base[0], torch.float64))
    asked = neighbours.Logistic.of(*game.records(game.added[0], torch.float64))
    out = torch.tensor(weights["without"][0]).double()
    _, basis, noise, moved = neighbours._law(toy, out, config)
    covariance = basis @ torch.diag(noise) @ basis.T
    gradient = asked.gradients(out.mean(0)[None])[0, r]
    move = basis @ torch.diag(moved) @ basis.T @ gradient / (len(toy.x) + 1)
    best = torch.sqrt(move @ torch.linalg.solve(covariance, move))
    z = asked.x[r]
    outputs = abs(float(z @ move)) / torch.sqrt(z @ covariance @ z)
    form = found["form"].sel(inverse=subjects.FITTED)[r, 1, 0]
    assert float(form.sel(term=subjects.EXPECTED[0])) == pytest.approx(float(best), rel=1e-4)
    assert float(form.sel(term=subjects.EXPECTED[1])) == pytest.approx(float(outputs), rel=1e-4)
    assert outputs <= best


def test_smoothing_keeps_a_constant():
    variance = torch.full((7,), 3.0, dtype=torch.float64)
    np.testing.assert_allclose(neighbours.smoothed(variance), 3.0)
