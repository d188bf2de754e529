"""Intervals where the same records are asked of several targets: one attack, a difference, many."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from membership.arrays import BoolArray, FloatArray, as_bool, as_float64, as_real, check_level
from membership.errors import InputError
from membership.metrics.intervals import RESAMPLES, Statistic, named_statistic
from membership.metrics.resampling import ranked, record_weights, weighted, weighted_rates
from membership.metrics.roc import auc, tpr_at_fpr


@dataclass(frozen=True)
class PairedInterval:
    """A statistic's mean over units, or its difference, and how far it may be off.

    Attributes
    ----------
    difference : float
        In the statistic's own unit; of one attack `value` is the better name for it.
    low, high : float
        ``difference`` -+ t * ``standard_error``; not clipped to the statistic's range.
    standard_error : float
    degrees_of_freedom : float
        Of Student's t; infinite where the units do not vary, or where there is one.
    units : int
        Independent units that the mean is over.
    """

    difference: float
    low: float
    high: float
    standard_error: float
    degrees_of_freedom: float
    units: int

    @property
    def value(self) -> float:
        """The mean of one attack."""
        return self.difference


CrossedInterval = PairedInterval


def crossed_interval(
    statistic: str | Statistic,
    score: Any,
    member: Any,
    *,
    units: Any = None,
    asked_share: float = 0.0,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
    **arguments: Any,
) -> CrossedInterval:
    r"""Interval of one attack's mean statistic over targets that are asked the same records.

    Targets and records are crossed, and both are samples: with s(i) the statistic of unit i and
    s\*(b, i) under resample b of the records, the same for every unit, the variance is

    .. math:: V = \max(V_t + (1 - f)(V_r - V_{tr}),\; V_t,\; (1 - f) V_r)

    with :math:`V_t` the variance of s over T units divided by T, :math:`V_r` the variance over b
    of the mean of s\*, and :math:`V_{tr}` the sum over units of the variance over b divided by
    :math:`T^2`: what each cell's own noise adds to both. Degrees of freedom are
    :math:`V^2 (T - 1) / V_t^2`. With one unit V is :math:`V_r`: the interval is of this model.

    Parameters
    ----------
    statistic : str or callable
        As in `interval`; "auc" and "tpr_at_fpr" are computed from scores sorted once, others on
        resampled records.
    score : array of shape (targets, records), or (records,) of one target
        Higher means member. NaN where a target was not asked; such a record weighs nothing.
    member : bool array in the shape of `score`
        The truth; at least two members and two non-members asked of each target.
    units : array of shape (targets,), optional
        A label each; targets with equal labels, such as a model and its complement, are averaged
        to one unit. None: each target is one.
    asked_share : float
        f, the share asked of the records that the statement is about, 0 to 1: 0 for "records like
        these", 1 if all were asked.
    level : float
        Confidence, in (0, 1).
    resamples : int
        Number of resamples, 2 or more.
    seed : int
        Of the resampling.
    **arguments
        Passed on to the statistic, e.g. ``fpr=0.01``.

    Returns
    -------
    CrossedInterval

    Raises
    ------
    InputError
        Shapes differ, a target lacks a class, or a parameter is out of its range.
    """
    return contrast_interval(
        statistic,
        [score],
        [1.0],
        member,
        units=units,
        asked_share=asked_share,
        level=level,
        resamples=resamples,
        seed=seed,
        **arguments,
    )


def paired_interval(
    statistic: str | Statistic,
    score_a: Any,
    score_b: Any,
    member: Any,
    *,
    units: Any = None,
    asked_share: float = 0.0,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
    **arguments: Any,
) -> PairedInterval:
    """Interval of the difference of two attacks on the same targets and the same records.

    Parameters
    ----------
    score_a, score_b : array of shape (targets, records), or (records,) of one target
        NaN at the same places; the difference is that of `score_a` less that of `score_b`.
    statistic, member, units, asked_share, level, resamples, seed, **arguments
        As in `crossed_interval`, whose estimator is applied to each unit's difference, with one
        set of resamples for both attacks.

    Returns
    -------
    PairedInterval

    Raises
    ------
    InputError
        As `crossed_interval`, or one attack has a score where the other has none.
    """
    return contrast_interval(
        statistic,
        [score_a, score_b],
        [1.0, -1.0],
        member,
        units=units,
        asked_share=asked_share,
        level=level,
        resamples=resamples,
        seed=seed,
        **arguments,
    )


def contrast_interval(
    statistic: str | Statistic,
    scores: Sequence[Any],
    coefficients: Sequence[float],
    member: Any,
    *,
    units: Any = None,
    asked_share: float = 0.0,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
    **arguments: Any,
) -> PairedInterval:
    """Interval of a weighted sum of several attacks' statistics, in the way of `paired_interval`.

    A statement about a ratio is one about such a sum: "A's rate is over 1.25 times B's" holds
    where A - 1.25 B lies above 0.

    Parameters
    ----------
    scores : sequence of arrays of shape (targets, records)
        One an attack, NaN at the same places.
    coefficients : sequence of float
        One an attack; ``[1, -1]`` is the difference.
    statistic, member, units, asked_share, level, resamples, seed, **arguments
        As in `crossed_interval`.

    Returns
    -------
    PairedInterval
        ``difference`` is the weighted sum.

    Raises
    ------
    InputError
        As `paired_interval`, or the numbers of scores and of coefficients differ.
    """
    asked_scores, member = checked(scores, member)
    weights = as_float64("coefficients", coefficients, 1)
    if len(weights) != len(asked_scores):
        raise InputError(
            f"coefficients has {len(weights)} entries; give {len(asked_scores)}, one a score"
        )
    _check_numbers(asked_share, level, resamples)
    merge = _merger(units, len(member))
    whole = _summed(statistic, asked_scores, weights, member, resamples, seed, arguments)
    return _interval(merge @ whole.value, merge @ whole.under, asked_share, level)


@dataclass(frozen=True)
class Resampled:
    """A statistic of each target, and under resamples of the records that all share.

    Attributes
    ----------
    value : array of shape (targets,)
    under : array of shape (targets, resamples)
    """

    value: FloatArray
    under: FloatArray

    def __add__(self, other: "Resampled") -> "Resampled":
        return Resampled(self.value + other.value, self.under + other.under)

    def __mul__(self, factor: float) -> "Resampled":
        return Resampled(factor * self.value, factor * self.under)

    def interval(self, level: float = 0.95, units: Any = None) -> PairedInterval:
        """As `contrast_interval` of these targets."""
        merge = _merger(units, len(self.value))
        return _interval(merge @ self.value, merge @ self.under, 0.0, level)


def resampled(
    statistic: str | Statistic,
    score: Any,
    member: Any,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    **arguments: Any,
) -> Resampled:
    """One attack's statistic under resamples, to be added to and taken from others'.

    What has the same records, members and seed has the same resamples: a weighted sum of such
    numbers is that of `contrast_interval`, and each of them is computed once.

    Parameters
    ----------
    statistic, score, member, resamples, seed, **arguments
        As in `crossed_interval`.

    Returns
    -------
    Resampled

    Raises
    ------
    InputError
        As `crossed_interval`.
    """
    scores, member = checked([score], member)
    _check_numbers(0.0, 0.95, resamples)
    return _summed(statistic, scores, np.ones(1), member, resamples, seed, arguments)


def _summed(
    statistic: str | Statistic,
    scores: FloatArray,
    coefficients: FloatArray,
    member: BoolArray,
    resamples: int,
    seed: int,
    arguments: dict[str, Any],
) -> Resampled:
    """The weighted sum of several scores' statistics, of each target and under each resample."""
    of_target, asked = named_statistic(statistic), ~np.isnan(scores[0])
    values, cells = [], []
    for score in scores:
        rows = list(zip(score, member, asked, strict=True))
        values.append([of_target(row[use], truth[use], **arguments) for row, truth, use in rows])
        cells.append([weighted(statistic, arguments, row, truth) for row, truth, _ in rows])
    blocks = [
        sum(
            factor * np.array([cell(weight) for cell in row])
            for factor, row in zip(coefficients, cells, strict=True)
        )
        for weight in record_weights(asked & member, asked & ~member, resamples, seed)
    ]
    return Resampled(coefficients @ np.array(values), np.concatenate(blocks, axis=1))


def _interval(
    values: FloatArray, under: FloatArray, asked_share: float, level: float
) -> PairedInterval:
    """The estimator of `crossed_interval` from s (units,) and s* (units, resamples)."""
    number = len(values)
    of_records = float(under.mean(axis=0).var(ddof=1))
    if number == 1:
        variance, degrees = of_records, np.inf
    else:
        of_units = float(values.var(ddof=1)) / number
        of_cells = float(under.var(axis=1, ddof=1).sum()) / number**2
        open_share = 1.0 - asked_share
        both = of_units + open_share * (of_records - of_cells)
        variance = max(both, of_units, open_share * of_records)
        degrees = variance**2 * (number - 1) / of_units**2 if of_units > 0 else np.inf
    error = float(np.sqrt(variance))
    half = float(scipy.stats.t.ppf((1 + level) / 2, degrees)) * error
    value = float(values.mean())
    return PairedInterval(value, value - half, value + half, error, float(degrees), number)


def _merger(units: Any, n_targets: int) -> FloatArray:
    """The matrix that averages targets to units, (units, targets)."""
    labels = np.arange(n_targets) if units is None else np.asarray(units)
    if labels.shape != (n_targets,):
        raise InputError(f"units has shape {labels.shape}; give one label a target, ({n_targets},)")
    _, unit = np.unique(labels, return_inverse=True)
    merge = (unit == np.arange(unit.max() + 1)[:, None]).astype(np.float64)
    return merge / merge.sum(axis=1, keepdims=True)


def checked(scores: Sequence[Any], member: Any) -> tuple[FloatArray, BoolArray]:
    """Scores (attacks, targets, records) of records that any target was asked, and the truth."""
    names = ["score"] if len(scores) == 1 else [f"score_{chr(97 + i)}" for i in range(len(scores))]
    given = [_as_scores(name, score) for name, score in zip(names, scores, strict=True)]
    arrays = [np.atleast_2d(array) for array in given]
    for name, array in zip(names, arrays, strict=True):
        if array.shape != arrays[0].shape or (np.isnan(array) != np.isnan(arrays[0])).any():
            raise InputError(f"{name} and {names[0]}: give scores of the same targets and records")
    # Of one target both may be a row, or the truth alone.
    single = len(arrays[0]) == 1 and np.ndim(member) == 1
    member = as_bool("member", member, arrays[0].shape[single:]).reshape(arrays[0].shape)
    asked = ~np.isnan(arrays[0])
    for side, chosen in (("members", asked & member), ("non-members", asked & ~member)):
        short = np.flatnonzero(chosen.sum(axis=1) < 2)
        if short.size:
            raise InputError(
                f"member: target {short[0]} was asked {chosen[short[0]].sum()} {side}; give at "
                "least two of each class"
            )
    used = asked.any(axis=0)
    return np.array(arrays)[:, :, used], member[:, used]


def _as_scores(name: str, score: Any) -> FloatArray:
    """A score of shape (targets, records), or (records,), in which NaN is allowed."""
    array = as_real(name, score).astype(np.float64)
    if array.ndim not in (1, 2):
        raise InputError(
            f"{name} has shape {array.shape}; give (targets, records), or (records,) of one target"
        )
    as_float64(name, np.nan_to_num(array), array.ndim)
    return array


def _check_numbers(asked_share: float, level: float, number: int) -> None:
    if not 0.0 <= asked_share <= 1.0:
        raise InputError(f"asked_share is {asked_share}; give a share from 0 to 1")
    check_level(level)
    if number < 2:
        raise InputError(f"resamples is {number}; give 2 or more, 1,000 say")


def resampled_rates(
    scores: Mapping[str, Any],
    member: Any,
    *,
    fprs: Sequence[float] = (),
    resamples: int = RESAMPLES,
    seed: int = 0,
    done: Callable[[int], object] | None = None,
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
    done : callable, optional
        Told how many resamples have been counted since it was last told.

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
        [ranked(row, truth) for row, truth in zip(score, member, strict=True)] for score in arrays
    ]
    blocks = []
    for weight in record_weights(asked & member, asked & ~member, resamples, seed):
        blocks.append(
            np.array([[weighted_rates(order, weight, fprs) for order in rows] for rows in orders])
        )
        if done is not None:
            done(weight.shape[1])
    under = np.concatenate(blocks, axis=-1)  # (attacks, targets, statistics, resamples)

    def values(score: FloatArray, key: str | float) -> FloatArray:
        rows = [
            (row[use], truth[use]) for row, truth, use in zip(score, member, asked, strict=True)
        ]
        if isinstance(key, str):
            return np.array([auc(*row) for row in rows])
        return np.array([tpr_at_fpr(*row, key) for row in rows])

    return {
        name: {key: Resampled(values(score, key), under[a, :, k]) for k, key in enumerate(keys)}
        for a, (name, score) in enumerate(zip(scores, arrays, strict=True))
    }
