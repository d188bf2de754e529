"""Forest plots as cells of tables: published and regenerated numbers on common axes."""

import math
import re
from dataclasses import dataclass, replace
from typing import Any

from membership.exhibits.grid import Group, grid, of_attacks
from membership.exhibits.quantities import Quantity
from membership.exhibits.scale import Scale, fitted

MOST_METRICS = 3
_RATE = re.compile(r"TPR at ([\d.]+)% FPR")
_A_LESS_B = re.compile(r"(?<!,) less ")
_AREA = re.compile(r"(difference in )?AUC(,|$)")


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
    """One plot: axes from left to right, groups of rows of marks, and the rows left out."""

    axes: list[Axis]
    groups: list[Group]
    left_out: int
    is_of_differences: bool
    is_judged: bool
    has_margins: bool


def suits(numbers: list[Quantity]) -> bool:
    """Whether numbers are read more easily as marks on axes than as digits."""
    parts = [of_attacks(part) for part in _levels_and_differences(numbers)]
    few = all(len({quantity.metric for quantity in part}) <= MOST_METRICS for part in parts)
    shown = [quantity for part in parts for quantity in part]
    # Without a metric the numbers are of one measure only by chance.
    named = all(quantity.keys and quantity.metric for quantity in shown)
    return few and named and any(quantity.interval for quantity in shown)


def forests(numbers: list[Quantity]) -> list[Forest]:
    """Lay out the numbers of one run, of which `suits` is true: levels, then differences.

    On one axis with the numbers that they are between, differences are dots at 0.
    """
    return [_forest(part) for part in _levels_and_differences(numbers)]


def _levels_and_differences(numbers: list[Quantity]) -> list[list[Quantity]]:
    levels = [quantity for quantity in numbers if not quantity.is_difference]
    metrics = {quantity.metric for quantity in levels}
    differences = [
        replace(quantity, metric=f"difference in {quantity.metric.replace('(%)', '(points)')}")
        if quantity.metric in metrics
        else quantity
        for quantity in numbers
        if quantity.is_difference
    ]
    return [part for part in (levels, differences) if part]


def _forest(numbers: list[Quantity]) -> Forest:
    shown = of_attacks(numbers)
    arranged = grid(numbers)
    by_metric = [[one for one in shown if one.metric == name] for name in arranged.metrics]
    scales = [_scale(part) for part in by_metric]
    axes = [
        Axis(part[0].metric, scale.ticks(), _place(_indifferent(part[0]), scale))
        for part, scale in zip(by_metric, scales, strict=True)
    ]
    return Forest(
        axes,
        [_marked(group, scales) for group in arranged.groups],
        arranged.left_out,
        is_of_differences=all(quantity.is_difference for quantity in shown),
        is_judged=any(quantity.published_text for quantity in shown),
        has_margins=any(not math.isnan(quantity.equal[0]) for quantity in shown),
    )


def _marked(group: Group, scales: list[Scale]) -> Group:
    rows: list[tuple[str, list[Any]]] = []
    for label, cells in group.rows:
        marks = [cell and _mark(cell, scale) for cell, scale in zip(cells, scales, strict=True)]
        rows.append((_A_LESS_B.sub(" \N{MINUS SIGN} ", label), marks))
    return Group(group.heading, group.note, rows)


def _scale(numbers: list[Quantity]) -> Scale:
    points = [x for quantity in numbers for x in (quantity.value, quantity.published)]
    points.append(_indifferent(numbers[0]))
    ends = [x for quantity in numbers for x in (quantity.low, quantity.high)]
    ends += [
        quantity.published + side * quantity.spread for quantity in numbers for side in (-1, 1)
    ]
    return fitted(points, ends, logarithmic=_is_rate(numbers[0]))


def _is_rate(quantity: Quantity) -> bool:
    return bool(_RATE.match(quantity.metric)) and not quantity.is_difference


def _indifferent(quantity: Quantity) -> float:
    """What a score that knows nothing reaches, or two alike differ by; NaN where not known."""
    if quantity.is_difference:
        return 0.0
    rate = _RATE.match(quantity.metric)
    return 0.5 if quantity.metric == "AUC" else float(rate[1]) if rate else math.nan


def _mark(quantity: Quantity, scale: Scale) -> Mark:
    low, high = quantity.low, quantity.high
    return Mark(
        quantity=quantity,
        text=_text(quantity),
        point=_place(quantity.value, scale),
        interval=(scale.at(low), scale.at(high)) if high > low else None,
        published=scale.at(quantity.published) if quantity.published_text else None,
        spread=_stretch(
            quantity.published - quantity.spread, quantity.published + quantity.spread, scale
        ),
        band=_stretch(*quantity.equal, scale),
        leaves={scale.side(x) for x in (low, quantity.value, high)} - {""},
    )


def _place(value: float, scale: Scale) -> float | None:
    return scale.at(value) if scale.holds(value) else None


def _stretch(low: float, high: float, scale: Scale) -> tuple[float, float] | None:
    return None if math.isnan(low) or math.isnan(high) else (scale.at(low), scale.at(high))


def _text(quantity: Quantity) -> str:
    """As many digits as everywhere for the two common measures."""
    if _AREA.match(quantity.metric):
        return f"{quantity.value:.3f}"
    if _is_rate(quantity):
        return f"{quantity.value:.2f}" if quantity.value < 9.995 else f"{quantity.value:.1f}"
    return quantity.text
