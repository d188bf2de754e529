"""Table 1's features at penalties from strong to weak, which move the gap and the accuracies."""

from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from joblib import delayed
from threadpoolctl import threadpool_limits

from membership import attacks, evidence, limits, metrics, processes
from membership.exhibits.tidy import tidy
from membership.studies.bayes_optimal import gather, logistic
from membership.studies.bayes_optimal.features import Features, two_classes
from membership.studies.bayes_optimal.logistic_model import fit
from membership.studies.bayes_optimal.names import ACCURACY, AUC, LIKE_PRINT, TRAIN, VALIDATION

SPLITS = 20
INVERSE_PENALTIES = np.logspace(-3.5, 0, 8)
# Above it, all members of the smaller sizes are right, and the gap stands still.
MOST_DRAWN = 0.1
# Names of the evidence's numbers, by attack and metric.
NUMBERS = {
    ("(model)", TRAIN): "train",
    ("(model)", VALIDATION): "validation",
    ("0-1", ACCURACY): "zero_one",
    ("MALT", ACCURACY): "malt",
    ("MALT", AUC): "malt_auc",
    ("MATT", ACCURACY): "matt",
    ("MATT", AUC): "matt_auc",
}


def measured(settings: Any) -> xr.Dataset:
    """Accuracies and attacks of every size, penalty and split; see `_one_split` for the numbers."""
    features = two_classes(settings)
    splits = min(SPLITS, settings.n_repeats)
    shape = (len(settings.n_records), len(INVERSE_PENALTIES), splits)
    workers = processes.workers(limits.cores(settings.n_jobs))
    with threadpool_limits(limits=1, user_api="blas"):
        found = workers(
            delayed(_one_split)(features, n, repeat, c, settings.seed)
            for n in settings.n_records
            for c in INVERSE_PENALTIES
            for repeat in range(splits)
        )
    dims = ("size", "inverse_penalty", "split")
    return evidence.dataset(
        "measured",
        {name: (dims, np.reshape([one[name] for one in found], shape)) for name in found[0]},
        {"size": list(settings.n_records), "inverse_penalty": INVERSE_PENALTIES},
        set=features.setup["data"],
        data=features.digests,
        recipe=features.setup.get("recipe", {}),
        deviations=[*features.deviations, f"{splits} random splits (the paper: 100)"],
        seed=settings.seed,
        device=features.device,
    )


def _one_split(
    features: Features, n: int, repeat: int, inverse_penalty: float, seed: int
) -> dict[str, float]:
    """Accuracies, at the best threshold of either attack, and AUCs; all in percent."""
    members, outside, reserve, _ = gather.split(len(features.y), n, repeat, seed)
    x, y = features.x, features.y
    target, theta0 = (fit(x[rows], y[rows], inverse_penalty) for rows in (members, reserve))
    queried = np.concatenate([members, outside])
    odds, start = (one.log_odds(x[queried], y[queried]) for one in (target, theta0))
    member, correct = np.arange(n) < n // 2, odds > 0
    malt, matt = attacks.malt(np.logaddexp(0, -odds)), attacks.matt_from_log_odds(odds, start)
    zero_one = attacks.zero_one(correct)
    found = {
        "train": correct[member].mean(),
        "validation": correct[~member].mean(),
        "zero_one": metrics.balanced_accuracy(zero_one, member, threshold=0.5),
        "malt": metrics.balanced_accuracy(malt, member),
        "malt_auc": metrics.auc(malt, member),
        "matt": metrics.balanced_accuracy(matt, member),
        "matt_auc": metrics.auc(matt, member),
    }
    return {name: 100 * float(value) for name, value in found.items()}


def by_penalty(one: xr.Dataset) -> pd.DataFrame:
    """Every number by n and C, with the model's gap beside it, and at the gap that was printed.

    Parameters
    ----------
    one : xarray.Dataset
        Evidence of `measured`.

    Returns
    -------
    pandas.DataFrame
        Columns n, C, gap (points), attack, metric and those of `membership.metrics.summary`. On the
        paper's data the first rows are at the C whose gap is the printed one: numbers of each split
        are interpolated between the two nearest C, linearly in the mean gap.
    """
    rows, beside, printed = [], [], _printed() if is_the_papers(one) else {}
    for n in one["size"].values:
        each = {key: one[name].sel(size=n).values for key, name in NUMBERS.items()}
        for metric in (AUC, ACCURACY):
            each["MATT less MALT", metric] = each["MATT", metric] - each["MALT", metric]
        gap = (each["(model)", TRAIN] - each["(model)", VALIDATION]).mean(axis=1)
        for place, c in enumerate(one["inverse_penalty"].values):
            own = {"n": int(n), "C": f"{c:.2g}", "gap": float(gap[place])}
            rows += _rows(own, {key: values[place] for key, values in each.items()})
        if n in printed and (weights := _between(gap, printed[n]["gap"])) is not None:
            own = {"n": int(n), "C": LIKE_PRINT, "gap": printed[n]["gap"]}
            there = {key: weights @ values for key, values in each.items()}
            for key, value in printed[n].items():
                if key != "gap":
                    there[f"{key[0]} less print", key[1]] = there[key] - value
            beside += _rows(own, there)
    attrs = {key: one.attrs[key] for key in ("data", "deviations", "device")}
    sizes = {"Random splits a size and C": f"{one.sizes['split']} (paper: 100 a size)"}
    return tidy([*beside, *rows], attrs | {"sizes": sizes, "is_the_papers": is_the_papers(one)})


def is_the_papers(one: xr.Dataset) -> bool:
    """Whether the records are those of the paper."""
    return one.attrs["set"] == "CIFAR-10 trucks and ships"


def drawn(table: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame | None]:
    """Both attacks' accuracies, a series an n, and where the data are the paper's the printed."""
    shown = table[(table["metric"] == ACCURACY) & table["attack"].isin(["MALT", "MATT"])]
    shown = _named(shown[pd.to_numeric(shown["C"], errors="coerce") <= MOST_DRAWN])
    if not table.attrs.get("is_the_papers"):
        return shown, None
    points = [
        {"n": n, "gap": one["gap"], "attack": attack, "value": one[attack, ACCURACY]}
        for n, one in _printed().items()
        for attack in ("MALT", "MATT")
    ]
    return shown, _named(pd.DataFrame(points))


def _named(table: pd.DataFrame) -> pd.DataFrame:
    panel = table["attack"] + " accuracy (%)"
    return table.assign(panel=panel, size="n = " + table["n"].astype(str))


def _printed() -> dict[int, dict]:
    """Table 1's accuracies by n, by attack and metric, and the gap between the model's."""
    table = logistic.published_table_1()
    table = table[table["metric"].isin([TRAIN, VALIDATION, ACCURACY])]
    found = {}
    for n, part in table.groupby("n"):
        one = part.set_index(["attack", "metric"])["value"].to_dict()
        gap = one["(model)", TRAIN] - one["(model)", VALIDATION]
        found[int(n)] = one | {"gap": round(gap, 1)}
    return found


def _between(gap: np.ndarray, asked: float) -> np.ndarray | None:
    """Weights of the penalties that have this gap between them, None where no two have."""
    for low in range(len(gap) - 1, 0, -1):
        below, above = gap[low - 1], gap[low]
        if below <= asked <= above:
            part = (asked - below) / (above - below)
            return (1 - part) * np.eye(len(gap))[low - 1] + part * np.eye(len(gap))[low]
    return None


def _rows(own: dict, values: dict) -> list[dict]:
    return [
        own | {"attack": attack, "metric": metric} | metrics.summary(value)
        for (attack, metric), value in values.items()
    ]
