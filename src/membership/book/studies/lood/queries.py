"""No query leaks more than the record: the landscape around it, attempts, and ways to escape."""

from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from membership.book.studies.lood import influenced, measures
from membership.book.studies.lood.experiment import cells
from membership.book.studies.lood.reconstruction import SUCCESS
from membership.book.studies.lood.settings import Settings

MEASURES = {"kl": "KL(D, D')", "kl-reverse": "KL(D', D)", "auc": "AUC"}
# A query counts as better from this relative gain on; rounding is far below.
GAIN = 1e-9
LEAST_GAIN, LEAST_VARIANCE = 1.05, 1e-3
"""A gain that counts, and the variance under D', over the record's, below which it is a blow-up."""
SMALLEST_GAIN = "smallest KL over the record's"
LARGEST_GAIN = "largest KL over the record's"
FROM_MEAN = "deviations from the mean of D'"
TIMES, ALONG_RAY = "times the record", "KL over the record's, farthest from 1"
"""Queries along the ray of a homogeneous kernel, and what is measured there."""
THREE = THREE_RANDOM, THREE_OPTIMISED = "three, random", "three, optimised"
"""Kinds of attempt that are sets of queries."""
NEAR_MEAN = "normalisation by the data, near its mean"
IN_LEVELS = "the mean of D' in 256 grey levels"
TOY = "one dimension"
PROCESS = "pictures, process"
NETWORKS = "pictures, networks"
LABELS = {
    TOY: ("query", "KL (nats)"),
    PROCESS: ("steps from the record", "KL over the record's"),
    NETWORKS: ("steps from the record", "AUC"),
}


def figure_4(lines: xr.Dataset, pairs: xr.Dataset, settings: Settings) -> pd.DataFrame:
    """Leakage of queries around the differing record (Figure 4).

    Along x_S + i u with u uniform in [-1, 1] / 255, as in the released code: in one dimension, on
    pictures under the process relative to the record, and for retrained networks.
    """
    toy = influenced.comparison(influenced.PLACES["between"], settings).contrast(
        influenced.GRID[:, None]
    )
    a = pd.DataFrame({"panel": TOY, "series": "KL", "x": influenced.GRID, "value": toy.kl()})
    relative = lines["kl"].values / lines["kl_at_record"].values[:, None]
    parts = [a]
    for row, values in enumerate(relative):
        key = {"panel": PROCESS, "series": f"record {row}"}
        parts.append(pd.DataFrame({**key, "x": lines["offset"].values, "value": values}))
    table = pd.concat([*parts, _network_line(pairs)], ignore_index=True)
    exact = table["low"].isna()
    table.loc[exact, ["low", "high"]] = table.loc[exact, ["value", "value"]].to_numpy()
    return table


def _network_line(pairs: xr.Dataset) -> pd.DataFrame:
    offsets = np.array(pairs.attrs["offsets"])
    order = np.argsort(offsets)
    auc = np.stack([measures.network_auc(pairs, query)[0] for query in order], axis=1)
    half = 1.96 * auc.std(axis=0, ddof=1) / np.sqrt(len(auc))
    mean = auc.mean(axis=0)
    bands = {"value": mean, "low": mean - half, "high": mean + half}
    key = {"panel": NETWORKS, "series": "AUC, mean over records"}
    return pd.DataFrame({**key, "x": offsets[order], **bands})


def optimality(attempts: xr.Dataset, searches: xr.Dataset) -> pd.DataFrame:
    """Whether any query or set of queries tells more than the record (Control 5).

    Random and optimised queries, single and in sets of three, for three kernels: one homogeneous,
    one isotropic, one that is neither normalised nor stationary.
    """
    value, at = attempts["value"].values, attempts["at_record"].values
    # An AUC of one half tells nothing: its excess counts from there.
    base = np.array([0.5 if name == "auc" else 0.0 for name in attempts["measure"].values])
    excess = pd.DataFrame((value - at) / (at - base), columns=[*MEASURES.values()])
    excess["kernel"], excess["queries"] = attempts["kernel"].values, attempts["queries"].values
    rows = []
    for (kernel, kind), part in excess.groupby(["kernel", "queries"], sort=False):
        for metric in MEASURES.values():
            key = {"kernel": kernel, "queries": kind, "metric": metric}
            rows.append({**key, "value": part[metric].max(), "tried": len(part)})
    ratio = pd.Series(searches["kl"].values / searches["kl_at_record"].values)
    for kernel, part in ratio.groupby(searches["search"].values, sort=False):
        key = {"kernel": kernel, "queries": "reconstructions", "metric": MEASURES["kl"]}
        rows.append({**key, "value": part.max() - 1, "tried": len(part)})
    table = pd.DataFrame(rows)
    table.attrs["residue"] = 1e-8
    return table


def optimality_said(table: pd.DataFrame) -> str:
    """Control 5."""
    tried, excess = int(table.groupby(["kernel", "queries"])["tried"].max().sum()), table["value"]
    most = excess.max()
    above = "none lies above the record beyond rounding" if most < 1e-6 else "one tells more"
    return f"Of {tried:,} queries and sets of queries {above}: the largest excess is {most:.0e}."


def escapes(normalised: xr.Dataset, at_mean: xr.Dataset) -> pd.DataFrame:
    """The two cases in which the record is not the only best query, or not the best (Control 6)."""
    rows = []
    ray = normalised["ray"]
    n = normalised.sizes["searched"]
    for factor in normalised["factor"].values:
        kl, mean = (ray.sel(factor=factor, measure=name).values for name in ("kl", "mean"))
        key = {
            "case": "homogeneous kernel (ReLU, no bias)",
            "query": f"{factor:g} {TIMES}",
        }
        farthest = float(kl[np.argmax(np.abs(kl - 1))])
        values = {
            ALONG_RAY: farthest,
            "mean distance over the record's": mean.mean(),
        }
        rows += [{**key, "metric": m, "value": v, "n": n} for m, v in values.items()]
    kl, at = normalised["kl"].values, normalised["kl_at_record"].values
    by_pixel = normalised["pixel_kl"].values / normalised["pixel_kl_at_record"].values
    # Where a record leaks nothing, no query's gain over it can be counted.
    gains = {"channel": kl[at > 0] / at[at > 0], "pixel": by_pixel}
    variances = {"channel": normalised["variance"], "pixel": normalised["pixel_variance"]}
    for unit, ratio in gains.items():
        key = {"case": f"normalisation by the data, of each {unit}"}
        key["query"] = "found from the record"
        is_proper = (ratio > LEAST_GAIN) & (variances[unit].values[: len(ratio)] >= LEAST_VARIANCE)
        values = {
            "records with a better query (%)": 100 * float((ratio > 1 + GAIN).mean()),
            LARGEST_GAIN: ratio.max(),
            SMALLEST_GAIN: ratio.min(),
            "records that gain 5%, no blow-up (%)": 100 * float(is_proper.mean()),
        }
        rows += [{**key, "metric": m, "value": v, "n": len(ratio)} for m, v in values.items()]
    table = pd.DataFrame(rows + _near_the_mean(at_mean))
    table.attrs["sizes"] = _sizes(normalised, at_mean)
    return table


def _sizes(normalised: xr.Dataset, at_mean: xr.Dataset) -> dict[str, str]:
    n, most = (evidence.attrs["sizes"]["Training records"] for evidence in (normalised, at_mean))
    return {"Training records": f"{n} where queries climb, {most} near the mean"}


def _near_the_mean(at_mean: xr.Dataset) -> list[dict[str, Any]]:
    """KL at distances from the mean of D', in deviations of a channel, over the record's."""
    at = at_mean["kl_at_record"].values
    ratios = at_mean["kl"].values / at[:, None]
    second = at_mean["kl_directly"].values
    off = np.abs(at_mean["kl"].values[: len(second)] / second - 1).max(axis=0)
    rows = []

    def add(query: str, ratio: np.ndarray, **values: float) -> None:
        values = {
            LARGEST_GAIN: ratio.max(),
            SMALLEST_GAIN: ratio.min(),
            "records with a better query (%)": 100 * float((ratio > 1).mean()),
            **values,
        }
        key = {"case": NEAR_MEAN, "query": query}
        rows.extend({**key, "metric": m, "value": v, "n": len(ratio)} for m, v in values.items())

    for i, distance in enumerate(at_mean["distance"].values):
        more = {
            "largest variance under D' over the record's": at_mean["variance"].values[:, i].max(),
            "largest deviation of the second path": off[i],
        }
        add(f"{distance:g} {FROM_MEAN}", ratios[:, i], **more)
    least = {"smallest AUC": at_mean["auc"].values.min()}
    rows.extend(
        {"case": NEAR_MEAN, "query": rows[-1]["query"], "metric": m, "value": v, "n": len(at)}
        for m, v in least.items()
    )
    add(IN_LEVELS, at_mean["kl_in_grey_levels"].values / at)
    further = at_mean["kl_of_others"] / at_mean["kl_of_others_at_record"]
    for kernel in further["kernel"].values:
        add(f"the mean of D', {kernel}", further.sel(kernel=kernel).values)
    return rows


def figure_10(normalised: xr.Dataset, at_mean: xr.Dataset) -> pd.DataFrame:
    """Queries with more leakage than the record, under normalisation by the data (Figure 10).

    D and D' each normalise by their own channel statistics. Pictures: what a search that starts
    from the record finds. Curves: KL over the record's, by the distance from the mean of D'.
    """
    names = ("kl", "kl_at_record", "kl_directly", "variance", "correlation")
    rows = []
    for part in ("record", "better query"):
        for record in range(normalised.sizes["record"]):
            of_record = normalised.isel(record=record)
            values = {name: float(of_record[name]) for name in names}
            ratio = f"x {values['kl'] / values['kl_at_record']:.4f}"
            text = ratio if part == "better query" else f"KL {values['kl_at_record']:.3g}"
            key = {"row": part, "column": f"record {record}", "text": text, "record": record}
            level = of_record["level"].sel(part=part).values
            rows.append({**key, **values, **cells(level)})
    ratio = at_mean["kl"].values / at_mean["kl_at_record"].values[:, None]
    for series, of in (("largest", np.max), ("median", np.median), ("smallest", np.min)):
        curve = zip(at_mean["distance"].values, of(ratio, axis=0), strict=True)
        rows += [{"series": f"{series} of the records", "step": d, "kl": v} for d, v in curve]
    ends = at_mean["distance"].values[[0, -1]]
    rows += [{"series": "the record itself", "step": step, "kl": 1.0} for step in ends]
    table = pd.DataFrame(rows)
    words = ["row", "column", "text", "series", "shape", "pixels"]
    table[words] = table[words].fillna("")
    table.attrs["sizes"] = _sizes(normalised, at_mean)
    return table


def figure_10_described(table: pd.DataFrame) -> str:
    """The alternative text of Figure 10."""
    queries = table[table["row"] == "better query"]
    alike = int((queries["correlation"] > SUCCESS).sum())
    return (
        f"Two rows of pictures, records above the queries found from them, of which {alike} of "
        f"{len(queries)} look like their records. Below, three curves that are flat far from the "
        "mean and then rise a hundredfold for each factor of ten nearer; all cross the line of the "
        "record itself."
    )
