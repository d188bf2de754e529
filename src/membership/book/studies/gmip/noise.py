"""What the noise of a level of either notion does to the best attack on one step (Control 18)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy.optimize import brentq

from membership import evidence, metrics, privacy
from membership.arrays import FloatArray
from membership.book import published
from membership.book.exhibits.rows import of_each
from membership.book.exhibits.tidy import tidy
from membership.book.studies.gmip import experiment
from membership.book.studies.gmip.audit import SIZES
from membership.book.studies.gmip.experiment import Task, audited, origin, task_of
from membership.book.studies.gmip.settings import Settings
from membership.book.studies.gmip.setups import SIMULATED, computed, observed
from membership.book.studies.gmip.theory import RATES
from membership.curvature import gradient_moments, whitening

WITHOUT, WITH, LOST = "AUC without noise (%)", "AUC with it (%)", "AUC lost (points)"
EXCESS = "greatest TPR less GDP's curve at ten rates (points)"
HALVED = "noise that halves Equation 9's level"
GDP_LEVELS = (0.4, 1.0, 3.0)
CLIPPED = ((650, 500, 0.5), (2, 20, 0.1))
"""d, n and the quantile of the norm that C is, of clipped simulated gradients."""
_DRAWS, _STREAM = 20, 18


def clipped(x: FloatArray, clip: float) -> FloatArray:
    norm = np.linalg.norm(x, axis=1, keepdims=True)
    return x * np.minimum(1, clip / np.maximum(norm, np.finfo(float).tiny))


def turned(law: FloatArray, *parts: FloatArray) -> tuple[FloatArray, list[FloatArray]]:
    """Variances along the eigenvectors of the law's covariance, and gradients in them, mean 0.

    Orthonormal directions: noise that is the same in all stays so.
    """
    moments = gradient_moments(law)
    root = whitening(moments.covariance)
    variance = 1 / np.square(root).sum(axis=0)
    return variance, [(part - moments.mean) @ root * np.sqrt(variance) for part in parts]


def halving_noise(d: int, n: int, clip: float) -> float:
    """tau at which Equation 9's level of one step at K = d is half of that without noise."""
    half = privacy.mip_mu_step(d, n, d) / 2
    most = 10 * clip / np.sqrt(n)
    return float(brentq(lambda tau: privacy.mip_mu_step(d, n, d, tau, clip) - half, 0, most))


def log_ratio(mean: FloatArray, x: FloatArray, variance: FloatArray, n: int, tau: float) -> Any:
    """The log-likelihood ratio of each record x, up to a constant, where means are normal.

    In coordinates where gradients have mean 0 and uncorrelated entries of these variances.
    """
    out, inside = variance / n + tau**2, variance * (n - 1) / n**2 + tau**2
    certain = np.sum(np.square(mean) / out)
    return (certain - np.square(mean - x / n) @ (1 / inside)) / 2


def areas(task: Task, settings: Settings, model: int, clip: float, tau: float) -> list[float]:
    """The attack's AUC in percent after one step on real gradients, without noise and with."""
    s = experiment.split(task, settings, model)
    weight = experiment.trajectory(task, s.members, 1, settings.seed + model)[0]
    back, queries = (
        clipped(experiment.gradients(task, weight, rows), clip)
        for rows in (s.background, s.queries)
    )
    variance, (x,) = turned(back, queries)
    n, rng = len(s.members), np.random.default_rng([settings.seed, _STREAM, model])
    member, mean = np.arange(len(x)) < n, x[:n].mean(axis=0)
    bare = metrics.auc(log_ratio(mean, x, variance, n, 0.0), member)
    noisy = [
        metrics.auc(log_ratio(mean + tau * drawn, x, variance, n, tau), member)
        for drawn in rng.standard_normal((_DRAWS, len(variance)))
    ]
    return [100 * bare, 100 * float(np.mean(noisy))]


def noised(name: str, settings: Settings) -> xr.Dataset:
    """Evidence: the AUC of the best attack without noise and with that of half the level."""
    task = task_of(name, settings)
    clip = float(published.table("gmip_table3")["C"].iloc[0])  # the same in all of its audits
    tau = halving_noise(task.dimension, task.batch, clip)
    models = range(settings.audit_models)
    of_models = [areas(task, settings, model, clip, tau) for model in models]
    return evidence.dataset(
        "measured",
        {"auc": (("model", "noise"), np.array(of_models))},
        **origin(task, settings, steps=1),
        tau=tau,
        clip=clip,
        sizes=audited(settings),
    )


def under_noise(measured: Sequence[xr.Dataset], settings: Settings) -> pd.DataFrame:
    """The best attack under the noise that halves Equation 9's level, and under that of GDP."""
    rows = _simulated_halving(settings)
    for audit in measured:
        key = {"data": audit.attrs["set"], "case": HALVED}
        rows += [{**key, "quantity": "tau", **metrics.exactly(audit.attrs["tau"])}]
        rows += _lost(key, audit["auc"].values)
    for d, n, share in CLIPPED:
        rows += _under_gdp(settings, d, n, share)
    attrs = observed(measured) if measured else computed()
    attrs["sizes"] = attrs.get("sizes", {}) | {
        "Simulated repeats": str(settings.simulated_repeats),
        "Simulated non-members a repeat": f"{settings.simulated_records:,}",
    }
    return tidy(rows, attrs)


def under_noise_said(table: pd.DataFrame) -> str:
    """What the noise of half the level costs the attack, and how near it comes to GDP's curve."""
    lost = table[table["quantity"] == LOST]
    costs = "; ".join(f"{row.value:.1f} ({row.data})" for row in lost.itertuples())
    excess = table[table["quantity"] == EXCESS]["value"]
    most = excess.max()
    side = (
        "stays below the promised curve by at least" if most < 0 else "exceeds the curve by up to"
    )
    return (
        f"Noise that halves the level of Equation 9 costs the attack points of AUC: {costs}. Under "
        f"noise for differential privacy its TPR on simulated gradients {side} {abs(most):.2f} "
        "points."
    )


def _lost(key: dict[str, str], pairs: FloatArray) -> list[dict[str, Any]]:
    without, noisy = pairs.T
    return of_each(key, "quantity", {WITHOUT: without, WITH: noisy, LOST: without - noisy})


def _simulated_halving(settings: Settings) -> list[dict[str, Any]]:
    """Normal gradients with covariance I, so that the largest eigenvalue is C^2 = 1."""
    d, n = SIZES["CIFAR-10"]
    tau = halving_noise(d, n, 1.0)
    key = {"data": f"{SIMULATED}, d = {d}, n = {n}", "case": HALVED}
    pairs = []
    for repeat in range(settings.simulated_repeats):
        rng = np.random.default_rng([settings.seed, _STREAM, 0, repeat])
        played = _played(rng, d, n, np.inf, (0.0, tau), np.ones(d), settings)
        pairs.append([100 * metrics.auc(*game) for game in played])
    return [{**key, "quantity": "tau", **metrics.exactly(tau)}, *_lost(key, np.array(pairs))]


def _under_gdp(settings: Settings, d: int, n: int, share: float) -> list[dict[str, Any]]:
    """Of clipped gradients, the largest excess over each GDP curve, repeat by repeat."""
    rng = np.random.default_rng([settings.seed, _STREAM, 1, d])
    drawn = rng.standard_normal((max(2000, 10**6 // d), d))
    clip = float(np.quantile(np.linalg.norm(drawn, axis=1), share))
    variance = np.full(d, np.square(clipped(drawn, clip)).mean())
    taus = tuple(2 * clip / (n * mu) for mu in GDP_LEVELS)
    excess = []
    for repeat in range(settings.simulated_repeats):
        rng = np.random.default_rng([settings.seed, _STREAM, 2, d, repeat])
        played = _played(rng, d, n, clip, taus, variance, settings)
        excess.append(
            [
                max(
                    metrics.tpr_at_fpr(*game, rate) - float(privacy.gaussian_tpr(rate, mu))
                    for rate in RATES
                )
                for mu, game in zip(GDP_LEVELS, played, strict=True)
            ]
        )
    name = f"{SIMULATED}, d = {d}, n = {n}, {100 * (1 - share):g}% of gradients clipped"
    return [
        {"data": name, "case": f"noise for {mu:g}-GDP", "quantity": EXCESS}
        | metrics.summary(100 * of_repeats)
        for mu, of_repeats in zip(GDP_LEVELS, np.array(excess).T, strict=True)
    ]


def _played(
    rng: np.random.Generator,
    d: int,
    n: int,
    clip: float,
    taus: tuple[float, ...],
    variance: FloatArray,
    settings: Settings,
) -> list[tuple[FloatArray, FloatArray]]:
    """Scores and truth of one repeat's rounds, by noise: the gradients are the same."""
    rounds = -(-settings.simulated_records // n)
    member = np.tile(np.arange(2 * n) < n, rounds)
    scores: list[list[FloatArray]] = [[] for _ in taus]
    for _ in range(rounds):
        x = clipped(rng.standard_normal((2 * n, d)), clip)
        mean, noise = x[:n].mean(axis=0), rng.standard_normal(d)
        for part, tau in zip(scores, taus, strict=True):
            part.append(log_ratio(mean + tau * noise, x, variance, n, tau))
    return [(np.concatenate(parts), member) for parts in scores]
