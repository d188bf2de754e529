"""Leave-one-out retraining of real networks, all of them at once, with the right labels."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import rankdata

from membership import data
from membership.arrays import FloatArray
from membership.book.studies.lood.experiment import Records, lines
from membership.book.studies.lood.settings import Settings
from membership.errors import InputError
from membership.nngp.activations import activation as named


@dataclass(frozen=True)
class Span:
    """Coordinates in which networks without biases read records.

    Attributes
    ----------
    dimensions : int
        Numbers that a record has in them.
    basis : numpy.ndarray of float64, shape (features, dimensions), or None
        Orthonormal columns; None where there are as many features, which are read as they are.
    """

    dimensions: int
    basis: FloatArray | None = None

    def coordinates(self, x: np.ndarray) -> np.ndarray:
        """Of records within the space, (records, dimensions); as they are without a basis."""
        if self.basis is None:
            return np.asarray(x, np.float32)
        rows = np.asarray(x, np.float64).reshape(len(x), -1)
        return (rows @ self.basis).astype(np.float32)

    def seen(self, records: Records) -> data.Dataset:
        """The training set as the networks read it."""
        if self.basis is None:
            return records.dataset
        own = dataclasses.replace(records.dataset, x=self.coordinates(records.dataset.x))
        return own.select(np.arange(len(own)))  # which takes the digest anew

    def expanded(self, weights: FloatArray, deviation: float, seed: int) -> FloatArray:
        """First-layer weights over the features, for records outside of the space too.

        Training leaves what reads directions outside of it as it was drawn, from a normal law of
        this deviation; which draw it was is nothing that the coordinates know, so it is made here.
        """
        if self.basis is None:
            return weights
        drawn = np.random.default_rng(seed).normal(0, deviation, (len(weights), len(self.basis)))
        return (weights - drawn @ self.basis) @ self.basis.T + drawn


def span(records: Records, left_out: Sequence[int] | np.ndarray, settings: Settings) -> Span:
    """The space of the records and of the lines through those that are left out."""
    features = int(np.prod(records.shape))
    if len(records) + len(left_out) >= features:
        return Span(features)
    x = records.dataset.x.astype(np.float64)
    away = lines(x[left_out], settings)[:, -1]
    rows = np.concatenate([x, away]).reshape(-1, features)
    basis = np.linalg.qr(rows.T)[0]
    return Span(basis.shape[1], basis)


_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(80)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


def sharpness(
    size: float, n_features: int, depth: int, width: int, activation: str, w_std: float
) -> float:
    """Largest mean curvature that a record of two classes can have at the start.

    The curvature of the cross-entropy along the gradient of the log-odds is p (1 - p), at most a
    quarter, times that gradient's squared length. Its expectation is a sum over layers: the squared
    length of what goes in times that of the gradient in what comes out. Of a hidden layer the first
    is in proportion to the units, however short a record is. `size` is a record's squared norm.
    """
    phi, w = named(activation), w_std**2
    lengths, slopes, variance = [size], [], w * size / n_features
    for _ in range(depth):
        lengths.append(width * _mean_square(phi.value, variance))
        slopes.append(w * _mean_square(phi.derivative, variance))
        variance = w * lengths[-1] / width
    # Of the log-odds in the two logits; then backwards, in what each hidden layer's weights give.
    gradient, total = 2.0, 0.0
    for length, slope in zip(reversed(lengths), [*reversed(slopes), 0.0], strict=True):
        total += length * gradient
        gradient *= slope
    return total / 4


def _mean_square(function, variance: float) -> float:
    """E[f(sqrt(variance) z)^2] of a standard normal z."""
    return float(_WEIGHTS @ function(np.sqrt(variance) * _NODES) ** 2)


# The standard deviations of the released code: sqrt(2) for ReLU, 1.9822 for GeLU networks.
NETWORK_W_STD = {"relu": 2**0.5, "gelu": 1.9822}
SPLITS = 50
# Over the mean squared norm of the records, with which the first layer's gradient grows: 0.002 for
# CIFAR-10, where the paper has 0.001 without momentum.
LEARNING_RATE = 2.0
# Most that the learning rate times the sharpness at the start may be, a little over that of digits:
# where features are few or layers many, those of ReLU die or diverge beyond 2 (1 + momentum), the
# limit of stability. GeLU's start with larger logits, where the curvature is far below its bound.
STEEPEST = {"relu": 3.1, "gelu": 10.0}
# Added to the variance of each logit that is fitted, relative to their mean.
RIDGE = 1e-6


@dataclass(frozen=True)
class Retrained:
    """Networks trained with all records, and others without one of some records.

    Attributes
    ----------
    records : Records
        The training set of those that have them all.
    left_out : numpy.ndarray of int, shape (differing,)
        Rows of the records that are left out, one at a time.
    inside, outside : training.Ensemble
        ``n_networks`` with all records; ``n_networks`` without each of `left_out`, in order.
    space : Span
        The coordinates in which they read records.
    """

    records: Records
    left_out: np.ndarray
    inside: Any
    outside: Any
    space: Span

    def logits(self, queries: np.ndarray) -> tuple[FloatArray, FloatArray]:
        """What both sides answer to queries of each left-out record's own."""
        count, n_queries = queries.shape[:2]
        flat = self.space.coordinates(queries.reshape(count * n_queries, *queries.shape[2:]))
        sides = []
        for ensemble in (self.inside, self.outside):
            answers = ensemble.logits(flat).double().numpy()
            sides.append(answers.reshape(len(answers), count, n_queries, -1).swapaxes(0, 1))
        networks = len(self.inside)
        own = np.arange(count)
        outside = sides[1].reshape(count, count, networks, n_queries, -1)[own, own]
        return sides[0], outside

    @property
    def own_queries(self) -> np.ndarray:
        """The left-out records themselves, as queries for `logits`."""
        return self.records.dataset.x[self.left_out][:, None]


def retrain(records: Records, settings: Settings, activation: str = "relu") -> Retrained:
    """Train the networks of Figures 1, 4 and 5.

    The released training script takes the labels from the shortened data, so that almost every
    network without a record has one wrong label; here records and labels are left out together.
    """
    from membership import training

    records = records.first(settings.network_records)
    left_out = left_out_of(records, settings)
    masks = data.leave_one_out(len(records), left_out).repeat(settings.n_networks, axis=0)
    space = span(records, left_out, settings)
    trained = [
        training.train(
            factory(records, settings, activation, space.dimensions),
            space.seen(records),
            rows,
            recipe(records, settings, activation),
            seeds,
            device=settings.device,
            n_jobs=settings.n_jobs,
        )
        for rows, seeds in _sides(masks, settings)
    ]
    return Retrained(records, left_out, *trained, space)


def left_out_of(records: Records, settings: Settings) -> np.ndarray:
    """Rows of the networks' records that they are retrained without, one at a time."""
    order = np.random.default_rng([settings.seed, 2]).permutation(len(records))
    return np.sort(order[: settings.n_retrained])


def factory(records: Records, settings: Settings, activation: str, dimensions: int = 0) -> Any:
    """Makes an untrained network of the run's depth and width, for fewer coordinates if given."""
    from membership import models

    features = int(np.prod(records.shape))
    return partial(
        models.scaled_mlp,
        dimensions or features,
        settings.depth,
        settings.network_width,
        records.dataset.n_classes,
        activation,
        NETWORK_W_STD[activation],
        features,
    )


def recipe(records: Records, settings: Settings, activation: str = "relu", epochs: int = 0) -> Any:
    """How every network is trained; fewer epochs give an earlier state of the same run."""
    from membership import training

    size = float(np.square(records.inputs()).sum(axis=1).mean())
    shape = (int(np.prod(records.shape)), settings.depth, settings.network_width)
    rate = LEARNING_RATE / size
    for kind in ("relu", activation):  # GeLU's are trained no faster
        rate = min(rate, STEEPEST[kind] / sharpness(size, *shape, kind, NETWORK_W_STD[kind]))
    return training.TrainingConfig(
        epochs=epochs or settings.sizes.epochs,
        batch_size=64,
        learning_rate=float(f"{rate:.2g}"),
        momentum=0.9,
    )


def fitted_auc(inside: FloatArray, outside: FloatArray, seed: int) -> tuple[float, float]:
    """AUC of the likelihood ratio of two normal laws, fitted and tried on different networks.

    Mean and standard deviation over random splits, all of them computed at once.
    """
    rng = np.random.default_rng(seed)
    half = len(inside) // 2
    if half < 2:
        raise InputError(f"a law fitted on half of {len(inside)} networks: it takes 4 or more")
    orders = [[rng.permutation(len(side)) for side in (inside, outside)] for _ in range(SPLITS)]
    split = [side[list(own)] for side, *own in zip((inside, outside), *orders, strict=True)]
    laws = [_laws(side[:, :half]) for side in split]
    score = [
        _log_density(side[:, half:], *laws[0]) - _log_density(side[:, half:], *laws[1])
        for side in split
    ]
    n, m = (scores.shape[1] for scores in score)
    # The Mann-Whitney statistic, as in `metrics.auc`.
    ranks = rankdata(np.concatenate(score, axis=1), axis=1)[:, :n]
    auc = (ranks.sum(axis=1) - n * (n + 1) / 2) / (n * m)
    return float(np.mean(auc)), float(np.std(auc, ddof=1))


def _laws(samples: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and covariance of each sample, (splits, networks, logits)."""
    mean = samples.mean(axis=1, keepdims=True)
    off = samples - mean
    covariance = off.swapaxes(1, 2) @ off / (samples.shape[1] - 1)
    ridge = RIDGE * np.trace(covariance, axis1=1, axis2=2) / samples.shape[2] + 1e-12
    return mean, covariance + ridge[:, None, None] * np.eye(samples.shape[2])


def _log_density(x: FloatArray, mean: FloatArray, covariance: FloatArray) -> FloatArray:
    off = x - mean
    solved = np.linalg.solve(covariance, off.swapaxes(1, 2))
    distance = np.einsum("sni,sin->sn", off, solved)
    return -0.5 * (distance + np.linalg.slogdet(covariance)[1][:, None])


def _sides(masks: np.ndarray, settings: Settings) -> list[tuple[np.ndarray, list[int]]]:
    """Masks with seeds: those with every record, and the others."""
    seeds = [settings.seed * 1_000_003 + i for i in range(len(masks))]
    n = settings.n_networks
    return [(masks[:n], seeds[:n]), (masks[n:], seeds[n:])]
