"""Theorem 4.1 and the propositions, tried numerically."""

from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from membership.studies.lood import activations, read, toys
from membership.studies.lood.kernels import MAIN
from membership.studies.lood.toys import STEP

NAMES = {"kl": "KL(D, D')", "kl-reverse": "KL(D', D)", "mean": "the mean distance"}


def statements(
    slopes: xr.Dataset, records: xr.Dataset, constants: list[xr.Dataset], settings: Any
) -> pd.DataFrame:
    """The paper's theorem and propositions against numbers (Control 10)."""
    parts = [
        _stationarity(slopes),
        _directions(records),
        _proposition_5_1(settings),
        activations.low_rank(constants),
        activations.decay(),
    ]
    # A column for each of so many quantities would be nearly empty: they are words of the row.
    return pd.concat(parts, ignore_index=True).rename(columns={"metric": "quantity"})


def _stationarity(slopes: xr.Dataset) -> pd.DataFrame:
    """Slope of the divergences at the record, and of the mean distance, by central differences."""
    rows = []
    for kernel in slopes["kernel"].values:
        for measure in slopes["measure"].values:
            key = {"statement": "Theorem 4.1", "case": kernel}
            metric = f"largest slope of {NAMES[measure]} at the record, relative to one away"
            largest = float(slopes["slope"].sel(kernel=kernel, measure=measure).max())
            rows.append({**key, "metric": metric, "value": largest})
    return pd.DataFrame(rows)


def _directions(records: xr.Dataset) -> pd.DataFrame:
    """Whether the direction with D first is ever the smaller (Appendix C.2 states a condition)."""
    rows = []
    for name in (case for case in records["case"].values if case != MAIN):
        found = read.contrast(records, name)
        ratio = float((found.kl() / found.kl_reverse()).min())
        key = {"statement": "Appendix C.2", "case": name}
        rows.append({**key, "metric": "smallest KL(D, D') over KL(D', D)", "value": ratio})
    return pd.DataFrame(rows)


def _proposition_5_1(settings: Any) -> pd.DataFrame:
    """Its formula for the gradient of the mean distance, against central differences."""
    rows = []
    for name, place in toys.PLACES.items():
        comparison = toys.comparison(place, settings)
        ends = np.array([[place + STEP], [place - STEP]])
        ahead, behind = comparison.measure(ends, "mean")
        values = {
            "formula": toys.slope(place, settings),
            "differences": (ahead - behind) / 2 / STEP,
        }
        key = {"statement": "Proposition 5.1", "case": f"S {name}"}
        rows += [{**key, "metric": metric, "value": float(v)} for metric, v in values.items()]
    return pd.DataFrame(rows)


def one_by_one(identity: xr.Dataset) -> pd.DataFrame:
    """All records from one inverse against each from its own posteriors (Control 1)."""
    rows = []
    for kernel in identity["kernel"].values:
        part = identity.sel(kernel=kernel)
        for measure in identity["measure"].values:
            fast, slow = part["value"].sel(measure=measure).dropna("record").values
            off, size = np.abs(fast - slow), np.abs(fast)
            label = measure.replace("_", " ").replace("kl", "KL")
            for metric, value in (
                ("largest deviation over the largest value", off.max() / size.max()),
                ("largest deviation over the record's own value", (off / size).max()),
            ):
                key = {"kernel": kernel, "metric": f"{label}: {metric}"}
                rows.append({**key, "value": float(value), "records": len(fast)})
        fast, slow = part["auc"].values
        key = {"kernel": kernel, "metric": "AUC of the most exposed: largest deviation"}
        rows.append({**key, "value": np.abs(fast - slow).max(), "records": len(fast)})
    table = pd.DataFrame(rows)
    table.attrs["residue"] = 1e-8
    return table
