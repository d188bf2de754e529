"""Which rows of a table are trials: a record counts once, and the records of a unit as one."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from membership.arrays import BoolArray, FloatArray
from membership.errors import InputError

LONGEST = 40
SEVERAL = "several"
"""The group of a unit whose records are of different groups."""
LEAST_GROUPS, FAR = 10, 5.0
"""Groups of several records, and standard deviations, from which they are more than chance."""


@dataclass(frozen=True)
class Rows:
    """Columns of a table by what they are; `unit` and `group` may be missing."""

    score: dict[str, FloatArray]
    member: BoolArray
    group: np.ndarray | None
    record: np.ndarray
    target: np.ndarray
    unit: np.ndarray | None = None

    def at(self, rows: np.ndarray) -> "Rows":
        """Some of the rows."""
        others = {
            name: None if column is None else column[rows]
            for name, column in vars(self).items()
            if name != "score"
        }
        return Rows({name: score[rows] for name, score in self.score.items()}, **others)

    def places(self, names: np.ndarray) -> np.ndarray:
        """A number for each name on each target."""
        _, place = np.unique(names, return_inverse=True)
        _, target = np.unique(self.target, return_inverse=True)
        return target * (place.max() + 1) + place


def shown(name: str) -> str:
    """A name within a sentence."""
    line = " ".join(name.split())
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}..."


def once(rows: Rows) -> tuple[Rows, list[str]]:
    """Each record once a target, and what was not counted, in a sentence.

    Of rows that say the same one counts. A record whose rows differ has no truth, and none counts.
    """
    _, first, place, counts = np.unique(
        rows.places(rows.record), return_index=True, return_inverse=True, return_counts=True
    )
    if counts.max() == 1:
        return rows, []
    given = [*rows.score.values(), rows.member, rows.group, rows.unit]
    differs = np.zeros(len(counts), dtype=bool)
    for column in given:
        if column is not None:
            differs[place[column != column[first[place]]]] = True
    name = shown(rows.record[first[counts.argmax()]])
    if 2 * counts[differs].sum() > rows.member.size:
        raise InputError(
            f"record: {counts[differs].sum()} of {rows.member.size} rows share their record's "
            f"name ({name}, for example) and say something else; name each record once, and give "
            "whose records belong together as `unit`"
        )
    kept = rows.at(np.sort(first[~differs]))
    return kept, [
        f"{_records(int((counts > 1).sum()))} more than once ({name}, for example). Rows that "
        "say the same count once, and a record whose rows differ is left out: "
        f"{rows.member.size - kept.member.size} of {rows.member.size} rows are not counted."
    ]


def _records(count: int) -> str:
    return "1 record occurs" if count == 1 else f"{count} records occur"


def by_unit(rows: Rows) -> Rows:
    """A row a unit and target: the mean score of its records, in an order of its own."""
    if rows.unit is None:
        return rows
    _, first, place, counts = np.unique(
        rows.places(rows.unit), return_index=True, return_inverse=True, return_counts=True
    )
    members = np.bincount(place, rows.member)
    require_whole(members, counts, rows.unit[first])
    group = rows.group
    if group is not None:
        mixed = place[group != group[first[place]]]
        group = group[first]
        group[mixed] = SEVERAL
    score = {name: _means(one, place, counts) for name, one in rows.score.items()}
    unit = rows.unit[first]
    return replace(rows.at(first), score=score, group=group, record=unit, unit=unit)


def require_whole(members: np.ndarray, counts: np.ndarray, names: Sequence[Any]) -> None:
    """Raise an InputError where a unit holds members and others."""
    mixed = np.flatnonzero((members > 0) & (members < counts))
    if mixed.size:
        at = mixed[0]
        raise InputError(
            f"unit: {shown(str(names[at]))} holds {int(members[at])} members and "
            f"{int(counts[at] - members[at])} others, and so do {mixed.size} of {len(counts)} "
            "units; a unit is in or out whole, so give units inside which memberships are the same"
        )


def _means(score: FloatArray, place: np.ndarray, counts: np.ndarray) -> FloatArray:
    """Each unit's mean, summed in an order that is not that of the rows."""
    order = np.lexsort((score, place))
    return np.bincount(place[order], (score / counts[place])[order])


def notes_of_identities(columns: dict[str, np.ndarray], member: BoolArray) -> list[str]:
    """Columns whose values of several rows are in or out whole more often than chance has it."""
    return [
        f"{found} of the {tried} names in the column {shown(name)} that stand in several rows are "
        "members in all of them or in none. Memberships were then not drawn record by record, and "
        "intervals and bounds are too narrow: if it says whose record this is, give it as `unit`."
        for name, values in columns.items()
        for found, tried in [_whole(values, member)]
        if found
    ]


def _whole(values: np.ndarray, member: BoolArray) -> tuple[int, int]:
    """How many of the names of several rows are in or out whole; 0 where chance has as many."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    several = counts > 1
    if several.sum() < LEAST_GROUPS:
        return 0, 0
    members = np.bincount(place, member)
    found = int(((members == 0) | (members == counts))[several].sum())
    share = member.mean()
    chance = share ** counts[several] + (1 - share) ** counts[several]
    beyond = 1 + FAR * np.sqrt((chance * (1 - chance)).sum())
    return (found if found > chance.sum() + beyond else 0), int(several.sum())
