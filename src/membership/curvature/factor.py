r"""The Cholesky factor of a damped Hessian: exact solutions at one damping.

A factorisation costs :math:`p^3/3` multiplications and additions, an eigendecomposition some thirty
times as many; the latter pays where many dampings or a low rank are asked for.
"""

from dataclasses import dataclass

import numpy as np
import torch
from scipy.sparse.linalg import LinearOperator, eigsh

from membership import memory
from membership.curvature.eigen import require_positive
from membership.curvature.hessians import hessian_matrix
from membership.curvature.objective import Objective

# Columns eliminated at a time: large enough that nearly all work is products of matrices.
BLOCK = 512
# Up to so many parameters all eigenvalues are had sooner than the smallest alone.
FEW = 500


@dataclass(frozen=True)
class Factor:
    r"""L of :math:`H + \epsilon I = L L^\top`.

    Attributes
    ----------
    matrix : torch.Tensor of float64, shape (p, p)
        L in its lower triangle; what lies above the diagonal is not read.
    """

    matrix: torch.Tensor

    def half(self, vectors: torch.Tensor) -> torch.Tensor:
        r""":math:`L^{-1} v` of each row v of (count, p)."""
        solution = vectors.clone()
        for rows in _blocks(len(self.matrix)):
            done = slice(0, rows.start)
            solution[:, rows].addmm_(solution[:, done], self.matrix[rows, done].T, alpha=-1.0)
            solution[:, rows] = _divided(solution[:, rows], self.matrix[rows, rows].T, upper=True)
        return solution

    def solve(self, vectors: torch.Tensor) -> torch.Tensor:
        r""":math:`(H + \epsilon I)^{-1} v` of each row v of (count, p)."""
        solution = self.half(vectors)
        for rows in reversed(_blocks(len(self.matrix))):
            done = slice(rows.stop, None)
            solution[:, rows].addmm_(solution[:, done], self.matrix[done, rows], alpha=-1.0)
            solution[:, rows] = _divided(solution[:, rows], self.matrix[rows, rows], upper=False)
        return solution


def factor(goal: Objective, x: torch.Tensor, y: torch.Tensor, damping: float) -> Factor:
    """Factorise the damped Hessian of the mean loss, in the Hessian's own memory.

    Raises
    ------
    InputError
        As `hessian`; or the damped matrix is not positive definite, with a damping that would do.
    """
    memory.require(
        8.0 * goal.size * (goal.size + 4 * BLOCK),
        f"the Cholesky factor for {goal.size:,} parameters",
        "use solver='cg', which needs none of it",
        goal.device,
    )
    matrix = hessian_matrix(goal, x, y)
    matrix.diagonal().add_(damping)
    if not factorised(matrix):
        matrix = matrix.new_empty(0)  # its memory is needed once more
        smallest = _smallest(hessian_matrix(goal, x, y).cpu().numpy())
        # Rounding makes a singular matrix fail whose smallest eigenvalue comes out above 0.
        require_positive(min(smallest, -damping), damping)
    return Factor(matrix)


def factors(
    goal: Objective, x: torch.Tensor, y: torch.Tensor, damping: float, more: float
) -> tuple[Factor, Factor]:
    """As `factor` of the damped Hessian, and of that with `more` added; one and the same for 0."""
    inner = factor(goal, x, y, damping)
    return inner, factor(goal, x, y, damping + more) if more else inner


def factorised(matrix: torch.Tensor) -> bool:
    """Put L into a matrix's lower triangle, column block by column block; False where none is."""
    for columns in _blocks(len(matrix)):
        done, below = slice(0, columns.start), slice(columns.stop, None)
        rows = slice(columns.start, None)
        matrix[rows, columns].addmm_(matrix[rows, done], matrix[columns, done].T, alpha=-1.0)
        corner, failed = torch.linalg.cholesky_ex(matrix[columns, columns])
        if failed.item():
            return False
        matrix[columns, columns] = corner
        matrix[below, columns] = _divided(matrix[below, columns], corner.T, upper=True)
    return True


def least_eigenvalue(factor: Factor, damping: float) -> float:
    """The smallest eigenvalue of the matrix whose damped one was factorised, to a few digits."""
    # The largest of the damped inverse, which a few solutions find.
    start = np.random.default_rng(0).standard_normal(len(factor.matrix))
    how = {"which": "LA", "v0": start, "tol": 1e-3, "return_eigenvectors": False}
    return 1 / float(eigsh(_Inverse(factor), 1, **how)[0]) - damping


class _Inverse(LinearOperator):
    """Solutions with a factor, as scipy asks for them."""

    def __init__(self, factor: Factor) -> None:
        super().__init__(np.float64, factor.matrix.shape)
        self.factor = factor

    def _matvec(self, x: np.ndarray) -> np.ndarray:
        sent = torch.as_tensor(x.reshape(1, -1)).to(self.factor.matrix.device)
        return self.factor.solve(sent)[0].cpu().numpy()


def _divided(left: torch.Tensor, triangle: torch.Tensor, upper: bool) -> torch.Tensor:
    return torch.linalg.solve_triangular(triangle, left, upper=upper, left=False)


def _blocks(size: int) -> list[slice]:
    return [slice(first, min(first + BLOCK, size)) for first in range(0, size, BLOCK)]


def _smallest(matrix: np.ndarray) -> float:
    """The smallest eigenvalue, to a few digits."""
    if len(matrix) <= FEW:
        return float(np.linalg.eigvalsh(matrix)[0])
    start = np.random.default_rng(0).standard_normal(len(matrix))
    return float(eigsh(matrix, 1, which="SA", v0=start, tol=1e-3, return_eigenvectors=False)[0])
