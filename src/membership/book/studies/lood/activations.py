"""ReLU against GeLU: which leaks more depends on the scale of the kernel and of the inputs.

Figure 5 and Control 9 compare them as released. Controls 12 and 13 follow the whole family of
kernels along the edge of chaos: which fixed points are stable, how fast each forgets, and for which
records a smooth activation leaks more there.
"""

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy.interpolate import CubicSpline

from membership import lood
from membership.arrays import FloatArray
from membership.book.exhibits.sentences import span
from membership.book.studies.lood import measures
from membership.book.studies.lood.experiment import (
    MATCHED,
    NETWORK,
    NETWORK_MATCHED,
    RELU,
    SETTING,
)
from membership.book.studies.lood.leakage import points, sizes_of
from membership.nngp.activations import ACTIVATIONS

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


def figure_5_said(table: pd.DataFrame) -> str:
    """Figure 5: the share of points above the line."""
    parts = []
    for series, part in table.groupby("series", sort=False):
        share = 100 * (part["y"] > part["x"]).mean()
        parts.append(f"{share:.0f}% ({series})")
    return f"Records for which GeLU leaks more: {', '.join(parts)}."


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


def shares_said(table: pd.DataFrame) -> str:
    """Control 9: the released weights, and the same at equal mean variance."""
    of_kl = by_kl(table).set_index("kernels")["value"]
    released, alike = (span(of_kl[[kernels]]) for kernels in (SETTING, MATCHED))
    return (
        f"Over inputs and depths GeLU leaks more for {released} of records as released, "
        f"and for {alike} at the same mean variance."
    )


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
    SETTING: "variance 2 for both, as released",
    MATCHED: "variance 2, rescaled alike",
    NETWORK: "GeLU at 1.9822, as its networks",
    NETWORK_MATCHED: "GeLU at 1.9822, rescaled alike",
}
"""What the weights' scale is under either activation."""


def shares_drawn(table: pd.DataFrame) -> "Figure":
    """Control 9: where GeLU leaks more, and where ReLU does, by the KL of the process."""
    from membership import plots

    shown = by_kl(table).astype({"depth": str})
    kernels = shown["kernels"]
    ends = (shown[end].map("{:.0f}".format) for end in ("low", "high"))
    interval = "\n" + next(ends) + "-" + next(ends)
    shown = shown.assign(
        kernels=kernels.map(lambda name: textwrap.fill(KERNELS.get(name, name), 22)),
        text=shown["value"].map("{:.0f}".format) + interval,
        panel=shown["inputs"] + " inputs",
    )
    return plots.heat_maps(
        shown, "kernels", "depth", panel="panel", top=100.0, two_sided=True, turned=False
    )


QS = (0.5, 1.0, 2.0, 4.0, 6.0, 8.0, 16.0)
FOLLOWED = (2, 5, 10, 500, 1000, 2000)
EDGE_DEPTHS, RATIOS = (1, 2, 5, 10), (0.01, 0.1)
OTHERS = ("ELU", "tanh")
SLOPE, FAR_APART = "slope of 1 - c, L = 500 to 2,000", "1 - c over ReLU's, L = 1,000"
# Correlation of the two inputs that are followed.
START = 0.5
_EPSILON = np.geomspace(1e-7, 1.0, 60)


@dataclass(frozen=True)
class Smooth:
    """An activation with its derivative."""

    value: Callable[[FloatArray], FloatArray]
    derivative: Callable[[FloatArray], FloatArray]


def _elu(x: FloatArray) -> FloatArray:
    return np.where(x > 0, x, np.expm1(np.minimum(x, 0)))


SMOOTH = {
    "GeLU": Smooth(ACTIVATIONS["gelu"].value, ACTIVATIONS["gelu"].derivative),
    "ELU": Smooth(_elu, lambda x: np.where(x > 0, 1.0, np.exp(np.minimum(x, 0)))),
    "tanh": Smooth(np.tanh, lambda x: 1 / np.cosh(x) ** 2),
}


@dataclass(frozen=True)
class Point:
    """A fixed point: how correlations and the variance move about it, and 1 - c by depth.

    ``chi`` is the rate at which gradients, and small angles between inputs, grow a layer;
    ``after`` a layer's map of 1 - c, ``apart`` what it makes of two inputs at each of `FOLLOWED`.
    """

    w_std: float
    b_variance: float
    chi: float
    chi_var: float
    after: Callable[[FloatArray], FloatArray]
    apart: dict[int, float]

    @property
    def slope(self) -> float:
        """Of log(1 - c) on log(L) from 500 to 2,000 layers."""
        return float(np.log(self.apart[2000] / self.apart[500]) / np.log(4))


@cache
def point(name: str, q: float) -> Point:
    """The fixed point of a smooth activation at a variance, by the trapezoid rule."""
    phi, root = SMOOTH[name], np.sqrt(q)
    s, weight = _normal(8.0, 801)
    w_variance = 1 / (weight @ phi.derivative(root * s) ** 2)
    value = phi.value(root * s)
    b_variance = q - w_variance * (weight @ value**2)
    # dE[phi^2]/dq by Stein's lemma: no second derivative is needed.
    chi = w_variance * (weight @ (s * value * phi.derivative(root * s))) / root
    # The map of e = 1 - c is e less the integral of 1 - F'(1 - e), so that a relative error of the
    # quadrature is one of the rate and not of e.
    short = [w_variance / 2 * _spread(phi.derivative, root, e, s, weight) for e in _EPSILON]
    log, slope = np.log(_EPSILON), np.array(short) * _EPSILON
    lost = CubicSpline(log, slope).antiderivative()
    head = slope[0] / 2

    def after(e: FloatArray) -> FloatArray:
        return e - head - lost(np.log(e))

    moments = float(np.sqrt(w_variance)), float(b_variance), _chi(phi, w_variance, q), float(chi)
    return Point(*moments, after, followed(after))


def _chi(phi: Smooth, w_variance: float, q: float) -> float:
    """sigma_w^2 E[phi'^2] on a finer grid than the one that solved for sigma_w."""
    nodes, weight = _normal(9.5, 4001)
    return float(w_variance * (weight @ phi.derivative(np.sqrt(q) * nodes) ** 2))


def on_sphere(name: str, q: float, cosine: FloatArray, depths: Sequence[int]) -> list[FloatArray]:
    """The kernel at each depth for inputs scaled to variance q, from their cosines of 0 or more.

    Any activation's: on a sphere every variance is q, so that a layer moves the correlation alone.
    """
    fixed_point, kernel = point(name, q), []
    apart = (1 - fixed_point.b_variance / q) * (1 - cosine)
    for depth in range(1, max(depths) + 1):
        # The map is known from the first node on; nearer to 0 it is the identity.
        apart = np.where(
            apart > _EPSILON[0], fixed_point.after(np.maximum(apart, _EPSILON[0])), apart
        )
        if depth in depths:
            kernel.append(q * (1 - apart))
    return kernel


@cache
def relu() -> Point:
    """ReLU, whose every variance is kept exactly."""

    def after(e: FloatArray) -> FloatArray:
        angle = 2 * np.arcsin(np.sqrt(e / 2))
        return 1 - (np.sin(angle) + (np.pi - angle) * np.cos(angle)) / np.pi

    return Point(2**0.5, 0.0, 1.0, 1.0, after, followed(after))


def followed(after: Callable[[FloatArray], FloatArray]) -> dict[int, float]:
    """1 less the correlation of two inputs at each depth, by a layer's map."""
    apart, by_depth = 1 - START, {}
    for depth in range(1, FOLLOWED[-1] + 1):
        apart = float(after(apart))
        if depth in FOLLOWED:
            by_depth[depth] = apart
    return by_depth


def rates() -> pd.DataFrame:
    """How fast correlations approach 1 at each fixed point, beside ReLU (Proposition G.1)."""
    cases = [("ReLU", "any", relu())]
    cases += [(name, f"{q:g}", point(name, q)) for name in SMOOTH for q in QS]
    rows = []
    for name, q, fixed_point in cases:
        values = {
            "sigma_w": fixed_point.w_std,
            "chi": fixed_point.chi,
            "chi_var": fixed_point.chi_var,
        }
        values[SLOPE] = fixed_point.slope
        for depth in (2, 5, 10, 1000):
            ratio = fixed_point.apart[depth] / relu().apart[depth]
            values[f"1 - c over ReLU's, L = {depth:,}"] = ratio
        key = {"activation": name, "q": q}
        rows += [{**key, "metric": metric, "value": value} for metric, value in values.items()]
    return pd.DataFrame(rows)


def rates_said(table: pd.DataFrame) -> str:
    """Which of GeLU's fixed points are stable."""
    chi = table[(table["metric"] == "chi_var") & (table["activation"] == "GeLU")]
    stable = chi.loc[chi["value"] < 1, "q"].tolist()
    return f"GeLU's fixed points are stable at q = {', '.join(stable)}."


def _normal(reach: float, n: int) -> tuple[FloatArray, FloatArray]:
    """Nodes of the trapezoid rule and their weights under the standard normal law."""
    s = np.linspace(-reach, reach, n)
    weight = np.exp(-s * s / 2)
    return s, weight / weight.sum()


def _spread(
    function: Callable[[FloatArray], FloatArray],
    root: float,
    e: float,
    s: FloatArray,
    weight: FloatArray,
) -> float:
    """E[(f(u) - f(v))^2] for u and v of variance root^2 and correlation 1 - e."""
    t, other = _normal(7.0, 29)
    middle, half = root * np.sqrt(1 - e / 2) * s[:, None], root * np.sqrt(e / 2) * t
    gap = function(middle + half) - function(middle - half)
    return float(weight @ (gap * gap) @ other)


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


def by_point_said(table: pd.DataFrame) -> str:
    """In how many cells at stable points GeLU leads."""
    deep = table[(table["activation"] == "GeLU") & (table["chi_var"] < 1)]
    deep = deep[depth_of(deep["metric"]) > 1]
    behind = deep[deep["value"] <= 50]
    return (
        "At its stable points, with two layers or more, GeLU leaks more for most records in "
        f"{len(deep) - len(behind)} of {len(deep)} cells."
    )


def _at_points(name: str, more: xr.DataArray, **keys: str) -> list[dict[str, Any]]:
    rows = []
    for q in more["q"].values:
        key = {**keys, "activation": str(name), "q": float(q)}
        key["chi_var"] = round(point(str(name), float(q)).chi_var, 3)
        for depth in more["depth"].values:
            for ratio in more["ratio"].values:
                values = more.sel(q=q, depth=depth, ratio=ratio).values
                metric = f"{_DEPTH} {depth}, noise {ratio:g} q (%)"
                rows.append({**key, "metric": metric, **measures.share_over_sets(values)})
    return rows
