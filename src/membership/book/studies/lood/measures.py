"""The numbers behind the tables, from evidence: leakage of each record, AUC of networks."""

from typing import Any

import numpy as np
import xarray as xr

from membership import lood, metrics
from membership.arrays import FloatArray
from membership.book.exhibits import rows
from membership.book.studies.lood.experiment import MAIN
from membership.book.studies.lood.networks import fitted_auc


def contrast(moments: xr.Dataset, case: Any = MAIN) -> lood.Contrast:
    """What each record shows at itself under one of the kernels."""
    part = moments.sel(case=case) if "case" in moments.dims else moments
    return of_moments(part["variance"].values, part["square"].values, moments)


def uniform(moments: xr.Dataset, case: Any = MAIN) -> lood.Contrast:
    """The same for the pictures of uniform noise."""
    part = moments.sel(case=case) if "case" in moments["noise_variance"].dims else moments
    return of_moments(part["noise_variance"].values, part["noise_square"].values, moments)


def of_moments(
    variance: FloatArray, square: FloatArray, moments: xr.Dataset, noise: float = 0.0
) -> lood.Contrast:
    """From variances and squared residuals, (records,) each, as `lood.leave_one_out` has them."""
    noise = noise or moments.attrs["recipe"]["noise"]
    share = variance / (variance + noise)
    excess, shift = variance / noise, square * share / noise
    return lood.Contrast(
        excess[:, None], shift[:, None], square * share**2 / 2, moments.attrs["outputs"]
    )


def network_auc(
    pairs: xr.Dataset, query: int = 0, half: slice = slice(None)
) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation over halves of the networks' AUC for each left-out record."""
    answer = pairs["answer"].values[:, :, half].astype(np.float64)
    answers = zip(answer[:, 0, :, query], answer[:, 1, :, query], strict=True)
    seed = pairs.attrs["seed"]
    return tuple(np.array([fitted_auc(*sides, seed) for sides in answers]).T)


def share(hit: FloatArray) -> dict[str, float]:
    """Of records, in percent, as if they were independent, with their number."""
    return {**rows.share(hit), "n": np.size(hit)}


def share_over_sets(hit: FloatArray) -> dict[str, float]:
    """The same of (training sets, records): sets are the units, where there are several."""
    if len(hit) < 2:
        return {**share(hit), "n_repeats": 1}
    return _percent(100 * np.mean(hit, axis=1)) | {"n": hit.size, "n_repeats": len(hit)}


def _percent(values: FloatArray) -> dict[str, float]:
    """Mean and interval of several percentages."""
    several = metrics.summary(values, lowest=0.0, highest=100.0)
    return {name: several[name] for name in ("value", "low", "high")}


def accuracy(pairs: xr.Dataset) -> dict[str, dict[str, float]]:
    """How often networks with every record are right, in percent, on their records and others."""
    by_records = {}
    for records in pairs["asked"].values:
        values = pairs["accuracy"].sel(asked=records).values
        if np.isfinite(values).all():
            by_records[str(records)] = _percent(values) | {"n": len(values)}
    return by_records


def prediction_difference(pairs: xr.Dataset) -> FloatArray:
    """Half the squared distance of the mean logits with and without each record, at the record."""
    inside, outside = _sides(pairs)
    move = inside.mean(axis=1) - outside.mean(axis=1)
    return np.square(move).sum(axis=1) / 2


def memorisation(pairs: xr.Dataset) -> FloatArray:
    """Feldman's: probability of the label with the record less that without, at the record."""
    y = np.array(pairs.attrs["labels"])
    means = []
    for logits in _sides(pairs):
        odds = logits - logits.max(axis=-1, keepdims=True)
        p = np.exp(odds) / np.exp(odds).sum(axis=-1, keepdims=True)
        means.append(p.mean(axis=1)[np.arange(len(y)), y])
    return means[0] - means[1]


def _sides(pairs: xr.Dataset) -> tuple[FloatArray, FloatArray]:
    """Logits at the record itself with it and without it, (records, networks, classes)."""
    answer = pairs["answer"].values[:, :, :, 0].astype(np.float64)
    return answer[:, 0], answer[:, 1]
