"""Many attacks' AUC and rates under one set of resamples: each weight is drawn and summed once."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from membership.arrays import FloatArray
from membership.metrics.intervals import RESAMPLES
from membership.metrics.paired import Resampled, checked
from membership.metrics.resampling import ranked, record_weights, weighted_rates
from membership.metrics.roc import auc, tpr_at_fpr


def resampled_rates(
    scores: Mapping[str, Any],
    member: Any,
    *,
    fprs: Sequence[float] = (),
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> dict[str, dict[str | float, Resampled]]:
    """The AUC and the true positive rates of several attacks, as `resampled` has each.

    Parameters
    ----------
    scores : dict of str to array of shape (targets, records)
        By the attack's name; NaN where a target was not asked, at the same places in all.
    member : bool array of shape (targets, records)
        As in `crossed_interval`.
    fprs : sequence of float
        False positive rates in [0, 1].
    resamples, seed : int
        As in `crossed_interval`.

    Returns
    -------
    dict
        By attack, and then by ``"auc"`` or the false positive rate.

    Raises
    ------
    InputError
        As `contrast_interval`.
    """
    arrays, member = checked(list(scores.values()), member)
    asked = ~np.isnan(arrays[0])
    keys: tuple[str | float, ...] = ("auc", *fprs)
    orders = [
        [ranked(row, truth) for row, truth in zip(one, member, strict=True)] for one in arrays
    ]
    blocks = [
        np.array([[weighted_rates(order, weight, fprs) for order in rows] for rows in orders])
        for weight in record_weights(asked & member, asked & ~member, resamples, seed)
    ]
    under = np.concatenate(blocks, axis=-1)  # (attacks, targets, statistics, resamples)

    def values(one: FloatArray, key: str | float) -> FloatArray:
        rows = [(row[use], truth[use]) for row, truth, use in zip(one, member, asked, strict=True)]
        if isinstance(key, str):
            return np.array([auc(*row) for row in rows])
        return np.array([tpr_at_fpr(*row, key) for row in rows])

    return {
        name: {key: Resampled(values(one, key), under[a, :, k]) for k, key in enumerate(keys)}
        for a, (name, one) in enumerate(zip(scores, arrays, strict=True))
    }
