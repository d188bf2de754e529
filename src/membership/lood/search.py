"""Distinguishability as a JAX function of the query, climbed by Adam; this imports JAX."""

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import enable_x64
from tqdm import tqdm

from membership.arrays import FloatArray, one_of, whole
from membership.errors import InputError
from membership.lood.comparison import Comparison, NormalisedComparison, separate
from membership.lood.contrast import Contrast
from membership.lood.process import (
    Posterior,
    moments,
    outputs,
    posterior,
    priors,
    queries,
    require_gradients,
)
from membership.nngp.checks import positive
from membership.nngp.kernels import Kernel

BY_GRADIENT = ("kl", "kl-reverse", "mean")
# Keeps the covariance of joint queries invertible when two of them meet, relative to its size.
_JITTER = 1e-10

State = dict[str, Any]


@dataclass(frozen=True)
class Objective:
    """A measure of each of several queries, given a comparison's arrays as `state`.

    Immutable and hashable, so that JAX compiles it once for all records of a data set.
    """

    kernel: Kernel
    measure: str

    def __call__(self, query, state: State):
        """Measure queries (starts, ...) one by one: (starts,)."""
        k = self.kernel
        parts = separate(
            k.traceable_diagonal(query),
            k.traceable(query, state["x"]),
            k.traceable(query, state["x_s"]),
            (state["factor"], state["weights"]),
            (state["reduced"], state["root"], state["surprise"]),
            jnp,
        )
        return Contrast(*parts, state["weights"].shape[1]).measure(self.measure, jnp)


@dataclass(frozen=True)
class JointObjective(Objective):
    """The same of several queries taken together."""

    def __call__(self, query, state: State):
        """Measure groups of queries (starts, queries, ...): (starts,)."""
        return jax.vmap(lambda q: self._together(q, state))(query)

    def _together(self, query, state: State):
        reduced = self.kernel.traceable(query, state["x"]) @ state["factor"].T
        covariance = self.kernel.traceable(query, query) - reduced @ reduced.T
        c = self.kernel.traceable(query, state["x_s"]) - reduced @ state["reduced"]
        b = c @ state["root"].T
        if self.measure == "mean":
            return 0.5 * jnp.square(b @ state["surprise"]).sum()
        n = len(covariance)
        ridge = _JITTER * jnp.trace(covariance) / n * jnp.eye(n)
        # Its eigenvalues are the squared canonical correlations of f_D(Q) and the noisy labels.
        correlation = b.T @ jnp.linalg.solve(covariance + ridge, b)
        rest = jnp.eye(len(correlation)) - correlation
        logarithm = jnp.linalg.slogdet(rest)[1]
        c, z = state["weights"].shape[1], state["surprise"]
        if self.measure == "kl-reverse":
            return 0.5 * (-c * (logarithm + jnp.trace(correlation)) + (z * (correlation @ z)).sum())
        gained = jnp.linalg.solve(rest, correlation)
        return 0.5 * (c * (logarithm + jnp.trace(gained)) + (z * (gained @ z)).sum())


@dataclass(frozen=True)
class NormalisedObjective(Objective):
    """A measure of each query where each training set normalises it in its own way."""

    def __call__(self, query, state: State):
        """Measure queries (starts, ...) one by one: (starts,)."""
        (mean, variance), (mean_s, variance_s) = (
            self._predict(query, state[side]) for side in ("without", "with")
        )
        move = jnp.square(mean - mean_s).sum(axis=1)
        excess = variance / variance_s - 1
        contrast = Contrast(excess[:, None], (move / variance_s)[:, None], move / 2, mean.shape[1])
        return contrast.measure(self.measure, jnp)

    def _predict(self, query, side: State):
        query = (query - side["mean"]) / side["std"]
        cross = self.kernel.traceable(query, side["x"])
        prior = self.kernel.traceable_diagonal(query)
        return moments(prior, cross, side["factor"], side["weights"])[:2]


def state_of(base: Posterior) -> State:
    """What every objective reads of a posterior."""
    return {"x": base.x, "factor": base.factor, "weights": base.weights}


def starts_of(start: Any, base: Posterior) -> FloatArray:
    """Starts (starts, ...) that are queries of a posterior."""
    start, single = queries(start, base.x)
    if single:
        raise InputError(f"start has shape {start.shape[1:]}; give (starts, ...)")
    return start


def _kernel_of(comparison: Comparison | NormalisedComparison) -> Kernel:
    base = comparison.without
    return base.kernel if isinstance(base, Posterior) else base.posterior.kernel


def _without_variance(
    comparison: Comparison | NormalisedComparison, query: FloatArray
) -> np.ndarray:
    """Which queries the kernel gives no variance, such as zeros without biases."""
    if isinstance(comparison, Comparison):
        return priors(comparison.without.kernel, query) == 0
    sides = comparison.without, comparison.with_s
    return np.any(
        [priors(s.posterior.kernel, (query - s.mean) / s.std) == 0 for s in sides], axis=0
    )


def _objective_of(
    comparison: Comparison | NormalisedComparison, measure: str, joint: bool = False
) -> tuple[Objective, State]:
    """Return the objective and the arrays it works on.

    Raises
    ------
    InputError
        The measure is unknown or has no gradient here, joint queries meet normalisation, or the
        kernel is not traceable.
    """
    one_of("measure", measure, BY_GRADIENT)
    require_gradients(_kernel_of(comparison))
    if isinstance(comparison, NormalisedComparison):
        if joint:
            raise InputError("joint = True: data-dependent normalisation takes separate queries")
        sides = {"without": comparison.without, "with": comparison.with_s}
        state = {
            name: {**state_of(side.posterior), "mean": side.mean, "std": side.std}
            for name, side in sides.items()
        }
        return NormalisedObjective(comparison.without.posterior.kernel, measure), state
    base = comparison.without
    state = {
        **state_of(base),
        "x_s": comparison.x_s,
        "reduced": comparison.reduced,
        "root": comparison.root,
        "surprise": comparison.surprise,
    }
    return (JointObjective if joint else Objective)(base.kernel, measure), state


def gradient(
    comparison: Comparison | NormalisedComparison,
    query: Any,
    measure: str = "kl",
    joint: bool = False,
) -> tuple[FloatArray, FloatArray]:
    """Value and gradient of a measure with respect to the query, by automatic differentiation.

    Parameters
    ----------
    comparison : Comparison or NormalisedComparison
    query : array of one record's shape or (q, ...)
    measure : {"kl", "kl-reverse", "mean"}
    joint : bool
        Take the queries together.

    Returns
    -------
    value : ndarray of shape (q,), or () for one or joint queries
    gradient : ndarray in the shape of `query`

    Raises
    ------
    InputError
        As `Comparison.contrast`; or the measure has no gradient here, such as a KL where the
        kernel gives the query no variance, whose value depends on the side one comes from.
    """
    objective, state = _objective_of(comparison, measure, joint)
    rows, single = comparison.check(query)
    without = _without_variance(comparison, rows)
    if measure != "mean" and without.any():
        raise InputError(
            f"query {int(without.argmax())} has no variance under the kernel, and {measure} no "
            "gradient there: give one that differs from zeros, or measure = 'mean'"
        )
    rows = rows[None] if joint else rows
    with enable_x64():
        value, slope = (
            np.asarray(a, np.float64) for a in _value_and_gradient(rows, state, objective)
        )
    if not (np.isfinite(value).all() and np.isfinite(slope).all()):
        raise InputError(
            f"query: {measure} or its gradient there leaves float64; give another query, more "
            "noise or smaller labels"
        )
    return (value[0], slope[0]) if single or joint else (value, slope)


@partial(jax.jit, static_argnums=2)
def _value_and_gradient(query, state: State, objective: Objective):
    """Values (starts,) and gradients; a start's value depends on its own query only."""
    value, pull = jax.vjp(lambda q: objective(q, state), query)
    return value, pull(jnp.ones_like(value))[0]


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
    value: Any
    slope: Any
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
        A start has another shape or no variance under the kernel (zeros without biases), a query
        left float64, or a number is outside its range.
    """
    objective, state = _objective_of(comparison, measure, joint)
    start = np.asarray(start, dtype=np.float64)
    rows = start.reshape(-1, *start.shape[2:]) if joint and start.ndim > 2 else start
    if comparison.check(rows)[1]:
        raise InputError(f"start has shape {start.shape}; give (starts, ...)")
    require_variance(_without_variance(comparison, rows), len(start))
    run = (steps, learning_rate, log_every, patience, progress)
    return ascend(objective, state, start, unit, *run)


def require_variance(without: np.ndarray, starts: int) -> None:
    """Raise an InputError where a start, or one of its queries, is one that no gradient moves."""
    stuck = without.reshape(starts, -1).any(axis=1)
    if stuck.any():
        raise InputError(
            f"start {int(stuck.argmax())} has no variance under the kernel, and no gradient leads "
            "away from it: give one that differs from zeros"
        )


def ascend(
    objective: Objective,
    state: State,
    start: FloatArray,
    unit: Any,
    steps: int,
    learning_rate: float,
    log_every: int,
    patience: int,
    progress: bool,
) -> Optimum:
    """Climb from each start, in float64; `start` has the starts along its first axis."""
    for name, value in (("steps", steps), ("log_every", log_every), ("patience", patience)):
        whole(name, value)
    positive("learning_rate", learning_rate)
    with enable_x64():
        state, unit = jax.device_put(state), jnp.asarray(unit, jnp.float64)
        query, zero = jnp.asarray(start), jnp.zeros_like(start)
        # A type of its own: JAX would compile once for this number and again for what it becomes.
        none = jnp.full(len(start), -jnp.inf, start.dtype)
        adam = _Adam(query, none, zero, zero, zero, jnp.zeros(()), query, none)
        # A step of no length: the values of the starts, from the program that will take the steps.
        column = np.zeros((len(start), *[1] * (start.ndim - 1)))
        adam = _advance(adam, state, column, unit, objective, 1)._replace(count=jnp.zeros(()))
        value = np.asarray(adam.value)
        rate = learning_rate * _hurry(value).reshape(column.shape)
        history, best, idle = [value], value, 0
        with tqdm(total=steps, desc="queries", disable=not progress, leave=False) as bar:
            for done in range(0, steps, log_every):
                n = min(log_every, steps - done)
                adam = _advance(adam, state, rate, unit, objective, n)
                history.append(np.asarray(adam.value))
                _require_finite(adam, learning_rate)
                bar.update(n)
                gained = (np.asarray(adam.best_value) > best + _LEAST_GAIN).any()
                best, idle = np.asarray(adam.best_value), 0 if gained else idle + 1
                if idle >= patience:
                    break
    return Optimum(
        np.array(adam.best, np.float64), np.array(best), np.array(history), int(adam.count)
    )


def _require_finite(adam: _Adam, learning_rate: float) -> None:
    finite = jnp.isfinite(adam.value) & jnp.isfinite(adam.slope).reshape(len(adam.value), -1).all(1)
    if not finite.all():
        raise InputError(
            f"learning_rate = {learning_rate:g}: the query of start {int(jnp.argmin(finite))} left "
            "float64; give a lower rate, another start or more noise"
        )


@partial(jax.jit, static_argnums=4)
def _advance(adam: _Adam, state, rate, unit, objective: Objective, n: int):
    """Take n steps, each from the value and slope at a query to those at the next."""

    def step(_, adam: _Adam) -> _Adam:
        slope, count = adam.slope * unit, adam.count + 1
        first = _BETA[0] * adam.first + (1 - _BETA[0]) * slope
        second = _BETA[1] * adam.second + (1 - _BETA[1]) * slope**2
        ahead = first / (1 - _BETA[0] ** count)
        size = jnp.sqrt(second / (1 - _BETA[1] ** count)) + _EPSILON
        query = adam.query + rate * unit * ahead / size
        value, slope = _value_and_gradient(query, state, objective)
        better = value > adam.best_value
        best = jnp.where(better.reshape(-1, *[1] * (query.ndim - 1)), query, adam.best)
        best_value = jnp.where(better, value, adam.best_value)
        return _Adam(query, value, slope, first, second, count, best, best_value)

    return jax.lax.fori_loop(0, n, step, adam)


def _hurry(value: FloatArray) -> FloatArray:
    faint = value < _FAINT
    orders = np.log10(_FAINT / np.where(faint, np.maximum(value, 1e-300), _FAINT))
    return np.where(faint, np.maximum(10 * np.minimum(orders, 5.0), 1.0), 1.0)


# The norm's own gradient at a gradient of zero is then zero and not 0/0.
_TINIEST = 1e-300


class SlopeObjective(Objective):
    """Norm of the gradient of the mean distance in the query, where the query is the record."""

    def __call__(self, query, state: State):
        """Measure differing records (starts, ...) one by one: (starts,)."""
        return jax.vmap(lambda record: self._norm(record, state))(query)

    def _norm(self, record, state: State):
        slope = jax.grad(self._mean_distance)(record, record, state)
        return jnp.sqrt(jnp.square(slope).sum() + _TINIEST)

    def _mean_distance(self, query, record, state: State):
        both = jnp.stack([query, record])
        cross = self.kernel.traceable(both, state["x"])
        reduced = cross @ state["factor"].T
        covariance = self.kernel.traceable(both, both[1:])[:, 0] - reduced @ reduced[1]
        residual = state["label"] - cross[1] @ state["weights"]
        move = covariance[0] / (covariance[1] + state["noise"])
        return 0.5 * move**2 * jnp.square(residual).sum()


def least_stationary(
    kernel: Kernel,
    x: Any,
    y: Any,
    label: Any,
    noise: float,
    start: Any,
    *,
    unit: Any = 1.0,
    steps: int = 300,
    learning_rate: float = 0.02,
    log_every: int = 10,
    patience: int = 20,
    progress: bool = True,
) -> Optimum:
    """Look for a differing record that is not its own most influenced query.

    Maximises the norm of the gradient of the mean distance M with respect to the query, taken at
    the query S = the record, over the record (Ye et al. 2024, Algorithm 1, with the label fixed).
    The kernel must be twice differentiable where two records meet; the ReLU's is not.

    Parameters
    ----------
    kernel, x, y, noise
        As `compare`.
    label : float or array of shape (outputs,)
        The differing record's label.
    start : array of shape (starts, ...)
        Records to begin with.
    unit, steps, learning_rate, log_every, patience, progress
        As `maximise`.

    Returns
    -------
    Optimum
        The records found, and the norms of the gradient there.

    Raises
    ------
    InputError
        As `compare` and `maximise`.
    """
    require_gradients(kernel)
    base = posterior(kernel, x, y, noise)
    start = starts_of(start, base)
    require_variance(priors(kernel, start) == 0, len(start))
    label = outputs("label", np.asarray(label, dtype=np.float64).reshape(1, -1), 1)[0]
    if label.size != base.y.shape[1]:
        raise InputError(f"label has {label.size} outputs; y has {base.y.shape[1]}")
    state = {**state_of(base), "noise": base.noise, "label": label}
    run = (steps, learning_rate, log_every, patience, progress)
    return ascend(SlopeObjective(kernel, "mean"), state, start, unit, *run)
