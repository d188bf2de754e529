"""Records at which the mean distance is far from stationary; importing this imports JAX."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from membership.errors import InputError
from membership.lood import checks
from membership.lood.objective import Objective, State
from membership.lood.optimise import Optimum, Schedule, ascend
from membership.lood.process import posterior
from membership.nngp.kernels import Kernel

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
    base = posterior(kernel, x, y, noise)
    start, single = checks.queries(start, base.x)
    if single:
        raise InputError(f"start has shape {start.shape[1:]}; give (starts, ...)")
    label = checks.outputs("label", np.asarray(label, dtype=np.float64).reshape(1, -1), 1)[0]
    if label.size != base.y.shape[1]:
        raise InputError(f"label has {label.size} outputs; y has {base.y.shape[1]}")
    state = {
        "x": base.x,
        "factor": base.factor,
        "weights": base.weights,
        "noise": base.noise,
        "label": label,
    }
    run = Schedule(steps, learning_rate, log_every, patience, progress)
    return ascend(SlopeObjective(kernel, "mean"), state, start, unit, run)
