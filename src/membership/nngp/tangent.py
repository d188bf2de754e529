"""The neural tangent kernel of wide fully connected networks, in closed form."""

from typing import Any

import numpy as np

from membership.arrays import FloatArray
from membership.errors import InputError
from membership.nngp.activations import activation as named
from membership.nngp.checks import records
from membership.nngp.kernels import FullyConnected, Kernel


def tangent_kernel(kernel: Kernel, x: Any) -> FloatArray:
    """Compute the neural tangent kernel of records, whose network's own kernel is `kernel`.

    The inner product of the output's gradients in all parameters at the start, in the limit of
    wide layers (Jacot et al. 2018). Parameters are standard normal and layers scaled, so that
    every layer counts alike: Theta_0 = K_0, then
    Theta <- K + w_std^2 E[phi' phi'] Theta with the K of the layer that follows.

    Parameters
    ----------
    kernel : Kernel
        From `fully_connected`, closed form.
    x : array of shape (records, ...)

    Returns
    -------
    ndarray of float64, shape (records, records)

    Raises
    ------
    InputError
        The kernel is not that of a fully connected network, or `x` has no records.
    """
    if not isinstance(kernel, FullyConnected):
        raise InputError(f"kernel = {kernel!r}: give one of nngp.fully_connected, closed form")
    phi, w, bias = named(kernel.activation), kernel.w_std**2, kernel.b_std**2
    rows = records("x", x).reshape(len(x), -1)
    c = w * (rows @ rows.T) / rows.shape[1] + bias
    tangent = c
    for _ in range(kernel.depth):
        a = np.diagonal(c).copy()
        a, b = a[:, None], a[None, :]
        slope = w * phi.slope(a, b, c)
        c = w * phi.dual(a, b, c, np) + bias
        tangent = c + slope * tangent
    return kernel.scale * (tangent + tangent.T) / 2
