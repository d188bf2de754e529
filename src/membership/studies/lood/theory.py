"""Theorem 4.1 and the propositions, tried numerically."""

from typing import Any

import numpy as np
import pandas as pd
from scipy.integrate import quad

from membership import lood, nngp
from membership.metrics.arrays import FloatArray
from membership.studies.lood import activations, toys
from membership.studies.lood.queries import kernels
from membership.studies.lood.records import Records, attrs
from membership.studies.lood.search import Pictures, prepare

STEP = 1e-5
DIRECTIONS = 20
N_AUCS = 5


def statements(records: Records, settings: Any) -> pd.DataFrame:
    """The paper's theorem and propositions against numbers (Control 10).

    Returns
    -------
    DataFrame
        Columns statement, case, quantity, value.
    """
    parts = [
        _stationarity(records, settings),
        _directions(records, settings),
        _proposition_5_1(settings),
        activations.low_rank(records, settings),
        activations.decay(settings),
    ]
    # A column for each of so many quantities would be nearly empty: they are words of the row.
    table = pd.concat(parts, ignore_index=True).rename(columns={"metric": "quantity"})
    table.attrs = attrs([records], settings)
    return table


def _stationarity(records: Records, settings: Any) -> pd.DataFrame:
    """Slope of the divergences at the record, and of the mean distance, by central differences."""
    seen = prepare(records, settings.search_records)
    rows = []
    for name, kernel in kernels(settings).items():
        slopes: dict[str, list[float]] = {"kl": [], "kl-reverse": [], "mean": []}
        for row in range(3):
            for measure in slopes:
                slopes[measure] += _slopes(seen, kernel, row, measure, settings)
        for measure, values in slopes.items():
            key = {"statement": "Theorem 4.1", "case": name}
            metric = f"largest slope of {NAMES[measure]} at the record, relative to one away"
            rows.append({**key, "metric": metric, "value": max(values)})
    return pd.DataFrame(rows)


NAMES = {"kl": "KL(D, D')", "kl-reverse": "KL(D', D)", "mean": "the mean distance"}


def _slopes(
    seen: Pictures, kernel: nngp.Kernel, row: int, measure: str, settings: Any
) -> list[float]:
    """Directional slopes at the record over the largest at a point one tenth away from it."""
    comparison = seen.compare(kernel, row, settings.noise)
    record = seen.x[row]
    rng = np.random.default_rng([settings.seed, 9, row])
    steps = rng.standard_normal((DIRECTIONS, *record.shape))
    away = record + 0.1 * rng.standard_normal(record.shape)

    def slope(place: FloatArray) -> FloatArray:
        ahead, behind = (comparison.measure(place + s * STEP * steps, measure) for s in (1, -1))
        return np.abs(ahead - behind) / (2 * STEP)

    return (slope(record) / slope(away).max()).tolist()


def _directions(records: Records, settings: Any) -> pd.DataFrame:
    """Whether the direction with D first is ever the smaller (Appendix C.2 states a condition)."""
    rows = []
    for name, kernel in kernels(settings).items():
        found = lood.leave_one_out(kernel(records.inputs()), records.targets, settings.noise)
        ratio = float((found.kl / found.kl_reverse).min())
        key = {"statement": "Appendix C.2", "case": name}
        rows.append({**key, "metric": "smallest KL(D, D') over KL(D', D)", "value": ratio})
    return pd.DataFrame(rows)


def _proposition_5_1(settings: Any) -> pd.DataFrame:
    """Its formula for the gradient of the mean distance, against central differences."""
    rows = []
    for name, place in toys.PLACES.items():
        comparison = toys.comparison(place, settings)
        ends = np.array([[place + STEP], [place - STEP]])
        ahead, behind = comparison.measure(ends, "mean")
        values = {
            "formula": toys.slope(place, settings),
            "differences": (ahead - behind) / 2 / STEP,
        }
        key = {"statement": "Proposition 5.1", "case": f"S {name}"}
        rows += [{**key, "metric": metric, "value": float(v)} for metric, v in values.items()]
    return pd.DataFrame(rows)


def one_by_one(records: Records, settings: Any) -> pd.DataFrame:
    """All records from one inverse against each from its own posteriors (Control 1).

    Returns
    -------
    DataFrame
        Columns kernel, metric, value, records: the largest deviation over records, over the largest
        value and over the record's own, one by one meaning two posteriors from scratch and the
        divergence of two normal laws written out. For the most exposed records also the largest
        deviation of the AUC from the area that two non-central chi-squared laws leave.
    """
    rows = []
    for i, (name, kernel) in enumerate(kernels(settings).items()):
        # The network's kernel on 500 records, as in the released code; the others on fewer.
        few = records.first(60 if settings.is_tiny else 100 if i else 500)
        matrix = kernel(few.inputs())
        fast = lood.leave_one_out(matrix, few.targets, settings.noise)
        slow = [directly(matrix, few.targets, row, settings.noise) for row in range(len(few))]
        slow = np.array(slow)
        for measure, other in zip(("kl", "kl_reverse", "mean_distance"), slow.T, strict=True):
            values = getattr(fast, measure)
            deviation = np.abs(values - other).max() / np.abs(values).max()
            own = (np.abs(values - other) / np.abs(values)).max()
            label = measure.replace("_", " ").replace("kl", "KL")
            for metric, value in (
                ("largest deviation over the largest value", deviation),
                ("largest deviation over the record's own value", own),
            ):
                key = {"kernel": name, "metric": f"{label}: {metric}"}
                rows.append({**key, "value": float(value), "records": len(few)})
        exposed = np.argsort(-fast.kl)[:N_AUCS]
        off = [abs(fast.auc[row] - area(fast, row, settings.noise)) for row in exposed]
        key = {"kernel": name, "metric": "AUC of the most exposed: largest deviation"}
        rows.append({**key, "value": max(off), "records": len(exposed)})
    table = pd.DataFrame(rows)
    table.attrs = attrs([records], settings)
    return table


def area(found: lood.LeaveOneOut, row: int, noise: float) -> float:
    """AUC of the best test at one record, by integrating over false-positive rates.

    Parameters
    ----------
    found : LeaveOneOut
    row : int
        The differing record, and the query.
    noise : float
    """
    variance, residual = found.variance[row], found.residual[row]
    excess = variance / noise
    shift = np.square(residual).sum() * excess / (variance + noise)
    pair = lood.Contrast(np.array([excess]), np.array([shift]), np.nan, len(residual))
    return 1 - quad(pair.tradeoff, 0, 1, epsabs=1e-9, epsrel=1e-9, limit=200)[0]


def directly(
    matrix: FloatArray, targets: FloatArray, row: int, noise: float
) -> tuple[float, float, float]:
    """Both posteriors at one record, each by its own linear system.

    Parameters
    ----------
    matrix : array of shape (n, n)
        Kernel of all records.
    targets : array of shape (n, outputs)
    row : int
        The differing record, and the query.
    noise : float

    Returns
    -------
    kl, kl_reverse, mean_distance : float
    """
    everyone = np.arange(len(matrix))
    mean, variance = _posterior(matrix, targets, np.delete(everyone, row), row, noise)
    mean_s, variance_s = _posterior(matrix, targets, everyone, row, noise)
    square, classes = float(np.square(mean - mean_s).sum()), targets.shape[1]
    kl = _kl(variance, variance_s, square, classes)
    return kl, _kl(variance_s, variance, square, classes), square / 2


def _posterior(
    matrix: FloatArray, targets: FloatArray, given: Any, row: int, noise: float
) -> tuple[FloatArray, float]:
    cross = matrix[row, given]
    system = matrix[np.ix_(given, given)] + noise * np.eye(len(given))
    solved = np.linalg.solve(system, np.column_stack([cross, targets[given]]))
    return cross @ solved[:, 1:], float(matrix[row, row] - cross @ solved[:, 0])


def _kl(a: float, b: float, square: float, classes: int) -> float:
    """KL(N(m, a I) || N(m', b I)) with |m - m'|^2 = square."""
    return 0.5 * (classes * (np.log(b / a) - 1 + a / b) + square / b)
