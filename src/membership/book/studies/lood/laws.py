"""Which law of wide networks ranks records as trained networks do, by its noise (Control 15)."""

from typing import TYPE_CHECKING, Any

import pandas as pd
import xarray as xr

from membership import lood
from membership.arrays import FloatArray
from membership.book.studies.lood import leakage, measures
from membership.book.studies.lood.leakage import RANKED

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PROCESS, TANGENT = "NNGP posterior", "NTK posterior"
ENSEMBLE, DISTANCE = "NTK law of trained ensembles", "NNGP mean distance"
NETWORKS = {"relu": "ReLU", "gelu": "GeLU"}
AHEAD = "NNGP posterior's rank correlation less this one"
AHEAD_BY_VALUE = "NNGP posterior's Pearson's r less this one"
LEAST_NETWORKS = 4
"""That a law can be fitted on half of."""
BEST_NOISE = 0.5
AHEAD_OF_NOISE = f"rank correlation at noise {BEST_NOISE:g} less this one"
RELIABILITY = "split-half reliability of the networks' AUC"


def against_networks(laws: xr.Dataset, relu: xr.Dataset, gelu: xr.Dataset) -> pd.DataFrame:
    """Correlations of each law's AUC with that of retrained networks, over records."""
    rows = []
    for activation, pairs in zip(NETWORKS, (relu, gelu), strict=True):
        auc = measures.network_auc(pairs)[0]
        key = {"networks": NETWORKS[activation]}
        rows += _of_networks(key, laws.sel(activation=activation), auc)
        if pairs["answer"].shape[2] >= 2 * LEAST_NETWORKS:
            rows.append({**key, "law": "networks", "metric": RELIABILITY, **reliability(pairs)})
    table = pd.DataFrame(rows)
    table.attrs["sizes"] = {"Training records": laws.attrs["sizes"]["Training records"]}
    return table


def reliability(pairs: xr.Dataset) -> dict[str, float]:
    """Of the mean of all networks, from the rank correlation of two halves (Spearman and Brown)."""
    halves = [measures.network_auc(pairs, half=slice(start, None, 2))[0] for start in (0, 1)]
    row = leakage.ranked(*halves)
    return row | {name: 2 * row[name] / (1 + row[name]) for name in ("value", "low", "high")}


def _of_networks(key: dict[str, Any], laws: xr.Dataset, auc: FloatArray) -> list[dict[str, Any]]:
    by_law = {str(law): laws.sel(law=law) for law in laws["law"].values}
    rows = []
    for level in laws["level"].values:
        contrasts = {law: _contrast(part.sel(level=level)) for law, part in by_law.items()}
        estimates = {law: contrast.auc() for law, contrast in contrasts.items()}
        estimates[DISTANCE] = contrasts[PROCESS].mean_distance
        best = _contrast(by_law[PROCESS].sel(level=BEST_NOISE)).auc()
        for law, x in estimates.items():
            where = {**key, "law": law, "noise": float(level)}
            rows.append({**where, "metric": RANKED, **leakage.ranked(x, auc)})
            rows.append({**where, "metric": leakage.BY_VALUE, **leakage.by_value(x, auc)})
            if law != PROCESS:
                for metric, by_rank in ((AHEAD, True), (AHEAD_BY_VALUE, False)):
                    paired = leakage.lead(estimates[PROCESS], x, auc, by_rank=by_rank)
                    rows.append({**where, "metric": metric, **paired})
            elif level != BEST_NOISE:
                rows.append({**where, "metric": AHEAD_OF_NOISE, **leakage.lead(best, x, auc)})
    return rows


def _contrast(part: xr.Dataset) -> lood.Contrast:
    excess, shift = (part[name].values[:, None] for name in ("excess", "shift"))
    return lood.Contrast(excess, shift, part["mean_distance"].values, part.attrs["outputs"])


def against_networks_drawn(table: pd.DataFrame) -> "Figure":
    """Rank correlations by noise, a line a law and a panel a kind of network."""
    from membership import plots

    shown = table[table["metric"] == RANKED]
    shown = shown.assign(panel="rank correlation, " + shown["networks"] + " networks")
    return plots.lines_with_intervals(
        shown,
        "noise",
        by="law",
        panel="panel",
        log_x=True,
        same_scale=True,
        x_label="label noise, or ridge",
    )
