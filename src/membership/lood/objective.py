"""Distinguishability as a JAX function of the query; importing this module imports JAX."""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import enable_x64

from membership.arrays import FloatArray
from membership.errors import InputError
from membership.lood.comparison import Comparison, separate
from membership.lood.contrast import Contrast, known_measure
from membership.lood.linear import moments
from membership.lood.normalised import NormalisedComparison
from membership.nngp.kernels import Kernel

MEASURES = ("kl", "kl-reverse", "mean")
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
        return _value(Contrast(*parts, state["weights"].shape[1]), self.measure)


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
        told = b.T @ jnp.linalg.solve(covariance + ridge, b)
        rest = jnp.eye(len(told)) - told
        logarithm = jnp.linalg.slogdet(rest)[1]
        c, z = state["weights"].shape[1], state["surprise"]
        if self.measure == "kl-reverse":
            return 0.5 * (-c * (logarithm + jnp.trace(told)) + (z * (told @ z)).sum())
        gained = jnp.linalg.solve(rest, told)
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
        return _value(contrast, self.measure)

    def _predict(self, query, side: State):
        query = (query - side["mean"]) / side["std"]
        cross = self.kernel.traceable(query, side["x"])
        prior = self.kernel.traceable_diagonal(query)
        return moments(prior, cross, side["factor"], side["weights"])[:2]


def objective_of(
    comparison: Comparison | NormalisedComparison, measure: str, joint: bool = False
) -> tuple[Objective, State]:
    """Return the objective and the arrays it works on.

    Raises
    ------
    InputError
        The measure is unknown or has no gradient here, or joint queries meet normalisation.
    """
    known_measure(measure, MEASURES)
    if isinstance(comparison, NormalisedComparison):
        if joint:
            raise InputError("joint = True: data-dependent normalisation takes separate queries")
        sides = {"without": comparison.without, "with": comparison.with_s}
        state = {
            name: {
                "x": side.posterior.x,
                "factor": side.posterior.factor,
                "weights": side.posterior.weights,
                "mean": side.mean,
                "std": side.std,
            }
            for name, side in sides.items()
        }
        return NormalisedObjective(comparison.without.posterior.kernel, measure), state
    base = comparison.without
    state = {
        "x": base.x,
        "factor": base.factor,
        "weights": base.weights,
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
        As `Comparison.contrast`, or the measure has no gradient here.
    """
    objective, state = objective_of(comparison, measure, joint)
    rows, single = comparison.check(query)
    rows = rows[None] if joint else rows
    with enable_x64():
        value, slope = (
            np.asarray(a, np.float64) for a in value_and_gradient(rows, state, objective)
        )
    return (value[0], slope[0]) if single or joint else (value, slope)


def _both(query, state: State, objective: Objective):
    """Values (starts,) and gradients; a start's value depends on its own query only."""
    value, pull = jax.vjp(lambda q: objective(q, state), query)
    return value, pull(jnp.ones_like(value))[0]


value_and_gradient = jax.jit(_both, static_argnums=2)


def _value(contrast: Contrast, measure: str):
    if measure == "mean":
        return contrast.mean_distance
    return contrast.kl(jnp) if measure == "kl" else contrast.kl_reverse(jnp)
