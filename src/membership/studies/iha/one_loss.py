"""What one loss keeps of the signal on the trained networks, under the law that IHA supposes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from membership import metrics
from membership.arrays import FloatArray
from membership.curvature import least_loss_share
from membership.exhibits.tidy import origin, tidy
from membership.studies.iha.forms import DAMPINGS
from membership.studies.iha.scores import by_inverse

CONDITION, LEAST, MEDIAN = "condition number", "least of any record", "median record"
NOTE = (
    "Noise like the Hessian, with the damping in the place of the weight decay: K is the Hessian "
    "of the trained network with the damping added. The condition number is the mean over targets."
)


def control_17(white_box: Sequence[xr.Dataset], sweeps: Sequence[xr.Dataset]) -> pd.DataFrame:
    """iha-ctl-17: the share by damping, and so by condition number; means over targets."""
    rows: list[dict[str, Any]] = []
    for forms, sweep in zip(white_box, sweeps, strict=True):
        units = np.arange(sweep.sizes["target"]) // 2
        extreme = [forms["eigenvalue"].values.astype(float).min(1)]
        extreme.append(forms["eigenvalue"].values.astype(float).max(1))
        for damping in DAMPINGS:
            if extreme[0].min() + damping <= 0:
                continue
            condition = (extreme[1] + damping) / (extreme[0] + damping)
            least, median = least_loss_share(condition, 1.0), _medians(forms, sweep, damping)
            key = {"dataset": forms.attrs["set"], "damping": damping, CONDITION: condition.mean()}
            for name, values in ((LEAST, least), (MEDIAN, median)):
                summed = metrics.summary(values, units, lowest=0.0, highest=1.0)
                rows.append({**key, "of": name} | summed)
    return tidy(rows, origin(white_box, note=NOTE))


def _medians(forms: xr.Dataset, sweep: xr.Dataset, damping: float) -> FloatArray:
    """Of each target, over the records of the sweep: `loss_share` from quadratic forms."""
    at = np.searchsorted(forms["query"].values, sweep["query"].values)
    medians = []
    for target in range(sweep.sizes["target"]):
        inverse = by_inverse(sweep, target)[f"damping {damping:g}"]
        plain = by_inverse(forms, target, at)["identity"]["own2"]
        # A record that is fitted to rounding has no gradient, and no share.
        seen = (plain > 0) & (inverse["own2"] > 0)
        share = inverse["own1"][seen] ** 2 / (inverse["own2"][seen] * plain[seen])
        medians.append(np.median(share))
    return np.array(medians)
