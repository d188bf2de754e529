"""Conjugate gradients for many right-hand sides at once."""

from dataclasses import dataclass

import numpy as np
import torch
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from membership.curvature.eigen import require_positive
from membership.curvature.low_rank import LowRank
from membership.curvature.products import Product
from membership.errors import InputError, RunError


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
        From vectors (count, p) to their products with H, as `hessian_product` gives.
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
    for iteration in range(max_iterations):
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


def _refuse(product: Product, right: torch.Tensor, damping: float, found: float) -> None:
    """Raise the InputError that names a sufficient damping, from the smallest eigenvalue."""

    def times(vector: np.ndarray) -> np.ndarray:
        row = torch.as_tensor(vector.reshape(1, -1)).to(right)
        return product(row).cpu().numpy().ravel()

    count = right.shape[1]
    # pyrefly: ignore
    operator = LinearOperator((count, count), matvec=times, dtype=np.float64)
    start = right.sum(0).cpu().numpy()
    try:
        smallest = eigsh(operator, 1, which="SA", tol=1e-2, v0=start, return_eigenvectors=False)
        found = min(found, float(smallest[0]))
    except ArpackNoConvergence as error:
        found = min([found, *error.eigenvalues])
    require_positive(found, damping)
