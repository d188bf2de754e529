"""What attacks expect of one hard record, and whose 5% threshold is one for retrained models."""

from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy.stats import binom, norm

from membership import metrics
from membership.arrays import FloatArray
from membership.book.exhibits.tidy import origin, tidy
from membership.book.studies.bmia.scores import Seen, percent

POINTS = 201
ALPHA, LIRA = 0.05, 8
BMIA, MARGINAL = "BMIA", "marginal (Attack-P)"
QMIA, QUANTILES = "QMIA, normal", "QMIA, quantiles"
DIFFERENCE = "plain difference"
FLOOR, NOBODY = "an exact 5% threshold", "accuse nobody"
OFF = "mean |true rate - 5%| (points)"
TRUE = "mean true rate (%)"
LOSS = "pinball loss at 95%"
SHIFTED = f"{LOSS}, at a mean rate of 5%"
LESS_BMIA = {name: f"{name}, less BMIA's" for name in (OFF, LOSS, SHIFTED)}
MODELS, RECORDS = "Retrained models", "Non-members of each target"


def figure_2(datasets: list[Seen]) -> pd.DataFrame:
    """Predicted laws of one non-member's hinge, and the thresholds they give (Figure 2).

    The record is the first target's non-member whose hinge is the median of those above the 95%
    quantile of all its non-members; nothing else is looked at when choosing it. All laws are drawn
    as normal ones, and the thresholds are their quantiles, but for the marginal attack's: that is
    the quantile of the validation scores (Equation 7).
    """
    parts, notes = [], []
    for seen in datasets:
        target = seen.targets[0]
        hinge, non_members = seen.hinge[target], np.flatnonzero(~seen.member[target])
        above = _above(non_members, hinge[non_members])
        chosen = above[np.argsort(hinge[above], kind="stable")[len(above) // 2]]
        laws = _laws(seen)
        thresholds = {name: mean + norm.isf(ALPHA) * sd for name, (mean, sd) in laws.items()}
        # Equation 7 asks for a quantile of the scores, whatever their law.
        quantile = np.quantile(_held(seen), 1 - ALPHA)
        thresholds[MARGINAL] = np.full(len(hinge), quantile)
        reach = np.array(
            [(m[chosen] - 4 * s[chosen], m[chosen] + 4 * s[chosen]) for m, s in laws.values()]
        )
        grid = np.linspace(reach.min(), max(reach.max(), hinge[chosen] + 1), POINTS)
        called = []
        for name, (mean, sd) in laws.items():
            threshold = thresholds[name]
            parts.append(
                pd.DataFrame(
                    {
                        "dataset": seen.label,
                        "series": name,
                        "hinge": grid,
                        "density": norm.pdf(grid, mean[chosen], sd[chosen]),
                        "threshold": threshold[chosen],
                        "target": hinge[chosen],
                    }
                )
            )
            called.append(f"{name} {(hinge[above] > threshold[above]).mean():.0%}")
        notes.append(f"{seen.label}: {', '.join(called)} of {len(above)}")
    table = pd.concat(parts, ignore_index=True)
    words = "Called members at 5%, of all non-members above the 95% quantile"
    table.attrs = origin(datasets, note=f"{words}: {'; '.join(notes)}.")
    return table


def figure_2_described(table: pd.DataFrame) -> str:
    """Where each law of Figure 2 peaks, against the target's score."""
    texts = []
    for name, part in table.groupby("dataset", sort=False):
        peaks = [
            f"{series} near {law.loc[law['density'].idxmax(), 'hinge']:.0f}"
            for series, law in part.groupby("series", sort=False)
        ]
        texts.append(f"{name}: {', '.join(peaks)}, the target at {part['target'].iloc[0]:.0f}")
    return f"Densities of the hinge of one record, a panel a data set. Peaks: {'; '.join(texts)}."


def _above(non_members: np.ndarray, hinge: FloatArray) -> np.ndarray:
    """The non-members above the 95% quantile; those at it where the largest are all equal."""
    quantile = np.quantile(hinge, 1 - ALPHA)
    above = non_members[hinge > quantile]
    return above if len(above) else non_members[hinge >= quantile]


def _held(seen: Seen) -> FloatArray:
    """The first target's hinges of records that no model has seen."""
    return seen.outputs["held_hinge"].values[seen.targets[0]].astype(float)


def _laws(seen: Seen) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Mean and standard deviation that each attack predicts for every query's hinge."""
    target, n = seen.targets[0], seen.n_reference
    everyone, validation = np.ones(seen.hinge.shape[1]), _held(seen)
    references = seen.hinge[seen.references(target, n)]
    return {
        MARGINAL: (validation.mean() * everyone, validation.std(ddof=1) * everyone),
        "QMIA": seen.moments(target, "qmia"),
        f"LiRA (n={n})": (references.mean(axis=0), references.std(axis=0, ddof=1)),
        "BMIA": seen.moments(seen.first(target)),
    }


def control_14(many: list[Seen], quantiles: list[xr.Dataset]) -> pd.DataFrame:
    """How often retrained models exceed each attack's 5% threshold for a record (Control 14).

    The models are the references that the threshold was not made from; none was trained on the
    record. Means are over each target's non-members, intervals over targets. The distance of the
    true rate from 5% is what was fixed beforehand; it is 5 points, and so less than any attack's,
    for a threshold that nobody exceeds, since most records' true rate is 0. The pinball loss is
    smallest in expectation at the true quantile of each record.
    """
    (seen,) = many
    regressed = quantiles[0]["threshold"].values.astype(float)
    by_name: dict[str, list[dict[str, float]]] = {}
    for target in seen.targets:
        models, rows = seen.references(target, seen.n_reference), ~seen.member[target]
        laws = thresholds(seen, target, regressed[target])
        bmia = laws[BMIA][0][rows]
        for name, (level, used) in laws.items():
            retrained = seen.hinge[models[used:]][:, rows]
            measured = _measured(retrained, level[rows])
            if name != BMIA:
                # Both by the same models: with fewer of them any threshold seems further off.
                beside = _measured(retrained, bmia)
                measured |= {LESS_BMIA[key]: measured[key] - beside[key] for key in LESS_BMIA}
            by_name.setdefault(name, []).append(measured)
    listed = [
        row for name, by_target in by_name.items() for row in _rows(seen.label, name, by_target)
    ]
    n = seen.n_reference - 1
    listed.append({"dataset": seen.label, "threshold": FLOOR, "metric": OFF, **_exact(n)})
    nobody = {OFF: 100 * ALPHA, TRUE: 0.0}
    listed += [
        {"dataset": seen.label, "threshold": NOBODY, "metric": key, **_known(value)}
        for key, value in nobody.items()
    ]
    attrs = origin(many)
    count = min(int((~seen.member[target]).sum()) for target in seen.targets)
    more = {MODELS: str(n), RECORDS: f"{count:,}"}
    return tidy(listed, {**attrs, "sizes": {**attrs["sizes"], **more}})


def thresholds(seen: Seen, target: int, regressed: FloatArray) -> dict[str, tuple[FloatArray, int]]:
    """Each attack's 5% threshold for every query, and how many references it is made from.

    BMIA's reference is left out of the truth in any case.
    """
    first, held_hinge = seen.first(target), seen.outputs["held_hinge"].values.astype(float)
    few = min(LIRA, seen.n_reference // 2)
    several = seen.hinge[seen.references(target, few)]
    # What one plain reference gives: its hinge, and one quantile of the gap for all records.
    gap = np.quantile(held_hinge[target] - held_hinge[first], 1 - ALPHA)
    everyone = np.ones(seen.hinge.shape[1])
    return {
        BMIA: (_normal(*seen.moments(first)), 1),
        DIFFERENCE: (seen.hinge[first] + gap, 1),
        f"LiRA (n={few})": (_normal(several.mean(axis=0), several.std(axis=0, ddof=1)), few),
        QMIA: (_normal(*seen.moments(target, "qmia")), 1),
        QUANTILES: (regressed, 1),
        MARGINAL: (np.quantile(held_hinge[target], 1 - ALPHA) * everyone, 1),
    }


def _normal(mean: FloatArray, sd: FloatArray) -> FloatArray:
    return mean + norm.isf(ALPHA) * sd


def _measured(hinge: FloatArray, level: FloatArray) -> dict[str, float]:
    """How models (rows) exceed records' levels, and the same once all levels are moved alike."""
    true = (hinge >= level).mean(axis=0)
    above = hinge - level
    return {
        OFF: 100 * float(np.abs(true - ALPHA).mean()),
        TRUE: 100 * float(true.mean()),
        LOSS: _pinball(above),
        SHIFTED: _pinball(above - np.quantile(above, 1 - ALPHA)),
    }


def _pinball(above: FloatArray) -> float:
    """The loss of a quantile at 1 - ALPHA, by how far what it predicts lies above it."""
    return float(np.where(above >= 0, (1 - ALPHA) * above, -ALPHA * above).mean())


def _rows(label: str, name: str, by_target: list[dict[str, float]]) -> list[dict[str, Any]]:
    over = {key: [target[key] for target in by_target] for key in by_target[0]}
    key = {"dataset": label, "threshold": name}
    return [
        {**key, "metric": metric, **(percent if metric in (OFF, TRUE) else metrics.summary)(values)}
        for metric, values in over.items()
    ]


def _exact(n: int) -> dict[str, float]:
    """How far off so many models make a threshold seem that each exceeds with probability 5%."""
    counts = np.arange(n + 1)
    return _known(100 * float((binom.pmf(counts, n, ALPHA) * np.abs(counts / n - ALPHA)).sum()))


def _known(value: float) -> dict[str, float]:
    return {"value": value, "low": value, "high": value, "n_repeats": 1}
