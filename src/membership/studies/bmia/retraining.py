"""Is the Laplace standard deviation the one over retraining, and the hinge Gaussian?

Controls 4, 5 and 7.
"""

import numpy as np
import pandas as pd
import xarray as xr
from scipy import special, stats

from membership import metrics
from membership.arrays import FloatArray
from membership.exhibits.rows import of_each, of_error
from membership.exhibits.tidy import origin, tidy
from membership.studies.bmia.predictive import FULL
from membership.studies.bmia.scores import Seen, auc, moments

RELATED, RATIO = "correlation of the logarithms", "retraining / Laplace, geometric mean"
CORRECTED = "corrected for noise"
SD_AND_SCORE = "Laplace sd and score, rank correlation"
OF_FULL = ", full posterior"
SHOWN = 1000
SPLITS = 35
RESAMPLES = 200


def control_4(datasets: list[Seen]) -> pd.DataFrame:
    """Both standard deviations of the hinge, record by record (Control 4).

    No reference is trained on any query, so that their spread is that of retraining a model
    without the record, on another half of the population. The Laplace one is that of the first
    reference.
    """
    parts = []
    for seen in datasets:
        laplace = seen.moments(seen.outputs.attrs["references"][0])[1][:SHOWN]
        over = np.std(retrained(seen), axis=0, ddof=1)[:SHOWN]
        deviations = {"dataset": seen.label, "laplace": laplace, "retraining": over}
        parts.append(pd.DataFrame(deviations))
    return tidy(parts, origin(datasets))


def control_5(datasets: list[Seen], variants: list[xr.Dataset]) -> pd.DataFrame:
    """How the two standard deviations are related (Control 5).

    The one over retraining is estimated from few models. Its reliability is the correlation of
    the logarithms between two halves of the models, stepped up to all of them (Spearman and
    Brown) and averaged over splits; dividing by its square root gives the correlation that a
    noiseless estimate would have. Where the reliability is not above zero, or might not be, that
    correlation is not identified: it is left out, and the note says so. Its interval has the
    error of the reliability beside that over targets. The full posterior, where there is one,
    stands beside on the queries that it was asked about.
    """
    listed, unknown = [], []
    for seen, variant in zip(datasets, variants, strict=True):
        known, low, high = reliability(retrained(seen))
        key, exact = {"dataset": seen.label}, {"value": known, "low": low, "high": high}
        exact["n_repeats"] = 1
        if low <= 0:
            unknown.append(seen.label)
            known = np.nan
        by_quantity: dict[str, list[float]] = {}
        for target in seen.targets:
            for name, value in _related(seen, target, known).items():
                by_quantity.setdefault(name, []).append(float(value))
        by_quantity |= _of_full(seen, variant, known)
        listed.append({**key, "quantity": "reliability of the sd over retraining", **exact})
        listed += [
            {**key, "quantity": name, **_summary(name, v, exact)}
            for name, v in by_quantity.items()
            if not np.isnan(v).any()
        ]
    table = pd.DataFrame(listed)
    note = f"Corrected correlation not identified: {', '.join(unknown)}." if unknown else ""
    table.attrs = origin(datasets, note=note)
    return table


def _summary(name: str, values: list[float], reliability: dict[str, float]) -> dict[str, float]:
    """Over targets; of what was divided by the root of a reliability, with its error, too."""
    summary = metrics.summary(values)
    if name not in (CORRECTED, f"{CORRECTED}{OF_FULL}"):
        return summary
    error = (reliability["high"] - reliability["low"]) / (2 * stats.norm.ppf(0.975))
    of_root = summary["value"] * error / (2 * reliability["value"])
    whole = float(np.hypot(summary["standard_error"], of_root))
    # Welch and Satterthwaite: the reliability's error is known over thousands of queries.
    degrees = summary["degrees_of_freedom"] * (whole / summary["standard_error"]) ** 4
    return {**summary, **of_error(summary["value"], whole, len(values), degrees)}


def _of_full(seen: Seen, variants: xr.Dataset, reliability: float) -> dict[str, list[float]]:
    """What `related` gives of the full posterior, on the queries that it was asked about."""
    if FULL not in variants["variant"].values:
        return {}
    by_quantity: dict[str, list[float]] = {}
    hinge = retrained(seen.on(variants["record"].values))
    for target in seen.targets:
        own = moments(variants, seen.first(target), FULL)
        for name, value in related(hinge, *own, reliability).items():
            by_quantity.setdefault(f"{name}{OF_FULL}", []).append(value)
    return by_quantity


def _related(seen: Seen, target: int, reliability: float) -> dict[str, float]:
    """The quantities of Control 5 for one target's reference."""
    hinge, (mean, sd) = retrained(seen), seen.moments(seen.first(target))
    z = ((seen.hinge[target] - mean) / sd)[~seen.member[target]]
    return {
        **related(hinge, mean, sd, reliability),
        "retraining sd and score, rank correlation": _rank(_log_sd(hinge), hinge.mean(axis=0)),
        "mean z of non-members": z.mean(),
        "sd of z of non-members": z.std(ddof=1),
    }


def related(
    hinge: FloatArray, mean: FloatArray, sd: FloatArray, reliability: float
) -> dict[str, float]:
    """A posterior's moments beside the hinges of retrained models, (references, queries)."""
    log_over, log_sd = _log_sd(hinge), np.log(sd)
    raw = float(np.corrcoef(log_sd, log_over)[0, 1])
    return {
        RELATED: raw,
        CORRECTED: raw / np.sqrt(reliability),
        RATIO: float(np.exp((log_over - log_sd).mean())),
        SD_AND_SCORE: _rank(sd, mean),
    }


def control_7(datasets: list[Seen], measured: list[xr.Dataset]) -> pd.DataFrame:
    """How far the hinge is from Gaussian under Gaussian logits (Control 7)."""
    listed = []
    for seen, shapes in zip(datasets, measured, strict=True):
        names = shapes["quantity"].values.tolist()
        shapes_of = dict(zip(names, shapes["shape"].values.T, strict=True))
        shapes_of["AUC (%) with draws"] = auc(seen.attack("bmia"))
        shapes_of["AUC (%) in closed form"] = auc(seen.attack("bmia-closed"))
        listed += of_each({"dataset": seen.label}, "quantity", shapes_of)
    return tidy(listed, origin(datasets))


def retrained(seen: Seen) -> FloatArray:
    """Hinges of all references, (references, queries)."""
    return seen.hinge[seen.outputs.attrs["references"]]


def _log_sd(hinge: FloatArray) -> FloatArray:
    """Log standard deviations; of n normal values they are low by a known amount on average."""
    half = (len(hinge) - 1) / 2
    bias = (special.digamma(half) - np.log(half)) / 2
    return np.log(np.std(hinge, axis=0, ddof=1)) - bias


def reliability(hinge: FloatArray) -> tuple[float, float, float]:
    """Of the log standard deviation of all models, with a 95% interval over the queries."""
    rng, half = np.random.default_rng(0), len(hinge) // 2
    orders = [rng.permutation(len(hinge)) for _ in range(SPLITS)]
    first = np.stack([_log_sd(hinge[order[:half]]) for order in orders])
    second = np.stack([_log_sd(hinge[order[half : 2 * half]]) for order in orders])

    def stepped_up(queries: np.ndarray) -> float:
        a, b = (stats.zscore(part[:, queries], axis=1) for part in (first, second))
        r = float((a * b).mean())
        return 2 * r / (1 + r)

    n = hinge.shape[1]
    again = [stepped_up(rng.integers(n, size=n)) for _ in range(RESAMPLES)]
    low, high = np.quantile(again, (0.025, 0.975))
    return stepped_up(np.arange(n)), float(low), float(high)


def identified(hinge: FloatArray) -> float:
    """The reliability where it is above 0, of four references or more; else not a number."""
    if len(hinge) < 4:
        return np.nan
    value, low, _ = reliability(hinge)
    return value if low > 0 else np.nan


def _rank(a: FloatArray, b: FloatArray) -> float:
    return float(stats.spearmanr(a, b).statistic)
