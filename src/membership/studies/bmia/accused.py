"""Whom an auditor accuses by a p-value: published, corrected, or counted among non-members.

Control 17.
"""

from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from membership.arrays import FloatArray
from membership.exhibits.tidy import origin, tidy
from membership.studies.bmia.calibration import NOMINAL, p_value
from membership.studies.bmia.seen import Seen, read
from membership.studies.bmia.summaries import percent

RATE = 0.1
"""The share of false accusations that Benjamini and Hochberg's procedure is given."""
PUBLISHED, CORRECTED, CONFORMAL = "published", "corrected", "conformal"
FPR, TPR = "non-members with p < 1% (%)", "members with p < 1% (%)"
FALSE, FOUND = "false among those accused at 10% (%)", "members accused at 10% (%)"


def control_17(source: Any) -> pd.DataFrame:
    """Rates at a nominal 1%, and who is accused at 10% false discoveries (Control 17).

    Half of each target's non-members, drawn at random, are known not to be members; the conformal
    p-value of a record is its place among them. All p-values are judged on the members and the
    other half. Where nobody is accused, no accusation is false.
    """
    some, listed = read(source), []
    for seen in some:
        each = [_of_target(seen, t, source.settings.seed) for t in seen.targets]
        for name in each[0]:
            for metric in each[0][name]:
                found = percent([one[name][metric] for one in each])
                listed.append({"dataset": seen.label, "p_value": name, "metric": metric, **found})
    samples = some[0].posterior.attrs["n_samples"]
    return tidy(listed, origin(some, note=f"{samples} samples."))


def _of_target(seen: Seen, target: int, seed: int) -> dict[str, dict[str, float]]:
    """The metrics of each p-value in percent."""
    mean, sd = seen.moments(seen.first(target))
    z, member = (seen.hinge[target] - mean) / sd, seen.member[target]
    others = np.random.default_rng([seed, 31, target]).permutation(np.flatnonzero(~member))
    known, rest = others[: len(others) // 2], others[len(others) // 2 :]
    asked = np.concatenate([np.flatnonzero(member), rest])
    n = seen.posterior.attrs["n_samples"]
    p_values = {
        PUBLISHED: p_value(z[asked], n, calibrated=False),
        CORRECTED: p_value(z[asked], n, calibrated=True),
        CONFORMAL: conformal(z[asked], z[known]),
    }
    return {name: _judged(p, member[asked]) for name, p in p_values.items()}


def conformal(score: FloatArray, known: FloatArray) -> FloatArray:
    """The share of known non-members, and the record itself, that score at least as high.

    Of a further non-member it is below any level no more often than that level, whatever the law
    of the scores.
    """
    below = np.searchsorted(np.sort(known), score, side="left")
    return (1 + len(known) - below) / (1 + len(known))


def _judged(p: FloatArray, member: np.ndarray) -> dict[str, float]:
    accused = stats.false_discovery_control(p, method="bh") <= RATE
    false = (accused & ~member).sum() / max(1, accused.sum())
    shares = ((p < NOMINAL)[~member], (p < NOMINAL)[member], accused[member])
    low, high, found = (100 * float(one.mean()) for one in shares)
    return {FPR: low, TPR: high, FALSE: 100 * float(false), FOUND: found}
