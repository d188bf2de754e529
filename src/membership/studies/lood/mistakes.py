"""What two slips of the released code change: the wrong label, and the record left in D."""

from typing import Any

import numpy as np
import pandas as pd

from membership import lood
from membership.metrics.arrays import FloatArray
from membership.studies.lood import leakage
from membership.studies.lood.leakage import correlation
from membership.studies.lood.records import Records, attrs
from membership.studies.lood.search import Pictures, prepare

MOST_RECORDS = 100


def released_code(records: Records, settings: Any) -> pd.DataFrame:
    """LOOD as it should be, with the misassigned label, and with the record in D (Control 11).

    The training script shortens the data by record i and then slices the labels by the length of
    the shortened data: record i - 1 gets the label of i. The README's reconstruction removes
    positions where it should remove values, so that the record stays in D. Here the process takes
    the place of the networks.

    Returns
    -------
    DataFrame
        Columns slip, metric, value, low, high.
    """
    few = records.first(MOST_RECORDS)
    seen = prepare(records, min(MOST_RECORDS, settings.search_records))
    kernel = leakage.kernel_of(settings)
    exact = leakage.every_record(few, settings)
    wrong = _wrong_label(few, settings)
    right = np.sqrt(exact.mean_distance)
    y = few.dataset.y
    flipped = np.arange(1, len(few))
    rows = [
        _row(LABEL, "labels that change (%)", 100 * (y[flipped] != y[flipped - 1]).mean()),
        _row(LABEL, "median root mean distance, right labels", np.median(right)),
        _row(LABEL, "median root mean distance, as released", np.median(wrong)),
        {"slip": LABEL, "metric": "correlation of the two", **correlation(right[1:], wrong[1:])},
    ]
    pairs = np.array([_left_in(seen, kernel, row, settings) for row in range(len(seen.x))])
    rows += [
        _row(LEFT_IN, "median KL, record left out", np.median(pairs[:, 0])),
        _row(LEFT_IN, "median KL, as released", np.median(pairs[:, 1])),
        _row(LEFT_IN, "largest t, as released (at most 1/2)", pairs[:, 2].max()),
        {"slip": LEFT_IN, "metric": "correlation of the two", **correlation(*pairs[:, :2].T)},
    ]
    table = pd.DataFrame(rows)
    table.attrs = attrs([records], settings)
    return table


LABEL = "label of the next record"
LEFT_IN = "record left in D"


def _row(slip: str, metric: str, value: float) -> dict[str, Any]:
    value = float(value)
    return {"slip": slip, "metric": metric, "value": value, "low": value, "high": value}


def _wrong_label(records: Records, settings: Any) -> FloatArray:
    """Root mean distance at each record where, without it, the one before has its label."""
    matrix = leakage.kernel_of(settings)(records.inputs())
    noise, y = settings.noise * np.eye(len(matrix)), records.targets
    with_all = matrix @ np.linalg.solve(matrix + noise, y)
    moved = np.zeros(len(matrix))
    for row in range(len(matrix)):
        kept = np.arange(len(matrix)) != row
        labels = y.copy()
        labels[max(row - 1, 0)] = y[row]
        solved = np.linalg.solve((matrix + noise)[np.ix_(kept, kept)], labels[kept])
        moved[row] = np.square(with_all[row] - matrix[row, kept] @ solved).sum() / 2
    return np.sqrt(moved)


def _left_in(seen: Pictures, kernel: Any, row: int, settings: Any) -> tuple[float, float, float]:
    """KL at the record where it is left out and where it stays in D, and t in the second case."""
    differing = seen.x[row], seen.records.targets[row]
    out = seen.compare(kernel, row, settings.noise).measure(seen.x[row])
    stays = lood.compare(
        kernel, seen.x, seen.records.targets, differing, settings.noise, allow_repeated=True
    ).contrast(seen.x[row])
    share = float(stays.excess[0] / (1 + stays.excess[0]))
    return out, float(stays.kl()), share
