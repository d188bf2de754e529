"""Adam on the query, several starts at once; importing this module imports JAX."""

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import enable_x64
from tqdm import tqdm

from membership.arrays import FloatArray, whole
from membership.errors import InputError
from membership.lood.comparison import Comparison
from membership.lood.normalised import NormalisedComparison
from membership.lood.objective import Objective, State, objective_of, value_and_gradient
from membership.nngp.checks import positive

_BETA = (0.9, 0.999)
_EPSILON = 1e-8
# The released code quickens starts whose distinguishability is below this.
_FAINT = 1e-7
_LEAST_GAIN = 1e-7


@dataclass(frozen=True, eq=False)
class Optimum:
    """Queries after optimisation, one a start.

    Attributes
    ----------
    query : array of shape (starts, ...)
        The best query each start met.
    value : array of shape (starts,)
        The measure there.
    history : array of shape (logs + 1, starts)
        The measure of the current query at step 0 and every `log_every` steps.
    steps : int
        Steps taken, fewer than asked for where the patience ran out.
    """

    query: FloatArray
    value: FloatArray
    history: FloatArray
    steps: int


class _Adam(NamedTuple):
    query: Any
    first: Any
    second: Any
    count: Any
    best: Any
    best_value: Any


def maximise(
    comparison: Comparison | NormalisedComparison,
    start: Any,
    measure: str = "kl",
    joint: bool = False,
    unit: Any = 1.0,
    steps: int = 600,
    learning_rate: float = 3.0,
    log_every: int = 10,
    patience: int = 20,
    progress: bool = True,
) -> Optimum:
    """Look for the query that tells most, by Adam from several starts at once.

    Parameters
    ----------
    comparison : Comparison or NormalisedComparison
    start : array of shape (starts, ...), or (starts, queries, ...) with `joint`
    measure : {"kl", "kl-reverse", "mean"}
    joint : bool
        Optimise each start's queries together.
    unit : float or array that broadcasts against a record
        The length in which `learning_rate` counts; for images, the length of a grey level.
    steps : int
        Steps of Adam, 1 or more.
    learning_rate : float
        In `unit`, above 0. As in the released code, a start whose first value v is below 1e-7
        moves 10 min(log10(1e-7/v), 5) times as fast.
    log_every : int
        Steps between two entries of the history.
    patience : int
        Stop after this many entries without a start that gained 1e-7.
    progress : bool
        Show a progress bar.

    Returns
    -------
    Optimum

    Raises
    ------
    InputError
        A start has another shape, or a number is outside its range.
    """
    objective, state = objective_of(comparison, measure, joint)
    start = np.asarray(start, dtype=np.float64)
    rows = start.reshape(-1, *start.shape[2:]) if joint and start.ndim > 2 else start
    if comparison.check(rows)[1]:
        raise InputError(f"start has shape {start.shape}; give (starts, ...)")
    run = Schedule(steps, learning_rate, log_every, patience, progress)
    return ascend(objective, state, start, unit, run)


@dataclass(frozen=True)
class Schedule:
    """How long and how fast to climb; see `maximise`."""

    steps: int
    learning_rate: float
    log_every: int
    patience: int
    progress: bool

    def __post_init__(self) -> None:
        """Check the ranges."""
        for name in ("steps", "log_every", "patience"):
            whole(name, getattr(self, name))
        positive("learning_rate", self.learning_rate)


def ascend(
    objective: Objective, state: State, start: FloatArray, unit: Any, run: Schedule
) -> Optimum:
    """Climb from each start, in float64; `start` has the starts along its first axis."""
    with enable_x64():
        state, unit = jax.device_put(state), jnp.asarray(unit, jnp.float64)
        query, zero = jnp.asarray(start), jnp.zeros_like(start)
        adam = _Adam(query, zero, zero, jnp.zeros(()), query, jnp.full(len(start), -jnp.inf))
        # No step yet: the values of the starts, from the program that will take the steps.
        column = np.ones((len(start), *[1] * (start.ndim - 1)))
        adam, value = _advance(adam, state, column, unit, objective, 0)
        value = np.asarray(value)
        rate = run.learning_rate * _hurry(value).reshape(column.shape)
        history, best, idle = [value], value, 0
        bar = tqdm(total=run.steps, desc="queries", disable=not run.progress, leave=False)
        with bar:
            for done in range(0, run.steps, run.log_every):
                n = min(run.log_every, run.steps - done)
                adam, value = _advance(adam, state, rate, unit, objective, n)
                history.append(np.asarray(value))
                bar.update(n)
                gained = (np.asarray(adam.best_value) > best + _LEAST_GAIN).any()
                best, idle = np.asarray(adam.best_value), 0 if gained else idle + 1
                if idle >= run.patience:
                    break
    return Optimum(
        np.array(adam.best, np.float64), np.array(best), np.array(history), int(adam.count)
    )


@partial(jax.jit, static_argnums=4)
def _advance(adam: _Adam, state, rate, unit, objective: Objective, n: int):
    """Take n steps; return Adam's state and the value at the last query."""

    def keep_best(adam: _Adam, value) -> _Adam:
        better = value > adam.best_value
        shape = (-1, *[1] * (adam.query.ndim - 1))
        best = jnp.where(better.reshape(shape), adam.query, adam.best)
        return adam._replace(best=best, best_value=jnp.where(better, value, adam.best_value))

    def step(_, adam: _Adam) -> _Adam:
        value, slope = value_and_gradient(adam.query, state, objective)
        adam = keep_best(adam, value)
        slope, count = slope * unit, adam.count + 1
        first = _BETA[0] * adam.first + (1 - _BETA[0]) * slope
        second = _BETA[1] * adam.second + (1 - _BETA[1]) * slope**2
        ahead = first / (1 - _BETA[0] ** count)
        size = jnp.sqrt(second / (1 - _BETA[1] ** count)) + _EPSILON
        query = adam.query + rate * unit * ahead / size
        return adam._replace(query=query, first=first, second=second, count=count)

    adam = jax.lax.fori_loop(0, n, step, adam)
    value = objective(adam.query, state)
    return keep_best(adam, value), value


def _hurry(value: FloatArray) -> FloatArray:
    faint = value < _FAINT
    orders = np.log10(_FAINT / np.where(faint, np.maximum(value, 1e-300), _FAINT))
    return np.where(faint, np.maximum(10 * np.minimum(orders, 5.0), 1.0), 1.0)
