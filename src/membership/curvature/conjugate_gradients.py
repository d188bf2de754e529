"""Conjugate gradients for many right-hand sides at once, preconditioned by leading eigenpairs."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from membership.curvature.eigen import MARGIN, require_positive
from membership.curvature.hessians import curvature_matrix
from membership.curvature.objective import Objective
from membership.curvature.products import Product, curvature_product
from membership.errors import InputError, RunError
from membership.progress import counted

MOST_VECTORS = 256


@dataclass(frozen=True)
class LowRank:
    """Approximate eigenpairs, those of the largest absolute values first.

    Attributes
    ----------
    values : torch.Tensor, shape (rank,)
    vectors : torch.Tensor, shape (rank, p)
        Orthonormal rows.
    """

    values: torch.Tensor
    vectors: torch.Tensor

    def to(self, dtype: torch.dtype) -> "LowRank":
        """The same in another precision."""
        return LowRank(self.values.to(dtype), self.vectors.to(dtype))

    def precondition(self, vectors: torch.Tensor, damping: float) -> torch.Tensor:
        """Divide (count, p) by the damped Hessian, as far as the eigenpairs go.

        Along the eigenvectors by eigenvalue plus damping; elsewhere by the smallest of these, so
        that the preconditioned matrix has eigenvalues near 1 (Frangella, Tropp and Udell 2023).
        """
        along = vectors @ self.vectors.T
        scale = self.values[-1].abs() + damping
        along *= scale / (self.values + damping) - 1.0
        return torch.addmm(vectors, along, self.vectors).div_(scale)


def low_rank(product: Product, size: int, n_systems: int, device: torch.device) -> LowRank | None:
    """Leading eigenpairs, as many as pay for themselves over a number of systems.

    A random start, two steps of subspace iteration and the Rayleigh-Ritz step: three products a
    vector, in single precision, since a preconditioner may be rough. The start is drawn with a
    fixed seed; the solutions depend on it only within their tolerance.
    """
    rank = min(MOST_VECTORS, n_systems // 4, size // 4)
    if rank < 2:
        return None
    generator = torch.Generator(device).manual_seed(0)
    single = {"dtype": torch.float32, "device": device}
    basis = torch.randn(rank, size, generator=generator, **single)
    for _ in range(2):
        basis = torch.linalg.qr(product(basis).T).Q.T.contiguous()
    small = basis @ product(basis).T
    values, turn = torch.linalg.eigh((small + small.T) / 2)
    # The last ones of a random subspace are poor approximations: leave a quarter out.
    order = values.abs().argsort(descending=True)[: rank - rank // 4]
    return LowRank(values[order], turn.T[order] @ basis)


@dataclass(frozen=True)
class Solution:
    """Solutions of (H + damping I) x = b.

    Attributes
    ----------
    vectors : torch.Tensor, shape (count, p)
    remainder : torch.Tensor, shape (count, p)
        What is left of the right-hand sides, b - (H + damping I) x.
    residual : torch.Tensor, shape (count,)
        The norm of the remainder over that of b.
    iterations : int
        Of the system that took most.
    """

    vectors: torch.Tensor
    remainder: torch.Tensor
    residual: torch.Tensor
    iterations: int


def conjugate_gradients(
    product: Product,
    right: torch.Tensor,
    damping: float,
    tolerance: float = 1e-6,
    max_iterations: int = 1000,
    low_rank: LowRank | None = None,
) -> Solution:
    """Solve (H + damping I) x = b for many b, each with its own step lengths.

    All systems share each round of Hessian-vector products; a system that is done leaves the
    round.

    Parameters
    ----------
    product : callable
        From vectors (count, p) to their products with H, as `curvature_product` gives.
    right : torch.Tensor of float64, shape (count, p)
        The right-hand sides, in rows.
    damping : float
        Added to all eigenvalues of H.
    tolerance : float
        Where each relative residual may stop, above 0 and below 1.
    max_iterations : int
        After which to give up.
    low_rank : LowRank, optional
        Leading eigenpairs of H, to precondition with.

    Returns
    -------
    Solution

    Raises
    ------
    InputError
        The damped matrix is not positive definite along some direction that was met; the message
        says which damping would do. Or `tolerance` or `max_iterations` is out of its range.
    RunError
        Some system did not reach the tolerance.
    """
    if not 0 < tolerance < 1:
        raise InputError(f"tolerance = {tolerance!r}: expected a number between 0 and 1")
    if max_iterations < 1:
        raise InputError(f"max_iterations = {max_iterations!r}: expected a number from 1 up")
    if low_rank is not None and float(low_rank.values.min()) + damping <= 0:
        _refuse(product, right, damping, float(low_rank.values.min()))

    def preconditioned(vectors: torch.Tensor) -> torch.Tensor:
        return vectors if low_rank is None else low_rank.precondition(vectors, damping)

    size = right.norm(dim=1)
    stop = tolerance * size
    solution, residual = torch.zeros_like(right), right.clone()
    left = (residual.norm(dim=1) > stop).nonzero().flatten()
    direction = preconditioned(residual[left])
    power = (residual[left] * direction).sum(1)
    for iteration in counted(range(max_iterations), "conjugate gradients", "iteration"):
        if len(left) == 0:
            return Solution(solution, residual, _relative(residual, size), iteration)
        moved = product(direction) + damping * direction
        curvature = (direction * moved).sum(1)
        if not (curvature > 0).all():
            rayleigh = curvature / direction.square().sum(1) - damping
            _refuse(product, right, damping, float(rayleigh.min()))
        length = (power / curvature).unsqueeze(1)
        solution[left] += length * direction
        remaining = residual[left] - length * moved
        residual[left] = remaining
        going = remaining.norm(dim=1) > stop[left]
        left, remaining = left[going], remaining[going]
        turned = preconditioned(remaining)
        before, power = power[going], (remaining * turned).sum(1)
        direction = turned + (power / before).unsqueeze(1) * direction[going]
    worst = float(_relative(residual, size).max())
    raise RunError(
        f"conjugate gradients: {len(left)} of {len(right)} systems have not reached a relative "
        f"residual of {tolerance:g} after {max_iterations} iterations (the largest is "
        f"{worst:.2g}); raise the damping, now {damping:g}, or max_iterations"
    )


def _relative(residual: torch.Tensor, size: torch.Tensor) -> torch.Tensor:
    return residual.norm(dim=1) / size.clamp_min(torch.finfo(size.dtype).tiny)


def _refuse(product: Product, right: torch.Tensor, damping: float, smallest: float) -> None:
    """Raise the InputError that names a sufficient damping, from the smallest eigenvalue."""
    start = right.sum(0)
    how = {"which": "SA", "tol": 1e-2, "v0": start.cpu().numpy(), "return_eigenvectors": False}
    try:
        smallest = min(smallest, float(eigsh(_operator(product, start), 1, **how)[0]))
    except ArpackNoConvergence as error:
        smallest = min([smallest, *error.eigenvalues])
    require_positive(smallest, damping)


def _operator(product: Product, like: torch.Tensor) -> LinearOperator:
    """Products as scipy asks for them, with vectors like one."""

    def times(vector: np.ndarray) -> np.ndarray:
        return product(torch.as_tensor(vector.reshape(1, -1)).to(like)).cpu().numpy().ravel()

    # pyrefly: ignore
    return LinearOperator((len(like), len(like)), matvec=times, dtype=np.float64)


# Up to so many parameters all eigenvalues are had sooner than those at the ends.
FEW = 500
# How far an eigenvalue at an end may be off, relative to the largest: a tenth of the margin.
ENDS = MARGIN / 10


def ends(product: Product, size: int, device: torch.device) -> tuple[float, float]:
    """The smallest eigenvalue, and the largest by absolute value, to a few digits."""
    like = torch.zeros(size, dtype=torch.float64, device=device)
    if size <= FEW:
        values = torch.linalg.eigvalsh(product(torch.diag(like + 1.0)))
        return float(values[0]), float(values.abs().max())
    start = np.random.default_rng(0).standard_normal(size)
    how = {"v0": start, "return_eigenvectors": False, "tol": ENDS}
    largest = abs(float(eigsh(_operator(product, like), 1, which="LM", **how)[0]))
    # The tolerance is relative to what is found; the smallest may be near 0, and this is not.
    shifted = _operator(lambda vectors: largest * vectors - product(vectors), like)
    return largest - float(eigsh(shifted, 1, which="LA", **how)[0]), largest


# Systems solved side by side: their vectors take 6 x 128 x 8 p bytes.
BLOCK_SYSTEMS = 128
# Residuals from here up are a thousand times the rounding of single precision, which takes half
# the time.
SINGLE_FROM = 1e-4
# A matrix of up to so many parameters is formed, a Hessian where there are more systems than that.
FORMED = 5000


class Solver:
    """Solves (H + damping I) x = b for one model's curvature H over its training records.

    Many systems to come (`n_systems`) pay for a better preconditioner.
    """

    def __init__(self, goal: Objective, x: torch.Tensor, y: torch.Tensor, n_systems: int):
        self.device, self.size = goal.device, goal.size
        # A Gauss-Newton matrix costs a few gradients a record, a Hessian a product a parameter.
        enough = FORMED if goal.matrix == "ggn" else min(n_systems, FORMED)
        formed = goal.size < enough
        self.products = _formed(goal, x, y) if formed else _from_records(goal, x, y)
        rough = low_rank(self.products[torch.float32], goal.size, n_systems, goal.device)
        self.low_rank = {kind: rough and rough.to(kind) for kind in self.products}

    def ends(self) -> tuple[float, float]:
        """The smallest eigenvalue, and the largest by absolute value, of the matrix."""
        return ends(self.products[torch.float64], self.size, self.device)

    def solve(self, right: torch.Tensor, damping: float, tolerance: float) -> Solution:
        """Solve for the rows of `right` (count, p); as `conjugate_gradients`.

        In single precision where the tolerance is 1e-4 or more, else in double precision.
        """
        kind = torch.float32 if tolerance >= SINGLE_FROM else torch.float64
        parts = [
            conjugate_gradients(
                self.products[kind],
                some.to(kind),
                damping,
                tolerance,
                low_rank=self.low_rank[kind],
            )
            for some in right.split(BLOCK_SYSTEMS)
        ]
        return Solution(
            torch.cat([part.vectors for part in parts]).double(),
            torch.cat([part.remainder for part in parts]).double(),
            torch.cat([part.residual for part in parts]).double(),
            max(part.iterations for part in parts),
        )


def _from_records(goal: Objective, x: torch.Tensor, y: torch.Tensor) -> dict[torch.dtype, Product]:
    """Products that go over all records each time and hold no matrix."""
    single = [part.float() if part.is_floating_point() else part for part in (x, y)]
    return {
        torch.float64: curvature_product(goal, x, y),
        torch.float32: curvature_product(goal.to(torch.float32), *single),
    }


def _formed(goal: Objective, x: torch.Tensor, y: torch.Tensor) -> dict[torch.dtype, Product]:
    """Products with the Hessian, formed once: with more systems than parameters the sooner way."""
    matrix = curvature_matrix(goal, x, y)
    matrices = {torch.float64: matrix, torch.float32: matrix.float()}
    return {kind: partial(torch.matmul, other=other) for kind, other in matrices.items()}
