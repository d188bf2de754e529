"""Inverse-Hessian-vector products by conjugate gradients, for one model and many vectors."""

from functools import partial

import torch

from membership.curvature.cg import Solution, conjugate_gradients
from membership.curvature.hessians import hessian_matrix
from membership.curvature.low_rank import low_rank
from membership.curvature.objective import Objective
from membership.curvature.products import Product, hessian_product

# Systems solved side by side: their vectors take 6 x 128 x 8 p bytes.
BLOCK_SYSTEMS = 128
# Residuals from here up are a thousand times the rounding of single precision, which takes half
# the time.
SINGLE_FROM = 1e-4
# A Hessian of up to so many parameters is formed where there are more systems than that: 300 MB.
FORMED = 5000


class Solver:
    """Solves (H + damping I) x = b for one model's Hessian H over its training records.

    Parameters
    ----------
    goal : Objective
    x, y : torch.Tensor
        The records of the mean loss.
    n_systems : int
        How many systems are to come: many of them pay for a better preconditioner.
    """

    def __init__(self, goal: Objective, x: torch.Tensor, y: torch.Tensor, n_systems: int):
        self.device = goal.device
        many = goal.size < min(n_systems, FORMED)
        self.products = _formed(goal, x, y) if many else _from_records(goal, x, y)
        rough = low_rank(self.products[torch.float32], goal.size, n_systems, goal.device)
        self.low_rank = {kind: rough and rough.to(kind) for kind in self.products}

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
        torch.float64: hessian_product(goal, x, y),
        torch.float32: hessian_product(goal.to(torch.float32), *single),
    }


def _formed(goal: Objective, x: torch.Tensor, y: torch.Tensor) -> dict[torch.dtype, Product]:
    """Products with the Hessian, formed once: with more systems than parameters the sooner way."""
    matrix = hessian_matrix(goal, x, y)
    of = {torch.float64: matrix, torch.float32: matrix.float()}
    return {kind: partial(torch.matmul, other=one) for kind, one in of.items()}
