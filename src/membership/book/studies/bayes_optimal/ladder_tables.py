"""Attack accuracy against the model's own gap, by features and by penalty; what vanishes with n."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from membership import metrics, plots
from membership.arrays import FloatArray
from membership.book.exhibits.rows import of_each, of_error
from membership.book.exhibits.sentences import each
from membership.book.exhibits.tidy import tidy
from membership.book.studies.bayes_optimal import logistic
from membership.book.studies.bayes_optimal.names import (
    ACCURACY,
    AUC,
    LEADS,
    LIKE_PRINT,
    OF_SLOPES,
    ONE_PENALTY,
    RATIO,
    SHIPS,
    SLOPE,
    TABLE_1,
    TRAIN,
    VALIDATION,
    of_splits,
)
from membership.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Above it, all members of the smaller sizes are right, and the gap stands still.
MOST_DRAWN = 0.1
GAP = "training less validation accuracy (points)"
HONEST = "attack_accuracy_reference_threshold(%)"
PRINTED = "printed in Table 1"
# What Table 1's features are called in a run that trains no network for them.
OWN = "Table 1's features"
# Names of the evidence's numbers, by attack and metric.
NUMBERS = {
    ("(model)", TRAIN): "train",
    ("(model)", VALIDATION): "validation",
    ("0-1", ACCURACY): "zero_one",
    ("MALT", ACCURACY): "malt",
    ("MALT", HONEST): "malt_reference",
    ("MALT", AUC): "malt_auc",
    ("MATT", ACCURACY): "matt",
    ("MATT", AUC): "matt_auc",
}
PAIRS = {
    ("MATT less MALT", AUC): ("matt_auc", "malt_auc"),
    ("MATT less MALT", ACCURACY): ("matt", "malt"),
    ("MALT less 0-1", HONEST): ("malt_reference", "zero_one"),
}


def against_gap(measured: xr.Dataset, trials: pd.DataFrame) -> pd.DataFrame:
    """Accuracies and paired differences by features and n, with the model's gap beside each.

    Parameters
    ----------
    measured : xarray.Dataset
        Evidence of `ladder.by_features`.
    trials : pandas.DataFrame
        Measurements behind Table 1, whose own features are one of the rungs.
    """
    rows = []
    own = TABLE_1 if TABLE_1 in measured["rung"].values else OWN
    for rung in measured["rung"].values:
        if rung == TABLE_1:
            continue  # Table 1's own splits, below, are more.
        for n in measured["size"].values:
            splits = measured.sel(rung=rung, size=n)
            values = {key: splits[name].values for key, name in NUMBERS.items() if key[1] != AUC}
            values |= {key: splits[a].values - splits[b].values for key, (a, b) in PAIRS.items()}
            rows += _rows({"features": str(rung), "n": int(n)}, values)
    for n in sorted(trials["n"].unique()):
        values = {key: _values(trials, n, *key) for key in NUMBERS if key[1] not in (HONEST, AUC)}
        for metric in (AUC, ACCURACY):
            pair = (("MATT", metric), ("MALT", metric))
            values["MATT less MALT", metric] = logistic.paired(trials, n, *pair)
        rows += _rows({"features": own, "n": int(n)}, values)
    return tidy(rows, _attrs(measured, trials))


def against_gap_drawn(table: pd.DataFrame) -> "Figure":
    """Control 10: accuracy against the model's own gap, by features; on its data the print."""
    shown = table[(table["metric"] == ACCURACY) & table["attack"].isin(["MALT", "MATT"])]
    if table.attrs.get("is_the_papers"):
        printed = _printed_points()
        exact = {"features": PRINTED, "low": printed["value"], "high": printed["value"]}
        shown = pd.concat([shown, printed.assign(**exact)], ignore_index=True)
    shown = shown.assign(attack=shown["attack"] + " accuracy (%)")
    return plots.lines_with_intervals(
        shown.sort_values("gap", kind="stable"),
        "gap",
        by="features",
        panel="attack",
        log_x=bool((shown["gap"] > 0).all()),
        same_scale=True,
        x_label=GAP,
    )


def powers(measured: xr.Dataset, trials: pd.DataFrame) -> pd.DataFrame:
    """How fast the second-order term and MATT's lead vanish: slopes of logarithms over log n.

    The first rows of a kind of features are the spread of the second-order term over the
    first-order one's at one C for all n, and its slope, a number a split; then MATT's lead at that
    C. The others are slopes of the mean lead, with the error that its means give it: at the C
    chosen for each n, and at the one C. Where a mean is not above 0 there is none.
    """
    rows = []
    for rung in measured["rung"].values:
        ratios = measured["fixed_ratio"].sel(rung=rung)
        if not np.isfinite(ratios).all():
            continue
        own = {"features": str(rung)}
        for n in ratios["size"].values:
            key = own | {"quantity": RATIO, "n": str(n)}
            rows.append(key | metrics.summary(ratios.sel(size=n).values))
        if ratios.sizes["size"] > 1:
            key = own | {"quantity": f"{RATIO}, {SLOPE}", "n": "all"}
            rows.append(key | metrics.summary(slopes(ratios)))
    leads = against_gap(measured, trials)
    rows += _lead_slopes(leads[leads["attack"] == "MATT less MALT"], "")
    same = _at_one_penalty(measured)
    rows += [
        {"features": row["features"], "quantity": f"{LEADS[row['metric']]}, {ONE_PENALTY}"}
        | {"n": str(row["n"])}
        | {key: row[key] for key in metrics.exactly(0.0)}
        for row in same.to_dict("records")
    ]
    rows += _lead_slopes(same, f", {ONE_PENALTY}")
    attrs = _attrs(measured, trials)
    if attrs["is_the_papers"]:
        key = {"features": PRINTED, "quantity": f"{LEADS[ACCURACY]}, {SLOPE}", "n": "all"}
        rows.append(key | printed_slope())
    return tidy(rows, attrs)


def powers_drawn(table: pd.DataFrame) -> "Figure":
    """Control 11: the slopes; of one size alone, what there is at it."""
    slopes = table[table["quantity"].isin(OF_SLOPES)]
    if slopes.empty:
        ratios = table[table["quantity"] == RATIO].astype({"n": int})
        label = "second-order over first-order term"
        return plots.lines_with_intervals(ratios, "n", by="features", y_label=label)
    shown = slopes.assign(quantity=slopes["quantity"].map(OF_SLOPES))
    label = "exponent of n (line: -1/2)"
    return plots.dots_by_row(shown, "quantity", by="features", label=label, baseline=-0.5)


def powers_said(table: pd.DataFrame) -> str:
    """The slope of the accuracy's lead on the last kind of features, and the printed one."""
    name = LEADS[ACCURACY]
    rows = table[table["quantity"] == f"{name}, {SLOPE}"]
    printed, fitted = rows[rows["low"] == rows["high"]], rows[rows["low"] < rows["high"]]
    last = each(fitted[-1:], "features", "{slope:.2f} ({features})", slope={})
    alone = each(printed, "features", "{slope:.2f} {features}", between=", ", slope={})
    exponents = ", ".join(filter(None, (last, alone)))
    return f"MATT's lead in accuracy goes with n to the power of {exponents}." if exponents else ""


def _lead_slopes(leads: pd.DataFrame, condition: str) -> list[dict]:
    rows = []
    for (features, metric), part in leads.groupby(["features", "metric"], sort=False):
        if len(part) > 1 and (part["value"] > 0).all():
            quantity = f"{LEADS[metric]}{condition}, {SLOPE}"
            key = {"features": features, "quantity": quantity, "n": "all"}
            rows.append(key | lead_slope(part))
    return rows


def _at_one_penalty(measured: xr.Dataset) -> pd.DataFrame:
    """MATT's lead by n at one C: columns as `against_gap` has them."""
    rows = []
    for rung in measured["rung"].values:
        for n in measured["size"].values:
            splits = measured.sel(rung=rung, size=n)
            for metric, end in ((AUC, "_auc"), (ACCURACY, "")):
                leads = splits[f"fixed_matt{end}"].values - splits[f"fixed_malt{end}"].values
                key = {"features": str(rung), "n": int(n), "metric": metric}
                rows.append(key | metrics.summary(leads))
    return pd.DataFrame(rows)


def printed_slope() -> dict:
    """That of the lead between the printed accuracies, which come without errors."""
    wide = _printed_points().pivot_table(index="n", columns="attack", values="value")
    lead = np.log(wide["MATT"] - wide["MALT"])
    return metrics.exactly(float(np.polyfit(np.log(lead.index.to_numpy(float)), lead, 1)[0]))


def lead_slope(part: pd.DataFrame) -> dict:
    """The least-squares slope of the logarithm of a mean over log n, by the delta method."""
    x = np.log(part["n"].to_numpy(float))
    weight = (x - x.mean()) / ((x - x.mean()) ** 2).sum()
    value = float(weight @ np.log(part["value"]))
    error = float(np.sqrt(((weight * part["standard_error"] / part["value"]) ** 2).sum()))
    units, degrees = int(part["n_repeats"].min()), float(part["degrees_of_freedom"].min())
    return of_error(value, error, units, degrees)


def slopes(ratios: xr.DataArray) -> np.ndarray:
    """The least-squares slope of log ratio over log n, one a split."""
    x = np.log(ratios["size"].values.astype(float))
    return np.polyfit(x, np.log(ratios.transpose("size", "split").values), 1)[0]


def _values(trials: pd.DataFrame, n: int, attack: str, metric: str) -> np.ndarray:
    chosen = (trials["n"] == n) & (trials["attack"] == attack) & (trials["metric"] == metric)
    return trials[chosen].sort_values("repeat")["value"].to_numpy()


def _rows(own: dict[str, Any], values: dict[tuple[str, str], FloatArray]) -> list[dict]:
    gap = values["(model)", TRAIN].mean() - values["(model)", VALIDATION].mean()
    return of_each({**own, "gap": float(gap)}, ("attack", "metric"), values)


def _attrs(measured: xr.Dataset, trials: pd.DataFrame) -> dict:
    about = measured.attrs
    features = {f"Features: {k}": v for k, v in about["recipe"]["rungs"].items()}
    chosen = {
        f"C by n, {rung}": ", ".join(
            f"{c:.3g}" for c in measured["inverse_penalty"].sel(rung=rung).values
        )
        for rung in measured["rung"].values
    }
    splits = f"{measured.sizes['split']} (Table 1's network: {trials['repeat'].nunique()})"
    data = dict(about["data"]) | dict(trials.attrs["data"])
    return {
        "data": data,
        "deviations": [
            "features of other models, beside those of Table 1 (the paper: of one ResNet-18)",
            of_splits(measured.sizes["split"]),
        ],
        "device": about["device"],
        "sizes": {"Random splits a size": splits} | features | chosen,
        "is_the_papers": is_the_papers(measured),
    }


def by_penalty(measured: xr.Dataset) -> pd.DataFrame:
    """Every number by n and C, with the model's gap beside it, and at the gap that was printed.

    Parameters
    ----------
    measured : xarray.Dataset
        Evidence of `ladder.by_penalty`.

    Returns
    -------
    pandas.DataFrame
        Columns n, C, gap (points), attack, metric and those of `membership.metrics.summary`. On the
        paper's data the first rows are at the C whose gap is the printed one: numbers of each split
        are interpolated between the two nearest C, linearly in the mean gap.
    """
    rows, beside, printed = [], [], _printed() if is_the_papers(measured) else {}
    numbers = {key: name for key, name in NUMBERS.items() if key[1] != HONEST}
    for n in map(int, measured["size"].values):
        by_metric = {key: measured[name].sel(size=n).values for key, name in numbers.items()}
        for metric in (AUC, ACCURACY):
            by_metric["MATT less MALT", metric] = (
                by_metric["MATT", metric] - by_metric["MALT", metric]
            )
        gap = (by_metric["(model)", TRAIN] - by_metric["(model)", VALIDATION]).mean(axis=1)
        for place, c in enumerate(measured["inverse_penalty"].values):
            key = {"n": n, "C": f"{c:.2g}", "gap": float(gap[place])}
            own = {name: values[place] for name, values in by_metric.items()}
            rows += of_each(key, ("attack", "metric"), own)
        if n in printed and (weights := _between(gap, printed[n]["gap"])) is not None:
            there = {key: weights @ values for key, values in by_metric.items()}
            for (attack, metric), value in printed[n]["numbers"].items():
                there[f"{attack} less print", metric] = there[attack, metric] - value
            key = {"n": n, "C": LIKE_PRINT, "gap": printed[n]["gap"]}
            beside += of_each(key, ("attack", "metric"), there)
    attrs = {key: measured.attrs[key] for key in ("data", "deviations", "device")}
    sizes = {"Random splits a size and C": f"{measured.sizes['split']} (paper: 100 a size)"}
    return tidy(
        [*beside, *rows], attrs | {"sizes": sizes, "is_the_papers": is_the_papers(measured)}
    )


def is_the_papers(measured: xr.Dataset) -> bool:
    """Whether the records are those of the paper."""
    return measured.attrs["set"] == SHIPS


def by_penalty_drawn(table: pd.DataFrame) -> "Figure":
    """Control 16: accuracy against the model's own gap, by penalty; on its data the print."""
    shown = table[(table["metric"] == ACCURACY) & table["attack"].isin(["MALT", "MATT"])]
    shown = shown[pd.to_numeric(shown["C"], errors="coerce") <= MOST_DRAWN]
    return plots.lines_with_intervals(
        _named(shown),
        "gap",
        by="size",
        panel="panel",
        published=_named(_printed_points()) if table.attrs.get("is_the_papers") else None,
        same_scale=True,
        x_label=GAP,
    )


def by_penalty_said(table: pd.DataFrame) -> str:
    """Both attacks at the least n: at the printed gap, and from the strongest penalty on."""
    n = table["n"].min()
    rows = table[(table["n"] == n) & (table["metric"] == ACCURACY)]
    there = each(
        rows[rows["C"] == LIKE_PRINT],
        (),
        f"At n = {n:,} and the printed gap MALT has {{malt:.1f}}%, {{malt_less:+.1f}} points from "
        "the print, and MATT {matt:.1f}%, {matt_less:+.1f}. ",
        malt={"attack": "MALT"},
        matt={"attack": "MATT"},
        malt_less={"attack": "MALT less print"},
        matt_less={"attack": "MATT less print"},
    )
    first, *_, last = dict.fromkeys(rows["C"][rows["C"] != LIKE_PRINT])
    goes = "{0} goes from {{first_{0}:.1f}}% to {{last_{0}:.1f}}%".format
    return each(
        rows,
        (),
        f"{there}From C = {first} to C = {last} {goes('MALT')} and {goes('MATT')}.",
        first_MALT={"C": first, "attack": "MALT"},
        last_MALT={"C": last, "attack": "MALT"},
        first_MATT={"C": first, "attack": "MATT"},
        last_MATT={"C": last, "attack": "MATT"},
    )


def _named(table: pd.DataFrame) -> pd.DataFrame:
    panel = table["attack"] + " accuracy (%)"
    return table.assign(panel=panel, size="n = " + table["n"].astype(str))


def _printed_points() -> pd.DataFrame:
    """Both attacks' printed accuracies beside the printed gap: n, gap, attack, value."""
    return pd.DataFrame(
        [
            {"n": n, "gap": row["gap"], "attack": attack, "value": row["numbers"][attack, ACCURACY]}
            for n, row in _printed().items()
            for attack in ("MALT", "MATT")
        ]
    )


def _printed() -> dict[int, dict]:
    """Table 1's accuracies by n, by attack and metric, and the gap between the model's."""
    table = logistic.published_table_1()
    table = table[table["metric"].isin([TRAIN, VALIDATION, ACCURACY])]
    printed = {}
    for n, part in table.groupby("n"):
        numbers = part.set_index(["attack", "metric"])["value"].to_dict()
        gap = numbers["(model)", TRAIN] - numbers["(model)", VALIDATION]
        printed[int(n)] = {"gap": round(gap, 1), "numbers": numbers}
    return printed


def _between(gap: np.ndarray, target: float) -> np.ndarray | None:
    """Weights of the penalties that have this gap between them, None where no two have."""
    for low in range(len(gap) - 1, 0, -1):
        below, above = gap[low - 1], gap[low]
        if below <= target <= above:
            part = (target - below) / (above - below)
            return (1 - part) * np.eye(len(gap))[low - 1] + part * np.eye(len(gap))[low]
    return None


def table_3(_: xr.Dataset) -> pd.DataFrame:
    """Refused: the paper's recipe for ImageNet makes it."""
    raise InputError(
        "Table 3 is trained by `python -m recipes.imagenet --root FOLDER` in a clone, not by this "
        "chapter; see the page of its recipe"
    )
