"""The scores of an attack, as a file or as arrays: checked before anything is computed."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from membership import tables
from membership.arrays import BoolArray, FloatArray, as_scored
from membership.errors import InputError
from membership.settings import brief

REQUIRED, OPTIONAL = ("score", "member"), ("group", "record")
LEAST_RECORDS = 20
TRUTH = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}


@dataclass(frozen=True)
class Scored:
    """What an attack said of records whose membership is known.

    Parameters
    ----------
    score : array of shape (records,)
        Higher means member; finite.
    member : bool array of shape (records,)
        The truth.
    group : array of str, shape (records,), optional
        What reports are to tell apart: a class, a subpopulation.
    record : array of str, shape (records,), optional
        Names of the records; their numbers, from 0, unless given.
    not_read : tuple of str
        Columns of the file that an audit has no use for.

    Raises
    ------
    InputError
        Fewer than 20 records, one class only, a score that is not finite or the same for all, or
        arrays of different lengths.
    """

    score: FloatArray
    member: BoolArray
    group: np.ndarray | None = None
    record: np.ndarray | None = None
    not_read: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        score, member = as_scored(self.score, self.member, finite=True)
        if score.size < LEAST_RECORDS:
            raise InputError(
                f"score: {score.size} records; an audit needs at least {LEAST_RECORDS}"
            )
        if min(member.sum(), (~member).sum()) < 2:
            raise InputError("member: a single record of one class; give at least two of each")
        if np.unique(score).size == 1:
            raise InputError(f"score: all {score.size} records have {score[0]:g}; nothing to rank")
        object.__setattr__(self, "score", score)
        object.__setattr__(self, "member", member)
        if self.record is None:
            object.__setattr__(self, "record", range(score.size))
        for name in OPTIONAL:
            if (given := getattr(self, name)) is not None:
                object.__setattr__(self, name, _named(name, given, score.size))


def read_scores(path: Path | str) -> Scored:
    """Read a table with the columns score and member, and perhaps group and record.

    Parameters
    ----------
    path : Path or str
        Text with a line of column names, in capitals or not, and cells between commas, semicolons,
        tabs or bars, packed by gzip or not; or Parquet. In member 1, true or yes is a member; 0,
        false or no none. Other columns are not read, and the report says so.

    Returns
    -------
    Scored

    Raises
    ------
    InputError
        The file cannot be read, a column is missing or there twice, a row has more or fewer cells
        than there are names, or a cell cannot be used; its line is named. Else as `Scored`.
    """
    table = tables.read(Path(path))
    columns = _columns(table)
    score, wrong = table.numbers(columns["score"])
    table.refuse(columns["score"], wrong | ~np.isfinite(score), "a finite number")
    member = _truth(table, columns["member"])
    further = {name: table.words(columns[name]) for name in OPTIONAL if name in columns}
    left = tuple(name for name in table.frame.columns if name not in columns.values())
    return Scored(score, member, **further, not_read=left)


def _columns(table: tables.Table) -> dict[str, str]:
    """The columns of an audit by their plain names."""
    found: dict[str, str] = {}
    for name in table.frame.columns:
        plain = name.lower()
        if plain in found:
            raise InputError(
                f"{table.path}: columns {found[plain]!r} and {name!r} are both {plain}"
            )
        if plain in (*REQUIRED, *OPTIONAL):
            found[plain] = name
    missing = [name for name in REQUIRED if name not in found]
    if missing:
        raise InputError(
            f"{table.path} lacks {', '.join(missing)}; its columns are "
            f"{brief(', '.join(table.frame.columns), most=200)}; those of an audit are "
            f"{', '.join(REQUIRED)} and, if wanted, {', '.join(OPTIONAL)}"
        )
    return found


def _truth(table: tables.Table, name: str) -> BoolArray:
    numbers, _ = table.numbers(name)
    words = np.array([TRUTH.get(word.lower(), np.nan) for word in table.words(name)])
    truth = np.where(np.isnan(words), numbers, words)
    table.refuse(name, ~np.isin(truth, (0.0, 1.0)), "0 or 1, false or true, no or yes")
    return truth == 1.0


def _named(name: str, given: Any, size: int) -> np.ndarray:
    """Words of any length as objects: NumPy's own words all take the room of the longest."""
    values = np.asarray(given, dtype=object)
    if values.shape != (size,):
        raise InputError(f"{name} has shape {values.shape}; give one a record, ({size},)")
    return np.array([str(value) for value in values], dtype=object)
