"""``membership`` sweep, compare, plan and gather: many runs as one table, and the pieces of one."""

import json
import os
import resource
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from membership import paths, shared_work
from membership.book import running
from membership.book.cli.command_line import PROFILE, OwnPath, collect, parameters, show
from membership.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

SHOWN = 40
RUNS, SPREAD = "runs.csv", "sweep.csv"
FOLDER = OwnPath(file_okay=False)
EXHIBIT = click.option(
    "--exhibit", multiple=True, help="Show the numbers of this exhibit only. Repeatable."
)


@click.command()
@click.argument("chapter")
@PROFILE
@parameters("A parameter and its values: 0..9, or 0.1,0.2, or one. Repeatable.", "VALUES")
@click.option("--output", type=FOLDER, help="Where to, instead of results/sweeps/CHAPTER.")
@click.option(
    "--at-once",
    type=click.IntRange(0, 64),
    default=0,
    help="Runs at a time at most; 0: one a core, as far as the memory goes.",
)
@EXHIBIT
@click.option("--quiet", is_flag=True, help="Show no progress.")
def sweep(
    chapter: str,
    profile: str | None,
    given: tuple[tuple[str, str], ...],
    output: Path | None,
    at_once: int,
    exhibit: tuple[str, ...],
    quiet: bool,
) -> None:
    """Run CHAPTER at every combination of the values, a folder a run, and merge their numbers.

    Nothing starts unless every combination can be used. Runs that are up to date are kept, so that
    the same command goes on where it was stopped. The last lines name two tables: runs.csv with
    every number of every run, and sweep.csv with mean and spread over the seeds.
    """
    from membership.book.running import compare as tables
    from membership.book.running import many_runs as room

    output = output or paths.results_dir() / "sweeps" / chapter
    points = room.plan(chapter, collect(given, profile), output)
    _require_exhibits(chapter, exhibit)
    paths.require_writable(output)
    for name in (RUNS, SPREAD):
        paths.plain_file(output / name)
    failed = room.run_sweep(points, at_once, quiet=quiet)
    failed_names = {point.name for point, _ in failed}
    finished = [point for point in points if point.name not in failed_names]
    for point, reason in failed:
        click.echo(f"membership: {point.name}: {reason}", err=True)
    if finished:
        runs = tables.merged(
            [
                (point.varied, tables.numbers(chapter, point.settings.profile, point.folder))
                for point in finished
            ]
        )
        varied = list(points[0].varied)
        table = tables.spread(runs, varied)
        _print_spread(table, varied, exhibit)
        _save(runs, output / RUNS)
        _save(table, output / SPREAD)
    if failed:
        click.echo(f"membership: {len(failed)} of {len(points)} runs failed", err=True)
        sys.exit(1)


def _print_spread(table: "pd.DataFrame", varied: list[str], exhibit: tuple[str, ...]) -> None:
    """What the seeds make of each number, a row for every combination of the other parameters."""
    from membership.book.exhibits.numbers import number
    from membership.book.running.compare import NUMBER, SEED

    shown = table.assign(
        **{"mean [95%]": _texts(table, "mean", "low", "high"), "sd": table["sd"].map(number)}
    )
    parameters = [name for name in varied if name != SEED]
    _print(shown[[*parameters, *NUMBER, "runs", "mean [95%]", "sd"]], exhibit)


@click.command()
@click.argument("first", type=OwnPath())
@click.argument("second", type=OwnPath())
@click.option("--output", type=FOLDER, help="Folder for compare.csv.")
@EXHIBIT
def compare(first: Path, second: Path, output: Path | None, exhibit: tuple[str, ...]) -> None:
    """Show two runs of one chapter side by side: FIRST and SECOND are their folders.

    Such as results/quick/iha, or what `membership run --output` and `membership sweep` have made.
    """
    from membership.book.exhibits.numbers import number
    from membership.book.running import compare as room
    from membership.book.running.compare import NUMBER

    runs = room.saved(first), room.saved(second)
    table = room.compare(*runs)
    _require_exhibits(runs[0].chapter, exhibit)
    differences = room.asked(*runs)
    if len(differences):
        _show("What differs between the runs", differences)
    else:
        click.echo("What was asked of the runs is the same, as far as it is known.")
    sides = ("first", "second")
    shown = table.assign(
        difference=table["difference"].map(number),
        **{side: _texts(table, side, f"{side}_low", f"{side}_high") for side in sides},
    )
    # A number that one of them lacks has nothing to stand beside.
    is_alone = table[["first", "second"]].isna().any(axis=1)
    _print(shown.loc[~is_alone, [*NUMBER, *sides, "difference"]], exhibit)
    if is_alone.any():
        where = "" if output is None else f", in {output / 'compare.csv'}"
        click.echo(f"{is_alone.sum()} more numbers are in one of the runs alone{where}")
    if output is not None:
        _save(table, output / "compare.csv")


def _require_exhibits(chapter: str, exhibits: tuple[str, ...]) -> None:
    if exhibits:
        from membership.book.exhibits import declared
        from membership.errors import suggest

        ids = [exhibit.id for exhibit in declared(chapter)]
        for exhibit_id in exhibits:
            if exhibit_id not in ids:
                raise InputError(f"unknown exhibit {suggest(exhibit_id, ids, 'exhibits')}")


def _texts(table: "pd.DataFrame", *columns: str) -> list[str]:
    """Numbers, each with its interval where it has one."""
    from membership.book.running.compare import as_text

    return [as_text(*row) for row in zip(*(table[name] for name in columns), strict=True)]


def _print(table: "pd.DataFrame", exhibit: tuple[str, ...]) -> None:
    """The rows asked for, or the first ones."""
    rows = table[table["exhibit"].isin(exhibit)] if exhibit else table
    shown = rows.drop(columns="exhibit").head(len(rows) if exhibit else SHOWN)
    title = f"{len(shown)} of {len(table)} numbers"
    _show(f"{title}; --exhibit chooses" if len(shown) < len(table) else title, shown)


def _show(title: str, table: "pd.DataFrame") -> None:
    rows: Any = table.astype(str).to_numpy().tolist()
    show(title, [name.replace("_", " ") for name in table.columns], rows)


def _save(table: "pd.DataFrame", path: Path) -> None:
    from membership.book.exhibits import files

    paths.atomic_write(path, files.csv_bytes(table))
    click.echo(path)


MEASURED = "runs/measured.csv"


@click.command()
@click.argument("chapter", nargs=-1)
@PROFILE
@parameters("A parameter.")
@click.option("--shares", type=click.IntRange(0, shared_work.MOST), default=0, help="Jobs a piece.")
@click.option(
    "--json",
    "written",
    type=OwnPath(dir_okay=False),
    help="Write it to this file too, for a program to read.",
)
def plan(
    chapter: tuple[str, ...],
    profile: str | None,
    given: tuple[tuple[str, str], ...],
    shares: int,
    written: Path | None,
) -> None:
    """List the evidence that each CHAPTER gathers, what is there, and what the rest will take.

    Hours are those that the pieces took where they were measured (runs/measured.csv).
    """
    from membership.book.running import gathering_plan as room

    if written is not None:
        written = paths.plain_file(written)
    names = list(dict.fromkeys(chapter)) or running.chapters()
    measured = paths.project_root() / MEASURED
    pieces = room.plan(names, collect(given, profile), measured, shares)
    if written is not None:
        listed = [asdict(piece) for piece in pieces]
        cache = str(paths.cache_dir().absolute())
        content = {"chapters": names, "cache": cache, "pieces": listed}
        paths.atomic_write(written, json.dumps(content, indent=1))
    rows = [
        [
            f"{piece.chapter} {piece.evidence}",
            "there" if piece.there else "-",
            str(piece.shares),
            "-" if piece.seconds is None else f"{piece.seconds:,.0f}",
            "-" if piece.gigabytes is None else f"{piece.gigabytes:.1f}",
        ]
        for piece in pieces
    ]
    show("Evidence to gather", ["evidence", "", "jobs", "seconds", "GB"], rows)
    due = [piece for piece in pieces if not piece.there]
    hours = sum(piece.seconds or 0 for piece in due) / 3600
    unknown = sum(piece.seconds is None for piece in due)
    click.echo(
        f"{len(due)} of {len(pieces)} to gather: {hours:.2g} hours one after the other"
        + (f", and {unknown} that were not measured" if unknown else "")
    )


@click.command()
@click.argument("chapter")
@click.argument("evidence")
@PROFILE
@parameters("A parameter.")
@click.option("--share", help="Only help: K/N begins at the K-th of N parts of the work.")
@click.option("--measured", type=OwnPath(dir_okay=False), help="Note the cost.")
def gather(
    chapter: str,
    evidence: str,
    profile: str | None,
    given: tuple[tuple[str, str], ...],
    share: str | None,
    measured: Path | None,
) -> None:
    """Gather one file of a CHAPTER's EVIDENCE into the cache, where a run of it finds it.

    With --share it trains and looks at models beside other such jobs, which take from the cache
    what the others have left there; the file is then put together by the same command without.
    The last line names the file.
    """
    from membership.book.running import gathering_plan as room

    if share is not None:
        os.environ[shared_work.VARIABLE] = "{}/{}".format(*shared_work.parse(share))
    if share is not None and measured is not None:
        raise InputError("--measured: a share is not the whole; leave out --share")
    if measured is not None:
        room.costs(measured)  # a table of ours, or no file yet: it is written anew
        paths.check_writable(paths.plain_file(measured).parent)
    settings = running.check(
        chapter, running.settings_class(chapter).typed(collect(given, profile))
    )
    gatherer = room.gatherer(settings, evidence)
    began, is_there = time.monotonic(), gatherer.address(evidence).is_file()
    if share is not None and not is_there:
        with gatherer.advising():
            gatherer.gatherers()[evidence]()
        click.echo(f"share {share} of {chapter} {evidence} is done")
        return
    file = gatherer.gather(evidence)
    if measured is not None and not is_there:
        most = sum(resource.getrusage(who).ru_maxrss for who in (0, resource.RUSAGE_CHILDREN))
        seconds = time.monotonic() - began
        room.remember(measured, settings, evidence, seconds, most * 1024 / 1e9)
    click.echo(file)
