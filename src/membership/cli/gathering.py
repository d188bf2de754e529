"""``membership plan`` and ``membership gather``: what a run gathers, and one piece of it."""

import json
import os
import resource
import time
from dataclasses import asdict
from pathlib import Path

import click

from membership import paths, running, shares
from membership.cli.command_line import PROFILE, collect, parameters, show
from membership.errors import InputError

MEASURED = "runs/measured.csv"


@click.command()
@click.argument("chapter", nargs=-1)
@PROFILE
@parameters("A parameter.")
@click.option("--shares", type=click.IntRange(0, shares.MOST), default=0, help="Jobs a piece.")
@click.option(
    "--json",
    "written",
    type=click.Path(path_type=Path, dir_okay=False),
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
    from membership.running import cluster

    names = list(dict.fromkeys(chapter)) or running.chapters()
    measured = paths.project_root() / MEASURED
    pieces = cluster.plan(names, collect(given, profile), measured, shares)
    if written is not None:
        listed = [asdict(piece) for piece in pieces]
        cache = str(paths.cache_dir().absolute())
        content = {"chapters": names, "cache": cache, "pieces": listed}
        paths.atomic_write(paths.own_path(str(written)), json.dumps(content, indent=1))
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
@click.option("--measured", type=click.Path(path_type=Path, dir_okay=False), help="Note the cost.")
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
    from membership.running import cluster

    if share is not None:
        os.environ[shares.VARIABLE] = "{}/{}".format(*shares.parse(share))
    if share is not None and measured is not None:
        raise InputError("--measured: a share is not the whole; leave out --share")
    if measured is not None:
        cluster.costs(measured)  # a table of ours, or no file yet: it is written anew
        paths.check_writable(measured.parent)
    settings = running.check(
        chapter, running.settings_class(chapter).typed(collect(given, profile))
    )
    gatherer = cluster.gatherer(settings, evidence)
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
        cluster.remember(measured, settings, evidence, seconds, most * 1024 / 1e9)
    click.echo(file)
