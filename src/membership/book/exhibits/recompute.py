"""The paper-size products again from committed evidence: no data, no training, no GPU."""

import hashlib
import json
import math
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from joblib import delayed

from membership import limits, paths, processes
from membership.book import manifest
from membership.book.bibliography import subjects
from membership.book.exhibits import files, provenance
from membership.book.exhibits.declaration import Exhibit, declared
from membership.book.exhibits.source import Source
from membership.errors import InputError

TOLERANCE = 1e-6
DRAWN_ON = "processor.txt"
"""Beside the chapters' results: on which processor all of their drawings were made."""
# Beyond this many, one more line tells nobody more.
_MOST_LINES = 5
# What a table says of where its numbers come from; notes hold numbers of their own, rounded.
_OF_ORIGIN = ("data", "sizes", "setup", "deviations", "device")


@dataclass
class Report:
    """What became of a chapter's exhibits, by id, and where they differ from what is committed.

    Of those ``undrawn`` the drawings were not compared: another matplotlib or processor made them.
    """

    computed: list[str] = field(default_factory=list)
    measured: dict[str, list[str]] = field(default_factory=dict)
    absent: list[str] = field(default_factory=list)
    differences: list[str] = field(default_factory=list)
    undrawn: list[str] = field(default_factory=list)

    def add(self, other: "Report") -> None:
        """Take in another chapter's."""
        self.computed += other.computed
        self.measured |= other.measured
        self.absent += other.absent
        self.differences += other.differences
        self.undrawn += other.undrawn

    def last_line(self, *, checked: bool) -> str:
        """Count everything in one line."""
        counted = (
            f"{len(self.computed)} exhibits computed, {len(self.measured)} stand in as measured"
        )
        if self.absent:
            counted += f", {len(self.absent)} have no full run"
        if not checked:
            return counted
        count = len(self.differences)
        counted += f", {count} difference{'s' * (count > 1)}" if count else ", all equal"
        if not self.undrawn:
            return counted
        return (
            f"{counted}; drawings of {len(self.undrawn)} were not compared, since another "
            "matplotlib or processor made them"
        )


def recompute_all(
    run: Sequence[Any],
    only: Collection[str] = (),
    *,
    check: bool = False,
    tolerance: float = TOLERANCE,
) -> Report:
    """As `recompute`, of several chapters, as many at a time as there are cores.

    Raises
    ------
    InputError
        None of them has any results of that size here, as where the wheel is installed.
    """
    folders = [_folder(settings) for settings in run]
    if not any(folder.is_dir() for folder in folders):
        raise InputError(
            f"{folders[0]} is not there: committed evidence and results come with a clone of the "
            "repository and not with the wheel; recompute in a clone"
        )
    cores, together = min(limits.cores(), len(run)), Report()
    with processes.supervised():
        workers = processes.workers(cores, batch_size=1)
        task = delayed(recompute)
        jobs = (task(settings, only, check=check, tolerance=tolerance) for settings in run)
        for report in workers(jobs):
            together.add(report)
    if not check and not only and {settings.chapter for settings in run} == {*subjects}:
        paths.atomic_write(_drawn_on(run[0]), f"{provenance.processor()}\n")
    return together


def recompute(
    settings: Any,
    only: Collection[str] = (),
    *,
    check: bool = False,
    tolerance: float = TOLERANCE,
) -> Report:
    """Compute every exhibit of a chapter whose evidence lies in its results folder.

    Each is named on stderr as its turn comes.

    Parameters
    ----------
    settings : Settings
        The chapter's, of profile "paper".
    only : collection of str
        Ids of exhibits; of a chapter that has some of them, no others are computed.
    check : bool, default False
        Whether to write nothing and compare with what is committed instead.
    tolerance : float
        Relative difference at which two numbers still are the same; numbers that are both no
        larger than the table's ``attrs["residue"]`` are rounding and the same.

    Returns
    -------
    Report
        An exhibit without its evidence stands in as its committed table (``measured``, with the
        names of what is missing), or is ``absent`` where there is none either.
    """
    if not check:
        files.require_citable(settings)
    exhibits = declared(settings.chapter)
    source = Source(settings, exhibits, gather=False)
    report = Report()
    chosen = [exhibit for exhibit in exhibits if exhibit.id in only] or exhibits
    for place, exhibit in enumerate(chosen, 1):
        at = f"{place:>3} of {len(chosen)}"
        print(f"{settings.chapter} {at}  {exhibit.id}", file=sys.stderr, flush=True)
        committed = files.load(exhibit.id, settings.profile, settings.results_dir)
        missing = source.lacks(exhibit)
        if missing and committed is None:
            report.absent.append(exhibit.id)
        elif missing:
            report.measured[exhibit.id] = missing
        else:
            table = source.table(exhibit.id)
            report.computed.append(exhibit.id)
            if check:
                report.differences += _check(exhibit, table, committed, settings, tolerance)
                if exhibit.draw and committed and not is_drawn_here(settings, committed[1]):
                    report.undrawn.append(exhibit.id)
            else:
                table = _as_committed(table, committed, tolerance)
                files.save(exhibit, table, settings, source.digests(exhibit))
    if not check and report.computed:
        manifest.seal(_folder(settings))
    return report


def _folder(settings: Any) -> Path:
    return files.location("", settings.chapter, settings.profile, settings.results_dir)


def _as_committed(table: pd.DataFrame, committed: Any, tolerance: float) -> pd.DataFrame:
    """The committed numbers where these are the same but for rounding: no file changes for that."""
    if committed is None or _differences(table, committed[0], tolerance):
        return table
    kept, record = committed
    content = files.csv_bytes(kept)
    # A table with words such as "1.00" is not the same once it is read back.
    is_read_back = hashlib.sha256(content).hexdigest() == record["csv_sha256"]
    if not is_read_back or content == files.csv_bytes(table):
        return table
    kept.attrs = table.attrs
    return kept


def _differences(table: pd.DataFrame, committed: pd.DataFrame, tolerance: float) -> list[str]:
    residue = table.attrs.get("residue", files.ATTRIBUTES["residue"])
    return list(differences(files.read_back(table), committed, tolerance, residue))


def _check(
    exhibit: Exhibit, table: pd.DataFrame, committed: Any, settings: Any, tolerance: float
) -> list[str]:
    if committed is None:
        return [f"{exhibit.id}: nothing is committed"]
    lines = [*_differences(table, committed[0], tolerance), *_said_otherwise(table, committed[1])]
    if not lines:
        table = _as_committed(table, committed, tolerance)
        lines += _drawn_otherwise(exhibit, table, committed[1], settings)
    more = [f"and {len(lines) - _MOST_LINES} more"] if len(lines) > _MOST_LINES else []
    return [f"{exhibit.id}: {line}" for line in [*lines[:_MOST_LINES], *more]]


def _drawn_otherwise(
    exhibit: Exhibit, table: pd.DataFrame, record: dict[str, Any], settings: Any
) -> Iterator[str]:
    """Drawings that are not there, or that the same table would not give byte for byte.

    Another version of matplotlib draws otherwise, and another processor rounds otherwise: then
    that they are there has to do.
    """
    if exhibit.draw is None:
        return
    target = files.location(exhibit.id, exhibit.chapter, settings.profile, settings.results_dir)
    is_alike = is_drawn_here(settings, record)
    made = files.contents_of(exhibit, table, record) if is_alike else {}
    for suffix in files.DRAWN:
        path = target.with_name(f"{target.name}{suffix}")
        if not path.is_file():
            yield f"no {suffix[1:]}"
        elif is_alike and path.read_bytes() != made[suffix]:
            yield f"its {suffix[1:]} would be drawn otherwise"


def is_drawn_here(settings: Any, record: dict[str, Any]) -> bool:
    """Whether this matplotlib drew an exhibit, and this processor drew all of them last."""
    if provenance.versions().get("matplotlib") != record.get("versions", {}).get("matplotlib"):
        return False
    file = _drawn_on(settings)
    return file.is_file() and file.read_text(encoding="utf-8").strip() == provenance.processor()


def _drawn_on(settings: Any) -> Path:
    return files.location(DRAWN_ON, "", settings.profile, settings.results_dir)


def _said_otherwise(table: pd.DataFrame, record: dict[str, Any]) -> Iterator[str]:
    # A merge that drops attrs would leave the numbers as they are, and their data unnamed.
    for name in _OF_ORIGIN:
        now = json.loads(files.json_bytes({name: table.attrs.get(name, files.ATTRIBUTES[name])}))
        if now[name] != record[name]:
            yield f"its {name} {record[name]!r} would be {now[name]!r}"


def differences(
    table: pd.DataFrame, committed: pd.DataFrame, tolerance: float, residue: float
) -> Iterator[str]:
    """Where two tables of the same exhibit are not the same, a line each."""
    if list(table.columns) != list(committed.columns) or len(table) != len(committed):
        yield f"{_shape(table)} where {_shape(committed)} are committed"
        return
    for column in table.columns:
        pairs = zip(table[column].tolist(), committed[column].tolist(), strict=True)
        for row, (now, then) in enumerate(pairs):
            if not _same(now, then, tolerance, residue):
                yield f"row {row + 1}, {column}: {now} where {then} is committed"


def _shape(table: pd.DataFrame) -> str:
    return f"{len(table)} rows of {', '.join(map(str, table.columns))}"


def _same(now: Any, then: Any, tolerance: float, residue: float) -> bool:
    if not (isinstance(now, int | float) and isinstance(then, int | float)):
        return now == then
    if math.isnan(now) or math.isnan(then):
        return math.isnan(now) and math.isnan(then)
    if max(abs(now), abs(then)) <= residue:
        return True
    return math.isclose(now, then, rel_tol=tolerance, abs_tol=0.0)
