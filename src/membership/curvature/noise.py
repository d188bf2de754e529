r"""The noise of mini-batches along the leading eigenvectors of a Hessian.

A batch of S records drawn anew has a mean gradient of covariance
:math:`C = \operatorname{cov}(g) / S`, with g the gradient of one record.
What C is in the Hessian's eigenbasis decides how SGD spreads.
"""

from dataclasses import dataclass

import numpy as np
import torch
from scipy.linalg import eigh

from membership import memory
from membership.arrays import FloatArray, as_float64
from membership.curvature.gradients import gradient_blocks
from membership.curvature.hessians import hessian_matrix
from membership.curvature.objective import Objective
from membership.errors import InputError


@dataclass(frozen=True)
class Directions:
    """Eigenvalues (k,) of a Hessian, ascending, and their eigenvectors (p, k)."""

    values: FloatArray
    vectors: torch.Tensor


def leading_directions(
    goal: Objective, x: torch.Tensor, y: torch.Tensor, least: float
) -> Directions:
    """The eigenvectors of the mean loss's Hessian whose eigenvalue is above `least`."""
    memory.require(
        3 * 8.0 * goal.size**2,
        f"the leading eigenvectors for {goal.size:,} parameters",
        "take a narrower network",
        goal.device,
    )
    matrix = hessian_matrix(goal, x, y).cpu().numpy()
    values, vectors = eigh(
        matrix, overwrite_a=True, check_finite=False, subset_by_value=(least, np.inf)
    )
    return Directions(values, torch.as_tensor(vectors, device=goal.device))


def gradients_along(
    goal: Objective, x: torch.Tensor, y: torch.Tensor, vectors: torch.Tensor
) -> tuple[FloatArray, FloatArray]:
    """Each record's gradient along the directions (records, k), and its loss (records,)."""
    parts = [(block @ vectors, losses) for block, losses in gradient_blocks(goal, x, y)]
    along, losses = (torch.cat(each).cpu().numpy() for each in zip(*parts, strict=True))
    return along, losses


def power_law(eigenvalues: FloatArray, variances: FloatArray) -> float:
    r"""The exponent :math:`\kappa` of :math:`C_i \propto \sigma_i^\kappa`, fitted to logs.

    Parameters
    ----------
    eigenvalues : array of shape (k,)
        Positive, not all alike.
    variances : array of shape (k,)
        Positive: the noise's along the eigenvectors.

    Returns
    -------
    float

    Raises
    ------
    InputError
        There are fewer than two different eigenvalues, or a number is not positive.
    """
    pair = [
        as_float64(name, values, 1)
        for name, values in (("eigenvalues", eigenvalues), ("variances", variances))
    ]
    if any((values <= 0).any() for values in pair) or len(np.unique(pair[0])) < 2:
        raise InputError("eigenvalues and variances: give positive ones, two different at least")
    x, y = (np.log(values) - np.log(values).mean() for values in pair)
    return float(x @ y / (x @ x))
