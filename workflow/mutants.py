"""One-token faults in the code that computes numbers, and what notices each: ``make mutants``.

``tests/mutants.toml`` lists them by room. Each is put, alone, into a checkout of HEAD apart from
yours. The committed exhibits that it names are computed from it and compared, then the tests that
name the code are run and the room's, quick ones first; what first says otherwise than without the
fault has noticed it. ``tests/mutants.csv`` says what did; what was noticed is not tried again but
with ``--again``. CONTRIBUTING.md has the table that is printed at the end.

    python -m workflow.mutants [ROOM ...] [--again]
"""

import argparse
import ast
import contextlib
import csv
import importlib
import itertools
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
TABLE, FOUND = ROOT / "tests" / "mutants.toml", ROOT / "tests" / "mutants.csv"
NOTHING, TOO_LONG, DIED = "nothing", "it does not end", "it does not run"
_SECONDS = 1800
_FEW = 6
# What every trial needs and no fault is in: read once, before trials part from this process.
_HEAVY = ("matplotlib.figure", "pandas", "scipy.stats", "torch", "xarray", "sklearn.linear_model")
_FORK = multiprocessing.get_context("fork")
_moments = itertools.count(1_000_000_000)


@dataclass(frozen=True)
class Mutant:
    """A fault: some text of a file and what stands in its place."""

    room: str
    file: str
    old: str
    new: str
    exhibits: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """The file from the project's root."""
        return f"src/membership/{self.room}/{self.file}"

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What tells it from the others."""
        return self.room, self.file, self.old, self.new


@dataclass(frozen=True)
class Row:
    """What noticed a fault: an exhibit's id, a test, or `NOTHING`."""

    room: str
    file: str
    old: str
    new: str
    noticed_by: str

    @property
    def key(self) -> tuple[str, str, str, str]:
        """The fault."""
        return self.room, self.file, self.old, self.new


def listed(table: Path = TABLE) -> list[Mutant]:
    """The table of faults."""
    rooms = tomllib.loads(table.read_text(encoding="utf-8"))
    return [
        Mutant(room, **{**one, "exhibits": tuple(one.get("exhibits", ()))})
        for room, several in rooms.items()
        for one in several
    ]


def found(table: Path = FOUND) -> list[Row]:
    """What was noticed in earlier trials."""
    if not table.is_file():
        return []
    with table.open(encoding="utf-8", newline="") as file:
        return [Row(**row) for row in csv.DictReader(file)]


def remember(row: Row, order: list[Mutant], table: Path = FOUND) -> None:
    """Put a row among those that are there, in the order of the faults; drop what is none now."""
    known = {each.key: each for each in (*found(table), row)}
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([each.name for each in fields(Row)])
        writer.writerows(astuple(known[one.key]) for one in order if one.key in known)


@contextlib.contextmanager
def checkout() -> Iterator[Path]:
    """A checkout of HEAD in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "project"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(place)], check=True)
        try:
            yield place
        finally:
            subprocess.run([*git, "remove", "--force", str(place)], check=True)


@contextlib.contextmanager
def faulty(mutant: Mutant, project: Path) -> Iterator[None]:
    """The checkout with the fault in it."""
    file = project / mutant.place
    right = file.read_text(encoding="utf-8")
    if right.count(mutant.old) != 1:
        raise SystemExit(
            f"{mutant.place}: {mutant.old!r} stands there {right.count(mutant.old)} times"
        )
    try:
        _put(file, right.replace(mutant.old, mutant.new))
        yield
    finally:
        _put(file, right)


def _put(file: Path, text: str) -> None:
    """Write, at a moment that no compiled file knows."""
    file.write_text(text, encoding="utf-8")
    moment = next(_moments)
    os.utime(file, (moment, moment))


def apart(project: Path, task: Callable[..., str], *given: Any) -> str:
    """What a task says in a process of its own that reads the project from there."""
    mine, other = _FORK.Pipe()
    process = _FORK.Process(target=_say, args=(project, other, task, given))
    process.start()
    other.close()
    try:
        return mine.recv() if mine.poll(_SECONDS) else TOO_LONG
    except EOFError:
        return DIED
    finally:
        process.kill()
        process.join()


def _say(project: Path, to: Any, task: Callable[..., str], given: tuple) -> None:
    os.chdir(project)
    os.environ["PYTHONPATH"] = str(project / "src")
    sys.path[:0] = [str(project), str(project / "src")]
    silence = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(silence, stream)
    to.send(task(*given))


def compared(exhibit: str) -> str:
    """How what is computed differs from what is committed, or why nothing is computed."""
    from membership.book import running
    from membership.book.exhibits.exhibit_pages import chapter_of
    from membership.book.exhibits.recompute import recompute

    try:
        settings = running.settings_class(chapter_of(exhibit)).from_values({"profile": "paper"})
        return "\n".join(recompute(settings, [exhibit], check=True).differences)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def fails(tests: list[str], marked: str) -> str:
    """The first test that fails, of folders, of files or of its name."""
    import pytest

    failed: list[str] = []

    class First:
        def pytest_runtest_logreport(self, report: Any) -> None:
            failed.extend([report.nodeid] * report.failed)

        pytest_collectreport = pytest_runtest_logreport

    options = ["-x", "-q", "-p", "no:cacheprovider", *(["-m", marked] if marked else [])]
    pytest.main([*options, *tests], plugins=[First()])
    return failed[0] if failed else NOTHING


def tried(mutant: Mutant, project: Path) -> list[tuple[list[str], str]]:
    """What is run, and its marks: the file's own tests, those that name the code, the room's."""
    room = f"tests/{mutant.room}"
    own = project / room / f"test_{mutant.file}"
    source = (project / mutant.place).read_text(encoding="utf-8")
    line = source.partition(mutant.old)[0].count("\n") + 1
    parts = [
        part
        for part in ast.walk(ast.parse(source))
        if isinstance(part, ast.FunctionDef | ast.ClassDef)
    ]
    around = [one for one in parts if one.lineno <= line <= (one.end_lineno or line)]
    inner = {id(part) for one in around if isinstance(one, ast.FunctionDef) for part in one.body}
    around = [one.name for one in around if id(one) not in inner]
    named = [one for one in naming(around, project / room) if one != own]
    if not (named or own.is_file()):
        # The tests of other rooms, then, where few use what the file offers.
        offered = [one.name for one in parts if one.col_offset == 0 and one.name[0] != "_"]
        elsewhere = naming(offered, project / "tests")
        named = elsewhere if len(elsewhere) <= _FEW else []
    named = [str(one.relative_to(project)) for one in named]
    mirror = [str(own.relative_to(project))] if own.is_file() else []
    rounds = [(mirror, ""), (named, "not slow"), ([room], "not slow"), ([room], "slow")]
    return [(some, marked) for some, marked in rounds if some]


def naming(names: list[str], folder: Path) -> list[Path]:
    """The files of tests that say one of these names."""
    words = re.compile(rf"\b({'|'.join(map(re.escape, names)) or '(?!)'})\b")
    files = sorted(folder.rglob("test_*.py"))
    return [one for one in files if words.search(one.read_text(encoding="utf-8"))]


def noticed(mutant: Mutant, project: Path, sound: dict[str, str]) -> str:
    """What notices a fault first; `sound` remembers what is said where there is none."""
    for exhibit in mutant.exhibits:
        if exhibit not in sound:
            sound[exhibit] = apart(project, compared, exhibit)
        with faulty(mutant, project):
            said = apart(project, compared, exhibit)
        if said != sound[exhibit]:
            return exhibit
    for tests, marked in tried(mutant, project):
        with faulty(mutant, project):
            test = apart(project, fails, tests, marked)
        if test == NOTHING:
            continue
        if test not in sound:
            alone = test not in (TOO_LONG, DIED)
            sound[test] = apart(project, fails, [test], "") if alone else NOTHING
        if sound[test] == NOTHING:
            return test
        print(f"{test} fails without any fault, too", file=sys.stderr)
    return NOTHING


def table_of_rooms() -> list[str]:
    """The lines of a Markdown table: faults of each room, and how many were noticed by what."""
    listed_in, noticed_in = Counter(one.room for one in listed()), Counter()
    for row in found():
        if row.noticed_by != NOTHING:
            by = "tests" if row.noticed_by.startswith("tests/") else "recomputed"
            noticed_in.update([row.room, (row.room, by)])
    lines = ["| room | faults | noticed | by its numbers computed again | by tests |"]
    lines.append("|---|---|---|---|---|")
    for room, count in listed_in.items():
        by = [noticed_in[room, how] for how in ("recomputed", "tests")]
        lines.append(f"| `{room}` | {count} | {noticed_in[room]} | {by[0]} | {by[1]} |")
    return lines


def main() -> None:
    """Try what nothing has noticed yet, and count what was noticed."""
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("rooms", nargs="*", help="all of them where none is named")
    parser.add_argument("--again", action="store_true", help="try what was noticed before, too")
    given = parser.parse_args()
    mutants = listed()
    known = set() if given.again else {row.key for row in found() if row.noticed_by != NOTHING}
    chosen = [one for one in mutants if not given.rooms or one.room in given.rooms]
    for name in _HEAVY:
        importlib.import_module(name)
    sound: dict[str, str] = {}
    with checkout() as project:
        for mutant in (one for one in chosen if one.key not in known):
            row = Row(*mutant.key, noticed(mutant, project, sound))
            print(" | ".join(astuple(row)), flush=True)
            remember(row, mutants)
    print("\n".join(table_of_rooms()))


if __name__ == "__main__":
    main()
