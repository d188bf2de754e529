"""Which query a record influences most: in one dimension, where all are tried, and on pictures."""

import numpy as np
import pandas as pd
import xarray as xr

from membership import lood, nngp
from membership.arrays import FloatArray
from membership.book.studies.lood.experiment import cells
from membership.book.studies.lood.settings import Settings

# The paper's numbers are lost; these are ours. |x - x'|^2 / 2, as a kernel of unit length.
N, NOISE, GAMMA, LABEL = 20, 0.1, 0.5, 3.0
PLACE = "stationarity"
WORST = "S by Algorithm 1"
# Of central differences.
STEP = 1e-5
PLACES = {"close": 0.0, "between": 1.6, "far": 4.0}
GRID = np.linspace(-6, 6, 1201)
SWEPT = np.linspace(-5, 5, 201)


# The axes of each figure, and where the differing record lies.
LABELS = {
    "mean distance": ("query", "mean distance"),
    "variances": ("query", "ratio"),
    "divergences": ("query", "KL (nats)"),
    PLACE: ("differing record", "absolute gradient"),
    WORST: ("query", "mean distance"),
    **{f"S {name}": ("query", "mean distance") for name in PLACES},
}
MARKS = {
    **dict.fromkeys(("mean distance", "variances", "divergences"), PLACES["between"]),
    **{f"S {name}": place for name, place in PLACES.items()},
}


def data(settings: Settings) -> tuple[FloatArray, FloatArray]:
    """Twenty points x from N(0, 1) with labels sin(3 x)."""
    x = np.random.default_rng([settings.seed, 8]).normal(size=(N, 1))
    return x, np.sin(3 * x)


def comparison(place: float, settings: Settings) -> lood.Comparison:
    """Both posteriors where a point at this place, with label 3, enters."""
    differing = np.array([place]), np.array([LABEL])
    return lood.compare(nngp.rbf(GAMMA), *data(settings), differing, NOISE)


PICTURES = "pictures, RBF"
"""The case of Control 8 that is of pictures."""


def figure_7(settings: Settings) -> pd.DataFrame:
    """Mean distance, ratio of variances and both divergences along all queries (Figure 7)."""
    contrast = comparison(PLACES["between"], settings).contrast(GRID[:, None])
    curves = [
        ("mean distance", "mean distance", contrast.mean_distance),
        ("variances", "variance with S over without", 1 / (1 + contrast.excess[:, 0])),
        ("divergences", "KL(D, D')", contrast.kl()),
        ("divergences", "KL(D', D)", contrast.kl_reverse()),
    ]
    return _table(curves)


def slope(place: float, settings: Settings) -> float:
    r"""Gradient of the mean distance in the query, at the query S, by Proposition 5.1.

    For one output and k(x, x) = 1, with M = K + noise I, v = 1 - k_S M^{-1} k_S the variance at S,
    alpha = v + noise and r the residual: -r^2 v / alpha^2 times dk_S M^{-1} k_S, dk_S being the
    derivative of k(S, D) in S.
    """
    x, y = data(settings)
    kernel = nngp.rbf(GAMMA)
    at = np.array([[place]])
    k = kernel(at, x)[0]
    weights = np.linalg.solve(kernel(x) + NOISE * np.eye(N), np.column_stack([k, y[:, 0]]))
    v = 1 - k @ weights[:, 0]
    r = LABEL - k @ weights[:, 1]
    change = -2 * GAMMA * (place - x[:, 0]) * k
    return float(-(r**2) * v / (v + NOISE) ** 2 * (change @ weights[:, 0]))


def figure_11(algorithm: xr.Dataset, settings: Settings) -> pd.DataFrame:
    """How far from stationary a point is by its place, and the mean distance for the worst."""
    worst = float(algorithm["query"].values[algorithm["value"].values.argmax()])
    slopes = np.array([abs(slope(place, settings)) for place in SWEPT])
    pair = comparison(worst, settings)
    value = pair.measure(GRID[:, None], "mean")
    table = _table([(WORST, "mean distance", value)])
    curve = {"panel": PLACE, "series": "gradient at S", "x": SWEPT, "value": slopes}
    heights = [abs(slope(worst, settings)), pair.measure(np.array([worst]), "mean")]
    point = {"panel": [PLACE, WORST], "series": "Algorithm 1", "x": worst, "value": heights}
    parts = [pd.DataFrame(curve), table, pd.DataFrame(point)]
    joined = pd.concat(parts, ignore_index=True)
    joined.attrs = table.attrs | {"note": f"Algorithm 1 finds x_S = {worst:.4f}."}
    return joined


def figure_12(settings: Settings) -> pd.DataFrame:
    """The mean distance along all queries for three differing records (Figure 12)."""
    curves = []
    for name, place in PLACES.items():
        contrast = comparison(place, settings).contrast(GRID[:, None])
        curves.append((f"S {name}", "mean distance", contrast.mean_distance))
    return _table(curves)


def peaks_described(table: pd.DataFrame) -> str:
    """Where each curve of a toy is largest."""
    parts = []
    for (panel, series), part in table.groupby(["panel", "series"], sort=False):
        dips = panel == "variances"
        at = part["value"].idxmin() if dips else part["value"].idxmax()
        to = f"dips to {part.loc[at, 'value']:.2f}" if dips else "peaks"
        parts.append(f"{panel}, {series}, {to} at {part.loc[at, 'x']:.2f}")
    return f"Curves along one-dimensional queries: {'; '.join(parts)}."


def locations(settings: Settings) -> pd.DataFrame:
    """Where mean distance and KL are largest, for several differing records (part of Control 8)."""
    rows = []
    for place in [*np.arange(0, 3.01, 0.5), 4.0]:
        pair = comparison(place, settings)
        for measure in ("mean", "kl", "kl-reverse"):
            values = pair.measure(GRID[:, None], measure)
            at = pair.measure(np.array([place]), measure)
            key = {"case": f"one dimension, x_S = {place:g}", "measure": measure}
            numbers = {
                "distance of the best query": abs(float(GRID[np.argmax(values)]) - place),
                "its value over the record's": float(values.max() / at),
            }
            rows += [{**key, "metric": metric, "value": v} for metric, v in numbers.items()]
    return pd.DataFrame(rows)


def sweep(settings: Settings) -> pd.DataFrame:
    """The mean distance by the record's place: its gradient there, and its best query."""
    x = data(settings)[0][:, 0]
    rows = []
    for place in np.arange(0, 81) / 10:
        pair = comparison(place, settings)
        offsets = np.concatenate([GRID - place, np.arange(-200, 201) / 1e3])
        values = pair.measure((place + offsets)[:, None], "mean")
        ahead, behind = pair.measure(np.array([[place + STEP], [place - STEP]]), "mean")
        rows.append(
            {
                "place": place,
                "nearest": float(np.abs(x - place).min()),
                "formula": slope(place, settings),
                "differences": float(ahead - behind) / (2 * STEP),
                "ratio": float(values.max() / pair.measure(np.array([place]), "mean")),
                "distance": float(np.abs(offsets[np.argmax(values)])),
            }
        )
    return pd.DataFrame(rows)


def _table(curves: list[tuple[str, str, FloatArray]]) -> pd.DataFrame:
    parts = [
        pd.DataFrame({"panel": panel, "series": series, "x": GRID, "value": value})
        for panel, series, value in curves
    ]
    table = pd.concat(parts, ignore_index=True)
    table.attrs["deviations"] = ["the toy's numbers are ours"]
    return table


def figure_13(influenced: xr.Dataset) -> pd.DataFrame:
    """Queries that the record influences most, by mean distance, and their AUC (Figure 13)."""
    rows = []
    for record in range(influenced.sizes["record"]):
        of_record = influenced.isel(record=record)
        value, at = of_record["mean_distance"].values
        auc, auc_at = of_record["auc"].values
        numbers = {"record": record, "correlation": float(of_record["correlation"])}
        numbers |= {"mean_distance": value, "mean_distance_at_record": at}
        numbers |= {"auc": auc, "auc_at_record": auc_at}
        texts = (f"AUC {auc_at:.2f}", f"x {value / at:.2f}\nAUC {auc:.2f}")
        for part, text in zip(of_record["part"].values, texts, strict=True):
            key = {"row": str(part), "column": f"record {record}", "text": text}
            key |= {"dataset": influenced.attrs["set"], "kernel": "RBF", **numbers}
            rows.append({**key, **cells(of_record["level"].sel(part=part).values)})
    return pd.DataFrame(rows)


def mean_against_kl(influenced: xr.Dataset, settings: Settings) -> pd.DataFrame:
    """Where mean distance and where KL is largest (Control 8)."""
    ratio = np.divide(*influenced["mean_distance"].values.T)
    auc, auc_at = influenced["auc"].values.T
    better = ratio > 1 + 1e-6
    key = {"case": PICTURES, "measure": "mean"}
    lower = 100 * (auc < auc_at)[better].mean() if better.any() else np.nan
    values = {
        "records with a better query (%)": 100 * better.mean(),
        "largest value over the record's": ratio.max(),
        "of these queries, those with a lower AUC (%)": lower,
    }
    n = len(ratio)
    rows = [{**key, "metric": metric, "value": float(v), "n": n} for metric, v in values.items()]
    return pd.concat([locations(settings), pd.DataFrame(rows)], ignore_index=True)


def mean_against_kl_said(table: pd.DataFrame) -> str:
    """Control 8, its pictures."""
    pictures = table[table["case"] == PICTURES]
    of_pictures, n = pictures.set_index("metric")["value"], int(pictures["n"].iloc[0])
    better = round(of_pictures["records with a better query (%)"] * n / 100)
    lower = of_pictures["of these queries, those with a lower AUC (%)"]
    return (
        f"By mean distance another picture is better for {better} of {n} records, and "
        f"{round(lower * better / 100) if better else 0} of these {better} pictures tell an "
        "attacker less."
    )
