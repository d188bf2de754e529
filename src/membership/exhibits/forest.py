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
    few = len({quantity.metric for quantity in shown}) <= MOST_METRICS
    # Without a metric the numbers are of one measure only by chance.
    named = all(quantity.keys and quantity.metric for quantity in shown)
    return few and named and any(quantity.interval for quantity in shown)


def forest(numbers: list[Quantity]) -> Forest:
    """Lay out the numbers of one run, of which `suits` is true."""
    numbers = apart(numbers)
    shown = of_attacks(numbers)
    arranged = grid(numbers)
    scales = [
        _scale([quantity for quantity in shown if quantity.metric == name])
        for name in arranged.metrics
    ]
    axes = [
        Axis(
            metric,
            scale.ticks(),
            scale.at(_chance(metric)) if scale.holds(_chance(metric)) else None,
        )
        for metric, scale in zip(arranged.metrics, scales, strict=True)
    ]
    judged = any(quantity.published_text for quantity in shown)
    margins = any(not math.isnan(quantity.equal[0]) for quantity in shown)
    return Forest(axes, _marked(arranged, scales), arranged.left_out, judged, margins)


def apart(numbers: list[Quantity]) -> list[Quantity]:
    """The numbers with differences as a measure of their own, where that leaves few measures.

    On one axis with the numbers that they are between, they are dots at 0.
    """
    levels = {quantity.metric for quantity in of_attacks(numbers) if not _is_difference(quantity)}
    separated = [
        replace(quantity, metric=DIFFERENCE + quantity.metric.replace("(%)", "(points)"))
        if _is_difference(quantity) and quantity.metric in levels
        else quantity
        for quantity in numbers
    ]
    return (
        separated
        if len({quantity.metric for quantity in of_attacks(separated)}) <= MOST_APART
        else numbers
    )


def _is_difference(quantity: Quantity) -> bool:
    return any(_LESS.search(word) for word in quantity.keys.values())


def _marked(arranged: Grid, scales: list[Scale]) -> list[Group]:
    return [
        Group(
            group.heading,
            group.note,
            [
                (
                    label,
                    [
                        quantity and _mark(quantity, scale)
                        for quantity, scale in zip(cells, scales, strict=True)
                    ],
                )
                for label, cells in group.rows
            ],
        )
        for group in arranged.groups
    ]


def _scale(numbers: list[Quantity]) -> Scale:
    metric = numbers[0].metric
    points = [x for quantity in numbers for x in (quantity.value, quantity.published)] + [
        _chance(metric)
    ]
    ends = [x for quantity in numbers for x in (quantity.low, quantity.high)]
    ends += [
        quantity.published + side * quantity.spread for quantity in numbers for side in (-1, 1)
    ]
    return fitted(points, ends, logarithmic=bool(_RATE.match(metric)))


def _chance(metric: str) -> float:
    """What a score that knows nothing reaches, or two alike differ by; NaN where not known."""
    if metric.startswith(DIFFERENCE):
        return 0.0
    rate = _RATE.match(metric)
    return 0.5 if metric == "AUC" else float(rate[1]) if rate else math.nan


def _mark(quantity: Quantity, scale: Scale) -> Mark:
    low, high = quantity.low, quantity.high
    return Mark(
        quantity=quantity,
        text=_text(quantity),
        point=scale.at(quantity.value) if scale.holds(quantity.value) else None,
        interval=(scale.at(low), scale.at(high)) if high > low else None,
        published=scale.at(quantity.published) if quantity.published_text else None,
        spread=_stretch(
            quantity.published - quantity.spread, quantity.published + quantity.spread, scale
        ),
        band=_stretch(*quantity.equal, scale),
        leaves={scale.side(x) for x in (low, quantity.value, high)} - {""},
    )


def _stretch(low: float, high: float, scale: Scale) -> tuple[float, float] | None:
    return None if math.isnan(low) or math.isnan(high) else (scale.at(low), scale.at(high))


def _text(quantity: Quantity) -> str:
    """As many digits as everywhere for the two common measures."""
    if quantity.metric == "AUC":
        return f"{quantity.value:.3f}"
    if _RATE.match(quantity.metric):
        return f"{quantity.value:.2f}" if quantity.value < 9.995 else f"{quantity.value:.1f}"
    return quantity.text
