"""Kernels as objects: a NumPy matrix when called, and a JAX function for gradients."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from membership import memory
from membership.arrays import FloatArray, one_of, whole
from membership.errors import InputError, extra
from membership.nngp.activations import activation as named
from membership.nngp.checks import positive, records

# Entries a block of the matrix: the intermediate arrays stay in the processor's cache.
BLOCK = 1 << 17


@dataclass(frozen=True)
class Kernel:
    """A covariance function of two sets of records.

    Subclasses give `evaluate`, the kernel as array arithmetic, once for NumPy and JAX. Kernels
    are immutable, comparable and hashable, and their `repr` names every parameter.

    Attributes
    ----------
    scale : float
        Factor on the kernel.
    """

    scale: float = 1.0

    def __call__(self, x1: Any, x2: Any = None) -> FloatArray:
        """Compute the kernel matrix in float64, block by block.

        Beside the matrix, 0.8 GB for 10,000 records, only a few megabytes are held at a time.

        Raises
        ------
        InputError
            `x1` or `x2` are no records of one shape, or an entry of the matrix overflows.
        """
        x1 = records("x1", x1)
        if x2 is None:
            return self._symmetric(x1)
        x2 = records("x2", x2, like=x1)
        out = _matrix(len(x1), len(x2))
        step = self._rows_a_block(x1, len(x2))
        for i in range(0, len(x1), step):
            out[i : i + step] = self._block(x1[i : i + step], x2)
        return out

    def diagonal(self, x: Any) -> FloatArray:
        """Compute k(x, x) of each record, shape (records,), in float64."""
        x = records("x", x)
        with np.errstate(all="ignore"):
            return self.finite(self.scale * self.evaluate_diagonal(x, np))

    def traceable(self, x1, x2):
        """The kernel matrix of JAX arrays as JAX operations.

        JAX works in float32 unless the call lies within ``nngp.float64()``.
        """
        import jax.numpy as jnp

        return self.scale * self.evaluate(x1, x2, jnp)

    def traceable_diagonal(self, x):
        """k(x, x) of each record of a JAX array as JAX operations."""
        import jax.numpy as jnp

        return self.scale * self.evaluate_diagonal(x, jnp)

    def scaled(self, factor: float) -> "Kernel":
        """Return the kernel times a factor above 0."""
        if not (np.isfinite(factor) and factor > 0):
            raise InputError(f"factor = {factor}: give a number above 0")
        scale = self.scale * float(factor)
        if not (np.isfinite(scale) and scale > 0):
            raise InputError(f"factor = {factor}: the scale, {self.scale} so far, leaves float64")
        return replace(self, scale=scale)

    def evaluate(self, x1, x2, xp: ModuleType) -> Any:
        """Kernel matrix of two arrays of records, without the scale."""
        raise TypeError(f"{type(self).__name__} has no formula")

    def evaluate_diagonal(self, x, xp: ModuleType) -> Any:
        """k(x, x) of each record, without the scale."""
        raise TypeError(f"{type(self).__name__} has no formula")

    def _rows_a_block(self, x: FloatArray, n_columns: int) -> int:
        return max(1, BLOCK // n_columns)

    def _block(self, x1: FloatArray, x2: FloatArray) -> FloatArray:
        with np.errstate(all="ignore"):
            block = self.evaluate(x1, x2, np)
            return self.finite(self.scale * block if self.scale != 1.0 else block)

    def finite(self, values: FloatArray) -> FloatArray:
        """Return values of the kernel, refused where one overflowed."""
        if not np.isfinite(values).all():
            raise InputError(
                f"{self!r} leaves float64 at these records: give smaller ones, or a kernel of "
                "fewer layers, smaller deviations or a lower degree"
            )
        return values

    def _symmetric(self, x: FloatArray) -> FloatArray:
        n = len(x)
        out = _matrix(n, n)
        i = 0
        while i < n:
            j = min(n, i + self._rows_a_block(x, n - i))
            block = self._block(x[i:j], x[i:])
            square = block[:, : j - i]
            out[i:j, i:j] = square / 2 + square.T / 2
            out[i:j, j:] = block[:, j - i :]
            out[j:, i:j] = block[:, j - i :].T
            i = j
        return out


class MomentKernel(Kernel):
    """A kernel of two records' mean squares a, b and mean product c over their entries."""

    def evaluate(self, x1, x2, xp: ModuleType):
        """Kernel matrix from the records' moments."""
        x1, x2 = x1.reshape(len(x1), -1), x2.reshape(len(x2), -1)
        a, b = (x1 * x1).mean(axis=1)[:, None], (x2 * x2).mean(axis=1)[None, :]
        return self.of_moments(a, b, _meeting(a, b, x1 @ x2.T / x1.shape[1], xp), xp)

    def evaluate_diagonal(self, x, xp: ModuleType):
        """k(x, x) from the records' mean squares."""
        return self.of_own((x * x).reshape(len(x), -1).mean(axis=1), xp)

    def of_own(self, a, xp: ModuleType):
        """The kernel of records with themselves."""
        return self.of_moments(a, a, a, xp)

    def of_moments(self, a, b, c, xp: ModuleType):
        """The kernel where a, b and c broadcast."""
        raise TypeError(f"{type(self).__name__} has no formula")


# Relative to a mean square: what rounding makes of the mean product of a record with itself.
_ROUNDING = 1e-14


def _meeting(a, b, c, xp: ModuleType):
    """Mean products, those of a record with itself or its copy being the mean square exactly.

    Deep networks far from the edge of chaos tear apart what differs in the last digit.
    """
    apart = xp.maximum(xp.abs(c - a), xp.abs(a - b))
    met = xp.where(apart <= _ROUNDING * a, a, c)
    if xp is np:
        return met
    from membership.nngp.traced import moved

    return moved(c, met)


def _matrix(rows: int, columns: int) -> FloatArray:
    what = f"the kernel of {rows:,} and {columns:,} records"
    memory.require(8 * rows * columns, what, "give fewer records")
    return np.empty((rows, columns))


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
            if xp is not np:
                # XLA rounds what it computes of columns, of rows and of both in ways of its own.
                c = _meeting(a, b, c, xp)
            duals = dual(a, a, a, xp), dual(b, b, b, xp), dual(a, b, c, xp)
            return tuple(w * moment + bias for moment in duals)

        start = tuple(w * moment + bias for moment in (a, b, c))
        return _repeat(self.depth, layer, start, xp)[2]

    def of_own(self, a, xp: ModuleType):
        """The same of one moment instead of three that are alike."""
        dual = named(self.activation).dual
        w, bias = self.w_std**2, self.b_std**2
        return _repeat(self.depth, lambda a: w * dual(a, a, a, xp) + bias, w * a + bias, xp)


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
        c = _meeting(a, b, xp.einsum("ichw,jchw->ijhw", x1, x2) / x1.shape[1], xp)
        return self._layers(a, b, c, xp)

    def evaluate_diagonal(self, x, xp: ModuleType):
        """k(x, x) from the variances at each position."""
        _require_images(x)
        dual = named(self.activation).dual
        w, bias = self.w_std**2, self.b_std**2

        def layer(a):
            a = w * _patch_mean(a, xp) + bias
            return dual(a, a, a, xp)

        a = _repeat(self.depth, layer, (x * x).mean(axis=1), xp)
        return w * a.mean(axis=(-2, -1)) + bias

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


# Of an RBF kernel, squared: moments of wider data lose the digits of its entries.
_MOST_WIDTHS = 1e3


@dataclass(frozen=True)
class Rbf(MomentKernel):
    """See `rbf`."""

    gamma: float = 1.0

    def evaluate(self, x1, x2, xp: ModuleType):
        """Kernel matrix from the moments about one of the records, or from each difference.

        What all records have in common would cost the digits of their differences.
        """
        x1, x2 = x1.reshape(len(x1), -1), x2.reshape(len(x2), -1)
        near, centre = xp is not np, x2[:1]
        x1, x2 = x1 - centre, x2 - centre
        if not near:
            width = max(float(np.square(x).mean(axis=1).max()) for x in (x1, x2))
            near = self.gamma * width < _MOST_WIDTHS
        if near:
            return super().evaluate(x1, x2, xp)
        return np.exp(-self.gamma * (cdist(x1, x2, "sqeuclidean") / x1.shape[1]))

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
    with extra("neural-tangents"):
        from membership.nngp.traced import StaxKernel, stax

        stax()
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
        The kernel is not that of a fully connected network, `x` has no records, or an entry
        overflows.
    """
    if not isinstance(kernel, FullyConnected):
        raise InputError(f"kernel = {kernel!r}: give one of nngp.fully_connected, closed form")
    phi, w, bias = named(kernel.activation), kernel.w_std**2, kernel.b_std**2
    rows = records("x", x).reshape(len(x), -1)
    a = (rows * rows).mean(axis=1)
    c = w * _meeting(a[:, None], a[None, :], rows @ rows.T / rows.shape[1], np) + bias
    tangent = c
    with np.errstate(all="ignore"):
        for _ in range(kernel.depth):
            a = np.diagonal(c).copy()
            a, b = a[:, None], a[None, :]
            slope = w * phi.slope(a, b, c)
            c = w * phi.dual(a, b, c, np) + bias
            tangent = c + slope * tangent
        return kernel.finite(kernel.scale * (tangent + tangent.T) / 2)
