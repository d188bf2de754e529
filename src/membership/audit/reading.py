"""The scores of attacks, as a file or as arrays: checked before anything is computed."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from membership import tables
from membership.arrays import BoolArray, FloatArray, as_scored
from membership.audit import rows
from membership.audit.columns import OPTIONAL, attack_columns
from membership.errors import InputError, brief
from membership.evidence.files import SUFFIX

LEAST_RECORDS = 20
LEAST_OF_TARGET = 4
"""Members and non-members that a target was asked."""
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
        Names of the records; their numbers, from 0, unless given. Of a name's rows that say the
        same one counts; a record whose rows differ is left out.
    not_read : tuple of str
        Columns of the file that an audit has no use for.
    column : str
        The column that was taken for the attack.
    unit : array of str, shape (records,), optional
        Whose records these are. What is kept then has an entry a unit: the mean score of its
        records, and the unit's name as the record's.
    noted : tuple of str
        Sentences for the report; what is said of records that occur more than once is added.

    Attributes
    ----------
    named : bool
        Whether `record` was given.
    asked : int
        Records, before those of a unit were taken together.

    Raises
    ------
    InputError
        Fewer than 20 records (or units) or four of a class, a score that is not finite or the same
        for all, arrays of different lengths, a unit with members and others, or names that occur
        more than once, with other numbers, in most rows.
    """

    score: FloatArray
    member: BoolArray
    group: np.ndarray | None = None
    record: np.ndarray | None = None
    not_read: tuple[str, ...] = ()
    column: str = "score"
    unit: np.ndarray | None = None
    noted: tuple[str, ...] = ()
    named: bool = field(init=False, default=False)
    asked: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        score, member = as_scored(self.score, self.member, finite=True)
        kept = _set_rows(self, {"score": score}, member, np.zeros(score.size))
        _set(self, score=kept.score["score"])


@dataclass(frozen=True)
class Several:
    """What several attacks said, or one attack of several target models.

    Parameters
    ----------
    score : dict of str to array of shape (rows,)
        By the attack's name; higher means member, finite.
    member : bool array of shape (rows,)
        The truth of each row: a record that a target was asked.
    group, record : array of str, shape (rows,), optional
        As in `Scored`.
    target : array of str, shape (rows,), optional
        Which model was asked; one for all rows unless given. With several, `record` tells which
        records they share.
    not_read, unit, noted
        As in `Scored`.

    Attributes
    ----------
    named, asked
        As in `Scored`.

    Raises
    ------
    InputError
        As `Scored`, for any attack; a target has fewer than four members or non-members; or neither
        records nor units have names although there are several targets.
    """

    score: dict[str, FloatArray]
    member: BoolArray
    group: np.ndarray | None = None
    record: np.ndarray | None = None
    target: np.ndarray | None = None
    not_read: tuple[str, ...] = ()
    unit: np.ndarray | None = None
    noted: tuple[str, ...] = ()
    named: bool = field(init=False, default=False)
    asked: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        if not self.score:
            raise InputError("score holds no attack; give one array an attack, by its name")
        checked = {
            name: as_scored(score, self.member, finite=True) for name, score in self.score.items()
        }
        score = {name: score for name, (score, _) in checked.items()}
        member = next(iter(checked.values()))[1]
        targets = np.full(member.size, "the model") if self.target is None else self.target
        _set(self, target=_as_words("target", targets, member.size))
        several = len(self.targets) > 1
        if several and self.record is None and self.unit is None:
            raise InputError(
                f"target: {len(self.targets)} targets and no column record; name the records, so "
                "that those which several targets were asked are known"
            )
        assert self.target is not None
        kept = _set_rows(self, score, member, self.target)
        _set(self, score=kept.score, target=kept.target)
        for target in self.targets if several else ():
            self._require_design(target)

    @property
    def targets(self) -> list[str]:
        """The targets' names, in their order."""
        return sorted(set(self.target if self.target is not None else ()))

    def of(self, attack: str, target: str) -> Scored:
        """One attack on one target."""
        at = self.target == target
        assert self.record is not None
        group = None if self.group is None else self.group[at]
        score, member, record = self.score[attack][at], self.member[at], self.record[at]
        return Scored(score, member, group, record, column=attack)

    def _require_design(self, target: str) -> None:
        truth = self.member[self.target == target]
        n_in, n_out = int(truth.sum()), int((~truth).sum())
        if min(n_in, n_out) < LEAST_OF_TARGET:
            raise InputError(
                f"target {brief(target)}: {n_in} members and {n_out} non-members; give at least "
                f"{LEAST_OF_TARGET} of each, or leave out the column target where each model was "
                "asked one record"
            )


def read_scores(source: Any, attacks: Sequence[str] = ()) -> Scored | Several:
    """Read a table of members, scores and perhaps groups, records and targets.

    Parameters
    ----------
    source : Path, str, data frame or mapping
        Of a file: text with a line of column names, in capitals or not, and cells between commas,
        semicolons, tabs or bars, packed by gzip or not; or Parquet. Of Python: a pandas or polars
        data frame, or arrays by their names. In ``member`` 1, true or yes is a member; 0, false or
        no none. ``group``, ``record``, ``unit`` and ``target`` may be there.
    attacks : sequence of str
        The columns that are scores, one an attack. None named: ``score``, or where there is no
        such column all but those above, of which none may have a name such as ``id`` or ``label``.
        The report says which columns were taken for attacks, and which were not read.

    Returns
    -------
    Scored or Several
        Several where there are several attacks or targets.

    Raises
    ------
    InputError
        The file cannot be read, a column is missing, there twice or no attack by its name, a row
        has more or fewer cells than there are names, or a cell cannot be used; its line is named.
        Else as `Scored` and `Several`.
    """
    table = table_of(source)
    columns, scores = attack_columns(table, attacks)
    accepted = "a finite number"
    if not attacks and "score" not in columns:
        accepted += "; where the column is no score, `--attack COLUMN` names those that are"
    score = {}
    for name in scores:
        score[name], wrong = table.numbers(name)
        table.refuse(name, wrong | ~np.isfinite(score[name]), accepted)
    member = _truth(table, columns["member"])
    optional: dict[str, Any] = {
        name: table.words(columns[name]) for name in OPTIONAL if name in columns
    }
    targets = np.array(optional.pop("target", [""] * member.size), dtype=object)
    used_columns = {*scores, *(columns[name] for name in (*OPTIONAL, "member") if name in columns)}
    not_read = tuple(name for name in table.columns if name not in used_columns)
    optional["not_read"] = not_read
    if "unit" not in columns:
        optional["noted"] = tuple(rows.notes_of_identities(_words_of(table, not_read), member))
    else:
        named = np.array(optional["unit"], dtype=object)
        table.refuse(columns["unit"], named == "", "the unit's name")
    if len(set(targets)) == len(scores) == 1:
        return Scored(score[scores[0]], member, **optional, column=scores[0])
    if "target" in columns:
        table.refuse(columns["target"], targets == "", "the target's name")
    if len(set(targets)) == 1:
        return Several(score, member, **optional)
    if "record" in columns:
        names = np.array(optional["record"], dtype=object)
        table.refuse(columns["record"], names == "", "the record's name")
    return Several(score, member, **optional, target=targets)


def _words_of(table: tables.Table, names: Sequence[str]) -> dict[str, np.ndarray]:
    """Columns that are not read, where they hold words or numbers."""
    found = {}
    for name in names:
        with suppress(InputError):  # Lists and the like are no names.
            found[name] = np.array(table.words(name), dtype=object)
    return found


def table_of(source: Any) -> tables.Table:
    """What `read_scores` takes, as a table."""
    if isinstance(source, tables.Table):
        return source
    is_path = isinstance(source, str | Path)
    if isinstance(source, xr.Dataset) or (is_path and str(source).endswith(SUFFIX)):
        raise InputError(
            "this is evidence, of which attacks are yet to make scores; `audit.compare` does both, "
            "and the command `membership audit`"
        )
    return tables.read(Path(source)) if is_path else tables.of_columns(source)


def _truth(table: tables.Table, name: str) -> BoolArray:
    numbers, _ = table.numbers(name)
    words = np.array([TRUTH.get(word.lower(), np.nan) for word in table.words(name)])
    truth = np.where(np.isnan(words), numbers, words)
    table.refuse(name, ~np.isin(truth, (0.0, 1.0)), "0 or 1, false or true, no or yes")
    return truth == 1.0


def _require_enough(name: str, score: FloatArray, member: BoolArray, of: str) -> None:
    """Raise an InputError where an attack's scores do not do for an audit."""
    if score.size < LEAST_RECORDS:
        raise InputError(f"{name}: {score.size} {of}; an audit needs at least {LEAST_RECORDS}")
    n_in, n_out = int(member.sum()), int((~member).sum())
    if min(n_in, n_out) < LEAST_OF_TARGET:
        raise InputError(
            f"member: {n_in} members and {n_out} non-members{' among units' * (of == 'units')}; "
            f"give at least {LEAST_OF_TARGET} of each"
        )
    if np.unique(score).size == 1:
        raise InputError(f"{name}: all {score.size} {of} have {score[0]:g}; nothing to rank")


def _set(scored: Scored | Several, **values: Any) -> None:
    for name, value in values.items():
        object.__setattr__(scored, name, value)


def _set_rows(
    scored: Scored | Several, score: dict[str, FloatArray], member: BoolArray, target: np.ndarray
) -> rows.Rows:
    """Every record once, those of a unit together, and what was said of them on the way.

    Records without names are called by their places.
    """
    size, named = member.size, scored.record is not None
    record = _as_words("record", scored.record if named else range(size), size)
    group, unit = (
        None if words is None else _as_words(name, words, size)
        for name, words in (("group", scored.group), ("unit", scored.unit))
    )
    given = rows.Rows(score, member, group, record, target, unit)
    # Inside a unit, rows of one record are rows of that unit.
    distinct, notes = rows.once(given) if named and unit is None else (given, [])
    if group is not None and unit is None:
        notes += rows.notes_of_identities({"group": group}, member)
    kept = rows.by_unit(distinct)
    for name, one in kept.score.items():
        _require_enough(name, one, kept.member, "records" if unit is None else "units")
    own = {name: getattr(kept, name) for name in ("member", "group", "record", "unit")}
    noted = tuple(dict.fromkeys([*scored.noted, *notes]))
    _set(scored, **own, named=named, asked=distinct.member.size, noted=noted)
    return kept


def _as_words(name: str, words: Any, size: int) -> np.ndarray:
    """Words of any length as objects: NumPy's own words all take the room of the longest."""
    if isinstance(words, np.ma.MaskedArray) and np.ma.is_masked(words):
        raise InputError(f"{name}: some entries are masked; leave their records out")
    objects = np.asarray(words, dtype=object)
    if objects.shape != (size,):
        raise InputError(f"{name} has shape {objects.shape}; give one a record, ({size},)")
    return np.array([str(value) for value in objects], dtype=object)
