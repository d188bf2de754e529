"""Figure 2: what four attacks expect of one hard non-member."""

from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm

from membership.arrays import FloatArray
from membership.exhibits.tidy import origin
from membership.studies.bmia.seen import Seen, read

ALPHA = 0.05
POINTS = 201
MARGINAL = "marginal (Attack-P)"


def figure_2(source: Any) -> pd.DataFrame:
    """Predicted laws of one non-member's hinge, and the thresholds they give (Figure 2).

    The record is the first target's non-member whose hinge is the median of those above the 95%
    quantile of all its non-members; nothing else is looked at when choosing it. All laws are drawn
    as normal ones, and the thresholds are their quantiles, but for the marginal attack's: that is
    the quantile of the validation scores (Equation 7).
    """
    some, parts, notes = read(source), [], []
    for seen in some:
        target = seen.targets[0]
        hinge, others = seen.hinge[target], np.flatnonzero(~seen.member[target])
        above = _above(others, hinge[others])
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
    table.attrs = origin(some, note=f"{words}: {'; '.join(notes)}.")
    return table


def _above(others: np.ndarray, hinge: FloatArray) -> np.ndarray:
    """The non-members above the 95% quantile; those at it where the largest are all equal."""
    quantile = np.quantile(hinge, 1 - ALPHA)
    found = others[hinge > quantile]
    return found if len(found) else others[hinge >= quantile]


def _held(seen: Seen) -> FloatArray:
    """The first target's hinges of records that no model has seen."""
    return seen.outputs["held_hinge"].values[seen.targets[0]].astype(float)


def _laws(seen: Seen) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Mean and standard deviation that each attack predicts for every query's hinge."""
    target, n = seen.targets[0], seen.n_reference
    everyone, held = np.ones(seen.hinge.shape[1]), _held(seen)
    references = seen.hinge[seen.references(target, n)]
    return {
        MARGINAL: (held.mean() * everyone, held.std(ddof=1) * everyone),
        "QMIA": seen.moments(target, "qmia"),
        f"LiRA (n={n})": (references.mean(axis=0), references.std(axis=0, ddof=1)),
        "BMIA": seen.moments(seen.first(target)),
    }
