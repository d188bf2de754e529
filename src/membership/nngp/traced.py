"""What the kernels need of JAX, and the kernels from neural-tangents; importing this imports JAX.

neural-tangents imports TensorFlow in `neural_tangents.experimental` only, which nothing here
uses. An empty module of that name keeps TensorFlow out.
"""

import sys
import warnings
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import enable_x64

from membership.arrays import FloatArray
from membership.nngp.kernels import Convolutional, FullyConnected, Kernel


@jax.custom_jvp
def even_part(rho):
    """sqrt(1 - rho^2) + rho arcsin rho, differentiable at rho = 1.

    Autodiff of the formula gives infinity minus infinity where a record meets itself. The
    derivative is arcsin rho.
    """
    rho = jnp.clip(rho, -1.0, 1.0)
    return jnp.sqrt(1 - rho * rho) + rho * jnp.arcsin(rho)


@even_part.defjvp
def _even_part_jvp(primals, tangents):
    (rho,), (change,) = primals, tangents
    return even_part(rho), jnp.arcsin(jnp.clip(rho, -1.0, 1.0)) * change


def moved(value, other):
    """`other` as a value, with the derivatives of `value`."""
    return value + jax.lax.stop_gradient(other - value)


def repeat(n: int, layer, moments):
    """Apply a layer n times, compiled once: XLA's time would grow steeply with the depth."""
    return jax.lax.fori_loop(0, n, lambda _, m: layer(m), moments)


@dataclass(frozen=True)
class StaxKernel(Kernel):
    """The kernel of a network as neural-tangents computes it."""

    network: FullyConnected | Convolutional = FullyConnected()  # noqa: RUF009 - immutable

    def __call__(self, x1: Any, x2: Any = None) -> FloatArray:
        """Compute the kernel matrix in float64; see `Kernel`."""
        with enable_x64():
            return super().__call__(x1, x2)

    def diagonal(self, x: Any) -> FloatArray:
        """Compute k(x, x) of each record in float64."""
        with enable_x64():
            return super().diagonal(x)

    def evaluate(self, x1, x2, xp: ModuleType):
        """Kernel matrix through the library."""
        if xp is np:
            return np.asarray(_compiled(self.network)(x1, x2))
        return _function(self.network)(x1, x2, "nngp")

    def evaluate_diagonal(self, x, xp: ModuleType):
        """k(x, x) through the library, one record at a time."""
        one = jax.vmap(lambda r: _function(self.network)(r[None], r[None], "nngp")[0, 0])
        return np.asarray(jax.jit(one)(x)) if xp is np else one(x)


@cache
def stax() -> ModuleType:
    """The networks of neural-tangents."""
    name = "neural_tangents.experimental"
    sys.modules.setdefault(name, ModuleType(name))
    with warnings.catch_warnings():
        # It reads names of jax.core that JAX 0.5 announces to move.
        warnings.simplefilter("ignore", DeprecationWarning)
        from neural_tangents import stax as networks
    return networks


@cache
def _function(network: FullyConnected | Convolutional):
    layers = stax()
    size = {"W_std": network.w_std, "b_std": network.b_std}
    phi = {"relu": layers.Relu, "gelu": layers.Gelu, "erf": layers.Erf}[network.activation]
    if isinstance(network, Convolutional):
        axes = ("NCHW", "OIHW", "NCHW")
        conv = {"padding": "SAME", "dimension_numbers": axes, **size}
        hidden = [layers.serial(layers.Conv(1, (2, 2), **conv), phi())] * network.depth
    else:
        hidden = [layers.serial(layers.Dense(1, **size), phi())] * network.depth
        hidden.insert(0, layers.Flatten())
    return layers.serial(*hidden, layers.Flatten(), layers.Dense(1, **size))[2]


@cache
def _compiled(network: FullyConnected | Convolutional):
    function = _function(network)
    return jax.jit(lambda x1, x2: function(x1, x2, "nngp"))
