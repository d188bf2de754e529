"""What estimated moments do: rank and eigenvalues, p-values, and the gap on real gradients."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy.linalg import solve_triangular

from membership import metrics, plots, privacy
from membership.arrays import FloatArray
from membership.attacks.glir import glir, glir_whitened
from membership.book import published
from membership.book.exhibits.rows import of_each
from membership.book.exhibits.tidy import tidy
from membership.book.studies.gmip.audit import (
    QUERIES,
    SIZES,
    Audits,
    area_row,
    areas,
    glir_scores,
    members,
    normal,
    one_round,
    ranks,
    released_scores,
)
from membership.book.studies.gmip.law_of_k import k_over_rank
from membership.book.studies.gmip.settings import Settings
from membership.book.studies.gmip.setups import SIMULATED, computed, observed, recipe_of, repeats
from membership.curvature import gradient_moments, whitening

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MORE_STEPS = "AUC of GLiR, all steps less one, by model (points)"
STORED = "AUC of five steps in the authors' notebook, its picture read off to about 2 points (%)"
RIGHT_INVERSE = "AUC of GLiR less that of the released code, one step, by model (points)"
PREDICTED, FOUND = "predicted at K = d, d parameters", "found, GLiR"
RANK, SPREAD = "rank in the place of d", "each record's K in the place of its mean"
DEPENDENCE, BACKGROUND = "steps that are not independent", "moments estimated, if normal"
REST = "the rest"
"""The parts of `decomposition`, from the predicted AUC to that which is found."""
PARTS = {
    PREDICTED: "predicted at K = d",
    RANK: "rank, not d",
    SPREAD: "spread of K",
    BACKGROUND: "estimated moments",
}
"""Shorter words of some."""
NOMINAL = (0.05, 0.01, 0.001)
BACKGROUNDS = (250, 400, 800, 1600, 4000, 16_000)
_STREAM = 16


def control_2(audits: Audits) -> pd.DataFrame:
    """The rank and the eigenvalues of the gradients' covariance, and the levels that follow.

    How far the largest eigenvalue lies from the bound C^2 that the paper puts on it: C is taken as
    the largest norm of a gradient. The last quantity is the level of one step with the noise that
    makes it 0.1-GDP, by the eigenvalues measured.
    """
    printed = published.table("gmip_text").set_index("quantity")["value"]
    rows = [
        {"dataset": audit.attrs["set"], **row}
        for audit in audits
        for row in _of_the_rank(audit, printed.get(f"AUC {audit.attrs['set']}"))
    ]
    for audit in audits:
        rows += of_each({"dataset": audit.attrs["set"]}, "quantity", _of_the_spectrum(audit))
    return tidy(rows, observed(audits, note="Noise for 0.1-GDP in one step; C the largest norm."))


def _of_the_rank(audit: xr.Dataset, stored: str | None) -> Iterator[dict[str, Any]]:
    """The rank, and the level that follows; what was stored is the authors' own AUC."""
    n, d, member = audit.attrs["batch_size"], recipe_of(audit).dimension, members(audit)
    filled, scores = ranks(audit)[:, 0], glir_scores(audit)
    r = int(filled.min())
    by_d, by_rank = privacy.mip_mu_step(d, n, d), privacy.mip_mu_step(r, n, r)
    exact = {
        "parameters d": d,
        "batch size n": n,
        "rank, least of all models": r,
        "rank, greatest of all models": int(filled.max()),
        "mu with d": by_d,
        "mu with the rank": by_rank,
        "AUC expected with d (%)": 100 * privacy.gaussian_auc(by_d),
        "AUC expected with the rank (%)": 100 * privacy.gaussian_auc(by_rank),
    }
    for quantity, value in exact.items():
        yield {"quantity": quantity, **metrics.exactly(value)}
    first, whole, released = (
        100 * areas(of_models, member)
        for of_models in (scores[:, 0], scores.sum(axis=1), released_scores(audit))
    )
    found = {
        "AUC of GLiR, one step (%)": first,
        "AUC of GLiR, all steps (%)": whole,
        "AUC of the released code, one step (%)": released,
        MORE_STEPS: whole - first,
        RIGHT_INVERSE: first - released,
    }
    yield from of_each({}, "quantity", found)
    if stored is not None:
        yield {"quantity": STORED, **metrics.exactly(100 * float(stored))}


def _of_the_spectrum(audit: xr.Dataset) -> dict[str, list[float]]:
    """Each quantity of every model."""
    n, largest = audit.attrs["batch_size"], audit["largest_norm"].values
    eigenvalues = [of_model[of_model > 0] for of_model in audit["eigenvalue"].values[:, 0]]
    models = [
        (positive, len(positive), _gdp_noise(n, norm), norm)
        for positive, norm in zip(eigenvalues, largest, strict=True)
    ]
    return {
        "largest eigenvalue / C^2": [positive.max() / c**2 for positive, _, _, c in models],
        "median eigenvalue / C^2": [np.median(positive) / c**2 for positive, _, _, c in models],
        "mu by the paper's bound": [
            privacy.mip_mu_step(r, n, r, tau, c) for _, r, tau, c in models
        ],
        "mu by the eigenvalues": [
            privacy.mip_mu_spectrum(positive, n, tau) for positive, _, tau, _ in models
        ],
    }


def _gdp_noise(n: int, clip: float) -> float:
    """The noise that makes one step 0.1-GDP: 2 C / (0.1 n)."""
    return 20 * clip / n


def control_3(audits: Audits, settings: Settings) -> pd.DataFrame:
    """Whether p-values are p-values, with known and with estimated moments."""
    rows = [{"data": SIMULATED, **row} for row in calibration(settings)]
    rows += real_calibration(audits)
    note = "d = 650, n = 500, covariance I, which both invert rightly."
    return tidy(rows, observed(audits, sizes=repeats(settings), note=note))


def real_calibration(audits: Audits) -> list[dict[str, Any]]:
    """FPR at nominal rates with moments estimated on real gradients."""
    rows = []
    for audit in audits:
        for convention, scores in (
            ("paper", glir_scores(audit)[:, 0]),
            ("authors", released_scores(audit)),
        ):
            key = {"data": audit.attrs["set"], "convention": convention}
            rows += _below_nominal(key, scores[:, ~members(audit)])
    return rows


def _below_nominal(key: dict[str, Any], scores: FloatArray) -> list[dict[str, Any]]:
    """The shares of p-values of non-members, (models, records), below nominal rates."""
    rates = {
        (round(100 * nominal, 6), "FPR(%)"): 100 * (np.exp(-scores) < nominal).mean(axis=1)
        for nominal in NOMINAL
    }
    return of_each(key, ("nominal", "metric"), rates)


def calibration(settings: Settings) -> list[dict[str, Any]]:
    """Whether p-values are p-values: with n D^2, and with the released code's (n - 1) D^2."""
    d, n = SIZES["CIFAR-10"]
    rng = np.random.default_rng([settings.seed, 5])
    scores_by: dict[str, list[FloatArray]] = {"paper": [], "authors": []}
    member = np.tile(np.arange(2 * n) < n, QUERIES // n + 1)
    for _ in range(settings.simulated_repeats):
        rounds = [one_round(rng, d, n, normal) for _ in range(QUERIES // n + 1)]
        for convention, scores in scores_by.items():
            scores.append(
                np.concatenate(
                    [glir(m, x, np.zeros(d), np.eye(d), n, convention) for m, x in rounds]
                )
            )
    rows = []
    for convention, scores in scores_by.items():
        rows += _below_nominal({"convention": convention}, np.array(scores)[:, ~member])
        rows.append(area_row({"convention": convention, "nominal": 0.0}, scores, member))
    return rows


def background(settings: Settings) -> pd.DataFrame:
    """GLiR with an estimated covariance, by background size and estimator (Control 5)."""
    d, n = 200, 154
    scale = np.sqrt(1 / np.arange(1, d + 1))
    member = np.tile(np.arange(2 * n) < n, QUERIES // n + 1)
    scores: dict[tuple[int, str], list[FloatArray]] = {}
    for repeat in range(settings.simulated_repeats):
        rng = np.random.default_rng([settings.seed, 7, repeat])
        rounds = [one_round(rng, d, n, normal) for _ in range(QUERIES // n + 1)]
        everything = rng.standard_normal((max(BACKGROUNDS), d)) * scale
        truth = np.concatenate([glir_whitened(m, x, n) for m, x in rounds])
        scores.setdefault((0, "known"), []).append(truth)
        for size in BACKGROUNDS:
            for estimator, shrinkage in (("sample", "none"), ("Ledoit-Wolf", "ledoit-wolf")):
                moments = gradient_moments(everything[:size], shrinkage)
                root = whitening(moments.covariance)
                of_rounds = [
                    glir_whitened(
                        (m * scale - moments.mean) @ root, (x * scale - moments.mean) @ root, n
                    )
                    for m, x in rounds
                ]
                scores.setdefault((size, estimator), []).append(np.concatenate(of_rounds))
    rows = []
    for (size, estimator), of_repeats in scores.items():
        key = {"n_background": size, "estimator": estimator}
        rows.append(area_row(key, of_repeats, member))
        rates = [100 * (np.exp(-score[~member]) < 0.05).mean() for score in of_repeats]
        rows.append({**key, "metric": "FPR at 5%(%)", **metrics.summary(rates)})
    return tidy(rows, computed(sizes=repeats(settings)))


def decomposition(audits: Sequence[xr.Dataset], settings: Settings) -> pd.DataFrame:
    """From the paper's predicted AUC to GLiR's, part by part, after one step and after all.

    The first parts are formulas. What a background of this size costs is simulated, with normal
    gradients of this rank; what is left is the rest. The parts add up.
    """
    rows = []
    for stream, audit in enumerate(audits):
        cost = _cost(audit, settings, stream)
        for steps in (1, audit.sizes["step"]):
            text = "one step" if steps == 1 else f"{steps} steps"
            key = {"data": audit.attrs["set"], "steps": text}
            parts = {part: 100 * values for part, values in _parts(audit, cost, steps)}
            rows += of_each(key, "part", parts)
    return tidy(rows, observed(audits))


def decomposition_drawn(table: pd.DataFrame) -> "Figure":
    """Control 13, one step: from the predicted AUC down to that found, a bar a reason."""
    shown = table[table["steps"] == "one step"].copy()
    is_end = shown["part"].isin([PREDICTED, FOUND])
    shown["kind"] = is_end.map({True: "AUC", False: "what takes it away"})
    shown["told"] = shown["value"]
    shown["row"] = shown["part"].map(lambda part: PARTS.get(part, part))
    for _, part in shown.groupby("data"):
        above = part["value"].cumsum()
        # A reason's bar begins where the one above it ends; a level's begins at a coin's.
        start = above.shift(fill_value=50.0).where(~is_end[part.index], 50.0)
        moved = start.where(~is_end[part.index], 0.0)
        shown.loc[part.index, "start"] = start
        shown.loc[part.index, ["value", "low", "high"]] = part[["value", "low", "high"]].add(
            moved, axis=0
        )
    return plots.dots_by_row(
        shown, "row", by="kind", panel="data", label="AUC (%)", stems=True, told="z.1f"
    )


def _parts(audit: xr.Dataset, cost: FloatArray, steps: int) -> Iterator[tuple[str, FloatArray]]:
    """Each part's number for every model."""
    n, d = audit.attrs["batch_size"], recipe_of(audit).dimension
    rank = int(ranks(audit)[0, 0])
    member, scores = members(audit), glir_scores(audit)

    def level(dimension: int) -> float:
        mu = privacy.composed_mu(privacy.mip_mu_step(dimension, n, dimension), steps)
        return privacy.gaussian_auc(mu)

    expected, single = _expected(audit, n, rank, steps), _expected(audit, n, rank, 1)
    first_step = areas(scores[:, 0], member)
    measured = areas(scores[:, :steps].sum(axis=1), member)
    yield PREDICTED, np.full(len(scores), level(d))
    yield RANK, np.full(len(scores), level(rank) - level(d))
    yield SPREAD, expected - level(rank)
    if steps > 1:
        yield DEPENDENCE, measured - first_step - (expected - single)
    yield BACKGROUND, cost
    yield REST, first_step - single - cost
    yield FOUND, measured


def _expected(audit: xr.Dataset, n: int, rank: int, steps: int) -> FloatArray:
    """The AUC that the theorem gives over each model's records, of independent steps."""
    return np.array(
        [np.mean([_area(rank, n, k, steps) for k in shares]) for shares in k_over_rank(audit)]
    )


def _area(rank: int, n: int, share: float, steps: int) -> float:
    mu = privacy.mip_mu_step(rank, n, share * rank)
    return privacy.gaussian_auc(privacy.composed_mu(mu, steps))


def _cost(audit: xr.Dataset, settings: Settings, stream: int) -> FloatArray:
    """What estimating the moments on as many normal records changes in the AUC, once a model."""
    n, rank = audit.attrs["batch_size"], int(ranks(audit)[0, 0])
    # Evidence from before this was noted is of as many as the settings say.
    size = audit.attrs.get("n_background", settings.n_background)
    member = np.arange(2 * n) < n
    changes = []
    for model in range(audit.sizes["model"]):
        rng = np.random.default_rng([settings.seed, _STREAM, stream, model])
        x = rng.standard_normal((2 * n, rank))
        centre = rng.standard_normal(rank) / np.sqrt(size)
        root = _sample_root(rng, rank, size)
        rotated = solve_triangular(root, (x - centre).T, lower=True).T
        areas = [
            metrics.auc(glir_whitened(records[:n].mean(axis=0), records, n), member)
            for records in (x, rotated)
        ]
        changes.append(areas[1] - areas[0])
    return np.array(changes)


def _sample_root(rng: np.random.Generator, rank: int, size: int) -> FloatArray:
    """A triangular root of the covariance of normal records, by Bartlett's decomposition."""
    root = np.tril(rng.standard_normal((rank, rank)), -1)
    np.fill_diagonal(root, np.sqrt(rng.chisquare(size - 1 - np.arange(rank))))
    return root / np.sqrt(size - 1)
