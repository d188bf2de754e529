"""Kernels of wide networks (Lee et al. 2018; Novak et al. 2019), RBF and polynomial kernels."""

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from membership.arrays import FloatArray, one_of, whole
from membership.errors import InputError, extra
from membership.nngp.activations import activation as named
from membership.nngp.checks import positive
from membership.nngp.kernels import BLOCK, Kernel, MomentKernel

_ENGINES = ("closed-form", "neural-tangents")


@dataclass(frozen=True)
class FullyConnected(MomentKernel):
    """See `fully_connected`."""

    depth: int = 1
    activation: str = "relu"
    w_std: float = 1.0
    b_std: float = 0.0

    def of_moments(self, a, b, c, xp: ModuleType):
        """The layers' recursion; variances and covariance go through it together."""
        dual = named(self.activation).dual
        w, bias = self.w_std**2, self.b_std**2

        def layer(moments):
            a, b, c = moments
            duals = dual(a, a, a, xp), dual(b, b, b, xp), dual(a, b, c, xp)
            return tuple(w * moment + bias for moment in duals)

        start = tuple(w * moment + bias for moment in (a, b, c))
        return _repeat(self.depth, layer, start, xp)[2]


@dataclass(frozen=True)
class Convolutional(Kernel):
    """See `convolutional`."""

    depth: int = 1
    activation: str = "relu"
    w_std: float = 1.0
    b_std: float = 0.0

    def evaluate(self, x1, x2, xp: ModuleType):
        """Kernel matrix from the covariances at each position of the image."""
        _require_images(x1)
        a, b = (x1 * x1).mean(axis=1)[:, None], (x2 * x2).mean(axis=1)[None]
        return self._layers(a, b, xp.einsum("ichw,jchw->ijhw", x1, x2) / x1.shape[1], xp)

    def evaluate_diagonal(self, x, xp: ModuleType):
        """k(x, x) from the variances at each position."""
        _require_images(x)
        a = (x * x).mean(axis=1)
        return self._layers(a, a, a, xp)

    def _layers(self, a, b, c, xp: ModuleType):
        dual = named(self.activation).dual
        w, bias = self.w_std**2, self.b_std**2

        def layer(moments):
            a, b, c = (w * _patch_mean(moment, xp) + bias for moment in moments)
            return dual(a, a, a, xp), dual(b, b, b, xp), dual(a, b, c, xp)

        c = _repeat(self.depth, layer, (a, b, c), xp)[2]
        return w * c.mean(axis=(-2, -1)) + bias

    def _rows_a_block(self, x: FloatArray, n_columns: int) -> int:
        return max(1, BLOCK // (n_columns * x[0, 0].size))


@dataclass(frozen=True)
class Rbf(MomentKernel):
    """See `rbf`."""

    gamma: float = 1.0

    def of_moments(self, a, b, c, xp: ModuleType):
        """exp of the mean squared difference."""
        return xp.exp(-self.gamma * (a + b - 2 * c))


@dataclass(frozen=True)
class Polynomial(MomentKernel):
    """See `polynomial`."""

    degree: int = 2
    offset: float = 1.0

    def of_moments(self, a, b, c, xp: ModuleType):
        """A power of the mean product."""
        return (c + self.offset) ** self.degree


def fully_connected(
    depth: int,
    activation: str = "relu",
    w_std: float = 2**0.5,
    b_std: float = 0.0,
    engine: str = "closed-form",
) -> Kernel:
    """Kernel of infinitely wide fully connected networks with `depth` hidden layers and a readout.

    K0 = w_std^2 x.x'/dim + b_std^2, then K <- w_std^2 E[phi phi] + b_std^2 for each hidden layer.

    Parameters
    ----------
    depth : int
        Hidden layers, 1 or more. The readout comes on top, as in the released code.
    activation : {"relu", "gelu", "erf"}
    w_std : float
        Weights are N(0, w_std^2 / inputs); above 0. The default is the released code's.
    b_std : float
        Biases are N(0, b_std^2); 0 or more.
    engine : {"closed-form", "neural-tangents"}
        Closed forms in NumPy, or the same kernel from neural-tangents, in float64 too.

    Returns
    -------
    Kernel
        ``kernel(x1, x2=None)`` takes records of any shape and flattens them.

    Raises
    ------
    InputError
        A parameter is outside its range.
    """
    return _network(FullyConnected, depth, activation, w_std, b_std, engine)


def convolutional(
    depth: int,
    activation: str = "relu",
    w_std: float = 2**0.5,
    b_std: float = 0.0,
    engine: str = "closed-form",
) -> Kernel:
    """Kernel of wide networks of `depth` 2x2 convolutions with zero padding ("SAME") and a readout.

    Without pooling, only covariances of equal positions matter (Xiao et al. 2018): each
    layer averages them over the 2x2 patch and applies the dual map; the readout averages over the
    image. Images are (records, channels, height, width); otherwise as `fully_connected`.
    """
    return _network(Convolutional, depth, activation, w_std, b_std, engine)


def rbf(gamma: float = 1.0) -> Kernel:
    """``exp(-gamma |x - x'|^2 / dim)``, `dim` being a record's entries; `gamma` above 0."""
    return Rbf(gamma=positive("gamma", gamma))


def polynomial(degree: int = 2, offset: float = 1.0) -> Kernel:
    """``(x.x'/dim + offset)^degree``; `degree` a whole number above 0, `offset` 0 or more."""
    whole("degree", degree)
    return Polynomial(degree=degree, offset=positive("offset", offset, zero=True))


def _network(
    kind: type[FullyConnected] | type[Convolutional],
    depth: Any,
    activation: str,
    w_std: Any,
    b_std: Any,
    engine: str,
) -> Kernel:
    named(activation)
    whole("depth", depth)
    kernel = kind(
        depth=depth,
        activation=activation,
        w_std=positive("w_std", w_std),
        b_std=positive("b_std", b_std, zero=True),
    )
    one_of("engine", engine, _ENGINES)
    if engine == "closed-form":
        return kernel
    with extra("kernels"):
        from membership.nngp.tangents import StaxKernel

    return StaxKernel(network=kernel)


def _repeat(n: int, layer: Callable[[Any], Any], moments, xp: ModuleType):
    if xp is not np:
        from membership.nngp.traced import repeat

        return repeat(n, layer, moments)
    for _ in range(n):
        moments = layer(moments)
    return moments


def _patch_mean(moment, xp: ModuleType):
    """Mean over the 2x2 patch that begins at each position, zeros beyond the edge."""
    padding = [(0, 0)] * (moment.ndim - 2)
    rows = moment + xp.pad(moment[..., 1:, :], [*padding, (0, 1), (0, 0)])
    return (rows + xp.pad(rows[..., 1:], [*padding, (0, 0), (0, 1)])) / 4


def _require_images(x) -> None:
    if x.ndim != 4:
        raise InputError(
            f"x has shape {x.shape}; a convolutional kernel takes images, (records, channels, "
            "height, width)"
        )
