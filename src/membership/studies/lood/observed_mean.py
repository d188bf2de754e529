"""Queries at the mean of the data, where each training set normalises records by itself."""

from typing import Any

import numpy as np
import xarray as xr

from membership import evidence, lood, nngp
from membership.arrays import FloatArray
from membership.studies.lood.kernels import kernels
from membership.studies.lood.observed_records import gaussian_kl, posterior
from membership.studies.lood.origin import of_records
from membership.studies.lood.records import Records, load

DISTANCES = (1.0, 0.1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
CHECKED = 20
"""Records whose KL a second path confirms."""
B_STD = 0.1
LEVELS = 255


def at_mean(settings: Any) -> xr.Dataset:
    """KL of queries ever nearer to the mean of D', for every record left out.

    Beside them the picture of 256 grey levels nearest to that mean, and the mean itself under
    kernels that are not zero there. A second path writes both posteriors out.
    """
    few = load(settings).first(settings.search_records)
    x = few.dataset.x.astype(np.float64)
    main = next(iter(kernels(settings).values()))
    depth = min(settings.depth, settings.sizes.most_depth)
    others = {
        f"ReLU with biases of deviation {B_STD:g}": nngp.fully_connected(depth, b_std=B_STD),
        "RBF": nngp.rbf(),
    }
    each = [_of_record(row, few, x, main, others, settings) for row in range(len(x))]
    dims = {
        "kl": ("record", "distance"),
        "variance": ("record", "distance"),
        "kl_at_record": ("record",),
        "kl_in_grey_levels": ("record",),
        "auc": ("record",),
        "auc_at_record": ("record",),
        "kl_of_others": ("record", "kernel"),
        "kl_of_others_at_record": ("record", "kernel"),
    }
    arrays = {name: (dim, np.array([one[name] for one in each])) for name, dim in dims.items()}
    confirmed = [one["kl_directly"] for one in each if "kl_directly" in one]
    return evidence.dataset(
        "process",
        arrays | {"kl_directly": (("checked", "distance"), confirmed)},
        {"distance": list(DISTANCES), "kernel": list(others)},
        **of_records(few, settings, records_tried=len(x), records_confirmed=len(confirmed)),
    )


def _of_record(
    row: int, few: Records, x: FloatArray, main: Any, others: dict[str, Any], settings: Any
) -> dict[str, Any]:
    kept = np.arange(len(x)) != row
    given = x[kept], few.targets[kept], (x[row], few.targets[row]), settings.noise
    comparison = lood.compare_normalised(main, *given)
    side = comparison.with_s
    step = np.random.default_rng([settings.seed, 11, row]).standard_normal(x[row].shape)
    away = np.array(DISTANCES).reshape(-1, *[1] * step.ndim)
    queries = side.mean + side.std * away * step
    grey = np.rint(LEVELS * np.broadcast_to(side.mean, step.shape)) / LEVELS
    _, variance = side.predict(np.concatenate([queries, x[row][None]]))
    found = {
        "kl": comparison.measure(queries),
        "variance": variance[:-1] / variance[-1],
        "kl_at_record": comparison.measure(x[row]),
        "kl_in_grey_levels": comparison.measure(grey),
        "auc": comparison.measure(queries[-1], "auc"),
        "auc_at_record": comparison.measure(x[row], "auc"),
    }
    pairs = []
    for kernel in others.values():
        own = lood.compare_normalised(kernel, *given)
        mean = np.broadcast_to(own.with_s.mean, x[row].shape)
        pairs.append((own.measure(mean), own.measure(x[row])))
    found["kl_of_others"], found["kl_of_others_at_record"] = zip(*pairs, strict=True)
    if row < CHECKED:
        direct = [kl_directly(main, few, row, query, settings)[0] for query in queries]
        found["kl_directly"] = np.array(direct)
    return found


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
