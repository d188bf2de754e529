"""Inverse-Hessian-vector products by conjugate gradients, for one model and many vectors."""

import torch

from membership.curvature.cg import Solution, conjugate_gradients
from membership.curvature.low_rank import low_rank
from membership.curvature.objective import Objective
from membership.curvature.products import hessian_product

# Systems solved side by side: their vectors take 6 x 128 x 8 p bytes.
BLOCK_SYSTEMS = 128


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
        self.product = hessian_product(goal, x, y)
        self.low_rank = low_rank(self.product, goal.size, n_systems, goal.device)

    def solve(self, right: torch.Tensor, damping: float, tolerance: float) -> Solution:
        """Solve for the rows of `right` (count, p); as `conjugate_gradients`."""
        parts = [
            conjugate_gradients(self.product, some, damping, tolerance, low_rank=self.low_rank)
            for some in right.split(BLOCK_SYSTEMS)
        ]
        return Solution(
            torch.cat([part.vectors for part in parts]),
            torch.cat([part.residual for part in parts]),
            max(part.iterations for part in parts),
        )
