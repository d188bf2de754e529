"""The scores of an attack, as a file or as arrays: checked before anything is computed."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from membership.arrays import BoolArray, FloatArray, as_scored
from membership.errors import InputError

REQUIRED, OPTIONAL = ("score", "member"), ("group", "record")
LEAST_RECORDS = 20
TRUTH = {"1": True, "true": True, "1.0": True, "0": False, "false": False, "0.0": False}


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
        for name in OPTIONAL:
            given = getattr(self, name)
            values = _named(name, given, score.size)
            object.__setattr__(self, name, values)


def read_scores(path: Path | str) -> Scored:
    """Read a CSV file with the columns score and member, and perhaps group and record.

    Parameters
    ----------
    path : Path or str
        Its first line names the columns; member is 0 or 1, or false or true.

    Returns
    -------
    Scored

    Raises
    ------
    InputError
        The file cannot be read, a column is missing or unknown, or a cell cannot be used; the
        line of the first such cell is named. Else as `Scored`.
    """
    path = Path(path)
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False, skipinitialspace=True)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{path} is no CSV file with a line of column names ({reason})") from error
    _check_columns(path, list(table.columns))
    return Scored(
        _numbers(path, table["score"]),
        _truth(path, table["member"]),
        **{name: table[name].to_numpy() for name in OPTIONAL if name in table},
    )


def _check_columns(path: Path, columns: list[str]) -> None:
    allowed = (*REQUIRED, *OPTIONAL)
    missing = [name for name in REQUIRED if name not in columns]
    unknown = [name for name in columns if name not in allowed]
    if missing or unknown:
        found = f"lacks {', '.join(missing)}" if missing else f"has {', '.join(map(repr, unknown))}"
        raise InputError(
            f"{path} {found}; the columns of an audit are {', '.join(REQUIRED)} and, if wanted, "
            f"{', '.join(OPTIONAL)}"
        )


def _numbers(path: Path, cells: pd.Series) -> FloatArray:
    numbers = pd.to_numeric(cells, errors="coerce").to_numpy(dtype=np.float64)
    _refuse(path, cells, ~np.isfinite(numbers), "score", "a finite number")
    return numbers


def _truth(path: Path, cells: pd.Series) -> BoolArray:
    truth = cells.str.strip().str.lower().map(TRUTH)
    _refuse(path, cells, truth.isna().to_numpy(), "member", "0 or 1, false or true")
    return truth.to_numpy(dtype=bool)


def _refuse(path: Path, cells: pd.Series, wrong: BoolArray, name: str, accepted: str) -> None:
    if wrong.any():
        first = int(np.flatnonzero(wrong)[0])
        cell = cells.iloc[first]
        shown = repr(cell if len(cell) <= 40 else f"{cell[:40]}...")
        raise InputError(f"{path}, line {first + 2}: {name} is {shown}; give {accepted}")


def _named(name: str, given: Any, size: int) -> np.ndarray | None:
    if given is None:
        return np.arange(size).astype(str) if name == "record" else None
    values = np.asarray(given).astype(str)
    if values.shape != (size,):
        raise InputError(f"{name} has shape {values.shape}; give one a record, ({size},)")
    return values
