"""Closed forms on several training sets, along the edge of chaos, and at the mean of the data."""

from typing import Any

import numpy as np
import xarray as xr

from membership import evidence, lood, nngp
from membership.arrays import FloatArray
from membership.studies.lood import edge
from membership.studies.lood.kernels import at_edge, kernels, square
from membership.studies.lood.observed_records import gaussian_kl, posterior, uniform
from membership.studies.lood.origin import of_records, of_sets
from membership.studies.lood.records import MOST_RECORDS, SCALINGS, Records, load

N_SETS = 3
SET_DEPTHS = (2, 5, 10)
EDGE_QS, EDGE_DEPTHS, RATIOS = edge.QS, (1, 2, 5, 10), (0.01, 0.1)
DISTANCES = (1.0, 0.1, 1e-2, 1e-3, 1e-4, 1e-5)
MEAN_RECORDS = 20


def sets(settings: Any) -> xr.Dataset:
    """Variances and squared residuals of training records and uniform noise, on each set."""
    each = [load(settings, part=part) for part in range(N_SETS)]
    cases = {
        f"{name}, depth {depth}": nngp.fully_connected(depth, name.lower())
        for name in ("ReLU", "GeLU")
        for depth in SET_DEPTHS
    }
    cases["RBF"] = nngp.rbf()
    shape = (len(each), len(cases))
    own, noise = np.zeros((2, *shape, len(each[0]))), []
    for i, records in enumerate(each):
        for j, kernel in enumerate(cases.values()):
            matrix = kernel(records.inputs())
            found = lood.leave_one_out(matrix, records.targets, settings.noise)
            own[:, i, j] = found.variance, square(found)
            noise.append(uniform(records, settings, kernel))
    of_noise = np.stack(noise, axis=1).reshape(2, *shape, -1)
    dims, other = ("training_set", "case", "record"), ("training_set", "case", "uniform")
    return evidence.dataset(
        "process",
        {
            "variance": (dims, own[0]),
            "square": (dims, own[1]),
            "noise_variance": (other, of_noise[0]),
            "noise_square": (other, of_noise[1]),
        },
        {"case": list(cases)},
        **of_sets(each, settings, pictures_of_noise=of_noise.shape[-1]),
    )


def along_edge(name: str, n_records: int, settings: Any) -> xr.Dataset:
    """log KL under GeLU less that under ReLU, of each record at fixed points of the edge of chaos.

    Both kernels keep the same mean variance q, and the noise is a share of it. ReLU's KL does not
    depend on q then.
    """
    wanted = min(n_records or settings.n_records, MOST_RECORDS)
    each = [load(settings, name, wanted, part) for part in range(N_SETS)]
    sizes = (N_SETS, len(SCALINGS), len(EDGE_DEPTHS), len(EDGE_QS), len(RATIOS), wanted)
    found = np.zeros(sizes, dtype=np.float32)
    for i, records in enumerate(each):
        for j, scaling in enumerate(SCALINGS):
            x = records.inputs(scaling)
            for k, depth in enumerate(EDGE_DEPTHS):
                found[i, j, k] = _beside_relu(x, records, depth)
    dims = ("training_set", "inputs", "depth", "q", "ratio", "record")
    levels = {"inputs": list(SCALINGS), "depth": list(EDGE_DEPTHS), "q": list(EDGE_QS)}
    return evidence.dataset(
        "process",
        {"log_ratio": (dims, found)},
        levels | {"ratio": list(RATIOS)},
        **of_sets(each, settings),
    )


def _beside_relu(x: FloatArray, records: Records, depth: int) -> FloatArray:
    """The log ratios at one depth, (q, ratio, record)."""
    relu = nngp.fully_connected(depth)(x)
    below = _log_kl(relu / np.diag(relu).mean(), records)
    found = []
    for q in EDGE_QS:
        point = edge.point("GeLU", q)
        stds = point.w_std, float(np.sqrt(point.b_variance))
        kernel = nngp.fully_connected(depth, "gelu", *stds)(at_edge(x, *stds, q))
        found.append(_log_kl(kernel / np.diag(kernel).mean(), records) - below)
    return np.array(found)


def _log_kl(matrix: FloatArray, records: Records) -> FloatArray:
    return np.log([lood.leave_one_out(matrix, records.targets, ratio).kl for ratio in RATIOS])


def at_mean(settings: Any) -> xr.Dataset:
    """KL of queries ever nearer to the mean of D', where each training set normalises by itself.

    By the library, and by a second path that writes both posteriors out.
    """
    few = load(settings).first(settings.search_records)
    x = few.dataset.x.astype(np.float64)
    kernel = next(iter(kernels(settings).values()))
    n = min(MEAN_RECORDS, len(few) // 2)
    values, at, variance = (
        np.zeros((2, n, len(DISTANCES))),
        np.zeros((2, n)),
        np.zeros((n, len(DISTANCES))),
    )
    for row in range(n):
        kept = np.arange(len(x)) != row
        comparison = lood.compare_normalised(
            kernel, x[kept], few.targets[kept], (x[row], few.targets[row]), settings.noise
        )
        side = comparison.with_s
        step = np.random.default_rng([settings.seed, 11, row]).standard_normal(x[row].shape)
        away = np.array(DISTANCES).reshape(-1, *[1] * step.ndim)
        queries = side.mean + side.std * away * step
        values[0, row], at[0, row] = comparison.measure(queries), comparison.measure(x[row])
        each = [kl_directly(kernel, few, row, query, settings) for query in (*queries, x[row])]
        values[1, row], at[1, row] = [kl for kl, _ in each[:-1]], each[-1][0]
        variance[row] = [own / each[-1][1] for _, own in each[:-1]]
    return evidence.dataset(
        "process",
        {
            "kl": (("way", "record", "distance"), values),
            "kl_at_record": (("way", "record"), at),
            "variance": (("record", "distance"), variance),
        },
        {"way": ["library", "written out"], "distance": list(DISTANCES)},
        **of_records(few, settings, records_tried=n),
    )


def kl_directly(
    kernel: nngp.Kernel, few: Records, row: int, query: FloatArray, settings: Any
) -> tuple[float, float]:
    """KL at a query with each training set's own normalisation, and its variance under D'."""
    x, y = few.dataset.x.astype(np.float64).reshape(len(few), *query.shape), few.targets
    moments = []
    for given in (np.delete(np.arange(len(x)), row), np.arange(len(x))):
        axes = (0, *range(2, x.ndim)) if x.ndim > 2 else (0,)
        mean, std = x[given].mean(axes, keepdims=True), x[given].std(axes, keepdims=True)
        seen = (np.concatenate([x[given], query[None]]) - mean) / np.where(std > 0, std, 1.0)
        matrix = kernel(seen)
        moments.append(posterior(matrix, y[given], np.arange(len(given)), -1, settings.noise))
    (mean, variance), (mean_s, variance_s) = moments
    moved = float(np.square(mean - mean_s).sum())
    return gaussian_kl(variance, variance_s, moved, y.shape[1]), variance_s
