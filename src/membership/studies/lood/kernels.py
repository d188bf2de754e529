"""The kernels of the chapter, and what one inverse says of every record under them."""

from typing import Any

import numpy as np

from membership import lood, nngp
from membership.arrays import FloatArray
from membership.lood import LeaveOneOut
from membership.studies.lood.records import Records

MAIN = "main"
"""The kernel of the closed-form runs, among the cases of the evidence."""
RELU = "ReLU"
SETTING = "repository: both sqrt(2)"
MATCHED = "both sqrt(2), same mean variance"
NETWORK = "GeLU 1.9822, as its networks"
NETWORK_MATCHED = "GeLU 1.9822, same mean variance"


def kernel_of(settings: Any) -> nngp.Kernel:
    """The kernel of the released code's closed-form runs: weights of variance 2, no bias."""
    return nngp.fully_connected(settings.depth)


def kernels(settings: Any) -> dict[str, nngp.Kernel]:
    """A homogeneous kernel, an isotropic one, and one that is neither normalised nor stationary."""
    depth = min(settings.depth, settings.sizes.most_depth)
    return {
        f"ReLU, depth {depth}": nngp.fully_connected(depth),
        "RBF": nngp.rbf(),
        "polynomial, degree 3": nngp.polynomial(3),
    }


def every_record(records: Records, settings: Any, kernel: nngp.Kernel | None = None) -> LeaveOneOut:
    """Leave each record out in turn, by the kernel given or that of `kernel_of`, on raw pixels."""
    matrix = (kernel or kernel_of(settings))(records.inputs())
    return lood.leave_one_out(matrix, records.targets, settings.noise)


def square(found: LeaveOneOut) -> FloatArray:
    """The squared length of each record's residual."""
    return np.square(found.residual).sum(axis=1)


def stacked(found: list[LeaveOneOut], dim: str) -> dict[str, Any]:
    """Variance and squared residual of every record, for each of some kernels."""
    return {
        "variance": ((dim, "record"), np.stack([one.variance for one in found])),
        "square": ((dim, "record"), np.stack([square(one) for one in found])),
    }


def at_edge(x: np.ndarray, w_std: float, b_std: float, q: float) -> np.ndarray:
    """Inputs scaled so that the mean variance of the first layer is the one that is kept."""
    return x * np.sqrt((q - b_std**2) / w_std**2 / np.mean(x**2))
