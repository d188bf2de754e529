"""ReLU against GeLU: which leaks more depends on the scale of the kernel and of the inputs."""

from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from membership import lood, nngp
from membership.studies.lood import edge, read
from membership.studies.lood.kernels import RELU, SETTING
from membership.studies.lood.leakage import points
from membership.studies.lood.networks import NETWORK_W_STD

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
    found = [read.network_auc(side) for side in (relu, gelu)]
    networks = points("networks", "networks", relu["record"].values, found[0][0], found[1][0])
    networks["low"], networks["high"] = (found[1][0] + sign * found[1][1] for sign in (-1, 1))
    table = pd.concat([*parts, networks], ignore_index=True)
    right = {"ReLU": read.accuracy(relu), "GeLU": read.accuracy(gelu)}
    table.attrs["sizes"] = _sizes(activations, relu) | {
        f"Networks right on {asked}": ", ".join(
            f"{name} {each[asked]['value']:.1f}%" for name, each in right.items()
        )
        for asked in right["ReLU"]
    }
    return table


def _sizes(activations: xr.Dataset, networks: xr.Dataset) -> dict[str, str]:
    sides = {"process": activations, "networks": networks}
    named = [f"{name} {one.attrs['sizes']['Training records']}" for name, one in sides.items()]
    return {"Training records": ", ".join(named)}


def _at(activations: xr.Dataset, inputs: str, depth: int, kernel: str) -> lood.Contrast:
    part = activations.sel(inputs=inputs, depth=depth, kernel=kernel)
    return read.of_moments(part["variance"].values, part["square"].values, activations)


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
                    label = f"depth {depth}: {measure.upper()} (%)"
                    rows.append({**key, "metric": label, **_of(more)})
    more = read.network_auc(gelu)[0] > read.network_auc(relu)[0]
    key = {"inputs": "raw", "kernels": "networks"}
    metric = f"depth {relu.attrs['recipe']['depth']}: AUC (%)"
    rows.append({**key, "metric": metric, **_of(more)})
    table = pd.DataFrame(rows)
    table.attrs["sizes"] = _sizes(activations, relu)
    return table


def _of(more: np.ndarray) -> dict[str, float]:
    return {name: value for name, value in read.share(more).items() if name != "n"}


def by_point(each: list[xr.Dataset]) -> pd.DataFrame:
    """Share of records with more KL than under ReLU, at fixed points of the edge of chaos."""
    rows = []
    for found in each:
        label, sets = found.attrs["set"], ("training_set", "set_on_sphere")
        parts = found["more"].transpose("inputs", "q", "depth", "ratio", sets[0], "record")
        for inputs in sorted(parts["inputs"].values, reverse=True):  # the sphere first
            rows += _at_points("GeLU", parts.sel(inputs=inputs), dataset=label, inputs=inputs)
        order = ("activation", "q", "depth", "ratio", sets[1], "record")
        sphere = found["more_on_sphere"].transpose(*order)
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
                metric = f"depth {depth}, noise {ratio:g} q (%)"
                rows.append({**key, "metric": metric, **read.share_over_sets(values)})
    return rows


def decay() -> pd.DataFrame:
    """How the correlation of two inputs approaches 1 at the released deviations (Control 10).

    Two inputs of unit mean square with correlation 1/2. Proposition G.1 is about the edge of
    chaos, on which the settings for GeLU are not; ReLU is, with the limit 9 pi^2 / 2 of
    (1 - c) L^2.
    """
    pair = np.array([[2.0, 0.0, 0.0, 0.0], [1.0, np.sqrt(3.0), 0.0, 0.0]])
    cases = {
        "ReLU": ("relu", 2**0.5),
        "GeLU, sqrt(2), no bias": ("gelu", 2**0.5),
        "GeLU, 1.9822, no bias": ("gelu", NETWORK_W_STD["gelu"]),
    }
    rows = []
    for name, parameters in cases.items():
        for depth in (10, 20, 40):
            matrix = nngp.fully_connected(depth, *parameters)(pair)
            c = matrix[0, 1] / np.sqrt(matrix[0, 0] * matrix[1, 1])
            values = {
                "variance": matrix[0, 0],
                "(1 - c) L": (1 - c) * depth,
                "(1 - c) L^2": (1 - c) * depth**2,
            }
            key = {"statement": "Proposition G.1", "case": f"{name}, L = {depth}"}
            rows += [{**key, "metric": metric, "value": float(v)} for metric, v in values.items()]
    return pd.DataFrame(rows)


def low_rank(each: list[xr.Dataset]) -> pd.DataFrame:
    """Leakage against how far the kernel is from a constant (Proposition 6.1, in Control 10).

    With |k - a| <= d for all pairs, weights of 1 / n give a posterior variance of the latent
    function of at most 4 d + noise / n, hence a bound on every KL, as v / noise enters it. The
    kernel is a constant of 1 and d times a correlation kernel.
    """
    rows = []
    for constant in each:
        noise, n = constant.attrs["recipe"]["noise"], constant.sizes["record"]
        for size in constant["share"].values:
            part = constant.sel(share=size)
            distance, square = float(part["distance"]), part["square"].values
            kl = read.of_moments(part["variance"].values, square, constant).kl()
            bound = 4 * distance + noise / (n - 1)
            case = f"{constant.attrs['set']}, kernel within {distance:.3g} of a constant"
            values = {
                "largest variance": part["variance"].values.max(),
                "its bound": bound,
                "largest KL": kl.max(),
                "bound of the KL": _kl_bound(bound, square.max(), noise, constant.attrs["outputs"]),
            }
            key = {"statement": "Proposition 6.1", "case": case}
            rows += [{**key, "metric": metric, "value": float(v)} for metric, v in values.items()]
    return pd.DataFrame(rows)


def _kl_bound(bound: float, square: float, noise: float, classes: int) -> float:
    """KL at a variance of `bound` with the largest residual; it rises with both."""
    odds = bound / noise
    return 0.5 * (classes * (odds - np.log1p(odds)) + square / (bound + noise) * odds)
