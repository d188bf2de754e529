"""ReLU against GeLU: which leaks more depends on the scale of the kernel and of the inputs."""

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from membership import lood
from membership.studies.lood import edge, measures
from membership.studies.lood.experiment import RELU, SETTING
from membership.studies.lood.leakage import points, sizes_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DEPTHS = (2, 5, 10)


def figure_5(activations: xr.Dataset, relu: xr.Dataset, gelu: xr.Dataset) -> pd.DataFrame:
    """AUC under GeLU against that under ReLU, on the process and for networks (Figure 5).

    The process as in the released closed-form runs: weights of variance 2 for both activations,
    raw pixels. The networks as in the released training scripts: a standard deviation of sqrt(2)
    for ReLU and of 1.9822 for GeLU.
    """
    rows = np.arange(activations.sizes["record"])
    parts = []
    for depth in DEPTHS:
        pair = [_at(activations, "raw", depth, name).auc() for name in (RELU, SETTING)]
        parts.append(points("process", f"depth {depth}", rows, *pair))
    auc = [measures.network_auc(side) for side in (relu, gelu)]
    networks = points("networks", "networks", relu["record"].values, auc[0][0], auc[1][0])
    networks["low"], networks["high"] = (auc[1][0] + sign * auc[1][1] for sign in (-1, 1))
    table = pd.concat([*parts, networks], ignore_index=True)
    right = {"ReLU": measures.accuracy(relu), "GeLU": measures.accuracy(gelu)}
    table.attrs["sizes"] = sizes_of(activations, relu) | {
        f"Networks right on {records}": ", ".join(
            f"{name} {right_on[records]['value']:.1f}%" for name, right_on in right.items()
        )
        for records in right["ReLU"]
    }
    return table


def _at(activations: xr.Dataset, inputs: str, depth: int, kernel: str) -> lood.Contrast:
    part = activations.sel(inputs=inputs, depth=depth, kernel=kernel)
    return measures.of_moments(part["variance"].values, part["square"].values, activations)


def shares(activations: xr.Dataset, relu: xr.Dataset, gelu: xr.Dataset) -> pd.DataFrame:
    """Share of the records for which GeLU leaks more, by scale, input and depth (Control 9)."""
    kernels = [str(name) for name in activations["kernel"].values if name != RELU]
    rows = []
    for inputs in activations["inputs"].values:
        for depth in activations["depth"].values:
            below = _at(activations, inputs, depth, RELU)
            for name in kernels:
                above = _at(activations, inputs, depth, name)
                key = {"inputs": inputs, "kernels": name}
                for measure in ("kl", "auc"):
                    more = getattr(above, measure)() > getattr(below, measure)()
                    label = share_at(depth, measure.upper())
                    rows.append({**key, "metric": label, **measures.share(more)})
    more = measures.network_auc(gelu)[0] > measures.network_auc(relu)[0]
    key = {"inputs": "raw", "kernels": "networks"}
    metric = share_at(relu.attrs["recipe"]["depth"], "AUC")
    rows.append({**key, "metric": metric, **measures.share(more)})
    table = pd.DataFrame(rows)
    table.attrs["sizes"] = sizes_of(activations, relu)
    return table


def share_at(depth: int, measure: str) -> str:
    """The metric of Control 9 that is the share by a measure, KL or AUC, at a depth."""
    return f"{_DEPTH} {depth}: {measure} (%)"


_DEPTH = "depth"


def depth_of(metric: pd.Series) -> pd.Series:
    """The depths of the metrics of Controls 9 and 13."""
    return metric.str.extract(rf"^{_DEPTH} (\d+)", expand=False).astype(int)


def by_kl(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of Control 9 that compare KL, with their depth."""
    table = table.assign(depth=depth_of(table["metric"]))
    return table[[share_at(row.depth, "KL") == row.metric for row in table.itertuples()]]


KERNELS = {
    "repository: both sqrt(2)": "variance 2 for both, as released",
    "both sqrt(2), same mean variance": "variance 2, rescaled alike",
    "GeLU 1.9822, as its networks": "GeLU at 1.9822, as its networks",
    "GeLU 1.9822, same mean variance": "GeLU at 1.9822, rescaled alike",
}
"""What the weights' scale is under either activation."""


def map_of_shares(table: pd.DataFrame) -> "Figure":
    """Control 9: where GeLU leaks more, and where ReLU does, by the KL of the process."""
    from membership import plots

    shown = by_kl(table).astype({"depth": str})
    rows, kernels = KERNELS, shown["kernels"]
    ends = (shown[end].map("{:.0f}".format) for end in ("low", "high"))
    interval = "\n" + next(ends) + "-" + next(ends)
    shown = shown.assign(
        kernels=kernels.map(lambda name: textwrap.fill(rows.get(name, name), 22)),
        text=shown["value"].map("{:.0f}".format) + interval,
        panel=shown["inputs"] + " inputs",
    )
    return plots.heat_maps(
        shown, "kernels", "depth", panel="panel", top=100.0, two_sided=True, turned=False
    )


def by_point(datasets: list[xr.Dataset]) -> pd.DataFrame:
    """Share of records with more KL than under ReLU, at fixed points of the edge of chaos."""
    rows = []
    for cells in datasets:
        label, sets = cells.attrs["set"], ("training_set", "set_on_sphere")
        parts = cells["more"].transpose("inputs", "q", "depth", "ratio", sets[0], "record")
        for inputs in sorted(parts["inputs"].values, reverse=True):  # the sphere first
            rows += _at_points("GeLU", parts.sel(inputs=inputs), dataset=label, inputs=inputs)
        order = ("activation", "q", "depth", "ratio", sets[1], "record")
        sphere = cells["more_on_sphere"].transpose(*order)
        for name in sphere["activation"].values:
            rows += _at_points(
                name, sphere.sel(activation=name), dataset=label, inputs="unit sphere"
            )
    return pd.DataFrame(rows)


def _at_points(name: str, more: xr.DataArray, **keys: str) -> list[dict[str, Any]]:
    rows = []
    for q in more["q"].values:
        key = {**keys, "activation": str(name), "q": float(q)}
        key["chi_var"] = round(edge.point(str(name), float(q)).chi_var, 3)
        for depth in more["depth"].values:
            for ratio in more["ratio"].values:
                values = more.sel(q=q, depth=depth, ratio=ratio).values
                metric = f"{_DEPTH} {depth}, noise {ratio:g} q (%)"
                rows.append({**key, "metric": metric, **measures.share_over_sets(values)})
    return rows
