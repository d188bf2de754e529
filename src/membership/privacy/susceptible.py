"""How unusual records' gradients are: rank and K of a model's own."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from membership.arrays import FloatArray
from membership.errors import InputError
from membership.privacy import checks

# Records to a direction, below which K says more of the estimate than of the record.
LEAST_RECORDS = 2


@dataclass(frozen=True)
class Susceptibility:
    """Gradients of a model's records at its parameters.

    Attributes
    ----------
    rank : int
        d, of the gradients' covariance.
    k : ndarray of float64, shape (records,)
        K = (x - mean)' Sigma^-1 (x - mean) of each record's gradient x, with the moments of the
        others; infinite where a direction is the record's alone.
    """

    rank: int
    k: FloatArray

    def quantiles(self, levels: Any = (0.01, 0.5, 0.99, 1.0)) -> FloatArray:
        """Return K of the records at these shares from below, in the shape of `levels`."""
        # Without interpolation: between two records there is none, and some K may be infinite.
        levels = checks.rates("levels", levels)
        found = np.quantile(self.k, levels, method="inverted_cdf")
        return np.asarray(found, dtype=np.float64)


def susceptibility(
    model: Any, data: Any, *, loss: Any = None, clip: float | None = None
) -> Susceptibility:
    """Return rank d and each record's K, from a model's per-record gradients.

    What `assess` takes for `d` and `k`. A network's gradients have as many directions as trained
    parameters, as a rule: freeze all but what is trained, or ask for its last layer alone.

    Parameters
    ----------
    model : nn.Module
        At the parameters in question, as `membership.curvature.per_record_gradients` takes it.
    data : pair of arrays
        (x, y), records and their targets.
    loss : callable, optional
        ``loss(output, y)`` gives one value a record; cross-entropy unless given.
    clip : float, optional
        Norm to which training cuts every gradient, above 0.

    Returns
    -------
    Susceptibility

    Raises
    ------
    InputError
        As `per_record_gradients`, or there are fewer records than twice the rank.

    Notes
    -----
    A record counts in no moments that it is measured with: an unusual one would make itself look
    usual. Moments of few records make K larger, by a share of about rank over records.

    Examples
    --------
    >>> import numpy as np, torch
    >>> from membership import privacy
    >>> _ = torch.manual_seed(0)
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.normal(size=(500, 3)), rng.integers(0, 2, 500)
    >>> found = privacy.susceptibility(torch.nn.Linear(3, 2), (x, y))
    >>> found.rank, round(float(np.median(found.k)))
    (4, 2)
    """
    # torch takes longer to import than an accountant to run.
    from torch.nn.functional import cross_entropy

    from membership import curvature
    from membership.curvature.objective import pair

    x, y = pair("data", data)
    if loss is None:

        def loss(output, y):
            return cross_entropy(output, y, reduction="none")

    gradients = curvature.per_record_gradients(model, loss, x, y)
    if clip is not None:
        norm = np.linalg.norm(gradients, axis=1, keepdims=True)
        gradients *= np.minimum(1.0, checks.clipping(clip) / np.maximum(norm, 1e-300))
    return of_gradients(gradients)


def of_gradients(gradients: FloatArray) -> Susceptibility:
    """The same of gradients (records, parameters)."""
    n, size = gradients.shape
    if n < LEAST_RECORDS + 1:
        raise InputError(f"data has {n} records; give more than twice the gradients' rank")
    centred = gradients - gradients.mean(axis=0)
    left, values, _ = np.linalg.svd(centred, full_matrices=False)
    # As in membership.curvature.noise.whitening: eigenvalues of the covariance above rounding.
    kept = values**2 > values[0] ** 2 * size * np.finfo(np.float64).eps
    rank = int(kept.sum())
    if not rank:
        raise InputError("data: all gradients are the same; give records that differ")
    if n < LEAST_RECORDS * rank:
        raise InputError(
            f"data has {n} records for gradients of rank {rank}; give {LEAST_RECORDS * rank} or "
            "more, or freeze layers (requires_grad_(False)), since K of fewer tells nothing"
        )
    # Of all records' scatter, what the record itself has: its leverage h. Without the record the
    # mean moves, the scatter loses a square, and the inverse follows by Sherman and Morrison.
    own = np.square(left[:, kept]).sum(axis=1)
    rest = 1 - own * n / (n - 1)
    with np.errstate(divide="ignore"):
        k = (n - 2) * (n / (n - 1)) ** 2 * own / np.where(rest > 1e-9, rest, 0.0)
    return Susceptibility(rank, k)
