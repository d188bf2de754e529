"""Reconstruction: the query that tells most about a training record looks like the record."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from membership.arrays import FloatArray, whole
from membership.errors import InputError
from membership.lood.comparison import compare
from membership.lood.process import require_gradients
from membership.nngp.kernels import Kernel

_GREY_LEVELS = 255


@dataclass(frozen=True, eq=False)
class Reconstruction:
    """The optimised queries of one differing record or group.

    Attributes
    ----------
    query : array of one record's shape, or (queries, ...) for several queries
        The best of all starts.
    lood : float
        The measure there.
    history : array of shape (logs + 1, starts)
        The measure at step 0 and every `log_every` steps.
    target : float
        The measure at the differing records themselves; of a group, jointly.
    queries, values : array of shape (starts, ...) and (starts,)
        The best of each start.
    start : array of shape (starts, ...)
        The noise it began with.
    """

    query: FloatArray
    lood: float
    history: FloatArray
    target: float
    queries: FloatArray
    values: FloatArray
    start: FloatArray


def reconstruct(
    kernel: Kernel,
    x: Any,
    y: Any,
    differing: Any,
    noise: float,
    seed: int,
    *,
    n_starts: int = 1,
    n_queries: int = 1,
    measure: str = "kl",
    bounds: tuple[Any, Any] | None = None,
    steps: int = 600,
    learning_rate: float = 3.0,
    log_every: int = 10,
    patience: int = 20,
    allow_repeated: bool = False,
    progress: bool = True,
) -> Reconstruction:
    """Optimise queries from noise, as Ye et al. (2024) do in Section 4 and Appendix E.

    The optimiser knows both posteriors; the differing record enters through them only. Queries
    are not kept within the bounds.

    Parameters
    ----------
    kernel, x, y, differing, noise, allow_repeated
        As `compare`; images may be normalised.
    seed : int
        Of the starts, 0 or more.
    n_starts, n_queries : int
        Optimisations at once, and queries in each (their measure is joint); 1 or more.
    measure : {"kl", "kl-reverse", "mean"}
    bounds : pair of arrays that broadcast against a record, optional
        What grey levels 0 and 255 became. Starts are uniform noise between them, and a grey level
        is the unit of the learning rate. By default, the least and greatest entry of each channel
        of `x`, or of all of `x` where records have one axis.
    steps, learning_rate, log_every, patience, progress
        As `maximise`; the defaults are those of the released code's example.

    Returns
    -------
    Reconstruction

    Raises
    ------
    InputError
        As `compare` and `maximise`, or a number is outside its range.
    """
    from membership.lood.search import maximise

    for name, value, least in (
        ("seed", seed, 0),
        ("n_starts", n_starts, 1),
        ("n_queries", n_queries, 1),
    ):
        whole(name, value, least)
    require_gradients(kernel)
    comparison = compare(kernel, x, y, differing, noise, allow_repeated)
    low, high = _bounds(comparison.without.x, bounds)
    joint = n_queries > 1
    shape = (n_starts, n_queries) if joint else (n_starts,)
    start = np.random.default_rng(seed).random((*shape, *low.shape)) * (high - low) + low
    optimum = maximise(
        comparison,
        start,
        measure,
        joint,
        unit=(high - low) / _GREY_LEVELS,
        steps=steps,
        learning_rate=learning_rate,
        log_every=log_every,
        patience=patience,
        progress=progress,
    )
    best = int(np.argmax(optimum.value))
    return Reconstruction(
        query=optimum.query[best],
        lood=float(optimum.value[best]),
        history=optimum.history,
        target=float(comparison.measure(comparison.x_s, measure, joint=True)),
        queries=optimum.query,
        values=optimum.value,
        start=start,
    )


def _bounds(x: FloatArray, bounds: tuple[Any, Any] | None) -> tuple[FloatArray, FloatArray]:
    """Return what grey levels 0 and 255 became, each in a record's shape."""
    shape = x.shape[1:]
    if bounds is None:
        axes = (0, *range(2, x.ndim)) if x.ndim > 2 else (0, 1)
        low, high = x.min(axis=axes, keepdims=True)[0], x.max(axis=axes, keepdims=True)[0]
        # A constant channel is given a range, or it could not move.
        high = np.where(high > low, high, low + 1.0)
    else:
        low, high = (np.asarray(bound, dtype=np.float64) for bound in bounds)
    try:
        low, high = np.broadcast_to(low, shape), np.broadcast_to(high, shape)
    except ValueError:
        raise InputError(f"bounds do not fit a record of shape {shape}") from None
    if not (np.isfinite(low).all() and np.isfinite(high).all() and (high > low).all()):
        raise InputError("bounds must be finite, the second above the first everywhere")
    return low, high
