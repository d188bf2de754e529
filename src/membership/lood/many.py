"""Some of very many records left out, by conjugate gradients: no kernel matrix is held whole."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from tqdm import tqdm

from membership import memory
from membership.arrays import FloatArray, whole
from membership.errors import InputError
from membership.lood.all_records import LeaveOneOut, told_of
from membership.lood.kernels import points, read, row_numbers
from membership.lood.process import outputs, priors
from membership.nngp.checks import positive

# Records a side of a block of the kernel: 32 MB.
BLOCK = 2048
_ITERATIONS = 1000
# Shares of a label below this one are not asked to have a relative error.
_FAINT = 1e-6


@dataclass(frozen=True, eq=False)
class SomeLeftOut(LeaveOneOut):
    """What the model shows of some records; arrays are (rows,).

    Attributes
    ----------
    variance_error, residual_error : by how much `variance` and each `residual` may be off; proved,
        but for rounding.
    iterations : int
    """

    variance_error: FloatArray
    residual_error: FloatArray
    iterations: int


def leave_some_out(
    kernel: Any,
    x: Any,
    y: Any,
    rows: Any,
    noise: float,
    *,
    tolerance: float = 1e-6,
    rank: int = 500,
    progress: bool = True,
) -> SomeLeftOut:
    """Leave some of very many records out, one at a time, and query each at itself.

    As `leave_one_out` for these rows. Systems in M = K + noise I are solved by conjugate gradients
    whose preconditioner is a pivoted Cholesky factor of K (Gardner et al. 2018), and K is computed
    anew, block by block, in each iteration. With a solution a of M a = e and its rest r = e - M a,
    A_ii lies between a'(e + r) and r'r / noise above it, as M is at least the noise.

    Held are 8 n (rank + 8 (rows + outputs)) bytes and two blocks: 1.1 GB for 100,000 records, 100
    rows and a rank of 500. An iteration costs n^2 / 2 entries of the kernel.

    Parameters
    ----------
    kernel, x, y, noise
        As `posterior`, all records among them.
    rows : array of int
        The records left out.
    tolerance : float
        Error of the explained share of each label, relative, and of the residual, in standard
        deviations of the label without its record.
    rank : int
        Columns of the preconditioner.
    progress : bool
        Show a progress bar.

    Returns
    -------
    SomeLeftOut

    Raises
    ------
    InputError
        As `posterior`; or the tolerance is not reached in 1,000 iterations.

    Examples
    --------
    >>> import numpy as np
    >>> from membership import lood, nngp
    >>> x = np.random.default_rng(0).normal(size=(3_000, 2))
    >>> found = lood.leave_some_out(nngp.rbf(), x, np.sin(x[:, 0]), [0, 7], 0.1, progress=False)
    >>> found.auc.round(3)
    array([0.501, 0.502])
    """
    kernel, noise = read(kernel), positive("noise", noise)
    tolerance = positive("tolerance", tolerance)
    whole("rank", rank)
    x = points(kernel, "x", x)
    n, rows = len(x), row_numbers("rows", rows, len(x))
    y = outputs("y", y, n)
    columns = len(rows) + y.shape[1]
    what = f"leaving {len(rows):,} of {n:,} records out"
    memory.require(8 * n * (min(rank, n) + 8 * columns), what, "give fewer rows, or a lower rank")
    asked = np.zeros((n, columns))
    asked[rows, np.arange(len(rows))] = 1
    asked[:, len(rows) :] = y
    solve = _Preconditioner(kernel, x, noise, min(rank, n))

    def product(v: FloatArray) -> FloatArray:
        return _product(kernel, x, v) + noise * v

    a, iterations = _solved(product, solve, asked, rows, noise, tolerance, progress)
    found = _Bounded.of(a, asked - product(a), asked, rows, noise)
    told = told_of(found.precision, found.variance, found.residual, noise)
    return SomeLeftOut(
        **vars(told),
        variance_error=found.variance_error,
        residual_error=found.residual_error,
        iterations=iterations,
    )


@dataclass(frozen=True, eq=False)
class _Bounded:
    """What solutions say of the rows, and how far off that may be."""

    precision: FloatArray
    variance: FloatArray
    residual: FloatArray
    variance_error: FloatArray
    residual_error: FloatArray

    @classmethod
    def of(
        cls, a: FloatArray, rest: FloatArray, asked: FloatArray, rows: np.ndarray, noise: float
    ) -> "_Bounded":
        """From solutions a of M a = asked and their rests: unit vectors of rows, then labels."""
        m = len(rows)
        size = np.linalg.norm(rest, axis=0)
        precision = a[rows, np.arange(m)] + np.einsum("ij,ij->j", a[:, :m], rest[:, :m])
        off = size[:m] ** 2 / noise
        weights = a[:, :m].T @ asked[:, m:] + rest[:, :m].T @ a[:, m:]
        residual = weights / precision[:, None]
        residual_off = np.outer(size[:m], size[m:]) / noise + np.abs(residual) * off[:, None]
        share = np.maximum(1 - noise * precision, 0.0)
        errors = off / precision**2, residual_off / precision[:, None]
        return cls(precision, share / precision, residual, *errors)

    def within(self, tolerance: float, noise: float) -> bool:
        """Whether both errors are as small as asked."""
        variance = self.variance_error <= tolerance * np.maximum(self.variance, _FAINT * noise)
        residual = self.residual_error <= tolerance / np.sqrt(self.precision)[:, None]
        return bool(variance.all() and residual.all())


def _solved(
    product: Callable[[FloatArray], FloatArray],
    solve: Callable[[FloatArray], FloatArray],
    asked: FloatArray,
    rows: np.ndarray,
    noise: float,
    tolerance: float,
    progress: bool,
) -> tuple[FloatArray, int]:
    """Solve M a = asked, column by column at once, until the rows are known well enough."""
    a, rest = np.zeros_like(asked), asked.copy()
    direction = solve(rest)
    ahead = np.einsum("ij,ij->j", rest, direction)
    with tqdm(total=_ITERATIONS, desc="iterations", disable=not progress, leave=False) as bar:
        for iteration in range(1, _ITERATIONS + 1):
            along = product(direction)
            curved = np.einsum("ij,ij->j", direction, along)
            # Labels of zeros, and columns that are solved to the last digit, stay.
            step = np.divide(ahead, curved, out=np.zeros_like(ahead), where=curved > 0)
            a += step * direction
            rest -= step * along
            # Rounding of the rest itself is left to its recomputation.
            if _Bounded.of(a, rest, asked, rows, noise).within(tolerance / 2, noise):
                return a, iteration
            turned = solve(rest)
            now = np.einsum("ij,ij->j", rest, turned)
            direction = (
                turned + np.divide(now, ahead, out=np.zeros_like(now), where=ahead > 0) * direction
            )
            ahead = now
            bar.update()
    raise InputError(
        f"tolerance = {tolerance:g} is not reached in {_ITERATIONS:,} iterations: give more noise, "
        "a higher rank or a larger tolerance"
    )


def _product(kernel: Any, x: np.ndarray, v: FloatArray) -> FloatArray:
    """K v, with each block of the upper half computed once."""
    out = np.zeros_like(v)
    for i in range(0, len(x), BLOCK):
        one = slice(i, i + BLOCK)
        out[one] += kernel(x[one]) @ v[one]
        for j in range(i + BLOCK, len(x), BLOCK):
            other = slice(j, j + BLOCK)
            block = kernel(x[one], x[other])
            out[one] += block @ v[other]
            out[other] += block.T @ v[one]
    return out


class _Preconditioner:
    """Solves with L L' + noise I, L being a pivoted Cholesky factor of the kernel."""

    def __init__(self, kernel: Any, x: np.ndarray, noise: float, rank: int):
        left = priors(kernel, x).copy()
        least = np.finfo(np.float64).eps * len(x) * float(left.max())
        factor = np.zeros((len(x), rank))
        for k in range(rank):
            pivot = int(left.argmax())
            if left[pivot] <= least:
                factor = factor[:, :k]
                break
            column = kernel(x[pivot : pivot + 1], x)[0] - factor[:, :k] @ factor[pivot, :k]
            factor[:, k] = column / np.sqrt(left[pivot])
            left -= factor[:, k] ** 2
        self.factor, self.noise = factor, noise
        self.inner = cho_factor(factor.T @ factor + noise * np.eye(factor.shape[1]))

    def __call__(self, rest: FloatArray) -> FloatArray:
        return (rest - self.factor @ cho_solve(self.inner, self.factor.T @ rest)) / self.noise
