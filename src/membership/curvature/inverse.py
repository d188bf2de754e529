r"""What stands for the inverse of the curvature: eigenvalues, a factor or conjugate gradients.

P stands for :math:`H^{-1}` or, with the weight decay, for :math:`(H + \alpha I)^{-1}`, and P' for
the :math:`H^{-1}` between two of them. Vectors are the rows of (count, p), in the basis of the
`WhiteBoxView` that they come from.

A Cholesky factor costs :math:`p^3/3` multiplications and additions, an eigendecomposition some
thirty times as many; the latter pays where many dampings or a low rank are asked for.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from scipy.sparse.linalg import LinearOperator, eigsh
from torch import nn

from membership import memory
from membership.arrays import FloatArray, one_of
from membership.curvature.conjugate_gradients import Solver, ends
from membership.curvature.eigen import (
    Basis,
    Spectrum,
    check_conditioning,
    conditioned_inverse,
    least,
    require_positive,
    spectrum_of,
)
from membership.curvature.hessians import SMALLER, curvature_matrix
from membership.curvature.kronecker import kronecker
from membership.curvature.objective import Loss, Objective, objective
from membership.curvature.products import curvature_product
from membership.curvature.suitable import Parameters
from membership.errors import InputError
from membership.progress import told

# Columns eliminated at a time: large enough that nearly all work is products of matrices.
BLOCK = 512


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


def factor(
    goal: Objective, x: torch.Tensor, y: torch.Tensor, damping: float | str
) -> tuple[Factor, float]:
    """Factorise the damped curvature of the mean loss, in its own memory; with the damping.

    Raises
    ------
    InputError
        As `hessian`; or the damped matrix is not positive definite, with a damping that would do.
    """
    memory.require(
        8.0 * goal.size * (goal.size + 4 * BLOCK),
        f"the Cholesky factor for {goal.size:,} parameters",
        SMALLER,
        goal.device,
    )
    matrix = curvature_matrix(goal, x, y)
    if isinstance(damping, str):
        damping = least(*ends(partial(torch.matmul, other=matrix), goal.size, goal.device))
    matrix.diagonal().add_(damping)
    if not factorised(matrix):
        matrix = matrix.new_empty(0)  # its memory is needed once more
        matrix = curvature_matrix(goal, x, y)
        smallest, _ = ends(partial(torch.matmul, other=matrix), goal.size, goal.device)
        # Rounding makes a singular matrix fail whose smallest eigenvalue comes out above 0.
        require_positive(min(smallest, -damping), damping)
    return Factor(matrix), damping


def factorised(matrix: torch.Tensor) -> bool:
    """Put L into a matrix's lower triangle, column block by column block; False where none is."""
    columns_of = [range(*block.indices(len(matrix))) for block in _blocks(len(matrix))]
    for each in told(columns_of, len(matrix), "Cholesky factor", "column"):
        columns = slice(each.start, each.stop)
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


def enough(values: FloatArray, damping: float) -> float:
    """The damping, or a larger one where it would leave an eigenvalue at or below half of it."""
    return max(damping, damping / 2 - 1.1 * float(values.min()))


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


LEAST = "least"
SOLVERS = ("exact", "cg", "kfac", "ekfac")


class Inverse(Protocol):
    """P and P', and what a gradient's quadratic forms with itself are."""

    def solve(self, vectors: FloatArray) -> FloatArray:
        """P v of each row."""

    def between(self, vectors: FloatArray) -> FloatArray:
        """P' v of each row."""

    def influence(self, gradient: FloatArray) -> FloatArray:
        """The form own1, g P g, of each row."""

    def own(self, gradient: FloatArray) -> dict[str, FloatArray]:
        """Besides, own2, g P P g, and own3, g P P' P g; and the residual where one is left."""


@dataclass(frozen=True)
class Eigenvalues:
    """In the eigenbasis of the curvature, where both are diagonal: the diagonals, of shape (p,)."""

    outer: FloatArray
    inner: FloatArray

    def solve(self, vectors: FloatArray) -> FloatArray:
        return vectors * self.outer

    def between(self, vectors: FloatArray) -> FloatArray:
        return vectors * self.inner

    def influence(self, gradient: FloatArray) -> FloatArray:
        return np.square(gradient) @ self.outer

    def own(self, gradient: FloatArray) -> dict[str, FloatArray]:
        squared, square = np.square(gradient), self.outer**2
        return {
            "own1": squared @ self.outer,
            "own2": squared @ square,
            "own3": squared @ (square * self.inner),
        }


@dataclass(frozen=True)
class Factors:
    """Cholesky factors of the two damped matrices; own3 takes one triangular solution more."""

    outer: Factor
    inner: Factor

    def solve(self, vectors: FloatArray) -> FloatArray:
        return _numbers(self.outer.solve(self._sent(vectors)))

    def between(self, vectors: FloatArray) -> FloatArray:
        return _numbers(self.inner.solve(self._sent(vectors)))

    def influence(self, gradient: FloatArray) -> FloatArray:
        return _numbers(self.outer.half(self._sent(gradient)).square().sum(1))

    def own(self, gradient: FloatArray) -> dict[str, FloatArray]:
        right = self._sent(gradient)
        solved = self.outer.solve(right)
        return {
            "own1": _dot(right, solved),
            "own2": _dot(solved, solved),
            "own3": _numbers(self.inner.half(solved).square().sum(1)),
        }

    def _sent(self, vectors: FloatArray) -> torch.Tensor:
        return torch.as_tensor(vectors).to(self.outer.matrix.device)


@dataclass(frozen=True)
class ConjugateGradients:
    r"""Systems solved to the square root of the accuracy wanted.

    With x an approximate :math:`P g` and r what is left of g,

    .. math:: \|P g\|^2 = \|x\|^2 + 2\, r^\top P x + O(\|r\|^2) ,

    and a second system, for :math:`P' x`, is the one that own3 asks for anyway.
    """

    solver: Solver
    damping: float
    shift: float
    tolerance: float

    @property
    def _rough(self) -> float:
        """Where P' is not P, the second system does not take the first one's error away."""
        return self.tolerance if self.shift else self.tolerance**0.5

    def solve(self, vectors: FloatArray) -> FloatArray:
        both = self.damping + self.shift
        return _numbers(self.solver.solve(self._sent(vectors), both, self.tolerance).vectors)

    def between(self, vectors: FloatArray) -> FloatArray:
        sent = self._sent(vectors)
        return _numbers(self.solver.solve(sent, self.damping, self.tolerance).vectors)

    def influence(self, gradient: FloatArray) -> FloatArray:
        right = self._sent(gradient)
        first = self.solver.solve(right, self.damping + self.shift, self._rough)
        return _dot(first.vectors, right + first.remainder)

    def own(self, gradient: FloatArray) -> dict[str, FloatArray]:
        right = self._sent(gradient)
        first = self.solver.solve(right, self.damping + self.shift, self._rough)
        x = first.vectors
        second = self.solver.solve(x, self.damping, self._rough)
        return {
            "own1": _dot(x, right + first.remainder),
            "own2": _dot(x, x) + 2.0 * _dot(first.remainder, second.vectors),
            "own3": _dot(second.vectors, x + second.remainder),
            "residual": _numbers(torch.maximum(first.residual, second.residual)),
        }

    def _sent(self, vectors: FloatArray) -> torch.Tensor:
        return torch.as_tensor(vectors).to(self.solver.device)


def least_damping(
    model: nn.Module,
    loss: Loss,
    x: Any,
    y: Any,
    *,
    matrix: str = "hessian",
    parameters: Parameters = None,
    batch_size: int | None = None,
) -> float:
    r"""The least damping at which the curvature is positive definite beyond a margin.

    With :math:`\sigma` the eigenvalues, the least :math:`\epsilon \ge 0` with
    :math:`\min \sigma_i + \epsilon \ge 10^{-3} \max |\sigma_i|`: no direction is weighed more than
    a thousand times as much as the steepest. Attacks find it by ``damping="least"``.

    Parameters
    ----------
    model, loss, x, y, parameters, batch_size
        As for `hessian`.
    matrix : {"hessian", "ggn"}

    Returns
    -------
    float
        The eigenvalues at the ends are found by products, without the matrix, to a tenth of the
        margin.

    Raises
    ------
    InputError
        As for `hessian`.

    Examples
    --------
    >>> import torch
    >>> from membership import curvature
    >>> _ = torch.manual_seed(0)
    >>> model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 2))
    >>> given = model, torch.nn.CrossEntropyLoss(reduction="none"), torch.eye(2), [0, 1]
    >>> ggn = curvature.least_damping(*given, matrix="ggn")
    >>> 0 < ggn < curvature.least_damping(*given)
    True
    """
    goal = objective(model, loss, x, y, parameters, matrix, batch_size)
    product = curvature_product(goal, *goal.records(x, y))
    return least(*ends(product, goal.size, goal.device))


def eigenvalues(
    values: FloatArray,
    damping: float,
    conditioning: str = "damping",
    convention: str = "paper",
    shift: float = 0.0,
) -> Eigenvalues:
    """From the Hessian's eigenvalues; parameters and errors as `conditioned_inverse`."""
    inner = conditioned_inverse(values, damping, conditioning, convention)
    return Eigenvalues(
        conditioned_inverse(values, damping, conditioning, convention, shift) if shift else inner,
        inner,
    )


def identity(size: int) -> Eigenvalues:
    """Of so many parameters, in any orthonormal basis: no curvature, a control."""
    ones = np.ones(size)
    return Eigenvalues(ones, ones)


class Inverted(NamedTuple):
    """What stands for the inverse, the basis in which it works, if in one, and the damping."""

    inverse: Inverse
    basis: Basis | None
    damping: float


@dataclass(frozen=True)
class Inversion:
    """How the curvature is inverted: `attacks.iha` has the parameters; an `InputError` as there.

    A factor does where there is one damping and no spectrum at hand.
    """

    damping: float | str
    conditioning: str
    convention: str
    solver: str
    spectrum: Spectrum | None = None
    tolerance: float = 1e-6
    matrix: str = "hessian"

    def __post_init__(self) -> None:
        finds = self.damping == LEAST
        check_conditioning(0.0 if finds else self.damping, self.conditioning, self.convention)
        if finds and self.conditioning == "low-rank":
            raise InputError(
                "damping = 'least': the damping of a low rank is the threshold of its eigenvalues; "
                "give a number, or conditioning='damping'"
            )
        one_of("solver", self.solver, SOLVERS)
        if self.solver in ("kfac", "ekfac") and self.matrix != "ggn":
            raise InputError(
                f"solver = {self.solver!r}: its factors are of the Gauss-Newton matrix; give "
                "matrix='ggn' with it"
            )
        if self.spectrum is not None and self.solver != "exact":
            raise InputError(
                f"spectrum: solver = {self.solver!r} does not read it; give solver='exact' with it"
            )
        if self.solver == "cg" and self.conditioning == "low-rank":
            raise InputError(
                "conditioning = 'low-rank': conjugate gradients cannot leave eigenvalues out; use "
                "solver='exact', or conditioning='damping'"
            )

    def of(
        self,
        goal: Objective,
        train: tuple[torch.Tensor, torch.Tensor],
        n_queries: int,
        shift: float = 0.0,
    ) -> Inverted:
        """Invert the curvature of an objective; `conditioned_inverse` has the shift."""
        damping = self.damping
        if self.solver == "cg":
            systems = Solver(goal, *train, n_systems=n_queries)
            damping = least(*systems.ends()) if isinstance(damping, str) else damping
            found = ConjugateGradients(systems, damping, shift, self.tolerance)
            return Inverted(found, None, damping)
        if self.solver == "exact" and self.spectrum is None and self.conditioning == "damping":
            inner, damping = factor(goal, *train, damping)
            outer, _ = factor(goal, *train, damping + shift) if shift else (inner, damping)
            return Inverted(Factors(outer, inner), None, damping)
        basis = self._basis(goal, train)
        values = basis.values
        if isinstance(damping, str):
            damping = least(float(values.min()), float(np.abs(values).max()))
        how = (damping, self.conditioning, self.convention, shift)
        return Inverted(eigenvalues(values, *how), basis, damping)

    def _basis(self, goal: Objective, train: tuple[torch.Tensor, torch.Tensor]) -> Basis:
        if self.solver != "exact":
            return kronecker(goal, *train, corrected=self.solver == "ekfac")
        spectrum = self.spectrum or spectrum_of(goal, *train)
        spectrum.check(goal)
        return spectrum


def _numbers(values: torch.Tensor) -> FloatArray:
    return values.cpu().numpy()


def _dot(left: torch.Tensor, right: torch.Tensor) -> FloatArray:
    return _numbers((left * right).sum(1))
