from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import nn

from membership import attacks
from membership.curvature.conjugate_gradients import Solver, conjugate_gradients, low_rank
from membership.curvature.objective import objective
from membership.errors import InputError, RunError

SIZE = 60


def matrix(smallest=0.0, largest=5.0, seed=0):
    generator = torch.Generator().manual_seed(seed)
    normal = torch.randn(SIZE, SIZE, dtype=torch.float64, generator=generator)
    turn, _ = torch.linalg.qr(normal)
    values = torch.linspace(smallest, largest, SIZE, dtype=torch.float64)
    return turn * values @ turn.T


def systems(count=12, seed=1):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(count, SIZE, dtype=torch.float64, generator=generator)


def counted(h):
    def product(vectors):
        product.rounds += 1
        product.vectors += len(vectors)
        return vectors @ h.to(vectors.dtype)

    product.rounds = product.vectors = 0
    return product


def leading(product, n_systems):
    return low_rank(product, SIZE, n_systems, torch.device("cpu")).to(torch.float64)


@pytest.mark.parametrize("preconditioned", [False, True])
def test_it_solves_every_system(preconditioned):
    h, right = matrix(), systems()
    product = counted(h)
    pairs = leading(product, 200) if preconditioned else None
    found = conjugate_gradients(product, right, 0.2, tolerance=1e-9, low_rank=pairs)
    damped = h + 0.2 * torch.eye(SIZE, dtype=torch.float64)
    expected = torch.linalg.solve(damped, right.T).T
    np.testing.assert_allclose(found.vectors, expected, atol=1e-7)
    true = (right - found.vectors @ damped).norm(dim=1) / right.norm(dim=1)
    np.testing.assert_allclose(found.residual, true, rtol=0.01, atol=1e-14)
    assert true.max() <= 1e-9


def test_each_system_is_solved_as_if_alone():
    h, right = matrix(), systems()
    # One that is an eigenvector is done after a step, one that is zero before the first.
    right[3] = torch.linalg.eigh(h).eigenvectors[:, -1]
    right[4] = 0.0
    together = conjugate_gradients(counted(h), right, 0.1, tolerance=1e-8)
    for row, vector in zip(right, together.vectors, strict=True):
        alone = conjugate_gradients(counted(h), row[None], 0.1, tolerance=1e-8)
        np.testing.assert_allclose(vector, alone.vectors[0], rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(together.vectors[4], 0)
    assert together.residual[4] == 0


def test_a_system_that_is_done_costs_nothing_more():
    h, right = matrix(), systems()
    easy = torch.linalg.eigh(h).eigenvectors[:, -4:].T.contiguous()
    product = counted(h)
    found = conjugate_gradients(product, torch.cat([right, easy]), 0.1)
    assert product.rounds == found.iterations
    assert product.vectors <= 12 * found.iterations + 4 * 2


def test_leading_eigenpairs_save_iterations():
    h = matrix(largest=0.05)
    h = h + 20.0 * systems(4).T @ systems(4) / SIZE
    plain = conjugate_gradients(counted(h), systems(seed=2), 0.2)
    pairs = leading(counted(h), 80)
    assert len(pairs.values) <= SIZE // 4
    faster = conjugate_gradients(counted(h), systems(seed=2), 0.2, low_rank=pairs)
    assert faster.iterations < plain.iterations
    eye = torch.eye(len(pairs.values), dtype=torch.float64)
    np.testing.assert_allclose(pairs.vectors @ pairs.vectors.T, eye, atol=1e-5)
    top = torch.linalg.eigvalsh(h).flip(0)[:4]
    np.testing.assert_allclose(pairs.values[:4], top, rtol=1e-3)


def test_few_systems_are_not_worth_a_preconditioner():
    assert low_rank(counted(matrix()), SIZE, 4, torch.device("cpu")) is None


@pytest.mark.parametrize("smallest", [-0.5, -3.0])
@pytest.mark.parametrize("preconditioned", [False, True])
def test_negative_curvature_is_refused_with_a_damping_that_does(smallest, preconditioned):
    h, right = matrix(smallest), systems()
    pairs = leading(counted(h), 200) if preconditioned else None
    with pytest.raises(InputError, match="not positive definite; a damping of") as error:
        conjugate_gradients(counted(h), right, 0.2, low_rank=pairs)
    enough = float(str(error.value).split("a damping of ")[1].split()[0])
    assert -smallest < enough < -1.3 * smallest
    found = conjugate_gradients(counted(h), right, enough, low_rank=pairs)
    assert found.residual.max() <= 1e-6


def test_too_few_iterations_are_an_error():
    with pytest.raises(RunError, match=r"12 of 12 systems .* after 3 iterations .* damping"):
        conjugate_gradients(counted(matrix()), systems(), 1e-3, max_iterations=3)


def test_ranges_are_checked():
    with pytest.raises(InputError, match="tolerance = 0"):
        conjugate_gradients(counted(matrix()), systems(), 0.2, tolerance=0)
    with pytest.raises(InputError, match="max_iterations = 0"):
        conjugate_gradients(counted(matrix()), systems(), 0.2, max_iterations=0)


@pytest.mark.slow
@pytest.mark.parametrize("formed", [False, True])
@pytest.mark.parametrize("tolerance", [1e-3, 1e-10])
def test_a_solver_solves_with_a_model_s_hessian(problem, reference, tolerance, formed):
    goal = objective(*problem)
    n_systems = goal.size + 1 if formed else 10
    solver = Solver(goal, *goal.records(*problem[2:]), n_systems=n_systems)
    right = torch.randn(140, goal.size, dtype=torch.float64)
    damping = 0.1 - min(0.0, np.linalg.eigvalsh(reference)[0])
    found = solver.solve(right, damping, tolerance)
    assert found.vectors.dtype == torch.float64
    damped = reference + damping * np.eye(goal.size)
    # What it says is left is what is left: in single precision up to its rounding.
    left = right.numpy() - found.vectors.numpy() @ damped
    rounding = 1e-5 if tolerance == 1e-3 else 1e-12
    np.testing.assert_allclose(found.remainder, left, atol=rounding)
    size = np.linalg.norm(right, axis=1)
    assert (np.linalg.norm(left, axis=1) <= tolerance * size * 1.01 + rounding).all()
    relative = np.linalg.norm(found.remainder, axis=1) / size
    np.testing.assert_allclose(found.residual, relative, rtol=1e-5)


def binary(output, y):
    return nn.functional.binary_cross_entropy_with_logits(output[:, 0], y, reduction="none")


@pytest.mark.parametrize("widths", [(5, 1), (5, 4, 1), (5, 1, 1), (1, 3, 2, 1), (5, 4, 1, 3, 1)])
@pytest.mark.parametrize(("n_records", "n_queries"), [(1, 1), (30, 1), (30, 9), (30, 60)])
def test_a_network_with_one_output_has_the_exact_scores(widths, n_records, n_queries):
    torch.manual_seed(0)
    layers = [nn.Linear(*both) for both in pairwise(widths)]
    model = nn.Sequential(*[part for layer in layers for part in (nn.Tanh(), layer)][1:])
    train = torch.randn(n_records, widths[0]), torch.arange(n_records) % 2.0
    query = torch.randn(n_queries, widths[0]), torch.arange(n_queries) % 2.0
    given = (model, binary, train, query, 3.0)
    exact = attacks.sif(*given)
    np.testing.assert_allclose(attacks.sif(*given, solver="cg"), exact, rtol=1e-4, atol=1e-7)
