r"""How gradients differ between records, how SGD spreads by it, and what a record's loss shows.

A batch of S records drawn anew has a mean gradient of covariance
:math:`C = \operatorname{cov}(g) / S`, with g the gradient of one record. On a quadratic, SGD with
momentum is then

.. math:: g_t = K (w_{t-1} - w_*) + \eta_t,\quad h_t = \mu h_{t-1} + g_t,\quad
   w_t = w_{t-1} - \lambda h_t,\qquad K = H + \alpha I,\quad \operatorname{cov} \eta_t = C.

The pair (w, h) moves linearly, so its stationary covariance solves a discrete Lyapunov equation,
with no assumption on C.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from scipy.linalg import LinAlgError, eigh, solve_discrete_lyapunov

from membership import memory
from membership.arrays import FloatArray, as_float64, one_of
from membership.curvature.eigen import Spectrum
from membership.curvature.gradients import gradient_blocks
from membership.curvature.hessians import curvature_matrix
from membership.curvature.objective import Objective
from membership.errors import InputError

SHRINKAGES = ("none", "ledoit-wolf")
# What a covariance may lack in symmetry or in eigenvalues of 0 or more, relative to its size.
_ROUNDING = 1e-8


class Moments(NamedTuple):
    """What the adversary knows of the gradients: mean (d,) and covariance (d, d)."""

    mean: FloatArray
    covariance: FloatArray


def gradient_moments(background: Any, shrinkage: str = "none") -> Moments:
    """Estimate the moments of the gradients from records of the same kind.

    Parameters
    ----------
    background : array of shape (records, d)
        Their gradients; none of them may be queried.
    shrinkage : {"none", "ledoit-wolf"}
        "ledoit-wolf" pulls the covariance towards a multiple of the identity, which makes it
        invertible for any number of records. It fills the null space too: leave out redundant
        entries, such as one class of a softmax layer, before.

    Returns
    -------
    Moments

    Raises
    ------
    InputError
        Fewer than two records, entries not finite, or too few records to tell the rank of the
        covariance without shrinkage.
    """
    x = as_float64("background", background, 2)
    n, d = x.shape
    one_of("shrinkage", shrinkage, SHRINKAGES)
    if n < 2:
        raise InputError(f"background has {n} record; give at least 2")
    mean = x.mean(axis=0)
    if shrinkage == "ledoit-wolf":
        from sklearn.covariance import ledoit_wolf  # slow to import

        return Moments(mean, ledoit_wolf(x)[0])
    centred = x - mean
    covariance = centred.T @ centred / (n - 1)
    # n records span n - 1 directions: a covariance that fills them may have more.
    if n <= d and whitening(covariance).shape[1] >= n - 1:
        raise InputError(
            f"background has {n} records, too few for the rank of a covariance of {d} entries; "
            f'give more than {d}, better several times as many, or shrinkage="ledoit-wolf"'
        )
    return Moments(mean, covariance)


def whitening(covariance: Any) -> FloatArray:
    """Return W of shape (d, rank) with W W' the pseudo-inverse of a covariance.

    The rank counts eigenvalues above the rounding error of the largest, d * 2.2e-16 of it.

    Raises
    ------
    InputError
        The covariance is not square, not symmetric, has a negative eigenvalue beyond rounding
        (1e-8 of the largest) or rank zero.
    """
    covariance = as_float64("covariance", covariance, 2)
    if covariance.shape[0] != covariance.shape[1]:
        raise InputError(f"covariance has shape {covariance.shape}; give a square matrix")
    scale = np.abs(covariance).max()
    if np.abs(covariance - covariance.T).max() > _ROUNDING * scale:
        raise InputError("covariance is not symmetric; give a covariance matrix")
    try:
        values, vectors = eigh(covariance, check_finite=False, driver="evd")
    except LinAlgError:
        raise InputError("covariance has no eigenvalues to working precision") from None
    if values[0] < -_ROUNDING * np.abs(values).max():
        raise InputError(
            f"covariance has the negative eigenvalue {values[0]:g}; give a covariance matrix, "
            "computed in float64"
        )
    kept = values > max(values[-1], 0.0) * len(values) * np.finfo(np.float64).eps
    if not kept.any():
        raise InputError("covariance has rank zero; give gradients that differ between records")
    return vectors[:, kept] / np.sqrt(values[kept])


def leading_directions(goal: Objective, x: torch.Tensor, y: torch.Tensor, least: float) -> Spectrum:
    """The k eigenvalues of the mean loss's Hessian above `least`, and their eigenvectors (p, k)."""
    memory.require(
        3 * 8.0 * goal.size**2,
        f"the leading eigenvectors for {goal.size:,} parameters",
        "take a narrower network",
        goal.device,
    )
    matrix = curvature_matrix(goal, x, y).cpu().numpy()
    values, vectors = eigh(
        matrix, overwrite_a=True, check_finite=False, subset_by_value=(least, np.inf)
    )
    return Spectrum(values, torch.as_tensor(vectors, device=goal.device))


def gradients_along(
    goal: Objective, x: torch.Tensor, y: torch.Tensor, vectors: torch.Tensor
) -> tuple[FloatArray, FloatArray]:
    """Each record's gradient along the directions (records, k), and its loss (records,)."""
    parts = [(block @ vectors, losses) for block, losses in gradient_blocks(goal, x, y)]
    along, losses = (torch.cat(each).cpu().numpy() for each in zip(*parts, strict=True))
    return along, losses


def power_law(eigenvalues: FloatArray, variances: FloatArray) -> float:
    r"""The exponent :math:`\kappa` of :math:`C_i \propto \sigma_i^\kappa`, fitted to logs.

    Parameters
    ----------
    eigenvalues : array of shape (k,)
        Positive, not all alike.
    variances : array of shape (k,)
        Positive: the noise's along the eigenvectors.

    Returns
    -------
    float

    Raises
    ------
    InputError
        There are fewer than two different eigenvalues, or a number is not positive.
    """
    pair = [
        as_float64(name, values, 1)
        for name, values in (("eigenvalues", eigenvalues), ("variances", variances))
    ]
    if any((values <= 0).any() for values in pair) or len(np.unique(pair[0])) < 2:
        raise InputError("eigenvalues and variances: give positive ones, two different at least")
    x, y = (np.log(values) - np.log(values).mean() for values in pair)
    return float(x @ y / (x @ x))


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


def loss_share(curvature: Any, gradient: Any, exponent: float) -> FloatArray:
    r"""Share of the squared signal that a record's error keeps, by the shape of SGD's noise.

    Small steps on a quadratic loss with Hessian K and gradient noise of covariance
    :math:`C \propto K^\kappa` end in a normal law of covariance :math:`\Sigma \propto
    K^{\kappa - 1}`. A record whose error has the gradient g (its features in a linear regression)
    moves its mean along :math:`K^{-1} g`, by a squared distance :math:`d^2 \propto g^\top
    K^{-1-\kappa} g`. The error shows the parameters along g alone, and its two laws are
    :math:`\sqrt\eta\, d` apart:

    .. math:: \eta = \frac{(g^\top K^{-1} g)^2}
        {(g^\top K^{-1-\kappa} g)\,(g^\top K^{\kappa-1} g)} .

    Best attacks have an AUC of :math:`\Phi(d/\sqrt 2)` on the parameters and
    :math:`\Phi(\sqrt\eta\, d/\sqrt 2)` on the error. The loss hides the error's sign, and shows no
    more.

    Parameters
    ----------
    curvature : array of shape (p,)
        Eigenvalues of K, positive: the Hessian's with the weight decay.
    gradient : array of shape (records, p)
        In the eigenvectors' basis; of each only its direction counts, and none is 0.
    exponent : float
        :math:`\kappa`: 0 is isotropic noise, as for a posterior draw, 1 is noise like the Hessian.

    Returns
    -------
    numpy.ndarray of float64, shape (records,)
        Above 0 and at most 1; 1 where and only where g is an eigenvector of
        :math:`K^\kappa`, thus for every record where :math:`\kappa = 0`. The same for
        :math:`-\kappa`.

    Raises
    ------
    InputError
        An eigenvalue is not positive, a gradient is 0 or of another length, or the exponent is not
        finite.

    Notes
    -----
    The bounds are those of Cauchy and Schwarz and of Kantorovich, see `least_loss_share`. The
    setting is that of Suri et al. (2024), Theorems 2.2 and 3.2.
    """
    curvature = as_float64("curvature", curvature, 1)
    gradient = as_float64("gradient", gradient, 2)
    _check_exponent(exponent)
    if gradient.shape[1] != len(curvature):
        raise InputError(
            f"gradient has {gradient.shape[1]} columns; give one for each of the {len(curvature)} "
            "eigenvalues of curvature"
        )
    if not (curvature > 0).all():
        raise InputError(f"curvature has the eigenvalue {curvature.min():g}; give positive ones")
    largest = np.abs(gradient).max(axis=1, initial=0.0, keepdims=True)
    if not (largest > 0).all():
        raise InputError("gradient has a row of zeros; leave out records without a gradient")
    # Neither scale matters, and large exponents would overflow.
    ratio = curvature / np.exp(np.mean(np.log(curvature)))
    weight = (gradient / largest) ** 2 / ratio
    both = (weight @ ratio**exponent) * (weight @ ratio**-exponent)
    return np.minimum(weight.sum(axis=1) ** 2 / both, 1.0)


def least_loss_share(condition: Any, exponent: float) -> FloatArray:
    r"""The least share that any record's error keeps: Kantorovich's bound.

    :math:`4c / (1 + c)^2` with :math:`c = \operatorname{cond}(K)^{|\kappa|}`, see `loss_share`. A
    record attains it where :math:`K^{-1/2} g` has parts of one length along the largest and the
    least curvature, and none elsewhere.

    Parameters
    ----------
    condition : array of shape (numbers,)
        Condition numbers of K, 1 or more: the largest eigenvalue over the least.
    exponent : float
        :math:`\kappa`.

    Returns
    -------
    numpy.ndarray of float64, shape (numbers,)
        In (0, 1]; 1 where the condition number is 1 or the exponent 0.

    Raises
    ------
    InputError
        A condition number is below 1 or not finite, or the exponent is not finite.
    """
    condition = as_float64("condition", condition, 1)
    _check_exponent(exponent)
    if not (condition >= 1).all():
        raise InputError(f"condition has {condition.min():g}; give numbers of 1 or more")
    return np.cosh(np.log(condition) * exponent / 2) ** -2.0


def _check_exponent(exponent: float) -> None:
    if not np.isfinite(exponent):
        raise InputError(f"exponent = {exponent!r}: expected a finite number")
