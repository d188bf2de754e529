"""ReLU against GeLU: which leaks more depends on the scale of the kernel and of the inputs."""

from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from membership import lood, nngp
from membership.studies.lood import leakage
from membership.studies.lood.leakage import network_deviations
from membership.studies.lood.networks import NETWORK_W_STD, Retrained
from membership.studies.lood.records import SCALINGS, Records, attrs

DEPTHS = (2, 5, 10)
CONTROL_DEPTHS = (1, 2, 5, 10)
MOST_RECORDS = 500
# The variance at the fixed point of the GeLU kernel on the edge of chaos.
EDGE_Q = 0.5


def figure_5(records: Records, relu: Retrained, gelu: Retrained, settings: Any) -> pd.DataFrame:
    """AUC under GeLU against that under ReLU, on the process and for networks (Figure 5).

    The process as in the released closed-form runs: weights of variance 2 for both activations,
    raw pixels. The networks as in the released training scripts: a standard deviation of sqrt(2)
    for ReLU and of 1.9822 for GeLU.

    Returns
    -------
    DataFrame
        Columns panel, series, record, x (AUC under ReLU), y (AUC under GeLU), low, high.
    """
    few = records.first(MOST_RECORDS)
    parts = []
    for depth in DEPTHS:
        pair = [
            leakage.every_record(few, settings, nngp.fully_connected(depth, name)).auc
            for name in ("relu", "gelu")
        ]
        parts.append(_points("process", f"depth {depth}", np.arange(len(few)), *pair))
    found = [leakage.network_auc(side, settings) for side in (relu, gelu)]
    networks = _points("networks", "networks", relu.left_out, found[0][0], found[1][0])
    networks["low"], networks["high"] = (found[1][0] + sign * found[1][1] for sign in (-1, 1))
    table = pd.concat([*parts, networks], ignore_index=True)
    table.attrs = attrs([records], settings, network_deviations(settings))
    return table


def shares(records: Records, figure: pd.DataFrame, settings: Any) -> pd.DataFrame:
    """Share of the records for which GeLU leaks more, by scale, input and depth (Control 9).

    Returns
    -------
    DataFrame
        Columns kernels, inputs, metric ("depth 2: KL (%)"), value, low, high: shares in percent
        with Clopper-Pearson intervals, as if records were independent.
    """
    few = records.first(MOST_RECORDS)
    rows = []
    for inputs in SCALINGS:
        x = few.inputs(inputs)
        for depth in CONTROL_DEPTHS:
            relu = nngp.fully_connected(depth)(x)
            for name, pair in _kernels(depth, x, relu).items():
                pair = [lood.leave_one_out(k, few.targets, settings.noise) for k in pair]
                key = {"inputs": inputs, "kernels": name}
                for measure in ("kl", "auc"):
                    values = [getattr(found, measure) for found in pair]
                    label = f"depth {depth}: {measure.upper()} (%)"
                    rows.append({**key, "metric": label, **_share(values[1] > values[0])})
    networks = figure[figure["panel"] == "networks"]
    more = (networks["y"] > networks["x"]).to_numpy()
    key = {"inputs": "raw", "kernels": "networks"}
    metric = f"depth {settings.depth}: AUC (%)"
    rows.append({**key, "metric": metric, **_share(more)})
    table = pd.DataFrame(rows)
    table.attrs = attrs([records], settings, network_deviations(settings))
    return table


SETTING = "repository: both sqrt(2)"
MATCHED = "both sqrt(2), same mean variance"
NETWORK = "GeLU 1.9822, as its networks"
NETWORK_MATCHED = "GeLU 1.9822, same mean variance"
EDGE = "both on the edge of chaos, same mean variance"


def _kernels(depth: int, x: np.ndarray, relu: np.ndarray) -> dict[str, tuple]:
    """The ReLU and the GeLU kernel matrix of every comparison, by name."""
    as_is = nngp.fully_connected(depth, "gelu")(x)
    wide = nngp.fully_connected(depth, "gelu", NETWORK_W_STD["gelu"])(x)
    w_std, b_std = nngp.edge_of_chaos("gelu", EDGE_Q)
    edge = nngp.fully_connected(depth, "gelu", w_std, b_std)(_at_edge(x, w_std, b_std))
    return {
        SETTING: (relu, as_is),
        MATCHED: (relu, _rescaled(as_is, relu)),
        NETWORK: (relu, wide),
        NETWORK_MATCHED: (relu, _rescaled(wide, relu)),
        # ReLU is on its edge at sqrt(2) without bias, at any variance.
        EDGE: (relu, _rescaled(edge, relu)),
    }


def _rescaled(kernel: np.ndarray, like: np.ndarray) -> np.ndarray:
    return kernel * (np.diag(like).mean() / np.diag(kernel).mean())


def _at_edge(x: np.ndarray, w_std: float, b_std: float) -> np.ndarray:
    """Inputs scaled so that the mean variance of the first layer is the one that is kept."""
    return x * np.sqrt((EDGE_Q - b_std**2) / w_std**2 / np.mean(x**2))


def decay(settings: Any) -> pd.DataFrame:
    """How the correlation of two inputs approaches 1 with depth (Proposition G.1, in Control 10).

    Two inputs of unit mean square with correlation 1/2. Proposition G.1 says 1 - c ~ kappa / L^2
    for ReLU, whose limit is 9 pi^2 / 2, and 1 - c ~ kappa / L for smooth activations on the edge of
    chaos. The released settings for GeLU are not on it.

    Returns
    -------
    DataFrame
        Columns kernel, metric, value.
    """
    pair = np.array([[2.0, 0.0, 0.0, 0.0], [1.0, np.sqrt(3.0), 0.0, 0.0]])
    w_std, b_std = nngp.edge_of_chaos("gelu", EDGE_Q)
    cases = {
        "ReLU": ("relu", 2**0.5, 0.0, pair),
        "GeLU on the edge of chaos": ("gelu", w_std, b_std, _at_edge(pair, w_std, b_std)),
        "GeLU, sqrt(2), no bias": ("gelu", 2**0.5, 0.0, pair),
        "GeLU, 1.9822, no bias": ("gelu", NETWORK_W_STD["gelu"], 0.0, pair),
    }
    rows = []
    for name, (*parameters, x) in cases.items():
        # ReLU keeps its variance however deep. That of GeLU on the edge is an unstable fixed point,
        # which rounding leaves after some 200 layers; the others leave the range of numbers.
        deeper = {"ReLU": 2000, "GeLU on the edge of chaos": 200}
        most = [deeper[name]] if name in deeper and not settings.is_tiny else []
        for depth in (10, 20, 40, *most):
            matrix = nngp.fully_connected(depth, *parameters)(x)
            c = matrix[0, 1] / np.sqrt(matrix[0, 0] * matrix[1, 1])
            values = {
                "variance": matrix[0, 0],
                "(1 - c) L": (1 - c) * depth,
                "(1 - c) L^2": (1 - c) * depth**2,
            }
            key = {"statement": "Proposition G.1", "case": f"{name}, L = {depth}"}
            rows += [{**key, "metric": metric, "value": float(v)} for metric, v in values.items()]
    return pd.DataFrame(rows)


def low_rank(records: Records, settings: Any) -> pd.DataFrame:
    """Leakage against how far the kernel is from a constant (Proposition 6.1, in Control 10).

    With |k - a| <= d for all pairs, weights of 1 / n give a posterior variance of the latent
    function of at most 4 d + noise / n, hence a bound on every KL, as v / noise enters it. The
    kernel is a constant of 1 and d times a correlation kernel.

    Returns
    -------
    DataFrame
        Columns statement, case, metric, value.
    """
    few = records.first(min(200, len(records)))
    base = leakage.kernel_of(settings)(few.inputs("unit sphere"))
    root = np.sqrt(np.diag(base))
    correlation = base / np.outer(root, root)
    rows = []
    for size in (1.0, 0.1, 0.01, 0.001):
        matrix = 1 + size * (correlation - 0.5)
        distance = float(np.abs(matrix - 1).max())
        found = lood.leave_one_out(matrix, few.targets, settings.noise)
        bound = 4 * distance + settings.noise / (len(few) - 1)
        key = {
            "statement": "Proposition 6.1",
            "case": f"kernel within {distance:.3g} of a constant",
        }
        values = {
            "largest variance": found.variance.max(),
            "its bound": bound,
            "largest KL": found.kl.max(),
            "bound of the KL": _kl_bound(bound, found, settings.noise, few),
        }
        rows += [{**key, "metric": metric, "value": float(v)} for metric, v in values.items()]
    return pd.DataFrame(rows)


def _kl_bound(bound: float, found: lood.LeaveOneOut, noise: float, records: Records) -> float:
    """KL at a variance of `bound` with the largest residual; it rises with both."""
    square = float(np.square(found.residual).sum(axis=1).max())
    odds = bound / noise
    classes = records.dataset.n_classes
    return 0.5 * (classes * (odds - np.log1p(odds)) + square / (bound + noise) * odds)


def _share(more: np.ndarray) -> dict[str, float]:
    count = int(np.sum(more))
    interval = binomtest(count, len(more)).proportion_ci(method="exact")
    ends = {"low": 100 * interval.low, "high": 100 * interval.high}
    return {"value": 100 * count / len(more), **ends}


def _points(panel: str, series: str, record: Any, x: np.ndarray, y: np.ndarray) -> pd.DataFrame:
    columns = {"panel": panel, "series": series, "record": record, "x": x, "y": y}
    return pd.DataFrame({**columns, "low": y, "high": y})
