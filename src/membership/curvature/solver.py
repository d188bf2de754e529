"""Inverse-Hessian-vector products by conjugate gradients, for one model and many vectors."""

import torch

from membership.curvature.cg import Solution, conjugate_gradients
from membership.curvature.low_rank import low_rank
from membership.curvature.objective import Objective
from membership.curvature.products import hessian_product

# Systems solved side by side: their vectors take 6 x 128 x 8 p bytes.
BLOCK_SYSTEMS = 128
# Residuals from here up are a thousand times the rounding of single precision, which takes half
# the time.
SINGLE_FROM = 1e-4


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
        single = y.float() if y.is_floating_point() else y
        self.products = {
            torch.float64: hessian_product(goal, x, y),
            torch.float32: hessian_product(goal.to(torch.float32), x.float(), single),
        }
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
