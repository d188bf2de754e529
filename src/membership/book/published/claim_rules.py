"""What a claim's numbers make of it: the rules by which one is supported or contradicted.

A threshold or margin is written with the claim, before its numbers are looked at. *Supported* and
*contradicted* need the contrast's 95% interval on one side of it; everything else is *undecided*.
That A is better than B is contradicted also where the interval contains 0 and lies within a margin.
Where a claim has several parts, each is judged with ``parts`` set to their number: it takes all to
support it, and one, at a level of 1 - 0.05 / parts, to contradict it. For the question whether any
part is contradicted that is Holm's procedure.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from membership.arrays import as_float64
from membership.book.published.contrasts import Claimed, Contrast
from membership.book.published.outcomes import (
    BY_LESS,
    CONTRADICTED,
    LEVEL,
    SUPPORTED,
    UNDECIDED,
    Outcome,
    count,
    every,
)

# Decimals such as .61 - .60 exceed .01 by a rounding of doubles.
SLACK = 1e-9
MOST_UNITS = 100_000
"""A count above this is the estimate's nearness to its threshold, and no advice."""


def better(contrast: Contrast, margin: float, *, parts: int = 1) -> Outcome:
    """A > B: supported above 0; contradicted below 0, or around 0 and within the margin.

    Without that second way a true difference of 0 would stay undecided at any size.

    Parameters
    ----------
    contrast : Contrast
        The paired difference A - B.
    margin : float
        The metric's margin of practical equivalence, 0 or more.
    parts : int
        Of the claim, see the module.
    """
    contrast = _claimed(contrast, Claimed("above", 0.0), margin, parts)
    if contrast.low > 0:
        small = BY_LESS if contrast.high < margin else ""
        return Outcome(SUPPORTED, (), (contrast,), small, parts=parts)
    low, high = contrast.interval(1 - 0.05 / parts)
    if high < 0:
        return Outcome(CONTRADICTED, (), (contrast,), "the other way round", parts=parts)
    if low <= 0 <= high and _within(low, high, margin):
        return Outcome(CONTRADICTED, (), (contrast,), LEVEL, parts=parts)
    # Two ways out: on one side of 0, or so near to it that the two are level.
    return _open(contrast, max(abs(contrast.difference), margin - abs(contrast.difference)), parts)


def much_better(contrast: Contrast, threshold: float, *, parts: int = 1) -> Outcome:
    """Above a threshold: supported wholly above it, contradicted wholly below.

    Parameters
    ----------
    contrast : Contrast
        A - B, a log ratio, or A less its threshold times B.
    threshold : float
        In the contrast's unit.
    parts : int
        Of the claim.
    """
    contrast = _claimed(contrast, Claimed("above", threshold), 0.0, parts)
    if contrast.low > threshold:
        return Outcome(SUPPORTED, (), (contrast,), parts=parts)
    if contrast.interval(1 - 0.05 / parts)[1] < threshold:
        return Outcome(CONTRADICTED, (), (contrast,), f"below {threshold:g}", parts=parts)
    return _open(contrast, abs(contrast.difference - threshold), parts)


def about(contrast: Contrast, margin: float, *, parts: int = 1) -> Outcome:
    """A about B: supported within the margin, contradicted wholly outside; else as `better`."""
    contrast = _claimed(contrast, Claimed("within", margin), margin, parts)
    if _within(contrast.low, contrast.high, margin):
        return Outcome(SUPPORTED, (), (contrast,), parts=parts)
    low, high = contrast.interval(1 - 0.05 / parts)
    if low > margin or high < -margin:
        return Outcome(CONTRADICTED, (), (contrast,), "beyond the margin", parts=parts)
    return _open(contrast, abs(margin - abs(contrast.difference)), parts)


def chance(contrast: Contrast, margin: float, *, parts: int = 1) -> Outcome:
    """No better than chance: the attack less chance lies below the margin; as `better`."""
    contrast = _claimed(contrast, Claimed("below", margin), margin, parts)
    if contrast.high < margin:
        return Outcome(SUPPORTED, (), (contrast,), parts=parts)
    if contrast.interval(1 - 0.05 / parts)[0] > margin:
        return Outcome(CONTRADICTED, (), (contrast,), "above chance", parts=parts)
    return _open(contrast, abs(contrast.difference - margin), parts)


def bound(excesses: Sequence[Contrast], margin: float) -> Outcome:
    """At most a bound: no point of a family lies above it.

    Parameters
    ----------
    excesses : sequence of Contrast
        Attack less bound, at K points; each is judged one-sided at 0.025 / K.
    margin : float
        Supported where every upper limit lies below it; contradicted where a lower one is above 0.
    """
    parts = count(excesses)
    excesses = [_claimed(excess, Claimed("below", margin), margin, parts) for excess in excesses]
    limits = [excess.interval(1 - 0.05 / parts) for excess in excesses]
    above = [excess for excess, (low, _) in zip(excesses, limits, strict=True) if low > 0]
    if above:
        worst = max(above, key=lambda excess: excess.difference)
        return Outcome(CONTRADICTED, (), (worst,), f"above at {len(above)} of {parts}", parts=parts)
    worst = max(excesses, key=lambda excess: excess.difference)
    if all(high < margin for _, high in limits):
        return Outcome(SUPPORTED, (), (worst,), f"at {parts} points")
    return _open(worst, max(worst.difference, margin - worst.difference), 1)


def best(leads: Sequence[Contrast]) -> Outcome:
    """A is best: supported where A less each other lies above 0, contradicted where one is below.

    The level of a contradiction is Holm's.
    """
    parts = count(leads)
    return every([much_better(lead, 0.0, parts=parts) for lead in leads])


def exists(
    candidate: Contrast | None, family: Sequence[Contrast], threshold: float, *, parts: int = 1
) -> Outcome:
    """Something exceeds a threshold.

    Parameters
    ----------
    candidate : Contrast or None
        The candidate chosen on one half of the data, judged on the other; supported where it lies
        above the threshold. None where nothing was chosen: then any of the family does, at a
        level of 1 - 0.05 / its size.
    family : sequence of Contrast
        All candidates that the claim speaks of; contradicted where every one lies below.
    threshold : float
    parts : int
        Of the claim.
    """
    size, claimed = count(family), Claimed("above", threshold)
    family = [_claimed(contrast, claimed, 0.0, parts) for contrast in family]
    level = 1 - 0.05 / size if candidate is None else 0.95
    if candidate is None:
        top = max(family, key=lambda contrast: contrast.interval(level)[0])
    else:
        top = _claimed(candidate, claimed, 0.0, parts)
    if top.interval(level)[0] > threshold:
        return Outcome(SUPPORTED, (), (top,), f"one of {size}", parts=parts)
    if all(contrast.interval(1 - 0.05 / parts)[1] < threshold for contrast in family):
        return Outcome(CONTRADICTED, (), (top,), f"none of {size}", parts=parts)
    return _open(top, abs(top.difference - threshold), parts)


def identity(
    residual: Any,
    tolerance: float,
    label: str,
    *,
    confirm: Callable[[int], float] | None = None,
    refuted: float | None = None,
    exact: bool = False,
) -> Outcome:
    """An identity, a theorem: a residual that is to vanish.

    Parameters
    ----------
    residual : array of shape (cases,)
        0 or more; of an inequality, what exceeds it.
    tolerance : float
        Supported where every case lies at or below it.
    label : str
        Of the contrast.
    confirm : callable, optional
        From the number of a case to its residual in higher precision. A counterexample
        contradicts only if it is confirmed or exact; else the claim stays undecided.
    refuted : float, optional
        What a counterexample exceeds; the tolerance if not given.
    exact : bool
        Whether rounding cannot move a residual past the tolerance, as of counts: then a
        counterexample needs no confirmation.

    Raises
    ------
    InputError
        The residual is not finite.
    """
    values = as_float64("residual", residual, 1)
    case = int(np.argmax(values))
    worst = Contrast(label, float(values[case]))
    worst = _claimed(worst, Claimed("at most", tolerance), tolerance, 1)
    if worst.difference <= tolerance:
        return Outcome(SUPPORTED, (), (worst,), f"in all of {values.size} cases")
    limit = tolerance if refuted is None else refuted
    if exact and worst.difference > limit:
        return Outcome(CONTRADICTED, (), (worst,), f"case {case}")
    if confirm is not None and worst.difference > limit and confirm(case) > limit:
        return Outcome(CONTRADICTED, (), (worst,), f"case {case}, confirmed in higher precision")
    return Outcome(UNDECIDED, (), (worst,), f"case {case} exceeds the tolerance, unconfirmed")


def _open(contrast: Contrast, distance: float, parts: int) -> Outcome:
    needed = contrast.units_needed(distance)
    if needed is not None and needed > MOST_UNITS:
        reason = "the number lies so near its threshold that no count of units can be named"
        return Outcome(UNDECIDED, (), (contrast,), reason, parts=parts)
    return Outcome(UNDECIDED, (), (contrast,), "the interval is too wide", needed, parts)


def _within(low: float, high: float, margin: float) -> bool:
    return low >= -margin - SLACK and high <= margin + SLACK


def _claimed(contrast: Contrast, claimed: Claimed, margin: float, parts: int) -> Contrast:
    """The contrast with what is asked of it, once the rule's own numbers are checked."""
    if not 0 <= margin < np.inf:
        raise ValueError(f"margin is {margin}; give a finite number of 0 or more")
    if parts < 1:
        raise ValueError(f"parts is {parts}; give the number of the claim's parts, 1 or more")
    return replace(contrast, claimed=claimed)
