"""Leave-one-out retraining of real networks, all of them at once, with the right labels."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from membership import data, metrics
from membership.arrays import FloatArray
from membership.studies.lood.records import Records

# The standard deviations of the released code: sqrt(2) for ReLU, 1.9822 for GeLU networks.
NETWORK_W_STD = {"relu": 2**0.5, "gelu": 1.9822}
SPLITS = 50
# Over the mean squared norm of the records, with which the first layer's gradient grows: 0.002 for
# CIFAR-10, where the paper has 0.001 without momentum.
LEARNING_RATE = 2.0
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
    """

    records: Records
    left_out: np.ndarray
    inside: Any
    outside: Any

    def logits(self, queries: np.ndarray) -> tuple[FloatArray, FloatArray]:
        """What both sides answer to queries of each left-out record's own."""
        count, each = queries.shape[:2]
        flat = queries.reshape(count * each, *queries.shape[2:]).astype(np.float32)
        sides = []
        for ensemble in (self.inside, self.outside):
            found = ensemble.logits(flat).double().numpy()
            sides.append(found.reshape(len(found), count, each, -1).swapaxes(0, 1))
        networks = len(self.inside)
        own = np.arange(count)
        outside = sides[1].reshape(count, count, networks, each, -1)[own, own]
        return sides[0], outside

    @property
    def own_queries(self) -> np.ndarray:
        """The left-out records themselves, as queries for `logits`."""
        return self.records.dataset.x[self.left_out][:, None]


def retrain(records: Records, settings: Any, activation: str = "relu") -> Retrained:
    """Train the networks of Figures 1, 4 and 5.

    The released training script takes the labels from the shortened data, so that almost every
    network without a record has one wrong label; here records and labels are left out together.
    """
    from membership import training

    records = records.first(settings.network_records)
    n = len(records)
    left_out = np.sort(
        np.random.default_rng([settings.seed, 2]).permutation(n)[: settings.n_retrained]
    )
    masks = data.leave_one_out(n, left_out).repeat(settings.n_networks, axis=0)
    trained = [
        training.train(
            factory(records, settings, activation),
            records.dataset,
            rows,
            recipe(records, settings),
            seeds,
            device=settings.device,
            n_jobs=settings.n_jobs,
        )
        for rows, seeds in _sides(masks, settings)
    ]
    return Retrained(records, left_out, *trained)


def factory(records: Records, settings: Any, activation: str) -> Any:
    """Makes an untrained network of the run's depth and width for these records."""
    from membership import models

    return partial(
        models.scaled_mlp,
        int(np.prod(records.shape)),
        settings.depth,
        settings.network_width,
        records.dataset.n_classes,
        activation,
        NETWORK_W_STD[activation],
    )


def recipe(records: Records, settings: Any, epochs: int = 0) -> Any:
    """How every network is trained; fewer epochs give an earlier state of the same run."""
    from membership import training

    size = float(np.square(records.inputs()).sum(axis=1).mean())
    return training.TrainingConfig(
        epochs=epochs or settings.sizes.epochs,
        batch_size=64,
        learning_rate=float(f"{LEARNING_RATE / size:.2g}"),
        momentum=0.9,
    )


def fitted_auc(inside: FloatArray, outside: FloatArray, seed: int) -> tuple[float, float]:
    """AUC of the likelihood ratio of two normal laws, fitted and tried on different networks."""
    rng = np.random.default_rng(seed)
    half = len(inside) // 2
    found = []
    for _ in range(SPLITS):
        sides = [side[rng.permutation(len(side))] for side in (inside, outside)]
        laws = [_law(side[:half]) for side in sides]
        score = [
            _log_density(side[half:], *laws[0]) - _log_density(side[half:], *laws[1])
            for side in sides
        ]
        member = np.repeat([True, False], [len(score[0]), len(score[1])])
        found.append(metrics.auc(np.concatenate(score), member))
    return float(np.mean(found)), float(np.std(found, ddof=1))


def _law(sample: FloatArray) -> tuple[FloatArray, FloatArray]:
    covariance = np.atleast_2d(np.cov(sample, rowvar=False))
    ridge = RIDGE * np.trace(covariance) / len(covariance) + 1e-12
    return sample.mean(axis=0), covariance + ridge * np.eye(len(covariance))


def _log_density(x: FloatArray, mean: FloatArray, covariance: FloatArray) -> FloatArray:
    off = x - mean
    distance = np.einsum("ni,ni->n", off, np.linalg.solve(covariance, off.T).T)
    return -0.5 * (distance + np.linalg.slogdet(covariance)[1])


def _sides(masks: np.ndarray, settings: Any) -> list[tuple[np.ndarray, list[int]]]:
    """Masks with seeds: those with every record, and the others."""
    seeds = [settings.seed * 1_000_003 + i for i in range(len(masks))]
    n = settings.n_networks
    return [(masks[:n], seeds[:n]), (masks[n:], seeds[n:])]
