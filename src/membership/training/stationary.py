r"""SGD with momentum on a quadratic, exactly: where it ends, and with which spread.

.. math:: g_t = K (w_{t-1} - w_*) + \eta_t,\quad h_t = \mu h_{t-1} + g_t,\quad
   w_t = w_{t-1} - \lambda h_t,\qquad K = H + \alpha I,\quad \operatorname{cov} \eta_t = C.

The pair (w, h) moves linearly, so its stationary covariance solves a discrete Lyapunov equation,
with no assumption on C.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_discrete_lyapunov

from membership.arrays import FloatArray


@dataclass(frozen=True)
class Sgd:
    """A recipe: learning rate, momentum, weight decay."""

    learning_rate: float
    momentum: float
    weight_decay: float

    def total(self, hessian: FloatArray) -> FloatArray:
        """K, the Hessian of the regularised loss."""
        return hessian + self.weight_decay * np.eye(len(hessian))

    def step(self, hessian: FloatArray) -> tuple[FloatArray, FloatArray]:
        """How (w - w_*, h) moves, (2 p, 2 p), and how the noise enters it, (2 p, p)."""
        identity, rate = np.eye(len(hessian)), self.learning_rate
        k = self.total(hessian)
        move = np.block(
            [[identity - rate * k, -rate * self.momentum * identity], [k, self.momentum * identity]]
        )
        return move, np.concatenate([-rate * identity, identity])


def stationary_covariance(sgd: Sgd, hessian: FloatArray, noise: FloatArray) -> FloatArray:
    """The stationary covariance (p, p) of w, exactly."""
    move, enter = sgd.step(hessian)
    full = solve_discrete_lyapunov(move, enter @ noise @ enter.T, method="bilinear")
    size = len(hessian)
    block = full[:size, :size]
    return (block + block.T) / 2


def theorem_covariance(sgd: Sgd, hessian: FloatArray, noise: FloatArray) -> FloatArray:
    """The stationary covariance of Theorem 2.2, which assumes that noise and Hessian commute."""
    scaled = sgd.learning_rate * sgd.total(hessian) / (1.0 + sgd.momentum)
    inverse = np.linalg.inv(scaled @ (2.0 * np.eye(len(hessian)) - scaled))
    return inverse @ noise * sgd.learning_rate**2 / (1.0 - sgd.momentum**2)


def simulated_covariance(
    sgd: Sgd, hessian: FloatArray, noise: FloatArray, chains: int, steps: int, seed: int
) -> FloatArray:
    """The covariance of w over independent runs of SGD from the minimum."""
    rng = np.random.default_rng(seed)
    root, k = np.linalg.cholesky(noise), sgd.total(hessian)
    away, velocity = np.zeros((2, chains, len(hessian)))
    for _ in range(steps):
        gradient = away @ k + rng.standard_normal(away.shape) @ root.T
        velocity = sgd.momentum * velocity + gradient
        away = away - sgd.learning_rate * velocity
    return away.T @ away / chains
