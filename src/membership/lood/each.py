"""Many records of one training set searched for at once, each left out; this imports JAX."""

from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np

from membership.arrays import one_of
from membership.errors import InputError
from membership.lood.contrast import Contrast
from membership.lood.process import Posterior, moments, posterior, priors, require_gradients
from membership.lood.search import (
    BY_GRADIENT,
    Objective,
    Optimum,
    State,
    ascend,
    require_variance,
    starts_of,
    state_of,
)
from membership.nngp.kernels import Kernel


@dataclass(frozen=True)
class EachObjective(Objective):
    """A measure of each query where D is all records but the query's own.

    With A = (K + noise I)^-1 over all records, f_D' at q gives record i's label the weight
    w = (k(q, x) A)_i, and the covariance of f_D(q) and f_D(S) is w / A_ii. One product with the
    factor of A serves every record.
    """

    def __call__(self, query, state: State):
        """Measure queries (starts, ...) one by one: (starts,)."""
        cross = self.kernel.traceable(query, state["x"])
        prior = self.kernel.traceable_diagonal(query)
        with_s = moments(prior, cross, state["factor"], state["weights"])[1]
        fall = jnp.square((cross * state["column"]).sum(axis=1)) / state["precision"]
        move = fall * state["surprise"]
        left = jnp.where(with_s > 0, with_s, jnp.inf)
        contrast = Contrast(
            (fall / left)[:, None], (move / left)[:, None], move / 2, state["weights"].shape[1]
        )
        return contrast.measure(self.measure, jnp)


def maximise_each(
    kernel: Kernel,
    x: Any,
    y: Any,
    noise: float,
    rows: Any,
    start: Any,
    *,
    measure: str = "kl",
    unit: Any = 1.0,
    steps: int = 600,
    learning_rate: float = 3.0,
    log_every: int = 10,
    patience: int = 20,
    progress: bool = True,
) -> Optimum:
    """Look for the queries that tell most of several records, each left out of the others in turn.

    As `maximise` for one record after another, with one inverse for all and all climbs at once.

    Parameters
    ----------
    kernel, x, y, noise
        As `posterior`, all records among them: none is missing.
    rows : array of int, shape (starts,)
        The record that each start is about: D is all records but that one.
    start : array of shape (starts, ...)
    measure, unit, steps, learning_rate, log_every, progress
        As `maximise`.
    patience : int
        Stop after this many entries without a start, of whichever record, that gained 1e-7.

    Returns
    -------
    Optimum

    Raises
    ------
    InputError
        As `posterior` and `maximise`, or a row is not one of a record.
    """
    one_of("measure", measure, BY_GRADIENT)
    require_gradients(kernel)
    whole = posterior(kernel, x, y, noise)
    start = starts_of(start, whole)
    require_variance(priors(kernel, start) == 0, len(start))
    state = _state(whole, _checked(rows, len(start), len(whole.x)))
    run = (steps, learning_rate, log_every, patience, progress)
    return ascend(EachObjective(kernel, measure), state, start, unit, *run)


def _state(whole: Posterior, rows: np.ndarray) -> State:
    column = whole.factor[:, rows].T @ whole.factor
    precision = column[np.arange(len(rows)), rows]
    return {
        **state_of(whole),
        "column": column,
        "precision": precision,
        "surprise": np.square(whole.weights[rows]).sum(axis=1) / precision,
    }


def _checked(rows: Any, starts: int, records: int) -> np.ndarray:
    rows = np.asarray(rows)
    if rows.shape != (starts,) or rows.dtype.kind not in "iu":
        raise InputError(f"rows has shape {rows.shape}; give a whole number a start, ({starts},)")
    outside = rows[(rows < 0) | (rows >= records)]
    if len(outside):
        raise InputError(f"rows has {outside[0]}: give numbers from 0 to {records - 1}")
    return rows
