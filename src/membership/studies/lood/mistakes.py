"""What two slips of the released code change: the wrong label, and the record left in D."""

from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from membership.studies.lood.leakage import correlation

LABEL = "label of the next record"
LEFT_IN = "record left in D"


def released_code(slips: xr.Dataset) -> pd.DataFrame:
    """LOOD as it should be, with the misassigned label, and with the record in D (Control 11).

    The training script shortens the data by record i and then slices the labels by the length of
    the shortened data: record i - 1 gets the label of i. The README's reconstruction removes
    positions where it should remove values, so that the record stays in D. Here the process takes
    the place of the networks.
    """
    right, wrong = (np.sqrt(slips[name].values) for name in ("mean_distance", "wrong_label"))
    out, left_in = slips["kl"].values, slips["kl_left_in"].values
    excess, y = slips["excess_left_in"].values, slips["label"].values
    rows = [
        _row(LABEL, "labels that change (%)", 100 * (y[1:] != y[:-1]).mean()),
        _row(LABEL, "median root mean distance, right labels", np.median(right)),
        _row(LABEL, "median root mean distance, as released", np.median(wrong)),
        {"slip": LABEL, "metric": "correlation of the two", **correlation(right[1:], wrong[1:])},
        _row(LEFT_IN, "median KL, record left out", np.median(out)),
        _row(LEFT_IN, "median KL, as released", np.median(left_in)),
        _row(LEFT_IN, "largest t, as released (at most 1/2)", (excess / (1 + excess)).max()),
        {"slip": LEFT_IN, "metric": "correlation of the two", **correlation(out, left_in)},
    ]
    return pd.DataFrame(rows)


def _row(slip: str, metric: str, value: float) -> dict[str, Any]:
    value = float(value)
    return {"slip": slip, "metric": metric, "value": value, "low": value, "high": value}
