"""``membership sweep`` and ``membership compare``: many runs as one table, two side by side."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from membership import paths
from membership.cli.command_line import PROFILE, collect, parameters, show
from membership.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

SHOWN = 40
FOLDER = click.Path(path_type=Path, file_okay=False)
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
    from membership.running import compare as tables
    from membership.running import sweep as room

    output = output or room.default_output(chapter)
    points = room.plan(chapter, collect(given, profile), output)
    _require_exhibits(chapter, exhibit)
    paths.require_writable(output)
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
        _save(runs, output / "runs.csv")
        _save(table, output / "sweep.csv")
    if failed:
        click.echo(f"membership: {len(failed)} of {len(points)} runs failed", err=True)
        sys.exit(1)


def _print_spread(table: "pd.DataFrame", varied: list[str], exhibit: tuple[str, ...]) -> None:
    """What the seeds make of each number, a row for every combination of the other parameters."""
    from membership.exhibits.numbers import number
    from membership.running.compare import NUMBER, SEED

    shown = table.assign(
        **{"mean [95%]": _texts(table, "mean", "low", "high"), "sd": table["sd"].map(number)}
    )
    parameters = [name for name in varied if name != SEED]
    _print(shown[[*parameters, *NUMBER, "runs", "mean [95%]", "sd"]], exhibit)


@click.command()
@click.argument("first", type=click.Path(path_type=Path))
@click.argument("second", type=click.Path(path_type=Path))
@click.option("--output", type=FOLDER, help="Folder for compare.csv and the page compare.html.")
@EXHIBIT
def compare(first: Path, second: Path, output: Path | None, exhibit: tuple[str, ...]) -> None:
    """Show two runs of one chapter side by side: FIRST and SECOND are their folders.

    Such as results/quick/iha, or what `membership run --output` and `membership sweep` have made.
    """
    from membership.exhibits.numbers import number
    from membership.running import compare as room
    from membership.running.compare import NUMBER

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
        paths.atomic_write(output / "compare.html", room.page(*runs))
        click.echo(output / "compare.html")


def _require_exhibits(chapter: str, exhibits: tuple[str, ...]) -> None:
    if exhibits:
        from membership.exhibits import declared
        from membership.settings import suggest

        ids = [exhibit.id for exhibit in declared(chapter)]
        for exhibit_id in exhibits:
            if exhibit_id not in ids:
                raise InputError(f"unknown exhibit {suggest(exhibit_id, ids, 'exhibits')}")


def _texts(table: "pd.DataFrame", *columns: str) -> list[str]:
    """Numbers, each with its interval where it has one."""
    from membership.exhibits.numbers import with_interval

    rows = zip(*(table[name] for name in columns), strict=True)
    return [" ".join(with_interval(*row)).strip() for row in rows]


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
    from membership.exhibits import files

    paths.atomic_write(path, files.csv_bytes(table))
    click.echo(path)
