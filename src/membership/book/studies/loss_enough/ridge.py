r"""Ridge regression under SGD whose stationary law is known: every attack on draws of that law.

The loss of a record is :math:`\frac12 (x^\top w - y)^2`, that of a model the mean over n records
(n - 1 others and z, or a hole in its place) plus :math:`\frac\alpha2 \|w\|^2`, with Hessian
:math:`K = H + \alpha I`. SGD with gradient noise of covariance C ends in a Gaussian about the
minimum whose covariance solves :math:`\Sigma = (I - \lambda K) \Sigma (I - \lambda K) + \lambda^2
C`; as C is a function of K here, eigenvalue by eigenvalue.

The weight decay is the papers' for networks, 5e-4, unless a recipe says otherwise.

The features of the others are known, and the labels of some. The labels of the rest enter by their
law, which leaves the parameters Gaussian, given the record and what is known: the best attacks on
the parameters and on the loss are ratios of two known densities.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.stats import norm

from membership.arrays import FloatArray
from membership.attacks.iha import iha_at
from membership.attacks.residual import residual_at
from membership.book.studies.loss_enough.names import (
    BEST_LOSS,
    BEST_PARAMETERS,
    IHA,
    IHA_STAR,
    MALT,
    MAST,
    MATT,
    RESIDUAL,
)

SIZE, N_TRAIN, BATCH, SIGMA = 6, 50, 4, 1.0
# The largest variance of a feature.
LARGEST = 2.0


@dataclass(frozen=True)
class Recipe:
    """How a game's models are trained, and on what features.

    The variances of the features run from the largest down to it over the `condition` number.
    """

    weight_decay: float = 5e-4
    rate: float = 0.05
    condition: float = 10.0


PLAIN = Recipe()


@dataclass(frozen=True)
class Noise:
    """The gradient noise: a share of SGD's own mixed with a posterior's, or a power of K.

    With ``exponent`` the law's covariance is a multiple of K^(exponent - 1); the posterior is
    exponent 0. All noises of a game have the trace that SGD's own has.
    """

    share: float = 0.0
    exponent: float | None = None


@dataclass(frozen=True)
class Law:
    """Gaussian laws of the parameters: one mean and covariance, or one of each a record."""

    mean: FloatArray
    covariance: FloatArray

    @cached_property
    def root(self) -> FloatArray:
        """Cholesky's."""
        return np.linalg.cholesky(self.covariance)

    def draws(self, normals: FloatArray) -> FloatArray:
        """From standard normals, (records, draws, p)."""
        return self.mean[..., None, :] + normals @ np.swapaxes(self.root, -1, -2)

    def log_density(self, w: FloatArray) -> FloatArray:
        """Up to a constant of no record."""
        away = w - self.mean[..., None, :]
        half = np.sum((away @ np.linalg.inv(self.covariance)) * away, axis=-1)
        return -(half + np.linalg.slogdet(self.covariance)[1][..., None]) / 2

    def along(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of x'w for each record, (records, 1)."""
        mean = np.sum(self.mean * x, axis=-1)
        variance = np.sum((x[:, None, :] @ self.covariance)[:, 0] * x, axis=-1)
        return mean[:, None], variance[:, None]


class RidgeGame:
    """The others, the records that are asked, and the standard normals that all draws use."""

    def __init__(self, seed: list[int], records: int, draws: int, recipe: Recipe = PLAIN) -> None:
        rng = np.random.default_rng(seed)
        self.n, self.recipe = N_TRAIN, recipe
        spectrum = np.geomspace(LARGEST / recipe.condition, LARGEST, SIZE)
        self.truth = rng.standard_normal(SIZE)
        self.x, self.x_z = (
            rng.standard_normal((k, SIZE)) * np.sqrt(spectrum) for k in (self.n - 1, records)
        )
        self.y, self.y_z = (
            x @ self.truth + SIGMA * rng.standard_normal(len(x)) for x in (self.x, self.x_z)
        )
        self.normals = rng.standard_normal((2, records, draws, SIZE))
        self.reference = rng.standard_normal((1, 1, SIZE))
        self.hessian = self.x.T @ self.x / self.n

    def total(self, member: bool) -> FloatArray:
        """K without a record, (p, p), or with each, (records, p, p)."""
        own = self.x_z[:, :, None] * self.x_z[:, None, :] / self.n
        decay = self.recipe.weight_decay * np.eye(SIZE)
        return self.hessian + own + decay if member else self.hessian + decay

    def scale(self, exponent: float) -> float:
        """What K^(exponent - 1) is multiplied by: the noise has the trace of SGD's own."""
        k = np.linalg.eigvalsh(self.total(False))
        own, rate = SIGMA**2 / BATCH * np.trace(self.hessian), self.recipe.rate
        return float(own * rate / 2 / np.sum(k**exponent * (1 - rate * k / 2)))

    @property
    def temperature(self) -> float:
        """T of the posterior exp(-(sum of losses) / T) with that much noise."""
        return self.n * self.scale(0.0)

    def cloud(self, noise: Noise, total: FloatArray) -> FloatArray:
        """The stationary covariance around the minimum."""
        k, axes = np.linalg.eigh(total)
        if noise.exponent is not None:
            spread = self.scale(noise.exponent) * k ** (noise.exponent - 1)
        else:
            own, rate = SIGMA**2 / BATCH * (k - self.recipe.weight_decay), self.recipe.rate
            moved = rate**2 * own / (1 - (1 - rate * k) ** 2)
            spread = (1 - noise.share) * self.scale(0.0) / k + noise.share * moved
        return (axes * spread[..., None, :]) @ np.swapaxes(axes, -1, -2)

    def expected(self, known: float) -> tuple[FloatArray, FloatArray]:
        """Mean and covariance of X'y / n to who knows a share of the labels, the first ones."""
        count = round(known * (self.n - 1))
        labels = np.where(np.arange(self.n - 1) < count, self.y, self.x @ self.truth)
        unknown = self.x[count:]
        return self.x.T @ labels / self.n, SIGMA**2 * unknown.T @ unknown / self.n**2

    def laws(self, noise: Noise, known: float) -> tuple[Law, Law]:
        """Of the parameters without the record, and with it."""
        centre, spread = self.expected(known)
        laws_of = []
        for member in (False, True):
            total = self.total(member)
            pulled = centre + self.x_z * self.y_z[:, None] / self.n if member else centre
            inverse = np.linalg.inv(total)
            mean = (inverse @ pulled[..., None])[..., 0]
            laws_of.append(Law(mean, inverse @ spread @ inverse + self.cloud(noise, total)))
        return laws_of[0], laws_of[1]

    def play(self, noise: Noise, known: float) -> dict[str, FloatArray]:
        """Each attack's scores, (records, 2 draws): the first half without the record."""
        without, within = self.laws(noise, known)
        w = np.concatenate([without.draws(self.normals[0]), within.draws(self.normals[1])], axis=1)
        return self.scores(w, without, within, known)

    def scores(self, w: FloatArray, without: Law, within: Law, known: float) -> dict:
        """Each attack at parameters (records, draws, p), for who knows a share of the labels."""
        error = np.sum(w * self.x_z[:, None], axis=-1) - self.y_z[:, None]
        gradient = error[..., None] * self.x_z[:, None]
        flat = (-1, SIZE)
        mean_gradient = w @ self.hessian - self.expected(known)[0]
        seen = [part.reshape(flat) for part in (w, gradient, mean_gradient)]
        recipe = (self.recipe.rate, 0.0, self.recipe.weight_decay)
        white = (seen[0], error.ravel() ** 2 / 2, *seen[1:], self.hessian, self.n, recipe)
        ratios = {
            BEST_PARAMETERS: within.log_density(w) - without.log_density(w),
            BEST_LOSS: self._of_loss(error, without, within),
            MALT: -(error**2) / 2,
            MAST: self._threshold(without) - error**2 / 2,
            MATT: self._matt(w, without),
            IHA: iha_at(*white),
            IHA_STAR: iha_at(*white, "regularised"),
            RESIDUAL: residual_at(*seen, self.n, self.recipe.weight_decay),
        }
        return {name: score.reshape(error.shape) for name, score in ratios.items()}

    def _of_loss(self, error: FloatArray, without: Law, within: Law) -> FloatArray:
        """The log-likelihood ratio of the loss, which hides the sign of the error."""
        size = np.abs(error)
        logs = []
        for law in (within, without):
            mean, variance = law.along(self.x_z)
            mean, spread = mean - self.y_z[:, None], np.sqrt(variance)
            densities = [norm.logpdf(sign * size, mean, spread) for sign in (1, -1)]
            logs.append(np.logaddexp(*densities))
        return logs[0] - logs[1]

    def _threshold(self, without: Law) -> FloatArray:
        """MAST's tau(z) from infinitely many reference models: -T log E exp(-loss / T)."""
        mean, variance = without.along(self.x_z)
        ratio = 1 + variance / self.temperature
        away = (mean - self.y_z[:, None]) ** 2
        return away / (2 * ratio) + self.temperature / 2 * np.log(ratio)

    def _matt(self, w: FloatArray, without: Law) -> FloatArray:
        """Against one reference model without the record."""
        reference = without.draws(self.reference)
        error = np.sum(reference * self.x_z[:, None], axis=-1) - self.y_z[:, None]
        return -error * np.sum((w - reference) * self.x_z[:, None], axis=-1)
