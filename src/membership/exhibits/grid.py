"""Numbers as a grid: a row a key, a column a metric, rows grouped by their first key."""

from dataclasses import dataclass
from typing import Any

from membership.exhibits.numbers import number
from membership.exhibits.quantities import MODEL, Quantity

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


def in_order(metrics: list[str]) -> list[str]:
    """Metrics, each once, with the one that sums up an attack first, then rates."""
    rank = {metric: (metric != "AUC", not metric.startswith("TPR")) for metric in metrics}
    return sorted(dict.fromkeys(metrics), key=rank.__getitem__)


def of_attacks(numbers: list[Quantity]) -> list[Quantity]:
    """The numbers without those about the models, unless there are no others."""
    return [quantity for quantity in numbers if not quantity.is_of_the_model] or numbers


def grid(numbers: list[Quantity]) -> Grid:
    """Arrange one number or more under the same keys, by key and metric as they first appear.

    Of a wide one, what all rows have in common stands once, in the heading.
    """
    shown = of_attacks(numbers)
    metrics = in_order([quantity.metric for quantity in shown])
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
