"""The public API as a script of somebody's own uses it; `make lint` checks the types, none is run.

`assert_type` fails where a name has lost its types and become `Any`.
"""

from typing import Any, assert_type

import numpy as np
import pandas as pd
import xarray as xr
from torch import nn

from membership import attacks, data, evidence, lood, metrics, nngp, privacy, signals, training
from membership.arrays import FloatArray
from membership.book import exhibits, published


def judge(score: np.ndarray, member: np.ndarray) -> None:
    assert_type(metrics.auc(score, member), float)
    assert_type(metrics.tpr_at_fpr(score, member, 0.01), float)
    assert_type(metrics.roc_curve(score, member), tuple[FloatArray, FloatArray])
    assert_type(metrics.interval(metrics.auc, score, member, seed=1), tuple[float, float])
    assert_type(metrics.balanced_accuracy(score, member), float)


def attack(loss: np.ndarray, references: np.ndarray) -> None:
    assert_type(attacks.malt(loss), FloatArray)
    assert_type(attacks.mast(loss, references, tau="mean"), FloatArray)
    assert_type(attacks.lira(loss, references, mode="offline"), FloatArray)
    assert_type(attacks.registry()["lira"].display, str)
    assert_type(attacks.requirements(), pd.DataFrame)


def observe(model: nn.Module, x: np.ndarray, y: np.ndarray) -> None:
    signals.loss(model, x, y).mean(axis=0)
    signals.hinge(model, x, y).mean(axis=0)


def train(factory: Any, config: training.TrainingConfig) -> None:
    dataset = data.load("digits")
    assert_type(dataset, data.Dataset)
    assert_type(dataset.n_classes, int)
    membership = data.random_halves(8, len(dataset.y), seed=0)
    assert_type(training.train(factory, dataset, membership, config, range(8)), training.Ensemble)


def bound(x: np.ndarray, y: np.ndarray) -> None:
    assert_type(privacy.gaussian_tradeoff(0.1, mu=1.0), FloatArray)
    assert_type(privacy.mip_tradeoff(0.1, d=10, n=100, k=1), FloatArray)
    kernel = nngp.fully_connected(2, "relu", w_std=1.0, b_std=0.1)
    found = lood.leave_one_out(kernel(x), y, noise=0.1)
    assert_type(found, lood.LeaveOneOut)
    assert_type(found.kl, FloatArray)


def cite() -> None:
    assert_type(exhibits.catalogue(), pd.DataFrame)
    assert_type(exhibits.bibtex("iha-tab-2"), str)
    assert_type(exhibits.load("iha-tab-2"), tuple[pd.DataFrame, dict[str, Any]] | None)
    judged = published.verdict(0.6, 0.01, 9, 0.61, margin=0.01)
    assert_type(judged, published.Verdict)
    assert_type(evidence.load("some.evidence"), xr.Dataset)
