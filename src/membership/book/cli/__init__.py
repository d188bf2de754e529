"""The ``membership`` command: thin commands over runs, the site, the data and the settings."""

import contextlib
import io
import os
import re
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

import click

from membership import __version__, limits, paths, processes
from membership.book import running
from membership.book.cli.audits import audit, bench
from membership.book.cli.bulk import compare, gather, plan, sweep
from membership.book.cli.calculator import calculate
from membership.book.cli.command_line import (
    PROFILE,
    OwnPath,
    collect,
    parameter_table,
    parameters,
    show,
)
from membership.errors import InputError, RunError

# Before click 8.2 the help without arguments was no error.
NO_ARGUMENTS: Any = getattr(click.exceptions, "NoArgsIsHelpError", ())
CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@click.group(context_settings=CONTEXT)
@click.version_option(__version__, prog_name="membership")
def cli() -> None:
    """Run the chapters' notebooks and build the site.

    Exit codes: 0 done, 1 a run failed, 2 what was asked for cannot be used.
    """
    limits.require()


@cli.command()
@click.argument("chapter", nargs=-1)
@PROFILE
@parameters("A parameter of the notebook; `membership list CHAPTER` shows them. Repeatable.")
@click.option("--force", is_flag=True, help="Run it although it is up to date.")
@click.option("--quiet", is_flag=True, help="Show no progress.")
@click.option(
    "--at-once",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="Chapters to run at a time, each on its share of the cores.",
)
@click.option(
    "--output",
    type=OwnPath(file_okay=False),
    help="Keep results, page and record of the run here; the book's page stays as it is.",
)
def run(
    chapter: tuple[str, ...],
    profile: str | None,
    given: tuple[tuple[str, str], ...],
    force: bool,
    quiet: bool,
    at_once: int,
    output: Path | None,
) -> None:
    """Execute the notebook of each CHAPTER (all of them where none is named)."""
    if output is not None:
        given = (*given, ("results_dir", str(output.absolute())))
    strings = collect(given, profile)
    names = list(dict.fromkeys(chapter)) or running.chapters()
    if not names:
        raise InputError("there is no chapter: a chapter is a text notebook in notebooks")
    typed = {name: running.settings_class(name).typed(strings) for name in names}
    for name in names:
        running.check(name, typed[name])
    if at_once > 1 and len(names) > 1:
        options = ["--profile", profile] if profile else []
        options += [word for name, value in given for word in ("-p", name, value)]
        options += ["--force"] * force + ["--quiet"] * quiet
        options += ["--output", str(output)] if output is not None else []
        running.run_side_by_side(names, options, at_once)
        return
    for name in names:
        click.echo(
            running.run_notebook(
                name, typed[name], quiet=quiet, force=force, apart=output is not None
            )
        )


@cli.command()
@click.argument("what", metavar="[CHAPTER OR EXHIBIT]...", nargs=-1)
@click.option("--check", is_flag=True, help="Write nothing; compare with what is committed.")
@click.option(
    "--tolerance",
    type=click.FloatRange(min=0),
    default=1e-6,
    show_default=True,
    help="Relative difference at which two numbers are the same, for --check.",
)
def recompute(what: tuple[str, ...], check: bool, tolerance: float) -> None:
    """Make paper-size tables and figures from committed evidence, of each CHAPTER or EXHIBIT.

    An EXHIBIT, such as iha-tab-2, is computed without the others of its chapter. No data, no
    training, no GPU. Exit code 1 where --check finds a difference.
    """
    from membership.arrays import from_zero
    from membership.book.exhibits import recompute as room
    from membership.book.exhibits.exhibit_pages import chapter_of
    from membership.book.exhibits.listing import find

    from_zero("--tolerance", tolerance)
    only = [find(name)["id"] for name in what if chapter_of(name)]
    if twice := {chapter_of(name) for name in only} & set(what):
        raise InputError(f"{min(twice)} is given with an exhibit of its own; give one of them")
    names = list(dict.fromkeys(chapter_of(name) or name for name in what)) or running.chapters()
    run = [running.settings_class(name).from_values({"profile": "paper"}) for name in names]
    report = room.recompute_all(run, only, check=check, tolerance=tolerance)
    for line in report.differences:
        click.echo(line)
    click.echo(report.last_line(checked=check))
    if report.differences:
        sys.exit(1)


@cli.command()
@click.argument("exhibit")
@click.option(
    "--run",
    "folder",
    type=OwnPath(file_okay=False, exists=True),
    help="Cite your own run, by the folder of its results, such as results/quick/iha.",
)
def cite(exhibit: str, folder: Path | None) -> None:
    """Print BibTeX of the full run of an EXHIBIT, such as iha-tab-2, and of its paper."""
    from membership.book import bibliography
    from membership.book.exhibits.files import recorded, recorded_at
    from membership.book.exhibits.listing import bibtex, find

    found = find(exhibit)
    exhibit = found["id"]
    run = recorded(exhibit, "paper") if folder is None else recorded_at(folder / exhibit)
    if run:
        click.echo(bibtex(exhibit, run[0]))
    elif folder is not None:
        raise InputError(f"--run {folder}: it has no {exhibit}; name the folder of a chapter's run")
    else:
        click.echo(f"{exhibit} has no full run here: cite the paper alone.", err=True)
    click.echo(bibliography.bibtex(found["chapter"]), nl=False)


@cli.command("list")
@click.argument("chapter", required=False)
def list_(chapter: str | None) -> None:
    """List the chapters, or one CHAPTER's parameters and exhibits."""
    if chapter is None:
        rows = [[name, running.title(name)] for name in running.chapters()]
        show("Chapters", ["chapter", "title"], rows)
        return
    settings = running.settings_class(chapter)
    show(f"Parameters of {chapter}", *parameter_table(settings))
    from membership.book.exhibits.exhibit_pages import page_of, pages_of
    from membership.book.exhibits.listing import listed

    columns = ["id", "label", "content"]
    exhibits = [exhibit for exhibit in listed() if exhibit["chapter"] == chapter]
    for page in pages_of(chapter):
        rows = [[one[c] for c in columns] for one in exhibits if page_of(one["id"]) == page]
        if rows:
            show(f"Exhibits of {chapter}, in notebooks/{page}", columns, rows)
    click.echo(
        f"`membership run {chapter}` makes them all, in results/PROFILE/{chapter}; papermill "
        "those of its notebook. `-p results_dir FOLDER` takes another folder than results."
    )


@cli.group()
def data() -> None:
    """Fetch public data sets from upstream, and check files against their digests."""


ROOT = click.option("--root", type=OwnPath(), help="Folder of the file, instead of data.")


@data.command()
@click.argument("name")
@ROOT
def fetch(name: str, root: Path | None) -> None:
    """Download the data set NAME from upstream, where it is not there yet."""
    from membership import data as room

    file = room.fetch(name, root=root)
    paths.clear_parts(file.parent, file.name)
    click.echo(file)


@data.command("check")
@click.argument("name")
@ROOT
def check_data(name: str, root: Path | None) -> None:
    """Find the data set NAME and check it against its digest."""
    from membership import data as room

    report = room.check(name, root=root)
    if report.status in ("wrong", "missing"):
        raise InputError(str(report))
    click.echo(report)


@cli.command()
def build() -> None:
    """Build the site from the executed notebooks; the last line is the path of its first page."""
    from membership.book.site import build_site

    click.echo(build_site())


@cli.command()
@click.option(
    "--output",
    type=OwnPath(dir_okay=False),
    help="The zip file to write, instead of _build/membership-VERSION.zip.",
)
@click.option("--own-data", is_flag=True, help="Let runs of your own data be in it.")
def archive(output: Path | None, own_data: bool) -> None:
    """Pack site, committed results and source into one file, and print its SHA-256 and name.

    The same bytes every time; refused where no site is built, something is not committed, or a
    run of data of your own would be in it.
    """
    from membership.book.site.archive import make_archive

    file, digest = make_archive(output, own_data=own_data)
    click.echo(f"{digest}  {file}")


@cli.command()
@click.argument("chapter", nargs=-1)
def seal(chapter: tuple[str, ...]) -> None:
    """Note the digests of each CHAPTER's committed paper-size results (all where none is named).

    For maintainers who have made them anew; a run notes them itself, and `build` checks them.
    """
    from membership.book import manifest

    names = list(dict.fromkeys(chapter)) or running.chapters()
    if paths.checkout() is None:
        raise InputError("this is no clone, so no results are committed here; seal in a clone")
    for name in names:
        running.settings_class(name)  # a chapter: no path
    for name in names:
        click.echo(manifest.seal(paths.results_dir() / "paper" / name))


@cli.command()
@click.option("--cache", is_flag=True, help="Remove the trained models too.")
@click.option("--results", is_flag=True, help="Remove the results of every profile but paper too.")
def clean(cache: bool, results: bool) -> None:
    """Remove the site, the executed notebooks and the logs; what people have changed stays."""
    for path in running.clean(cache=cache, results=results):
        click.echo(f"removed {path}")


for command in (calculate, audit, sweep, compare, bench, plan, gather):
    cli.add_command(command)


def main() -> None:
    """Run the command; every foreseen failure is one line and its exit code."""
    try:
        processes.raise_on_signals()
        if isinstance(sys.stdout, io.TextIOWrapper):  # a file's name need not be UTF-8
            sys.stdout.reconfigure(errors="backslashreplace")
        os.environ.pop("MPLBACKEND", None)  # no command opens a window
        # Notebooks run in the project's folder: anchor relative folders where the user stands.
        for name in ("MEMBERSHIP_DATA", "MEMBERSHIP_CACHE"):
            if os.environ.get(name):
                os.environ[name] = os.path.abspath(paths.own_path(os.environ[name]))
        sys.exit(cli.main(prog_name="membership", standalone_mode=False))
    except NO_ARGUMENTS as error:
        error.show()
        sys.exit(error.exit_code)
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        command = context.command_path if context else "membership"
        fail(f"{error.format_message()} See `{command} --help`", error.exit_code)
    except InputError as error:
        fail(error, 2)
    except RunError as error:
        fail(error, 1)
    except (KeyboardInterrupt, click.Abort):
        fail("interrupted", 1)
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        fail(error, 1)
    except ModuleNotFoundError as error:
        if (error.name or "membership").startswith("membership"):
            fail(unforeseen(error), 1)
        from membership.installation import with_extra

        lacking = f"this command needs {error.name}, which is not installed"
        fail(f"{lacking}: {with_extra('book')}", 2)
    except Exception as error:
        fail(unforeseen(error), 1)


def fail(message: object, code: int) -> None:
    """Say in one line what went wrong, and leave."""
    one_line = re.sub(r"\s*[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]+\s*", " ", str(message))
    with contextlib.suppress(OSError):  # the terminal may have been closed
        click.echo(f"membership: {one_line}", err=True)
    sys.exit(code)


def unforeseen(error: Exception) -> str:
    """Keep the traceback of a fault of our own in a log, and say where it is and whom to tell."""
    kind, details = type(error).__name__, "".join(traceback.format_exception(error))
    told = f"{__version__}, Python {sys.version.split()[0]}\n{sys.argv!r}\n\n{details}"
    checkout = paths.checkout()  # where there is none, logs are not ours to make
    for folder in ([checkout / "logs"] if checkout else []) + [Path(tempfile.gettempdir())]:
        log = folder / "membership-error.log"
        try:
            paths.atomic_write(log, told, follow=False)
        except (InputError, RunError):
            continue
        return (
            f"a fault of the program itself ({kind}); what happened is in {log}: please report it, "
            "with that file, as CONTRIBUTING.md says"
        )
    return f"a fault of the program itself ({kind}: {error}); please report it as CONTRIBUTING says"
