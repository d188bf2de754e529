"""The eigendecomposition of a Hessian, and the inverses that attacks condition on it."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from torch import nn

from membership import memory
from membership.arrays import as_float64, from_zero, one_of
from membership.curvature.hessians import SMALLER, curvature_matrix
from membership.curvature.objective import Loss, Objective, objective
from membership.curvature.suitable import Parameters
from membership.errors import InputError

CONDITIONINGS = ("damping", "low-rank")
CONVENTIONS = ("paper", "authors")
# The share of the largest eigenvalue, by absolute value, that `damping="least"` leaves the least.
MARGIN = 1e-3


class Basis(Protocol):
    """Where a matrix that stands for the curvature is diagonal."""

    @property
    def values(self) -> np.ndarray:
        """The eigenvalues, (p,)."""

    def rotate(self, vectors: torch.Tensor) -> torch.Tensor:
        """Vectors (..., p) in the basis."""

    def check(self, goal: Objective) -> None:
        """Raise an InputError where it is of something else than an objective."""


@dataclass(frozen=True)
class Spectrum:
    r"""Eigenvalues and eigenvectors of the mean loss's curvature, :math:`H = Q \Lambda Q^\top`.

    In the eigenbasis every function of H is elementwise: one decomposition serves any number of
    dampings, ranks and controls.

    Attributes
    ----------
    values : numpy.ndarray of float64, shape (p,)
        Ascending.
    vectors : torch.Tensor of float64, shape (p, p)
        Eigenvectors in columns, on the device they were computed on.
    matrix : {"hessian", "ggn"}
        What it is of.
    """

    values: np.ndarray
    vectors: torch.Tensor
    matrix: str = "hessian"

    def rotate(self, vectors: torch.Tensor) -> torch.Tensor:
        """Vectors (..., p) in the eigenbasis."""
        return vectors.to(self.vectors.device) @ self.vectors

    def check(self, goal: Objective) -> None:
        """Raise an InputError where it is not of a model with so many parameters."""
        if len(self.values) != goal.size:
            raise InputError(
                f"spectrum: it has {len(self.values):,} eigenvalues, and the model {goal.size:,} "
                "parameters; pass the spectrum of this model"
            )
        if self.matrix != goal.matrix:
            raise InputError(
                f"spectrum: it is of matrix = {self.matrix!r}, and {goal.matrix!r} is asked for; "
                f"pass curvature.spectrum(..., matrix={goal.matrix!r})"
            )


def spectrum(
    model: nn.Module,
    loss: Loss,
    x: Any,
    y: Any,
    *,
    matrix: str = "hessian",
    parameters: Parameters = None,
    batch_size: int | None = None,
) -> Spectrum:
    """Decompose the exact curvature of the mean loss, without the weight decay's part.

    Parameters
    ----------
    model, loss, x, y, parameters, batch_size
        As for :func:`hessian`.
    matrix : {"hessian", "ggn"}
        The one or the Gauss-Newton matrix.

    Returns
    -------
    Spectrum

    Raises
    ------
    InputError
        As for :func:`hessian`; the memory counted is that of the decomposition.
    """
    goal = objective(model, loss, x, y, parameters, matrix, batch_size)
    return spectrum_of(goal, *goal.records(x, y))


def spectrum_of(goal: Objective, x: torch.Tensor, y: torch.Tensor) -> Spectrum:
    """Decompose the curvature of a checked objective, as `spectrum` does of a model."""
    memory.require(
        # The matrix, its eigenvectors, and twice as much for the divide-and-conquer method.
        4 * 8.0 * goal.size**2,
        f"the eigendecomposition for {goal.size:,} parameters",
        SMALLER,
        goal.device,
    )
    values, vectors = torch.linalg.eigh(curvature_matrix(goal, x, y))
    return Spectrum(values.cpu().numpy(), vectors, goal.matrix)


def conditioned_inverse(
    values: np.ndarray,
    damping: float = 0.2,
    conditioning: str = "damping",
    convention: str = "paper",
    shift: float = 0.0,
) -> np.ndarray:
    r"""Eigenvalues of a conditioned inverse of :math:`H + sI`.

    Parameters
    ----------
    values : numpy.ndarray, shape (p,)
        Eigenvalues :math:`\sigma_i` of the Hessian.
    damping : float
        :math:`\epsilon`, from 0 up: added to all eigenvalues, or the threshold of the low rank.
    conditioning : {"damping", "low-rank"}
        "damping": :math:`1/(\sigma_i + s + \epsilon)`. "low-rank": :math:`1/(\sigma_i + s)` where
        the eigenvalue is above :math:`\epsilon`, else 0. With none above it the result is 0
        throughout: nothing is known of the curvature, and no error.
    convention : {"paper", "authors"}
        "authors": low rank keeps :math:`|\sigma_i| > \epsilon`, so large negative ones too.
    shift : float
        :math:`s`, from 0 up: the weight decay, where the regularised loss is meant.

    Returns
    -------
    numpy.ndarray of float64, shape (p,)

    Raises
    ------
    InputError
        A parameter is out of its range, or the damped matrix is not positive definite; the
        message says which damping would do.
    """
    check_conditioning(damping, conditioning, convention)
    values = as_float64("values", values, 1)
    if conditioning == "damping":
        require_positive(float(values.min()) + shift, damping)
        return 1.0 / (values + shift + damping)
    kept = np.abs(values) > damping if convention == "authors" else values > damping
    return np.divide(1.0, values + shift, out=np.zeros_like(values), where=kept)


def check_conditioning(damping: float | str, conditioning: str, convention: str) -> None:
    """Raise an InputError for a parameter of `conditioned_inverse` out of its range."""
    if isinstance(damping, str):
        raise InputError(f"damping = {damping!r}: expected a number from 0 up")
    from_zero("damping", damping)
    one_of("conditioning", conditioning, CONDITIONINGS)
    one_of("convention", convention, CONVENTIONS)


def least(smallest: float, largest: float) -> float:
    """The least damping that leaves the smallest of the damped eigenvalues the margin.

    `largest` is so by absolute value.
    """
    return max(0.0, MARGIN * largest - smallest)


def require_positive(smallest: float, damping: float) -> None:
    """Raise an InputError unless `smallest` + `damping` is above 0, naming the ways out."""
    if smallest + damping <= 0:
        enough = float(f"{-1.1 * smallest + 1e-6:.2g}")
        raise InputError(
            f"damping = {damping:g}: the smallest eigenvalue is {smallest:.3g}, so the damped "
            f"matrix is not positive definite; a damping of {enough:g} would do, and attacks take "
            "damping='least', which finds one, matrix='ggn', which has no negative eigenvalue, or "
            "a part of the model by parameters="
        )
