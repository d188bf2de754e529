"""Whose 5% threshold do retrained models exceed 5% of the time? Control 14."""

from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binom, norm

from membership import metrics
from membership.arrays import FloatArray
from membership.exhibits.tidy import tidy
from membership.studies.bmia import names
from membership.studies.bmia.seen import Seen, origin
from membership.studies.bmia.summaries import percent

ALPHA, LIRA = 0.05, 8
BMIA, MARGINAL = "BMIA", "marginal (Attack-P)"
QMIA, QUANTILES = "QMIA, normal", "QMIA, quantiles"
DIFFERENCE = "plain difference"
FLOOR = "an exact 5% threshold"
OFF = "mean |true rate - 5%| (points)"
TRUE = "mean true rate (%)"
LESS_BMIA = f"{OFF}, less BMIA's"
MODELS, RECORDS = "Retrained models", "Non-members of each target"


def read_many(source: Any) -> Seen:
    """The last data set with its many references."""
    files = names.of_last(names.MANY, source.settings)
    return Seen(*(source.evidence(name) for name in files))


def control_14(source: Any) -> pd.DataFrame:
    """How often retrained models exceed each attack's 5% threshold for a record (Control 14).

    The models are the references that the threshold was not made from; none was trained on the
    record. Means are over each target's non-members, intervals over targets.
    """
    seen = read_many(source)
    [name] = names.of_last((names.QUANTILES,), source.settings)
    regressed = source.evidence(name)["threshold"].values.astype(float)
    found: dict[str, list[tuple[float, float, float]]] = {}
    for target in seen.targets:
        models, rows = seen.references(target, seen.n_reference), ~seen.member[target]
        laws = thresholds(seen, target, regressed[target])
        ours = laws[BMIA][0]
        for name, (level, used) in laws.items():
            asked = seen.hinge[models[used:]][:, rows]
            off, true = _rates(asked, level[rows])
            # Both by the same models: with fewer of them any threshold seems further off.
            less = off - _rates(asked, ours[rows])[0]
            found.setdefault(name, []).append((off, true, less))
    listed = [one for name, each in found.items() for one in _rows(seen.label, name, each)]
    n = seen.n_reference - 1
    listed.append({"dataset": seen.label, "threshold": FLOOR, "metric": OFF, **_exact(n)})
    attrs = origin([seen])
    count = min(int((~seen.member[target]).sum()) for target in seen.targets)
    more = {MODELS: str(n), RECORDS: f"{count:,}"}
    return tidy(listed, {**attrs, "sizes": {**attrs["sizes"], **more}})


def thresholds(seen: Seen, target: int, regressed: FloatArray) -> dict[str, tuple[FloatArray, int]]:
    """Each attack's 5% threshold for every query, and how many references it is made from.

    BMIA's reference is left out of the truth in any case.
    """
    first, held = seen.first(target), seen.outputs["held_hinge"].values.astype(float)
    few = min(LIRA, seen.n_reference // 2)
    several = seen.hinge[seen.references(target, few)]
    # What one plain reference gives: its hinge, and one quantile of the gap for all records.
    gap = np.quantile(held[target] - held[first], 1 - ALPHA)
    everyone = np.ones(seen.hinge.shape[1])
    return {
        BMIA: (_normal(*seen.moments(first)), 1),
        DIFFERENCE: (seen.hinge[first] + gap, 1),
        f"LiRA (n={few})": (_normal(several.mean(axis=0), several.std(axis=0, ddof=1)), few),
        QMIA: (_normal(*seen.moments(target, "qmia")), 1),
        QUANTILES: (regressed, 1),
        MARGINAL: (np.quantile(held[target], 1 - ALPHA) * everyone, 1),
    }


def _normal(mean: FloatArray, sd: FloatArray) -> FloatArray:
    return mean + norm.isf(ALPHA) * sd


def _rates(hinge: FloatArray, level: FloatArray) -> tuple[float, float]:
    """How far from 5% models are at or above a level, record by record, and how often at all."""
    true = (hinge >= level).mean(axis=0)
    return 100 * float(np.abs(true - ALPHA).mean()), 100 * float(true.mean())


def _rows(label: str, name: str, each: list[tuple[float, float, float]]) -> list[dict[str, Any]]:
    off, true, less = np.transpose(each)
    key = {"dataset": label, "threshold": name}
    found = [{**key, "metric": OFF, **percent(off)}, {**key, "metric": TRUE, **percent(true)}]
    if name != BMIA:
        found.append({**key, "metric": LESS_BMIA, **metrics.summary(less)})
    return found


def _exact(n: int) -> dict[str, float]:
    """How far off so many models make a threshold seem that each exceeds with probability 5%."""
    counts = np.arange(n + 1)
    least = 100 * float((binom.pmf(counts, n, ALPHA) * np.abs(counts / n - ALPHA)).sum())
    return {"value": least, "low": least, "high": least, "n_repeats": 1}
