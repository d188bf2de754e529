import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from membership import curvature
from membership.curvature import conjugate_gradients
from membership.curvature import inverse as room
from membership.curvature.inverse import Factor, enough, factor, factorised, least_eigenvalue
from membership.curvature.objective import objective
from membership.errors import InputError


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(room, "BLOCK", 7)


def positive(size, seed=0):
    rows = np.random.default_rng(seed).standard_normal((size, size))
    return rows @ rows.T + np.eye(size)


@pytest.mark.parametrize("size", [1, 6, 7, 8, 30])
def test_the_lower_triangle_becomes_the_factor_of_the_matrix(size, small_blocks):
    expected = positive(size)
    matrix = torch.tensor(expected)
    assert factorised(matrix)
    np.testing.assert_allclose(np.tril(matrix), np.linalg.cholesky(expected), rtol=1e-10)


@settings(max_examples=25, deadline=None)
@given(size=st.integers(1, 40), count=st.integers(1, 5), seed=st.integers(0, 99))
def test_solutions_are_those_of_the_matrix_and_leave_the_right_side_alone(size, count, seed):
    expected = positive(size, seed)
    right = torch.tensor(np.random.default_rng(seed + 100).standard_normal((count, size)))
    kept = right.clone()
    matrix = torch.tensor(expected)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(room, "BLOCK", 7)
        assert factorised(matrix)
        found = Factor(matrix)
        solved, half = found.solve(right), found.half(right)
    np.testing.assert_allclose(solved, np.linalg.solve(expected, kept.T).T, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose((half * half).sum(1), (kept * solved).sum(1), rtol=1e-8)
    assert torch.equal(right, kept)


@settings(max_examples=25, deadline=None)
@given(size=st.integers(2, 40), seed=st.integers(0, 99))
def test_the_least_eigenvalue_is_found_from_the_factor_of_the_damped_matrix(size, seed):
    rows = np.random.default_rng(seed).standard_normal((size, size))
    matrix = (rows + rows.T) / 2
    least = np.linalg.eigvalsh(matrix)[0]
    damping = 0.5 - least
    damped = torch.tensor(matrix + damping * np.eye(size))
    assert factorised(damped)
    np.testing.assert_allclose(least_eigenvalue(Factor(damped), damping), least, atol=0.005)


def test_only_the_lower_triangle_is_touched_and_no_second_matrix_is_made(small_blocks):
    expected = torch.tensor(positive(30))
    matrix = expected.clone()
    address = matrix.data_ptr()
    factorised(matrix)
    assert matrix.data_ptr() == address
    far = torch.ones(30, 30).triu(7).bool()
    assert torch.equal(matrix[far], expected[far])


@pytest.mark.parametrize("few", [0, 500])
def test_a_matrix_that_is_not_positive_definite_names_a_damping_that_would_do(few, monkeypatch):
    monkeypatch.setattr(conjugate_gradients, "FEW", few)
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(6, 5), torch.nn.Tanh(), torch.nn.Linear(5, 3))
    x, y = torch.randn(20, 6), torch.randint(0, 3, (20,))
    loss = torch.nn.CrossEntropyLoss(reduction="none")
    goal = objective(model, loss, x, y)
    records = goal.records(x, y)
    smallest = np.linalg.eigvalsh(curvature.hessian(model, loss, x, y))[0]
    assert smallest < -1e-3
    with pytest.raises(InputError, match="smallest eigenvalue is -") as error:
        factor(goal, *records, -0.5 * smallest)
    enough = float(str(error.value).split("a damping of ")[1].split()[0])
    assert enough == pytest.approx(-1.1 * smallest, rel=0.02)
    assert isinstance(factor(goal, *records, enough)[0], Factor)


def test_damping_is_raised_only_where_the_hessian_asks_for_it():
    assert enough(np.array([-0.01, 1.0]), 0.2) == 0.2
    raised = enough(np.array([-0.3, 1.0]), 0.2)
    assert raised - 0.3 >= 0.1
