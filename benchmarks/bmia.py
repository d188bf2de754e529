"""The posterior of a last layer: structured algebra against laplace-torch's dense Jacobians."""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from membership import attacks, curvature, data, models, training

# Imported here, so that no measured time holds the seconds that this takes.
from membership.curvature import laplace_torch  # noqa: F401

RECORDS = 10_000
QUERIES = 10_000
CLASSES = 100
HIDDEN = (1024, 512, 256, 128)
# So many queries of laplace-torch are measured; its time grows in proportion to their number.
MEASURED = 100
FACTORY = partial(models.mlp, 600, HIDDEN, CLASSES)
# Enough for a network that is neither blank nor done; the times do not depend on it.
CONFIG = training.TrainingConfig(epochs=5, batch_size=256, learning_rate=0.02, momentum=0.9)


def run() -> pd.DataFrame:
    """Time what one reference model costs BMIA, from its features to a score for every query.

    Returns
    -------
    pandas.DataFrame
        One row a step: what, size, ours (s), reference (s), ratio, note. The reference is
        laplace-torch in float64, its time for all queries extrapolated from 100 of them; the note
        has the largest relative difference of the two answers there.
    """
    dataset = data.simulate_purchase(RECORDS + QUERIES, seed=0)
    member = np.arange(len(dataset.y))[None] < RECORDS
    ensemble = training.train(FACTORY, dataset, member, CONFIG, [0], device="cpu", progress=False)
    model = ensemble.module(0)
    layer = curvature.last_layer(model, dataset.x[:RECORDS])
    query = curvature.last_layer(model, dataset.x[RECORDS:])
    label = dataset.y[RECORDS:]
    fit = partial(
        curvature.last_layer_laplace,
        layer.features,
        layer.logits,
        structure="kron",
        weight=layer.weight,
        bias=layer.bias,
        label=dataset.y[:RECORDS],
    )
    ours, our_fit = _timed(partial(fit, "marginal-likelihood"))
    # Same prior precision on both sides, so that the answers can be compared.
    theirs, their_fit = _timed(partial(fit, ours.prior_precision, engine="laplace-torch"))
    few = query.features[:MEASURED]
    expected, for_few = _timed(partial(theirs.covariance, few))
    their_query = for_few * QUERIES / MEASURED
    _, our_covariance = _timed(partial(_covariance_in_parts, ours, query.features))
    variance, our_variance = _timed(partial(_variance, ours, query.logits, query.features, label))
    of_margin = _margin(expected, query.logits[:MEASURED], label[:MEASURED])
    answer = ours.covariance(few)
    off = np.abs(answer - expected).max() / np.abs(expected).max()
    off_margin = np.abs(variance[:MEASURED] / of_margin - 1).max()
    note = f"reference: {MEASURED} queries measured, the rest in proportion; equal to "
    records, queries = f"{RECORDS:,} records", f"{QUERIES:,} queries"
    rows = [
        ("fit, KFAC", records, our_fit, their_fit, "ours tunes the prior too"),
        ("all covariances", queries, our_covariance, their_query, f"{note}{off:.0e}"),
        ("hinge variances", queries, our_variance, their_query, f"{note}{off_margin:.0e}"),
    ]
    table = pd.DataFrame(rows, columns=["what", "size", "ours (s)", "reference (s)", "note"])
    table.insert(4, "ratio", table["reference (s)"] / table["ours (s)"])
    return table


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    started = time.perf_counter()
    result = work()
    return result, time.perf_counter() - started


def _covariance_in_parts(posterior: Any, features: np.ndarray) -> None:
    """All covariances, none kept: 10,000 of them are 0.8 GB."""
    for part in np.array_split(features, len(features) // 500):
        posterior.covariance(part)


def _variance(posterior: Any, logits: np.ndarray, features: np.ndarray, label: np.ndarray):
    return posterior.difference_variance(features, label, attacks.runner_up(logits, label))


def _margin(covariance: np.ndarray, logits: np.ndarray, label: np.ndarray) -> np.ndarray:
    rows, other = np.arange(len(label)), attacks.runner_up(logits, label)
    own = covariance[rows, label, label] + covariance[rows, other, other]
    return own - 2 * covariance[rows, label, other]
