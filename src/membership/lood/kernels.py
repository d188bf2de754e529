"""Kernels as people have them: of this package, scikit-learn, GPyTorch, functions, matrices."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from membership import memory
from membership.arrays import FloatArray, as_float64
from membership.errors import InputError
from membership.nngp.checks import records
from membership.nngp.kernels import Kernel

# Records a block where a function has no diagonal of its own.
_BLOCK = 32


@dataclass(frozen=True, eq=False)
class Rows:
    """A matrix as a kernel, to which records are the numbers of its rows.

    Attributes
    ----------
    matrix : array of shape (n, n)
    first : int
        The rows that are records; queries follow.
    """

    matrix: FloatArray
    first: int

    def __call__(self, x1: np.ndarray, x2: np.ndarray | None = None) -> FloatArray:
        """Take the rows `x1` and the columns `x2`."""
        x1, x2 = (row_numbers("rows", x, len(self.matrix)) for x in (x1, x1 if x2 is None else x2))
        return self.matrix[np.ix_(x1, x2)]

    def diagonal(self, x: np.ndarray) -> FloatArray:
        """Take k(x, x) of some rows."""
        return np.diagonal(self.matrix)[row_numbers("rows", x, len(self.matrix))]


@dataclass(frozen=True, eq=False)
class Given:
    """A function of two sets of records, in the manner of `Kernel`; it has no gradients here.

    Attributes
    ----------
    function : callable
        k(x1, x2), a matrix.
    own : callable, optional
        k(x, x) of each record.
    flat : bool
        Records are vectors to it.
    """

    function: Callable[[Any, Any], Any]
    own: Callable[[Any], Any] | None = None
    flat: bool = False

    def __call__(self, x1: Any, x2: Any = None) -> FloatArray:
        """Compute the matrix in float64."""
        x1 = self._records("x1", x1)
        if x2 is None:
            return symmetric_matrix(self._matrix(x1, x1))
        return self._matrix(x1, self._records("x2", x2))

    def diagonal(self, x: Any) -> FloatArray:
        """Compute k(x, x) of each record."""
        x = self._records("x", x)
        if self.own is None:
            parts = (x[i : i + _BLOCK] for i in range(0, len(x), _BLOCK))
            return np.concatenate([np.diagonal(self._matrix(part, part)) for part in parts])
        own = as_float64("kernel", self.own(x), 1)
        met = self._matrix(x[:1], x[:1])[0, 0]
        if abs(own[0] - met) > 1e-6 * abs(met):
            raise InputError(
                f"kernel has k(x, x) = {met:.6g} and a diagonal of {own[0]:.6g}: take its noise "
                "(a WhiteKernel) out, and give that as noise"
            )
        return own

    def _records(self, name: str, x: Any) -> FloatArray:
        x = records(name, x)
        return x.reshape(len(x), -1) if self.flat else x

    def _matrix(self, x1: FloatArray, x2: FloatArray) -> FloatArray:
        matrix, shape = self.function(x1, x2), (len(x1), len(x2))
        if np.shape(matrix) != shape:
            raise InputError(
                f"kernel: of {shape[0]} and {shape[1]} records it made an object of shape "
                f"{np.shape(matrix)}; give a function of two sets of records that makes {shape}"
            )
        return as_float64("kernel", matrix, 2)


def read(kernel: Any) -> Any:
    """Return a kernel that is called and has `diagonal`, from what people have.

    Raises
    ------
    InputError
        It is nothing of the kind.
    """
    if isinstance(kernel, (Kernel, Given, Rows)) or hasattr(kernel, "traceable"):
        return kernel
    if isinstance(kernel, (tuple, list)) and len(kernel) == 3 and np.ndim(kernel[0]) == 2:
        return _joint(*kernel)
    if isinstance(kernel, list) or getattr(kernel, "ndim", 0) == 2:
        matrix = symmetric_matrix(kernel)
        return Rows(matrix, len(matrix))
    if not callable(kernel) or isinstance(kernel, type):
        told = " ".join(repr(kernel).split())[:60]
        raise InputError(f"kernel = {told}: give {_GIVEN}")
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(kernel, torch.nn.Module):
        return _of_module(kernel, torch)
    diagonal = getattr(kernel, "diag", None)
    if callable(diagonal):
        return Given(kernel, diagonal, flat=True)
    return Given(kernel, getattr(kernel, "diagonal", None))


_GIVEN = (
    "a kernel of membership.nngp, scikit-learn or GPyTorch, a function k(x1, x2) of two sets of "
    "records, a matrix, or (K_DD, K_QD, K_QQ)"
)


def _of_module(kernel: Any, torch: Any) -> Given:
    """A kernel of GPyTorch, asked in float64 where its parameters lie."""
    device = next((p.device for p in kernel.parameters()), None)

    def asked(*x: FloatArray, **options: Any) -> FloatArray:
        with torch.no_grad():
            tensors = [torch.as_tensor(each, dtype=torch.float64, device=device) for each in x]
            return kernel(*tensors, **options).to_dense().cpu().numpy()

    own = (lambda x: asked(x, diag=True).reshape(-1)) if hasattr(kernel, "covar_dist") else None
    return Given(asked, own, flat=True)


def _joint(dd: Any, qd: Any, qq: Any) -> Rows:
    """One matrix of records and queries from the blocks of both."""
    dd, qd, qq = blocks(dd, qd, qq)
    if qq.ndim == 1:
        raise InputError(f"K_QQ has shape {qq.shape}; give all of it, ({len(qq)}, {len(qq)})")
    n = len(dd) + len(qq)
    memory.require(8 * n * n, f"the kernel of {n:,} records and queries", "give fewer queries")
    return Rows(symmetric_matrix(np.block([[dd, qd.T], [qd, qq]])), len(dd))


def blocks(dd: Any, qd: Any, qq: Any) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return K_DD, K_QD and K_QQ, or the diagonal of the last, in shapes that fit."""
    dd, qd = symmetric_matrix(dd), as_float64("K_QD", qd, 2)
    qq = as_float64("K_QQ", qq, 1 if np.ndim(qq) == 1 else 2)
    q, n = qd.shape
    if n != len(dd) or qq.shape not in ((q,), (q, q)):
        raise InputError(
            f"K_DD, K_QD and K_QQ have shapes {dd.shape}, {qd.shape} and {qq.shape}; give (n, n), "
            "(queries, n) and (queries, queries)"
        )
    return dd, qd, qq


def matrix_of(kernel: Any, x: Any) -> FloatArray:
    """Return K of records: all of a matrix, or of K_DD, where none are named."""
    kernel = read(kernel)
    if x is not None:
        return kernel(points(kernel, "x", x))
    if not isinstance(kernel, Rows):
        raise InputError("x is missing: give kernel, x, y and noise; a matrix goes without x")
    return kernel.matrix[: kernel.first, : kernel.first]


def points(kernel: Any, name: str, x: Any) -> np.ndarray:
    """Return records as a kernel takes them: (n, ...), or row numbers (n,)."""
    return (
        row_numbers(name, x, len(kernel.matrix)) if isinstance(kernel, Rows) else records(name, x)
    )


def row_numbers(name: str, x: Any, n: int = sys.maxsize) -> np.ndarray:
    """Return numbers of rows below n."""
    x = np.asarray(x)
    if x.ndim != 1 or x.dtype.kind not in "iu" or x.size == 0:
        raise InputError(
            f"{name} has shape {x.shape} and type {x.dtype}; the kernel is a matrix: give the "
            "numbers of its rows, (records,)"
        )
    outside = x[(x < 0) | (x >= n)]
    if outside.size:
        raise InputError(f"{name} has {outside[0]}: give rows of the matrix, 0 to {n - 1}")
    return x


def symmetric_matrix(matrix: Any) -> FloatArray:
    """Return a square, symmetric, finite kernel matrix.

    Raises
    ------
    InputError
        It is something else; the message names an entry.
    """
    matrix = as_float64("kernel_matrix", matrix, 2)
    n = len(matrix)
    if matrix.shape != (n, n):
        raise InputError(f"kernel_matrix has shape {matrix.shape}; give a square matrix")
    size = float(np.abs(np.diagonal(matrix)).max())
    for i in range(0, n, 512):
        apart = np.abs(matrix[i : i + 512] - matrix[:, i : i + 512].T)
        if apart.max() > 1e-10 * size:
            row, column = np.unravel_index(apart.argmax(), apart.shape)
            raise InputError(
                f"kernel_matrix is not symmetric: entries ({row + i}, {column}) and its mirror "
                f"differ by {apart.max():.2g}"
            )
    return matrix
