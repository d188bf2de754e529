"""Where a card's numbers stand: digits in a grid, or marks on common axes (forest plots)."""

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from membership.book.exhibits.numbers import Quantity, number
from membership.book.published.comparison import MODEL

MOST_ROWS = 40
_MOST_ACROSS = 4
"""Columns that fit on a card; more are turned where that makes them fewer."""


@dataclass(frozen=True)
class Group:
    """Rows under a heading ("" where rows are not grouped), with what is known of its models.

    A row is its label and a cell a metric, None where there is no such number.
    """

    heading: str
    note: str
    rows: list[tuple[str, list[Any]]]


@dataclass(frozen=True)
class Grid:
    """The numbers of one run; ``left_out`` counts the rows that found no room.

    ``metrics`` heads the columns; where the grid was turned, those are the rows' labels.
    """

    metrics: list[str]
    groups: list[Group]
    left_out: int


def of_attacks(numbers: list[Quantity]) -> list[Quantity]:
    """The numbers without those about the models, unless there are no others."""
    return [quantity for quantity in numbers if not quantity.is_of_the_model] or numbers


def grid(numbers: list[Quantity]) -> Grid:
    """Arrange one number or more under the same keys, by key and metric as they first appear.

    Of a wide one, what all rows have in common stands once, in the heading.
    """
    shown = of_attacks(numbers)
    each_once = dict.fromkeys(quantity.metric for quantity in shown)
    # The one that sums up an attack first, then rates.
    metrics = sorted(each_once, key=lambda name: (name != "AUC", not name.startswith("TPR")))
    grouped = len(shown[0].keys) > 1 and _is_shared(shown)
    rows: dict[tuple[str, str], list[Quantity | None]] = {}
    common = _common(shown) if len(metrics) > _MOST_ACROSS else {}
    subjects = {}
    for quantity in shown:
        words = [word for key, word in quantity.keys.items() if key not in common]
        first = [words.pop(0)] if grouped and next(iter(quantity.keys)) not in common else []
        heading = ", ".join([*first, *common.values()])
        subjects[heading] = next(iter(quantity.keys.values()), "")
        cells = rows.setdefault((heading, ", ".join(words)), [None] * len(metrics))
        cells[metrics.index(quantity.metric)] = quantity
    groups: dict[str, list[tuple[str, list[Any]]]] = {}
    for heading, label in list(rows)[:MOST_ROWS]:
        groups.setdefault(heading, []).append((label, rows[heading, label]))
    notes = _notes(numbers) if grouped and shown is not numbers else {}
    filled = [
        Group(heading, notes.get(subjects[heading], ""), part) for heading, part in groups.items()
    ]
    return _turned(Grid(metrics, filled, max(0, len(rows) - MOST_ROWS)))


def _common(numbers: list[Quantity]) -> dict[str, str]:
    """The keys with one word for all numbers, where there are several rows and another key."""
    words = {key: {quantity.keys[key] for quantity in numbers} for key in numbers[0].keys}
    common = {key: next(iter(several)) for key, several in words.items() if len(several) == 1}
    return common if len(common) < len(words) else {}


def _turned(wide: Grid) -> Grid:
    """A grid with many columns and few rows with its metrics as rows."""
    rows = [row for group in wide.groups for row in group.rows]
    if len(wide.metrics) <= _MOST_ACROSS or len(rows) >= len(wide.metrics) or wide.groups[1:]:
        return wide
    labels, cells = zip(*rows, strict=True)
    turned = list(zip(wide.metrics, map(list, zip(*cells, strict=True)), strict=True))
    return Grid(list(labels), [Group(wide.groups[0].heading, wide.groups[0].note, turned)], 0)


def _is_shared(numbers: list[Quantity]) -> bool:
    """Whether several rows have the same first key."""
    keys = {tuple(quantity.keys.values()) for quantity in numbers}
    return len({key[0] for key in keys}) < len(keys)


def _notes(numbers: list[Quantity]) -> dict[str, str]:
    """What is known of the models of each group, in words: "test accuracy (%) 89.75".

    Where a group has models of several kinds, each number says of which: "none: test ...".
    """
    notes: dict[str, dict[str, list[str]]] = {}
    for quantity in numbers:
        if quantity.is_of_the_model:
            heading, *rest = quantity.keys.values()
            kind = ", ".join(word for word in rest if word != MODEL)
            known = notes.setdefault(heading, {}).setdefault(kind, [])
            known.append(f"{quantity.metric} {number(quantity.value)}")
    return {heading: _note(kinds) for heading, kinds in notes.items()}


def _note(kinds: dict[str, list[str]]) -> str:
    if len(kinds) == 1:
        return "; ".join(next(iter(kinds.values())))
    return "; ".join(f"{kind}: {', '.join(words)}" for kind, words in kinds.items())


_STEPS = (1, 2, 2.5, 5, 10)
_MOST_TICKS = 4


@dataclass(frozen=True)
class Scale:
    """An axis from ``low`` to ``high``, logarithmic or not; positions are cut to 0 and 100."""

    low: float
    high: float
    logarithmic: bool

    def at(self, value: float) -> float:
        """The position of a value, in percent, between 0 and 100."""
        return min(max(self._share(value), 0.0), 1.0) * 100

    def holds(self, value: float) -> bool:
        """Whether a value lies on the axis."""
        return not self.side(value)

    def side(self, value: float) -> str:
        """``"left"`` or ``"right"`` where a value lies off the axis, else nothing."""
        share = self._share(value)
        return "left" if share < -1e-9 else "right" if share > 1 + 1e-9 else ""

    def ticks(self) -> list[tuple[float, str]]:
        """Round values on the axis with their labels, few enough to stand apart."""
        values = self._decades() if self.logarithmic else self._steps()
        return [(self.at(value), f"{value:g}") for value in values]

    def _share(self, value: float) -> float:
        if math.isnan(value):
            return math.inf
        if not self.logarithmic:
            return (value - self.low) / (self.high - self.low)
        if value <= 0:
            return -math.inf
        return math.log(value / self.low) / math.log(self.high / self.low)

    def _steps(self) -> list[float]:
        rough = (self.high - self.low) / _MOST_TICKS
        power = 10 ** math.floor(math.log10(rough))
        step = next(step * power for step in _STEPS if step * power >= rough * (1 - 1e-9))
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [round(i * step, 12) for i in range(first, last + 1)]

    def _decades(self) -> list[float]:
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        for digits in ((1, 2, 5), (1, 3), (1,)):
            ticks = [d * 10.0**p for p in powers for d in digits if self.holds(d * 10.0**p)]
            if len(ticks) <= _MOST_TICKS:
                return ticks
        return ticks[:: math.ceil(len(ticks) / _MOST_TICKS)]


def fitted(points: Iterable[float], ends: Iterable[float], *, logarithmic: bool) -> Scale:
    """An axis for points and the ends of their intervals.

    Every point lies on it, and an end that lies further out than half the points' range does not:
    one wide interval would press all points together.
    """
    scaled = _finite(points, logarithmic)
    if not scaled:
        return Scale(0.1, 100.0, True) if logarithmic else Scale(0.0, 1.0, False)
    least, most = min(scaled), max(scaled)
    room = max(0.5 * (most - least), 0.3 if logarithmic else 1e-3 * max(1e-6, abs(most)))
    near = [end for end in _finite(ends, logarithmic) if least - room <= end <= most + room]
    low, high = min([least, *near]), max([most, *near])
    pad = 0.06 * (high - low) or room
    low, high = low - pad, high + pad
    return Scale(10**low, 10**high, True) if logarithmic else Scale(low, high, False)


def _finite(values: Iterable[float], logarithmic: bool) -> list[float]:
    kept = [value for value in values if math.isfinite(value) and (value > 0 or not logarithmic)]
    return [math.log10(value) for value in kept] if logarithmic else kept


MOST_METRICS = 3


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


def forests(numbers: list[Quantity]) -> list[Forest]:
    """Lay out the numbers of one run: levels, then differences; none where digits are read better.

    On one axis with the numbers that they are between, differences are dots at 0.
    """
    levels = [quantity for quantity in numbers if not quantity.is_difference]
    parts = [levels, [quantity for quantity in numbers if quantity.is_difference]]
    parts = [part for part in parts if part]
    shown = [of_attacks(part) for part in parts]
    few = all(len({quantity.metric for quantity in part}) <= MOST_METRICS for part in shown)
    every = [quantity for part in shown for quantity in part]
    # Without a metric the numbers are of one measure only by chance.
    named = all(quantity.keys and quantity.metric for quantity in every)
    known = few and named and any(quantity.interval for quantity in every)
    return (
        [_forest(part, {quantity.metric for quantity in levels}) for part in parts] if known else []
    )


def _forest(numbers: list[Quantity], levels: Collection[str]) -> Forest:
    shown = of_attacks(numbers)
    arranged = grid(numbers)
    by_metric = [[one for one in shown if one.metric == name] for name in arranged.metrics]
    scales = [_scale(part) for part in by_metric]
    axes = [
        Axis(_measure(part[0], levels), scale.ticks(), _place(_indifferent(part[0]), scale))
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


def _measure(quantity: Quantity, levels: Collection[str]) -> str:
    """What an axis is called: differences of metrics that have an axis, too, by another name."""
    if not (quantity.is_difference and quantity.metric in levels):
        return quantity.metric
    return f"difference in {quantity.metric.replace('(%)', '(points)')}"


def _marked(group: Group, scales: list[Scale]) -> Group:
    rows: list[tuple[str, list[Any]]] = []
    for label, cells in group.rows:
        marks = [cell and _mark(cell, scale) for cell, scale in zip(cells, scales, strict=True)]
        is_difference = any(cell and cell.quantity.is_difference for cell in marks)
        rows.append((_short(label) if is_difference else label, marks))
    return Group(group.heading, group.note, rows)


def _short(label: str) -> str:
    """A difference with a sign for its word, but in "A, less without B"."""
    return label.replace(" less ", " \N{MINUS SIGN} ").replace(", \N{MINUS SIGN} ", ", less ")


def _scale(numbers: list[Quantity]) -> Scale:
    points = [x for quantity in numbers for x in (quantity.value, quantity.published)]
    points.append(_indifferent(numbers[0]))
    ends = [x for quantity in numbers for x in (quantity.low, quantity.high)]
    ends += [
        quantity.published + side * quantity.spread for quantity in numbers for side in (-1, 1)
    ]
    return fitted(points, ends, logarithmic=_is_rate(numbers[0]))


def _is_rate(quantity: Quantity) -> bool:
    return not (math.isnan(quantity.rate) or quantity.is_difference)


def _indifferent(quantity: Quantity) -> float:
    """What a score that knows nothing reaches, or two alike differ by; NaN where not known."""
    if quantity.is_difference:
        return 0.0
    return 0.5 if quantity.metric == "AUC" else quantity.rate


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
    if quantity.metric.partition(",")[0] == "AUC":
        return f"{quantity.value:.3f}"
    if _is_rate(quantity):
        return f"{quantity.value:.2f}" if quantity.value < 9.995 else f"{quantity.value:.1f}"
    return quantity.text
