"""What single steps on real gradients say: Figures 2b and 2c, and what the gradients are like."""

import functools
from collections.abc import Sequence

import numpy as np
import pandas as pd
import xarray as xr

from membership import metrics, privacy, published
from membership.arrays import BoolArray, FloatArray
from membership.attacks.glir import glir_from_distance, released_score
from membership.exhibits.tidy import tidy
from membership.studies.gmip import curves
from membership.studies.gmip.origin import observed, recipe_of
from membership.studies.gmip.panels import figure_2a

NOMINAL = (0.05, 0.01, 0.001)
MORE_STEPS = "AUC of GLiR, all steps less one, by model (points)"
STORED = "AUC of five steps in the authors' notebook, its picture read off to about 2 points (%)"
RIGHT_INVERSE = "AUC of GLiR less that of the released code, one step, by model (points)"

Audits = Sequence[xr.Dataset]
"""Evidence of the kind "steps", one a data set."""


def scores(audit: xr.Dataset) -> FloatArray:
    """GLiR's -log p of every model at every step, (models, steps, records); members first."""
    n = audit.attrs["batch_size"]
    return np.array(
        [
            [glir_from_distance(*step, n, rank) for *step, rank in zip(*model, strict=True)]
            for model in zip(
                audit["distance"].values, audit["susceptibility"].values, ranks(audit), strict=True
            )
        ]
    )


def released(audit: xr.Dataset) -> FloatArray:
    """The same at the first step as the released code computes it, (models, records)."""
    pair = (audit["released_distance"], audit["released_susceptibility"])
    n, d = audit.attrs["batch_size"], recipe_of(audit).dimension
    return _released(
        *(part.values.astype(np.float64).tobytes() for part in pair), len(pair[0]), n, d
    )


# Two controls read it, and SciPy takes a millisecond a record.
@functools.lru_cache(maxsize=8)
def _released(distance: bytes, susceptibility: bytes, models: int, n: int, d: int) -> FloatArray:
    pairs = (np.frombuffer(part).reshape(models, -1) for part in (distance, susceptibility))
    return np.array([released_score(*pair, n, d) for pair in zip(*pairs, strict=True)])


def ranks(audit: xr.Dataset) -> np.ndarray:
    """Of the gradients' covariance, (models, steps)."""
    return (audit["eigenvalue"].values > 0).sum(axis=2)


def members(audit: xr.Dataset) -> BoolArray:
    """Which records are members: in every model the first n."""
    return audit["member"].values[0]


def figure_2(audits: Audits, played: xr.Dataset) -> pd.DataFrame:
    """Figures 2a, 2b and 2c: GLiR on simulated gradients, then on real ones."""
    simulated = figure_2a(played)
    table = pd.concat([simulated, *map(_roc, audits)], ignore_index=True)
    table.attrs = observed(audits, note=simulated.attrs["note"])
    table.attrs["sizes"] = simulated.attrs["sizes"] | table.attrs["sizes"]
    return table


def _roc(audit: xr.Dataset) -> pd.DataFrame:
    name, n, each = audit.attrs["set"], audit.attrs["batch_size"], scores(audit)
    many = each.shape[1]
    parts = []
    for steps, text in ((1, "one step"), (many, f"{many} steps, sum of log p")):
        key = {"panel": f"{name}: {text}", "dataset": name}
        summed = list(each[:, :steps].sum(axis=1))
        parts.append(curves.measured({**key, "series": "GLiR"}, summed, members(audit)))
        for d, series in (
            (recipe_of(audit).dimension, "level at K = d"),
            (int(ranks(audit)[0, 0]), "level at K = rank"),
        ):
            mu = privacy.composed_mu(privacy.mip_mu_step(d, n, d), steps)
            parts.append(curves.gaussian({**key, "series": series}, mu))
    return pd.concat(parts, ignore_index=True)


def rank_table(audits: Audits) -> pd.DataFrame:
    """The rank of the gradients' covariance, and the level that follows (Control 2)."""
    printed = published.table("gmip_text").set_index("quantity")["value"]
    rows = []
    for audit in audits:
        n, d, member = audit.attrs["batch_size"], recipe_of(audit).dimension, members(audit)
        first, each = ranks(audit)[:, 0], scores(audit)
        r = int(first.min())
        by_d, by_rank = privacy.mip_mu_step(d, n, d), privacy.mip_mu_step(r, n, r)
        exact = {
            "parameters d": d,
            "batch size n": n,
            "rank, least of all models": r,
            "rank, greatest of all models": int(first.max()),
            "mu with d": by_d,
            "mu with the rank": by_rank,
            "AUC expected with d (%)": 100 * privacy.gaussian_auc(by_d),
            "AUC expected with the rank (%)": 100 * privacy.gaussian_auc(by_rank),
        }
        whole, theirs = each.sum(axis=1), released(audit)
        key = {"dataset": audit.attrs["set"]}
        rows += [{**key, "metric": m, **metrics.exactly(v)} for m, v in exact.items()]
        for name, found in (
            ("AUC of GLiR, one step (%)", each[:, 0]),
            ("AUC of GLiR, all steps (%)", whole),
            ("AUC of the released code, one step (%)", theirs),
        ):
            rows.append({**curves.area(key, list(found), member), "metric": name})
        for name, first, second in (
            (MORE_STEPS, whole, each[:, 0]),
            (RIGHT_INVERSE, each[:, 0], theirs),
        ):
            less = 100 * (_areas(first, member) - _areas(second, member))
            rows.append({**key, "metric": name, **metrics.summary(less)})
        stored = printed.get(f"AUC {audit.attrs['set']}")
        if stored is not None:
            row = {"metric": STORED, **metrics.exactly(100 * float(stored))}
            rows.append({**key, **row})
    return tidy(rows, observed(audits))


def _areas(scores: FloatArray, member: BoolArray) -> FloatArray:
    return np.array([metrics.auc(score, member) for score in scores])


def real_calibration(audits: Audits) -> pd.DataFrame:
    """FPR at nominal rates with moments estimated on real gradients (part of Control 3)."""
    rows = []
    for audit in audits:
        others = ~members(audit)
        for convention, found in (("paper", scores(audit)[:, 0]), ("authors", released(audit))):
            for nominal in NOMINAL:
                rates = 100 * (np.exp(-found[:, others]) < nominal).mean(axis=1)
                key = {"dataset": audit.attrs["set"], "convention": convention}
                key["nominal"] = round(100 * nominal, 6)
                rows.append({**key, "metric": "FPR(%)", **metrics.summary(rates)})
    return tidy(rows, observed(audits))


def spectrum(audits: Audits) -> pd.DataFrame:
    """How far the largest eigenvalue lies from the bound C^2 that the paper puts on it.

    Returns
    -------
    DataFrame
        Columns dataset, metric, then those of `metrics.summary` (part of Control 8). C is taken as
        the largest norm of a gradient. The last metric is the level of one step with the noise
        that makes it 0.1-GDP, by the eigenvalues measured.
    """
    rows = []
    for audit in audits:
        n, largest = audit.attrs["batch_size"], audit["largest_norm"].values
        eigenvalues = [one[one > 0] for one in audit["eigenvalue"].values[:, 0]]
        models = [
            (each, len(each), _gdp_noise(n, norm), norm)
            for each, norm in zip(eigenvalues, largest, strict=True)
        ]
        values = {
            "largest eigenvalue / C^2": [each.max() / c**2 for each, _, _, c in models],
            "median eigenvalue / C^2": [np.median(each) / c**2 for each, _, _, c in models],
            "mu by the paper's bound": [
                privacy.mip_mu_step(r, n, r, tau, c) for _, r, tau, c in models
            ],
            "mu by the eigenvalues": [
                privacy.mip_mu_spectrum(each, n, tau) for each, _, tau, _ in models
            ],
        }
        key = {"dataset": audit.attrs["set"]}
        rows += [{**key, "metric": m, **metrics.summary(each)} for m, each in values.items()]
    return tidy(rows, observed(audits, note="Noise for 0.1-GDP in one step; C the largest norm."))


def _gdp_noise(n: int, clip: float) -> float:
    """The noise that makes one step 0.1-GDP: 2 C / (0.1 n)."""
    return 20 * clip / n
