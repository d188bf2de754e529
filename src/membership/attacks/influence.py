"""Self-influence (Cohen and Giryes 2024) as a membership score."""

from typing import Any

import numpy as np
from torch import nn

from membership.attacks.white_box import WhiteBoxView, views
from membership.curvature.eigen import (
    Spectrum,
    check_conditioning,
    conditioned_inverse,
    spectrum_of,
)
from membership.curvature.objective import Loss, objective
from membership.metrics.arrays import FloatArray


def sif(
    model: nn.Module,
    loss: Loss,
    train: tuple,
    query: tuple,
    damping: float = 0.2,
    conditioning: str = "damping",
    convention: str = "paper",
    *,
    spectrum: Spectrum | None = None,
) -> FloatArray:
    r"""Score records by minus their self-influence, :math:`-g^\top (H + \epsilon I)^{-1} g`.

    The adversary has the parameters and the training records, of which only the Hessian enters.
    A record that was trained on has a small gradient, so a large influence speaks against
    membership (the released code flips the sign in its plotting script).

    Parameters
    ----------
    model, loss, train, query, damping, conditioning, convention, spectrum
        As for `iha`.

    Returns
    -------
    numpy.ndarray of float64, shape (records,)
        0 or less; exactly 0 where a low rank keeps no eigenvalue.

    Raises
    ------
    InputError
        As `iha`.
    """
    check_conditioning(damping, conditioning, convention)
    goal = objective(model, loss, *train)
    goal.records(*query)
    spectrum = spectrum or spectrum_of(goal, *goal.records(*train))
    how: dict[str, Any] = {
        "damping": damping,
        "conditioning": conditioning,
        "convention": convention,
    }
    parts = [
        sif_from_view(view, spectrum.values, **how) for view in views(goal, train, query, spectrum)
    ]
    return np.concatenate(parts)


def sif_from_view(
    view: WhiteBoxView,
    values: FloatArray,
    damping: float = 0.2,
    conditioning: str = "damping",
    convention: str = "paper",
) -> FloatArray:
    """As `sif`, on gradients already read in the eigenbasis with its eigenvalues `values`."""
    inverse = conditioned_inverse(values, damping, conditioning, convention)
    return 0.0 - np.square(view.gradient) @ inverse
