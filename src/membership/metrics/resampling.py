"""A statistic of several targets under many resamples of the records that they share."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from membership.arrays import BoolArray, FloatArray
from membership.errors import InputError
from membership.metrics.intervals import Statistic, named_statistic
from membership.metrics.roc import allowed, auc, tpr_at_fpr

# Numbers drawn at once: small enough for a processor's cache, large enough to fill it.
BLOCK = 400_000
REDRAWS = 1_000

# From weights of shape (records, resamples) to the statistic of each resample.
Weighted = Callable[[FloatArray], FloatArray]


class Ranked(NamedTuple):
    """One score, sorted once: rows of the weights, and how the two classes interleave.

    `member` and `other` are rows, highest score first; `above` and `level` count, for each member,
    the non-members with a higher score and with one at least as high; `beaten` counts, for each
    non-member, the members with a higher score.
    """

    member: np.ndarray
    other: np.ndarray
    above: np.ndarray
    level: np.ndarray
    beaten: np.ndarray


def ranked(score: FloatArray, member: BoolArray) -> Ranked:
    """Sort one target's score; records that are NaN were not asked."""
    asked = ~np.isnan(score)
    inside, outside = np.flatnonzero(asked & member), np.flatnonzero(asked & ~member)
    inside = inside[np.argsort(-score[inside], kind="stable")]
    outside = outside[np.argsort(-score[outside], kind="stable")]
    high, low = -score[inside], -score[outside]
    return Ranked(
        inside,
        outside,
        np.searchsorted(low, high, "left"),
        np.searchsorted(low, high, "right"),
        np.searchsorted(high, low, "left"),
    )


def weighted_auc(order: Ranked, weight: FloatArray) -> FloatArray:
    """`metrics.auc` of each column of `weight`, (records, resamples)."""
    return _area(order, weight[order.member], _from_zero(weight[order.other]))


def weighted_tpr(order: Ranked, weight: FloatArray, fpr: float) -> FloatArray:
    """`metrics.tpr_at_fpr` of each column of `weight`, (records, resamples)."""
    return _rate(order, _from_zero(weight[order.member]), _from_zero(weight[order.other]), fpr)


def weighted_rates(order: Ranked, weight: FloatArray, fprs: Sequence[float]) -> FloatArray:
    """`weighted_auc`, and `weighted_tpr` at each rate, from one set of sums, a row each."""
    inside, outside = weight[order.member], _from_zero(weight[order.other])
    caught = _from_zero(inside)
    rates = [_rate(order, caught, outside, fpr) for fpr in fprs]
    return np.array([_area(order, inside, outside), *rates])


def _area(order: Ranked, inside: FloatArray, outside: FloatArray) -> FloatArray:
    """From the members' weights and the sums of the others'."""
    lost = np.einsum("rb,rb->b", inside, outside[order.above] + outside[order.level]) / 2
    return 1.0 - lost / (inside.sum(axis=0) * outside[-1])


def _rate(order: Ranked, inside: FloatArray, outside: FloatArray, fpr: float) -> FloatArray:
    """From the sums of both classes' weights."""
    # The non-members that fit, taken from the top; the next one's score is the threshold.
    fit = (outside[1:] <= allowed(fpr, outside[-1])).sum(axis=0)
    return np.take_along_axis(inside, order.beaten[fit][None], axis=0)[0] / inside[-1]


def weighted(
    statistic: str | Statistic, arguments: dict[str, Any], score: FloatArray, member: BoolArray
) -> Weighted:
    """A statistic of one target as a function of the records' weights."""
    function = named_statistic(statistic)
    if function is auc:
        order = ranked(score, member)
        return lambda weight: weighted_auc(order, weight)
    if function is tpr_at_fpr:
        order = ranked(score, member)
        return lambda weight: weighted_tpr(order, weight, **arguments)
    asked = np.flatnonzero(~np.isnan(score))

    def repeat(weight: FloatArray) -> FloatArray:
        rows = (np.repeat(asked, times) for times in weight[asked].T.astype(int))
        return np.array([function(score[row], member[row], **arguments) for row in rows])

    return repeat


def record_weights(
    asked_member: BoolArray, asked_other: BoolArray, number: int, seed: int
) -> Iterator[FloatArray]:
    """Multinomial weights of the records, (records, block), that leave no target without a class.

    Both masks have shape (targets, records). A resample in which a target has no member or no
    non-member is drawn again.
    """
    rng = np.random.default_rng(seed)
    classes = np.concatenate([asked_member, asked_other]).astype(np.float64)
    size = max(1, BLOCK // classes.shape[1])
    for first in range(0, number, size):
        weight = _draw(rng, classes.shape[1], min(size, number - first))
        for _ in range(REDRAWS):
            empty = np.flatnonzero((classes @ weight == 0).any(axis=0))
            if not empty.size:
                break
            weight[:, empty] = _draw(rng, classes.shape[1], empty.size)
        else:
            raise InputError(
                "member: almost every resample leaves a target without members or without "
                "non-members; ask more records"
            )
        yield weight


def _draw(rng: np.random.Generator, records: int, number: int) -> FloatArray:
    """How often each record is among as many drawn with replacement."""
    drawn = rng.integers(records, size=(records, number)) * number + np.arange(number)
    counts = np.bincount(drawn.ravel(), minlength=records * number)
    return counts.reshape(records, number).astype(np.float64)


def _from_zero(weight: FloatArray) -> FloatArray:
    """Cumulative sums down the rows, with a row of zeros before the first."""
    total = np.zeros((len(weight) + 1, weight.shape[1]))
    np.cumsum(weight, axis=0, out=total[1:])
    return total
