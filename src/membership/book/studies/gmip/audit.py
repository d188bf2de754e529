"""GLiR beside the curves that it should meet: Figure 2 and, with other laws and sizes, Figure 4.

GLiR does not change when all gradients are multiplied by one invertible matrix, so gradients with
covariance I stand for any other where the covariance is known.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy import stats

from membership import evidence, metrics, privacy
from membership.arrays import BoolArray, FloatArray
from membership.attacks.glir import glir_from_distance, released_score
from membership.book.exhibits.numbers import number
from membership.book.exhibits.sentences import span
from membership.book.exhibits.tidy import tidy
from membership.book.studies.gmip.settings import Settings
from membership.book.studies.gmip.setups import FEW, KNOWN, ONE, computed, observed, recipe_of

GRID = np.unique(np.r_[np.logspace(-3, 0, 31), np.linspace(0.02, 1, 50)])
SUMMARY_RATES = (0.001, 0.01, 0.1)
SIZES = {"CIFAR-10": (650, 500), "Purchase": (2580, 1970), "Adult": (1026, 790)}
QUANTILES_OF_K = 100
"""They stand for the law of K."""
QUERIES = 2000
"""Records that each control on simulated gradients asks, at least."""
Draw = Callable[[np.random.Generator, tuple[int, ...]], FloatArray]
Audits = Sequence[xr.Dataset]
"""Evidence of the kind "steps", one a data set."""


def measured_curve(
    key: dict[str, Any], scores: list[FloatArray], member: FloatArray
) -> pd.DataFrame:
    """The mean ROC curve of repeats with Student's 95% intervals, at the rates of `GRID`."""
    band = metrics.roc_band(((score, member) for score in scores), GRID)
    return pd.DataFrame({**key, **band})


def analytic_curve(key: dict[str, Any], tpr: FloatArray) -> pd.DataFrame:
    """A curve known exactly at the rates of `GRID`; columns as `measured_curve`."""
    exact = {"tpr": tpr, "low": tpr, "high": tpr, "standard_error": 0.0, "n_repeats": 0}
    return pd.DataFrame({**key, "fpr": GRID, **exact})


def gaussian_curve(key: dict[str, Any], mu: float) -> pd.DataFrame:
    """The ROC curve of level mu; columns as `measured_curve`."""
    return analytic_curve(key, privacy.gaussian_tpr(GRID, mu))


def area_row(key: dict[str, Any], scores: list[FloatArray], member: FloatArray) -> dict[str, Any]:
    """One row: the AUC in percent, mean and interval over the repeats."""
    values = [100 * metrics.auc(score, member) for score in scores]
    return {**key, "metric": "auc(%)", **metrics.summary(values)}


def normal(rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
    """Gradients of mean 0 and covariance I, as are those of the other three laws."""
    return rng.standard_normal(shape)


def _uniform(rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
    return rng.uniform(-np.sqrt(3), np.sqrt(3), shape)


def _exponential(rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
    return rng.exponential(size=shape) - 1


def _heavy(rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
    return rng.standard_t(5, shape) / np.sqrt(5 / 3)


SMALL_SIZES: dict[str, tuple[int, int, Draw]] = {
    "d = 5, n = 500": (5, 500, normal),
    "d = 10, n = 20": (10, 20, normal),
    "d = 20, n = 10": (20, 10, normal),
    "d = 10, n = 5": (10, 5, normal),
}
OTHER_LAWS: dict[str, tuple[int, int, Draw]] = {
    "uniform": (650, 500, _uniform),
    "exponential": (650, 500, _exponential),
    "Student's t, 5 d.f.": (650, 500, _heavy),
}
ABLATIONS = SMALL_SIZES | OTHER_LAWS


def _panels() -> Iterator[tuple[str, int, int, Draw, list[int]]]:
    """Name, d, n, law and random stream of every panel of both figures."""
    for stream, (name, (d, n)) in enumerate(SIZES.items()):
        yield f"{name}: d = {d}, n = {n}", d, n, normal, [3, stream]
    for stream, (name, (d, n, draw)) in enumerate(ABLATIONS.items()):
        yield name, d, n, draw, [4, stream]


def simulated_panels(settings: Settings) -> xr.Dataset:
    """GLiR's ROC curve in every repeat, and quantiles of K, by panel."""
    rates, k = [], []
    at = (np.arange(QUANTILES_OF_K) + 0.5) / QUANTILES_OF_K
    for _, d, n, draw, stream in _panels():
        rng = np.random.default_rng([settings.seed, *stream])
        repeats = (_played(rng, d, n, settings, draw) for _ in range(settings.panel_repeats))
        rates.append([metrics.tpr_on(score, member, GRID) for score, member in repeats])
        k.append(np.quantile(np.square(draw(rng, (20_000, d))).sum(axis=1), at))
    return evidence.dataset(
        "measured",
        {"tpr": (("panel", "repeat", "rate"), np.array(rates)), "k": (("panel", "quantile"), k)},
        {"panel": [name for name, *_ in _panels()]},
        set="simulated gradients",
        data={},
        recipe={name: [d, n] for name, d, n, *_ in _panels()},
        sizes={
            "Simulated repeats": str(settings.panel_repeats),
            "Simulated non-members a repeat": f"{settings.simulated_records:,}",
        },
        device="cpu",
        seed=settings.seed,
    )


def figure_2a(played: xr.Dataset) -> pd.DataFrame:
    """GLiR on simulated gradients with the analytic curve, at the paper's three (d, n)."""
    parts = []
    for name, (d, n) in SIZES.items():
        key = {"panel": f"{name}: d = {d}, n = {n}", "dataset": name, "steps": KNOWN}
        mu = privacy.mip_mu_step(d, n, d)
        parts += [
            _measured(key, played),
            gaussian_curve({**key, "series": "level at K = d"}, mu),
        ]
    level = (
        "mu = 1.14 in all three (the authors' notebook has (1026, 970), for which mu is 1.03, and "
        "2560 in the place of 2580)"
    )
    sizes = played.attrs["sizes"] | {"Simulated level": level}
    return tidy(parts, computed(sizes=sizes))


def figure_4(played: xr.Dataset) -> pd.DataFrame:
    """GLiR for small d, small n and gradients that are not normal (Figure 4)."""
    parts = []
    for name, (d, n, _) in ABLATIONS.items():
        k = played["k"].sel(panel=name).values
        drawn = np.mean([privacy.mip_tpr(GRID, d, n, value) for value in k], axis=0)
        parts += [
            _measured({"panel": name}, played),
            analytic_curve(
                {"panel": name, "series": "Theorem 5.1, K = d"},
                privacy.mip_tpr(GRID, d, n, d),
            ),
            analytic_curve({"panel": name, "series": "Theorem 5.1, K as drawn"}, drawn),
        ]
    note = "The settings are chosen here."
    return tidy(parts, computed(sizes=played.attrs["sizes"], note=note))


def figure_4_said(table: pd.DataFrame) -> str:
    """In how many panels the theorem is within the band of all rates, and by how much it is not."""
    outside, panels = {}, table.groupby("panel", sort=False)
    for name, part in panels:
        curves = part[part["fpr"] < 1].pivot(index="fpr", columns="series", values="tpr")
        glir = part[(part["series"] == "GLiR") & (part["fpr"] < 1)]
        gap = (curves["GLiR"] - curves["Theorem 5.1, K as drawn"]).abs().to_numpy()
        at_once = stats.t.ppf(1 - 0.025 / len(glir), glir["n_repeats"] - 1)
        if (gap > at_once * glir["standard_error"].to_numpy()).any():
            outside[name] = 100 * gap.max()
    text = (
        "Theorem 5.1 at each record's own K lies within GLiR's 95% band for all rates at once in "
        f"{len(panels) - len(outside)} of {len(panels)} panels"
    )
    if outside:
        most = [f"{number(gap)} points ({name})" for name, gap in outside.items()]
        text += f"; elsewhere they differ by at most {', '.join(most)}"
    return text + "."


def _measured(key: dict[str, Any], played: xr.Dataset) -> pd.DataFrame:
    tpr = played["tpr"].sel(panel=key["panel"]).values
    return pd.DataFrame({**key, "series": "GLiR", **metrics.curve_band(tpr, GRID)})


def one_round(
    rng: np.random.Generator, d: int, n: int, draw: Draw
) -> tuple[FloatArray, FloatArray]:
    """One published mean, and n members followed by n others."""
    x = draw(rng, (2 * n, d))
    return x[:n].mean(axis=0), x


def _played(
    rng: np.random.Generator, d: int, n: int, settings: Settings, draw: Draw
) -> tuple[FloatArray, FloatArray]:
    """Scores and truth of one repeat."""
    rounds = -(-settings.simulated_records // n)
    draws = (one_round(rng, d, n, draw) for _ in range(rounds))
    parts = [(np.square(x - m).sum(axis=1), np.square(x).sum(axis=1)) for m, x in draws]
    distance, susceptibility = (np.concatenate(part) for part in zip(*parts, strict=True))
    member = np.tile(np.arange(2 * n) < n, rounds)
    return glir_from_distance(distance, susceptibility, n, d), member


def glir_scores(audit: xr.Dataset) -> FloatArray:
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


def released_scores(audit: xr.Dataset) -> FloatArray:
    """The same at the first step as the released code computes it, (models, records)."""
    distance, susceptibility = (
        audit[name].values.astype(np.float64)
        for name in ("released_distance", "released_susceptibility")
    )
    return released_score(
        distance, susceptibility, audit.attrs["batch_size"], recipe_of(audit).dimension
    )


def ranks(audit: xr.Dataset) -> np.ndarray:
    """Of the gradients' covariance, (models, steps)."""
    return (audit["eigenvalue"].values > 0).sum(axis=2)


def members(audit: xr.Dataset) -> BoolArray:
    """Which records are members: in every model the first n."""
    return audit["member"].values[0]


def figure_2(audits: Audits, played: xr.Dataset) -> pd.DataFrame:
    """Figures 2a, 2b and 2c: GLiR on simulated gradients, then on real ones."""
    simulated = figure_2a(played)
    real = by_condition(pd.concat(list(map(_roc, audits))))
    by_set = simulated.sort_values("dataset", kind="stable")
    table = pd.concat([by_set, real], ignore_index=True)
    table.attrs = observed(audits)
    table.attrs["sizes"] = simulated.attrs["sizes"] | table.attrs["sizes"]
    return table


def by_condition(table: pd.DataFrame) -> pd.DataFrame:
    """Its rows by steps, in which data sets follow each other: as drawn, a row is a condition."""
    order = {steps: i for i, steps in enumerate(table["steps"].unique())}
    return table.sort_values("steps", key=lambda steps: steps.map(order), kind="stable")


def _roc(audit: xr.Dataset) -> pd.DataFrame:
    name, n, scores = audit.attrs["set"], audit.attrs["batch_size"], glir_scores(audit)
    all_steps = scores.shape[1]
    parts = []
    for steps, text, kind in ((1, ONE, ONE), (all_steps, f"{all_steps} steps, sum of log p", FEW)):
        key = {"panel": f"{name}: {text}", "dataset": name, "steps": kind}
        summed = list(scores[:, :steps].sum(axis=1))
        parts.append(measured_curve({**key, "series": "GLiR"}, summed, members(audit)))
        for d, series in (
            (recipe_of(audit).dimension, "level at K = d"),
            (int(ranks(audit)[0, 0]), "level at K = rank"),
        ):
            mu = privacy.composed_mu(privacy.mip_mu_step(d, n, d), steps)
            parts.append(gaussian_curve({**key, "series": series}, mu))
    return pd.concat(parts, ignore_index=True)


def after_one_step_said(table: pd.DataFrame, fpr: float) -> str:
    """GLiR and both levels after one step, on each data set that is real."""
    at = table[(table["steps"] == ONE) & ((table["fpr"] - fpr).abs() < 1e-9)]
    glir, by_parameters, by_rank = (
        100 * at.loc[at["series"] == series, "tpr"]
        for series in ("GLiR", "level at K = d", "level at K = rank")
    )
    if glir.empty:
        return ""
    return (
        f"After one step GLiR finds {span(glir)} of members at {100 * fpr:.0f}% FPR. The "
        f"level at K = d allows {span(by_parameters)}, the level at K = rank "
        f"{span(by_rank)}."
    )


def roc_described(table: pd.DataFrame, fpr: float) -> str:
    """Panels of error rates in words: each panel's series at a rate of false positives."""
    at = table[(table["fpr"] - fpr).abs() < 1e-6]
    parts = []
    for panel, part in at.groupby("panel", sort=False):
        rates = ", ".join(
            f"{series} {100 * tpr:.0f}%"
            for series, tpr in zip(part["series"], part["tpr"], strict=True)
        )
        parts.append(f"{panel}: {rates}")
    return (
        f"True positive rate against false positive rate in {table['panel'].nunique()} panels. "
        f"True positive rates at {100 * fpr:.0f}% false positives: {'; '.join(parts)}."
    )


def areas(scores: Iterable[FloatArray], member: BoolArray) -> FloatArray:
    """The AUC of several models' scores of records with the same truth."""
    return np.array([metrics.auc(score, member) for score in scores])


def figure_5(table: pd.DataFrame) -> pd.DataFrame:
    """The numbers of Figure 2, which this figure shows on logarithmic axes."""
    return table.copy()
