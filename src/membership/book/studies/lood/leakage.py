"""Every record's leakage, beside attacks, networks and other estimates of it."""

from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy.stats import norm, rankdata, sem

from membership import lood
from membership.arrays import FloatArray
from membership.book.exhibits.rows import correlation, rank_correlation
from membership.book.exhibits.sentences import span
from membership.book.studies.lood import measures
from membership.book.studies.lood.experiment import (
    CLASS_NAMES,
    MAIN,
    MOST_RECORDS,
    RELU,
    SHOWN,
    cells,
    family_of,
    kernel_name,
)

GP = "LOOD and the attack"
NETWORKS = "process and networks"
MEMORISATION = "self-influence"
LABELS = {
    GP: ("KL (nats)", "AUC of the best attack"),
    NETWORKS: ("AUC, process", "AUC, networks"),
    MEMORISATION: ("scaled root estimate", "root prediction difference"),
    "mean distance": ("mean distance", "AUC of the best attack"),
    "KL": ("KL (nats)", "AUC of the best attack"),
}
RESAMPLED = 400
OF_KL, OF_MEAN = "KL and AUC", "mean distance and AUC, with noise"
OF_RECORDS, OF_NOISE = "KL's less mean distance's, records", "KL's less mean distance's, noise"
APART, ALIKE = "AUC of noise less that of records of like mean distance", 20
AHEAD = "KL's rank correlation less this one"
MEAN, DIFFERENCE = "mean-distance LOOD", "prediction difference"
LEFT_OUT = "exact leave-one-out of the process"
LEAD, MORE, LOG_RATIO = "KL's less mean distance's", "more KL under GeLU (%)", "log KL, GeLU / ReLU"
GROWTH, GAP = "depth 10 less depth 2", "size of the mean log ratio"
RELEASED = {"GeLU": "√2", "GeLU 1.9822": "1.9822"}
"""Kernels at the deviations of the released kernel runs and of the released networks."""
NARROW, WIDE = RELEASED
# The released notebooks print Pearson's; where they plot influence and TracIn no root is taken.
RANKED, BY_VALUE, AS_PLOTTED = "rank correlation", "Pearson's r", "Pearson's r, as released"
AHEAD_AS_PLOTTED = "mean distance's Pearson's r, as released, less this one"
RECORDS = "NNGP, records"
"""The points of Figure 6 that are training records under the chapter's kernel."""
KL_BY_VALUE, MEAN_BY_VALUE = f"KL and AUC, with noise, {BY_VALUE}", f"{OF_MEAN}, {BY_VALUE}"


def figure_1(records: xr.Dataset, pairs: xr.Dataset, influence: xr.Dataset) -> pd.DataFrame:
    """LOOD against the attack, the process against networks, and influence (Figure 1)."""
    process = measures.contrast(records)
    shown = np.arange(records.sizes["record"])[:MOST_RECORDS]
    a = points(GP, "process", shown, process.kl()[shown], process.auc()[shown])
    value, spread = measures.network_auc(pairs)
    chosen = pairs["record"].values
    b = points(NETWORKS, "networks", chosen, measures.contrast(influence).auc(), value)
    b["low"], b["high"] = value - spread, value + spread
    parts = [a, b]
    difference = np.sqrt(measures.prediction_difference(pairs))
    for name, estimate in self_influence(influence).items():
        root = np.sqrt(estimate)
        unit = (root - root.min()) / (root.max() - root.min())
        parts.append(points(MEMORISATION, name, chosen, unit, difference))
    table = pd.concat(parts, ignore_index=True)
    table.attrs["sizes"] = {"Points of the first panel": f"{len(shown):,}"}
    table.attrs["sizes"] |= sizes_of(records, pairs)
    return table


def sizes_of(records: xr.Dataset, pairs: xr.Dataset) -> dict[str, str]:
    """How many records the process has, and how many the networks."""
    sides = {"process": records, "networks": pairs}
    named = [f"{name} {side.attrs['sizes']['Training records']}" for name, side in sides.items()]
    return {"Training records": ", ".join(named)}


def self_influence(influence: xr.Dataset) -> dict[str, FloatArray]:
    """Mean distance under the process and the estimates from networks, by name."""
    names = influence["estimator"].values
    estimates = {str(name): influence["estimate"].sel(estimator=name).values for name in names}
    return {MEAN: measures.contrast(influence).mean_distance, **estimates}


def correlations(
    records: xr.Dataset, pairs: xr.Dataset, influence: xr.Dataset, noises: xr.Dataset
) -> pd.DataFrame:
    """How well each estimate follows what it stands for, over records (Control 3)."""
    cases = {"": measures.contrast(records), ", RBF": measures.contrast(records, "RBF")}
    cases[", uniform noise"] = measures.uniform(records)
    compared = []
    for name, process in cases.items():
        for measure, x in (("KL", process.kl()), ("mean distance", process.mean_distance)):
            compared.append((f"{measure}{name}", "AUC of the process", x, process.auc()))
    compared += _of_the_process(records)
    few, auc = measures.contrast(influence).auc(), measures.network_auc(pairs)[0]
    compared.append(("AUC of the process", "AUC of the networks", few, auc))
    truths = {
        DIFFERENCE: measures.prediction_difference(pairs),
        "memorisation": measures.memorisation(pairs),
    }
    estimates = self_influence(influence)
    for level in noises["level"].values:
        part = noises.sel(level=level).isel(record=pairs["record"].values)
        process = measures.of_moments(part["variance"].values, part["square"].values, noises, level)
        name = f"AUC of the process, noise {level:g}"
        compared.append((name, "AUC of the networks", process.auc(), auc))
        name = f"mean-distance LOOD, noise {level:g}"
        compared.append((name, "prediction difference", process.mean_distance, truths[DIFFERENCE]))
    names = ("LiSSA as released", "influence function")
    compared.append((*names, *(estimates[name] for name in names)))
    for truth, values in truths.items():
        compared += [(name, truth, estimate, values) for name, estimate in estimates.items()]
    rows = []
    for estimate, truth, x, y in compared:
        key = {"estimate": estimate, "of": truth}
        rows.append({**key, "metric": RANKED, **ranked(x, y)})
        rows.append({**key, "metric": BY_VALUE, **by_value(x, y)})
        if truth == "AUC of the process" and estimate.endswith(", process"):
            ahead = lead(measures.contrast(records).kl(), x, y)
            rows.append({**key, "metric": AHEAD, **ahead})
        if truth == DIFFERENCE:
            roots = by_value(np.sqrt(x), np.sqrt(y))
            rows.append({**key, "metric": "correlation of roots", **roots})
        if truth == DIFFERENCE and estimate in estimates:
            rows += _as_plotted(key, estimates, y)
    rows += [
        {"estimate": "networks with ReLU", "of": side, "metric": "right (%)", **share}
        for side, share in measures.accuracy(pairs).items()
    ]
    table = pd.DataFrame(rows)
    table.attrs["sizes"] = sizes_of(records, pairs)
    return table


def _as_plotted(
    key: dict[str, str], estimates: dict[str, FloatArray], difference: FloatArray
) -> list[dict[str, Any]]:
    """Figure 1c's statistic: the root of the mean distance, the others as they are."""
    root, mean, name = np.sqrt(difference), np.sqrt(estimates[MEAN]), key["estimate"]
    own = mean if name == MEAN else estimates[name]
    rows = [{**key, "metric": AS_PLOTTED, **by_value(own, root)}]
    if name != MEAN:
        ahead = lead(mean, own, root, by_rank=False)
        rows.append({**key, "metric": AHEAD_AS_PLOTTED, **ahead})
    return rows


def of_the_process(records: xr.Dataset) -> dict[str, FloatArray]:
    """Estimates of how far each record moves the process's answer to itself, from that with it.

    With h = v / (v + noise) and r the residual without a record, (1 - h) r is that with it. The
    influence function is the first-order step h (1 - h) r; a gradient norm is k(S, S) times the
    squared residual, as TracIn adds them up; memorisation is the squared error that the record
    saves itself.
    """
    part = records.sel(case=MAIN)
    h = part["variance"].values / (part["variance"].values + records.attrs["recipe"]["noise"])
    square = part["square"].values
    return {
        "influence function": (h * (1 - h)) ** 2 * square / 2,
        "gradient norm": part["diagonal"].values * (1 - h) ** 2 * square,
        "memorisation": square * (1 - (1 - h) ** 2),
    }


def _of_the_process(records: xr.Dataset) -> list[tuple[str, str, FloatArray, FloatArray]]:
    process = measures.contrast(records)
    truths = {LEFT_OUT: process.mean_distance, "AUC of the process": process.auc()}
    return [
        (f"{name}, process", truth, estimate, values)
        for truth, values in truths.items()
        for name, estimate in of_the_process(records).items()
    ]


def ranked(x: FloatArray, y: FloatArray) -> dict[str, float]:
    """Spearman's correlation with its interval and the number of records."""
    return {**rank_correlation(x, y), "n": len(x)}


def by_value(x: FloatArray, y: FloatArray) -> dict[str, float]:
    """Pearson's in the same way."""
    return {**correlation(x, y), "n": len(x)}


def over_sets(sets: xr.Dataset) -> pd.DataFrame:
    """What the process says on each of several training sets, by scaling, kernel and depth."""
    rows = []
    for inputs in dict.fromkeys(sets["inputs"].values):
        scaled = sets.isel(case=np.flatnonzero(sets["inputs"].values == inputs))
        for i in range(sets.sizes["training_set"]):
            part = scaled.isel(training_set=i)
            rows += _on_one(part, {"inputs": str(inputs), "training_set": i + 1})
    return pd.DataFrame(rows)


def over_sets_said(table: pd.DataFrame) -> str:
    """The range over training sets, depths and kernels of each rank correlation."""
    parts, raw = [], table[table["inputs"] == "raw"]
    for metric in (OF_KL, OF_MEAN):
        value = raw.loc[raw["metric"] == metric, "value"]
        parts.append(f"{metric}: {value.min():.3f} to {value.max():.3f}")
    more = raw[raw["metric"] == MORE]
    shares = []
    for name, deviation in RELEASED.items():
        value = more.loc[more["kernel"].map(family_of) == name, "value"]
        shares.append(f"{span(value)} at {deviation}")
    return (
        f"Rank correlations on raw pixels: {'; '.join(parts)}. GeLU leaks more for this share of "
        f"records, by depth and training set: {', '.join(shares)}."
    )


def _on_one(part: xr.Dataset, where: dict[str, Any]) -> list[dict[str, Any]]:
    by_case = {str(case): measures.contrast(part, case) for case in part["case"].values}
    rows = []
    for case, own in by_case.items():
        key, activation = {**where, "kernel": case}, family_of(case)
        if activation != WIDE:
            rows += _of_measures(key, own, measures.uniform(part, case))
        if activation in RELEASED:
            relu = by_case[RELU + case.removeprefix(activation)]
            rows += _beside_relu(key, own.kl(), relu.kl())
    for name in RELEASED if where["inputs"] == "raw" else ():
        deep, shallow = (
            np.log(by_case[kernel_name(name, depth)].kl() / by_case[kernel_name(RELU, depth)].kl())
            for depth in (10, 2)
        )
        key = {**where, "kernel": f"{name}, {GROWTH}"}
        rows.append({**key, "metric": LOG_RATIO, **_mean(deep - shallow)})
        # The sign of a gap says whose it is, its size how large.
        sizes = [np.sign(ratio.mean()) * ratio for ratio in (deep, shallow)]
        rows.append({**key, "metric": GAP, **_mean(sizes[0] - sizes[1])})
    return rows


def _of_measures(
    key: dict[str, Any], own: lood.Contrast, noise: lood.Contrast
) -> list[dict[str, Any]]:
    """How KL and the mean distance go with the AUC, over records and uniform noise."""
    kl, mean, auc = (
        np.concatenate(pair)
        for pair in (
            (own.kl(), noise.kl()),
            (own.mean_distance, noise.mean_distance),
            (own.auc(), noise.auc()),
        )
    )
    numbers = {
        OF_KL: ranked(own.kl(), own.auc()),
        OF_MEAN: ranked(mean, auc),
        KL_BY_VALUE: by_value(kl, auc),
        MEAN_BY_VALUE: by_value(mean, auc),
        LEAD: lead(kl, mean, auc),
        OF_RECORDS: lead(own.kl(), own.mean_distance, own.auc()),
        OF_NOISE: lead(noise.kl(), noise.mean_distance, noise.auc()),
        APART: _at_like_distance(own, noise),
    }
    return [{**key, "metric": metric, **row} for metric, row in numbers.items()]


def lead(
    kl: FloatArray, mean: FloatArray, auc: FloatArray, *, by_rank: bool = True
) -> dict[str, float]:
    """Difference of two correlations with the same numbers; records are resampled.

    Resamples in which one of the numbers is the same throughout have no correlation: left out.
    """
    chosen = np.random.default_rng(0).integers(len(kl), size=(RESAMPLED, len(kl)))
    drawn = [numbers[chosen] for numbers in (kl, mean, auc)]
    ranks = [rankdata(numbers, axis=1) for numbers in drawn] if by_rank else drawn
    varies = np.all([np.ptp(numbers, axis=1) > 0 for numbers in ranks], axis=0)
    centred = [numbers[varies] - numbers[varies].mean(axis=1, keepdims=True) for numbers in ranks]
    unit = [numbers / np.linalg.norm(numbers, axis=1, keepdims=True) for numbers in centred]
    spread = ((unit[0] - unit[1]) * unit[2]).sum(axis=1).std(ddof=1)
    of = ranked if by_rank else correlation
    value = of(kl, auc)["value"] - of(mean, auc)["value"]
    return _normal(value, float(spread), len(kl))


def _normal(value: float, error: float, n: int) -> dict[str, float]:
    half = float(norm.ppf(0.975)) * error
    ends = {"low": value - half, "high": value + half}
    return {"value": value, **ends, "n": n, "standard_error": error}


def _at_like_distance(own: lood.Contrast, noise: lood.Contrast) -> dict[str, float]:
    """By how much the AUC of noise exceeds that of the records nearest to it by mean distance."""
    place, auc = np.log(own.mean_distance), own.auc()
    off = np.abs(np.log(noise.mean_distance)[:, None] - place)
    near = np.argsort(off, axis=1, kind="stable")[:, :ALIKE]
    return _mean(noise.auc() - auc[near].mean(axis=1))


def _beside_relu(key: dict[str, Any], gelu: FloatArray, relu: FloatArray) -> list[dict[str, Any]]:
    return [
        {**key, "metric": MORE, **measures.share(gelu > relu)},
        {**key, "metric": LOG_RATIO, **_mean(np.log(gelu / relu))},
    ]


def _mean(values: FloatArray) -> dict[str, float]:
    return _normal(float(values.mean()), float(sem(values)), len(values))


def figure_6(records: xr.Dataset) -> pd.DataFrame:
    """Mean distance and KL against the AUC of the best attack, on the process (Figure 6).

    Differing records are training records under two kernels, and pictures of uniform noise with
    random labels added to them.
    """
    shown = np.arange(records.sizes["record"])[:MOST_RECORDS]
    noise = measures.uniform(records)
    cases: list[tuple[str, lood.Contrast, np.ndarray]] = [
        (RECORDS, measures.contrast(records), shown),
        ("RBF, records", measures.contrast(records, "RBF"), shown),
        ("NNGP, uniform noise", noise, np.arange(len(noise.mean_distance))),
    ]
    parts = [
        points(panel, name, rows, x[rows], process.auc()[rows])
        for name, process, rows in cases
        for panel, x in (("mean distance", process.mean_distance), ("KL", process.kl()))
    ]
    return pd.concat(parts, ignore_index=True).drop(columns=["low", "high"])


def figure_6_said(table: pd.DataFrame) -> str:
    """Figure 6: how much the attack may know where either measure is small."""
    most = {}
    for panel in ("mean distance", "KL"):
        part = table[(table["panel"] == panel) & (table["series"] == RECORDS)]
        most[panel] = part.loc[part["x"] < part["x"].median(), "y"].max()
    return (
        "The largest AUC among the half of records with the smallest mean distance is "
        f"{most['mean distance']:.2f}; with the smallest KL, {most['KL']:.2f}."
    )


def leakage_map(records: xr.Dataset) -> pd.DataFrame:
    """All records of each class in the order of their leakage (Control 4)."""
    process = measures.contrast(records)
    kl, auc, other = process.kl(), process.auc(), measures.contrast(records, "RBF").kl()
    names = CLASS_NAMES.get(records.attrs["set"], ("first class", "second class"))
    levels = dict(zip(records["shown"].values.tolist(), records["level"].values, strict=True))
    rows = []
    for label in range(records.attrs["outputs"]):
        members = np.flatnonzero(records["label"].values == label)
        order = members[np.argsort(-kl[members], kind="stable")].tolist()
        for rank, record in enumerate(order):
            place = min(rank, len(order) - 1 - rank)
            end = "most" if rank < len(order) / 2 else "least"
            row = f"{end} exposed, {'first' if label == 0 else 'second'} class"
            key = {"row": row, "column": place + 1, "text": f"{kl[record]:.2g}", "class": label}
            key |= {"label": names[label], "rank": rank + 1, "record": record}
            key |= {"kl": kl[record], "mean_distance": process.mean_distance[record]}
            key |= {"auc": auc[record], "kl_rbf": other[record]}
            rows.append({**key, **cells(levels[record] if place < SHOWN else None)})
    return pd.DataFrame(rows)


def one_by_one(table: pd.DataFrame) -> pd.DataFrame:
    """The records of the map by every measure, for those who look at them one by one."""
    measures = {
        "kl": "KL",
        "mean_distance": "mean distance",
        "auc": "AUC of the best attack",
        "kl_rbf": "KL under the RBF kernel",
    }
    label = table["label"] + ", record " + table["record"].astype(str)
    shown = table.assign(group="all records", label=label)
    return shown[["group", "label", "shape", "pixels", *measures]].rename(columns=measures)


def points(
    panel: str, series: str, record: np.ndarray, x: FloatArray, y: FloatArray
) -> pd.DataFrame:
    """Rows of a scatter plot."""
    columns = {"panel": panel, "series": series, "record": record, "x": x, "y": y}
    return pd.DataFrame({**columns, "low": y, "high": y})
