"""Kernels of Gaussian processes, among them those of infinitely wide neural networks.

Networks
    `fully_connected`, `convolutional`, `tangent_kernel`, `edge_of_chaos`
Others
    `rbf`, `polynomial`
The object they return
    `Kernel`: called, a NumPy matrix in float64; `Kernel.traceable` is the same in JAX, in float64
    within `float64`.

The closed forms need NumPy only. JAX is imported by the first gradient, and neural-tangents by
``engine="neural-tangents"``; TensorFlow never.
"""

from membership.errors import extra
from membership.nngp.activations import edge_of_chaos
from membership.nngp.kernels import (
    Kernel,
    convolutional,
    fully_connected,
    polynomial,
    rbf,
    tangent_kernel,
)

__all__ = [
    "Kernel",
    "convolutional",
    "edge_of_chaos",
    "float64",
    "fully_connected",
    "polynomial",
    "rbf",
    "tangent_kernel",
]


def float64():
    """Context in which JAX computes in float64, for this thread only and until its end."""
    with extra("kernels"):
        from jax.experimental import enable_x64

    return enable_x64()
