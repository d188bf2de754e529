"""Figure 2: what four attacks expect of one hard non-member."""

import numpy as np
import pandas as pd
from scipy.stats import norm

from membership.metrics.arrays import FloatArray
from membership.studies.bmia import scores
from membership.studies.bmia.evidence import Evidence, attrs
from membership.studies.bmia.retraining import laplace_moments

ALPHA = 0.05
QUANTILE = 0.975
POINTS = 201
MARGINAL = "marginal (Attack-P)"


def figure_2(some: list[Evidence]) -> pd.DataFrame:
    """Predicted laws of one non-member's hinge, and the thresholds they give (Figure 2).

    The record is the first target's non-member whose hinge is the median of those above the 95%
    quantile of all its non-members; nothing else is looked at when choosing it. All laws are drawn
    as normal ones, and the thresholds are their quantiles, but for the marginal attack's: that is
    the quantile of the validation scores (Equation 7).

    Parameters
    ----------
    some : list of Evidence

    Returns
    -------
    DataFrame
        Columns dataset, series (attack), hinge, density, threshold, target. The note says which
        share of *all* non-members above the 95% quantile each attack calls members.
    """
    parts, notes = [], []
    for evidence in some:
        hinge = evidence.signals.hinge[0]
        others = np.flatnonzero(~evidence.member[0])
        above = others[hinge[others] > np.quantile(hinge[others], 1 - ALPHA)]
        chosen = above[np.argsort(hinge[above], kind="stable")[len(above) // 2]]
        laws = _laws(evidence)
        thresholds = {name: mean + norm.isf(ALPHA) * sd for name, (mean, sd) in laws.items()}
        # Equation 7 asks for a quantile of the scores, whatever their law.
        quantile = np.quantile(evidence.validation.hinge[0], 1 - ALPHA)
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
                        "dataset": evidence.world.label,
                        "series": name,
                        "hinge": grid,
                        "density": norm.pdf(grid, mean[chosen], sd[chosen]),
                        "threshold": threshold[chosen],
                        "target": hinge[chosen],
                    }
                )
            )
            called.append(f"{name} {(hinge[above] > threshold[above]).mean():.0%}")
        notes.append(f"{evidence.world.label}: {', '.join(called)} of {len(above)}")
    table = pd.concat(parts, ignore_index=True)
    words = "Called members at 5%, of all non-members above the 95% quantile"
    table.attrs = attrs([each.world for each in some], note=f"{words}: {'; '.join(notes)}.")
    return table


def _laws(evidence: Evidence) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Mean and standard deviation that each attack predicts for every query's hinge."""
    everyone = np.ones(len(evidence.y))
    held = evidence.validation.hinge[0]
    n = evidence.n_reference
    references = evidence.signals.hinge[evidence.references(0, n)]
    return {
        MARGINAL: (held.mean() * everyone, held.std(ddof=1) * everyone),
        "QMIA": scores.qmia_law(evidence, 0),
        f"LiRA (n={evidence.n_reference})": (
            references.mean(axis=0),
            references.std(axis=0, ddof=1),
        ),
        "BMIA": laplace_moments(evidence, int(evidence.references(0, 1)[0])),
    }
