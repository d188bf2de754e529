"""A forest plot as cells of a table: published and regenerated numbers on a common axis."""

import math
import re
from dataclasses import dataclass, replace

from membership.exhibits.grid import Grid, Group, grid, of_attacks
from membership.exhibits.quantities import Quantity
from membership.exhibits.scale import Scale, fitted

MOST_METRICS = 3
MOST_APART = 3
DIFFERENCE = "difference in "
_LESS = re.compile(r"\bless\b")
_RATE = re.compile(r"TPR at ([\d.]+)% FPR")


@dataclass(frozen=True)
class Axis:
    """One column of the plot: its metric, ticks (position, label) and the position of chance."""

    metric: str
    ticks: list[tuple[float, str]]
    chance: float | None


@dataclass(frozen=True)
class Mark:
    """One number's place in percent: point, ends of the interval, published, its spread, margin.

    ``leaves`` names the sides ("left", "right") on which the interval goes beyond the axis.
    """

    quantity: Quantity
    text: str
    point: float | None
    interval: tuple[float, float] | None
    published: float | None
    spread: tuple[float, float] | None
    band: tuple[float, float] | None
    leaves: set[str]


@dataclass(frozen=True)
class Forest:
    """The plot: axes from left to right, groups of rows of marks, and the rows left out."""

    axes: list[Axis]
    groups: list[Group]
    left_out: int
    is_judged: bool
    has_margins: bool

    @property
    def has_differences(self) -> bool:
        """Whether an axis is of differences alone."""
        return any(axis.metric.startswith(DIFFERENCE) for axis in self.axes)


def suits(numbers: list[Quantity]) -> bool:
    """Whether numbers are read more easily as marks on axes than as digits."""
    shown = of_attacks(numbers)
    few = len({one.metric for one in shown}) <= MOST_METRICS
    # Without a metric the numbers are of one measure only by chance.
    named = all(one.keys and one.metric for one in shown)
    return few and named and any(one.interval for one in shown)


def forest(numbers: list[Quantity]) -> Forest:
    """Lay out the numbers of one run, of which `suits` is true."""
    numbers = apart(numbers)
    shown = of_attacks(numbers)
    arranged = grid(numbers)
    scales = [_scale([one for one in shown if one.metric == name]) for name in arranged.metrics]
    axes = [
        Axis(
            metric,
            scale.ticks(),
            scale.at(_chance(metric)) if scale.holds(_chance(metric)) else None,
        )
        for metric, scale in zip(arranged.metrics, scales, strict=True)
    ]
    judged = any(one.published_text for one in shown)
    margins = any(not math.isnan(one.equal[0]) for one in shown)
    return Forest(axes, _marked(arranged, scales), arranged.left_out, judged, margins)


def apart(numbers: list[Quantity]) -> list[Quantity]:
    """The numbers with differences as a measure of their own, where that leaves few measures.

    On one axis with the numbers that they are between, they are dots at 0.
    """
    levels = {one.metric for one in of_attacks(numbers) if not _is_difference(one)}
    found = [
        replace(one, metric=DIFFERENCE + one.metric.replace("(%)", "(points)"))
        if _is_difference(one) and one.metric in levels
        else one
        for one in numbers
    ]
    return found if len({one.metric for one in of_attacks(found)}) <= MOST_APART else numbers


def _is_difference(one: Quantity) -> bool:
    return any(_LESS.search(word) for word in one.keys.values())


def _marked(arranged: Grid, scales: list[Scale]) -> list[Group]:
    return [
        Group(
            group.heading,
            group.note,
            [
                (
                    label,
                    [one and _mark(one, scale) for one, scale in zip(cells, scales, strict=True)],
                )
                for label, cells in group.rows
            ],
        )
        for group in arranged.groups
    ]


def _scale(numbers: list[Quantity]) -> Scale:
    metric = numbers[0].metric
    points = [x for one in numbers for x in (one.value, one.published)] + [_chance(metric)]
    ends = [x for one in numbers for x in (one.low, one.high)]
    ends += [one.published + side * one.spread for one in numbers for side in (-1, 1)]
    return fitted(points, ends, logarithmic=bool(_RATE.match(metric)))


def _chance(metric: str) -> float:
    """What a score that knows nothing reaches, or two alike differ by; NaN where not known."""
    if metric.startswith(DIFFERENCE):
        return 0.0
    rate = _RATE.match(metric)
    return 0.5 if metric == "AUC" else float(rate[1]) if rate else math.nan


def _mark(one: Quantity, scale: Scale) -> Mark:
    low, high = one.low, one.high
    return Mark(
        quantity=one,
        text=_text(one),
        point=scale.at(one.value) if scale.holds(one.value) else None,
        interval=(scale.at(low), scale.at(high)) if high > low else None,
        published=scale.at(one.published) if one.published_text else None,
        spread=_stretch(one.published - one.spread, one.published + one.spread, scale),
        band=_stretch(*one.equal, scale),
        leaves={scale.side(x) for x in (low, one.value, high)} - {""},
    )


def _stretch(low: float, high: float, scale: Scale) -> tuple[float, float] | None:
    return None if math.isnan(low) or math.isnan(high) else (scale.at(low), scale.at(high))


def _text(one: Quantity) -> str:
    """As many digits as everywhere for the two common measures."""
    if one.metric == "AUC":
        return f"{one.value:.3f}"
    if _RATE.match(one.metric):
        return f"{one.value:.2f}" if one.value < 9.995 else f"{one.value:.1f}"
    return one.text
