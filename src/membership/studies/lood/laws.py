"""Which law of wide networks ranks records as trained networks do, by its noise (Control 15).

Evidence: what three laws say of the records that networks are retrained without.
"""

from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from membership import lood, nngp
from membership.arrays import FloatArray
from membership.studies.lood import leakage, measures
from membership.studies.lood.evidence import of_records
from membership.studies.lood.experiment import NOISES, load, square
from membership.studies.lood.leakage import RANKED
from membership.studies.lood.networks import NETWORK_W_STD, left_out_of
from membership.studies.lood.settings import Settings

PROCESS, TANGENT = "NNGP posterior", "NTK posterior"
ENSEMBLE, DISTANCE = "NTK law of trained ensembles", "NNGP mean distance"
NETWORKS = {"relu": "ReLU", "gelu": "GeLU"}
AHEAD = "NNGP posterior's rank correlation less this one"
AHEAD_BY_VALUE = "NNGP posterior's Pearson's r less this one"
LEAST_NETWORKS = 4
"""That a law can be fitted on half of."""
RELEASED_NOISE, BEST_NOISE = 0.05, 0.5
AHEAD_OF_NOISE = f"rank correlation at noise {BEST_NOISE:g} less this one"
RELIABILITY = "split-half reliability of the networks' AUC"


def gathered(settings: Settings) -> xr.Dataset:
    """How far apart each law is with a record and without it, at the record, by noise or ridge.

    Kernels have the depth and deviation of the networks; no network is trained.
    """
    # Here and not above: lists of exhibits must not wait for torch.
    from membership import evidence

    own = load(settings).first(settings.network_records)
    chosen = left_out_of(own, settings)
    by_activation = []
    for activation in NETWORKS:
        kernel = nngp.fully_connected(settings.depth, activation, NETWORK_W_STD[activation])
        prior, tangent = kernel(own.inputs()), nngp.tangent_kernel(kernel, own.inputs())
        by_activation.append(
            [
                [_of_posterior(matrix, own.targets, noise)[:, chosen] for noise in NOISES]
                for matrix in (prior, tangent)
            ]
        )
        ensembles = (
            lood.trained_ensembles(prior, tangent, own.targets, chosen, ridge) for ridge in NOISES
        )
        by_activation[-1].append([_of_ensemble(contrast) for contrast in ensembles])
    excess, shift, distance = np.moveaxis(by_activation, 3, 0)
    dims = ("activation", "law", "level", "record")
    return evidence.dataset(
        "process",
        {"excess": (dims, excess), "shift": (dims, shift), "mean_distance": (dims, distance)},
        {
            "activation": list(NETWORKS),
            "law": [PROCESS, TANGENT, ENSEMBLE],
            "level": list(NOISES),
            "record": chosen,
        },
        **of_records(own, settings, records_left_out=len(chosen)),
    )


def _of_posterior(matrix: FloatArray, y: FloatArray, noise: float) -> FloatArray:
    """Excess, shift and mean distance of every record: (3, records)."""
    process = lood.leave_one_out(matrix, y, noise)
    share = process.variance / (process.variance + noise)
    return np.stack(
        [process.variance / noise, square(process) * share / noise, process.mean_distance]
    )


def _of_ensemble(contrast: lood.Contrast) -> FloatArray:
    return np.stack([contrast.excess[:, 0], contrast.shift[:, 0], contrast.mean_distance])


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


def drawn(table: pd.DataFrame) -> Any:
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
