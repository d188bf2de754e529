"""Many quantities of one run in little room: a row a key, a column a metric."""

from dataclasses import dataclass

from membership.exhibits.rows import Cell, Entry

LONGEST_LIST = 16
"""With more quantities than this, a pivot is read more easily than a list."""


@dataclass(frozen=True)
class Group:
    """Rows that share their first key, ``heading`` ("" where rows are not grouped)."""

    heading: str
    rows: dict[str, dict[str, Cell]]


@dataclass(frozen=True)
class Pivot:
    """The numbers of one run; ``corner`` names what the rows are, ``metrics`` the columns."""

    corner: str
    metrics: list[str]
    groups: list[Group]


def pivot(entries: list[Entry]) -> Pivot:
    """Arrange a run's quantities by key and metric, each in order of first appearance.

    Parameters
    ----------
    entries : list of Entry
        At least one; each has the same keys, and at least one beside the metric.

    Returns
    -------
    Pivot
        Rows are grouped by their first key where it has several rows for some value, and other
        keys to name them by.
    """
    names = list(entries[0].keys)
    grouped = len(names) > 1 and _repeated(entries, names[0])
    groups: dict[str, dict[str, dict[str, Cell]]] = {}
    for entry in entries:
        words = list(entry.keys.values())
        heading = words.pop(0) if grouped else ""
        row = groups.setdefault(heading, {}).setdefault(", ".join(words), {})
        row[entry.metric or "value"] = entry.cell
    corner = ", ".join(names[1:] if grouped else names).replace("_", " ")
    metrics = list(dict.fromkeys(entry.metric or "value" for entry in entries))
    return Pivot(corner, metrics, [Group(*group) for group in groups.items()])


def is_long(runs: list[list[Entry]]) -> bool:
    """Whether the runs' quantities are too many for a list, and have keys to make rows of."""
    quantities = {entry.quantity for run in runs for entry in run}
    return len(quantities) > LONGEST_LIST and all(entry.keys for run in runs for entry in run)


def summary(verdicts: list[str], deviations: list[str]) -> str:
    """How a run's numbers were judged, counted: "20 published numbers: 12 agree, 8 differ"."""
    if not verdicts:
        return "The paper gives none of these numbers."
    counted = f"{len(verdicts)} published number{'s' if len(verdicts) > 1 else ''}"
    apart = verdicts.count("not comparable")
    if apart == len(verdicts):
        return f"{counted}: none comparable ({'; '.join(deviations)})."
    judged = f"{counted}: {_count(verdicts, 'agree')}, {_count(verdicts, 'differ')}"
    if not apart:
        return f"{judged}."
    return f"{judged}, {apart} not comparable ({'; '.join(deviations)})."


def _repeated(entries: list[Entry], key: str) -> bool:
    rows = {tuple(entry.keys.values()) for entry in entries}
    return len({entry.keys[key] for entry in entries}) < len(rows)


def _count(verdicts: list[str], word: str) -> str:
    number = verdicts.count(f"{word}s")
    return f"{number} {word}{'s' if number == 1 else ''}"
