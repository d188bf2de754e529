"""The ``membership`` command: thin commands over the pipeline, the data and the settings."""

import os
import sys
from pathlib import Path

import click

from membership import __version__, pipeline
from membership.calculator_cli import calculate
from membership.errors import InputError, RunError
from membership.settings import ChapterSettings

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@click.group(context_settings=CONTEXT)
@click.version_option(__version__, prog_name="membership")
def cli() -> None:
    """Run the chapters' notebooks and build the site.

    Exit codes: 0 done, 1 a run failed, 2 what was asked for cannot be used.
    """


@cli.command()
@click.argument("chapter", nargs=-1)
@click.option("--profile", help="Sizes of the run: tiny, quick (the default) or paper.")
@click.option(
    "-p",
    "given",
    nargs=2,
    multiple=True,
    metavar="NAME VALUE",
    help="A parameter of the notebook; `membership list CHAPTER` shows them. Repeatable.",
)
@click.option("--force", is_flag=True, help="Run it although it is up to date.")
@click.option("--quiet", is_flag=True, help="Show no progress.")
def run(
    chapter: tuple[str, ...],
    profile: str | None,
    given: tuple[tuple[str, str], ...],
    force: bool,
    quiet: bool,
) -> None:
    """Execute the notebook of each CHAPTER (all of them where none is named)."""
    strings = collect(given, profile)
    names = list(dict.fromkeys(chapter)) or pipeline.chapters()
    if not names:
        raise InputError("there is no chapter: a chapter is a text notebook in notebooks")
    typed = {name: pipeline.settings_class(name).typed(strings) for name in names}
    for name in names:
        pipeline.check(name, typed[name])
    for name in names:
        click.echo(pipeline.run_notebook(name, typed[name], quiet=quiet, force=force))


@cli.command("list")
@click.argument("chapter", required=False)
def list_(chapter: str | None) -> None:
    """List the chapters, or one CHAPTER's parameters and exhibits."""
    if chapter is None:
        rows = [[name, pipeline.title(name)] for name in pipeline.chapters()]
        show("Chapters", ["chapter", "title"], rows)
        return
    settings = pipeline.settings_class(chapter)
    show(f"Parameters of {chapter}", *parameter_table(settings))
    from membership import published

    exhibits = published.exhibits().query("chapter == @chapter")[["id", "label", "content"]]
    if len(exhibits):
        show(f"Exhibits of {chapter}", list(exhibits.columns), exhibits.to_numpy().tolist())


@cli.group()
def data() -> None:
    """Fetch public data sets from upstream, and check files against their digests."""


ROOT = click.option(
    "--root", type=click.Path(path_type=Path), help="Folder of the file, instead of data."
)


@data.command()
@click.argument("name")
@ROOT
def fetch(name: str, root: Path | None) -> None:
    """Download the data set NAME from upstream, where it is not there yet."""
    from membership import data as room

    click.echo(room.fetch(name, root=root))


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
    click.echo(pipeline.build_site())


@cli.command()
def benchmark() -> None:
    """Time batched training of 32 small networks against training them one by one."""
    from membership.studies.benchmark import batched_against_one_by_one

    (row,) = batched_against_one_by_one().to_dict("records")
    pipeline.write_benchmark(row)
    shown = [[k, f"{v:,}" if isinstance(v, int) else f"{v:.3g}"] for k, v in row.items()]
    show("Batched training", ["quantity", "value"], shown)


@cli.command()
@click.option("--cache", is_flag=True, help="Remove the trained models too.")
@click.option("--results", is_flag=True, help="Remove the results of every profile but paper too.")
def clean(cache: bool, results: bool) -> None:
    """Remove the site, the executed notebooks and the logs."""
    for path in pipeline.clean(cache=cache, results=results):
        click.echo(f"removed {path}")


cli.add_command(calculate)


def collect(given: tuple[tuple[str, str], ...], profile: str | None) -> dict[str, str]:
    """Gather ``-p`` pairs and ``--profile``, each name once.

    Raises
    ------
    InputError
        A name is given twice with different values.
    """
    pairs = [*given, *([("profile", profile)] if profile is not None else [])]
    strings: dict[str, str] = {}
    for name, value in pairs:
        if strings.setdefault(name, value) != value:
            raise InputError(
                f"parameter {name!r} is given twice, as {strings[name]!r} and {value!r}; "
                "give one of them"
            )
    return strings


def parameter_table(settings: type[ChapterSettings]) -> tuple[list[str], list[list[str]]]:
    """Lay out a chapter's parameters; where the profiles set one, their values are its default."""
    columns = ["name", "type", f"default ({' / '.join(settings.profiles)})", "help"]
    rows = []
    for row in settings.describe():
        sizes = " / ".join(str(row.profiles.get(p, "-")) for p in settings.profiles)
        rows.append([row.name, row.type, sizes if row.profiles else repr(row.default), row.help])
    return columns, rows


def show(title: str, columns: list[str], rows: list[list[str]]) -> None:
    """Print a table, as wide as the terminal allows; the first column is never broken."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*columns, title=title, title_justify="left")
    table.columns[0].no_wrap = True
    for row in rows:
        table.add_row(*map(Text, row))
    Console().print(table)


def main() -> None:
    """Run the command; every foreseen failure is one line and its exit code."""
    # Notebooks run in the project's folder: anchor relative folders where the user stands.
    for name in ("MEMBERSHIP_DATA", "MEMBERSHIP_CACHE"):
        if os.environ.get(name):
            os.environ[name] = os.path.abspath(os.environ[name])
    try:
        sys.exit(cli.main(prog_name="membership", standalone_mode=False))
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except InputError as error:
        fail(error, 2)
    except RunError as error:
        fail(error, 1)
    except (KeyboardInterrupt, click.Abort):
        fail("interrupted", 1)
    except OSError as error:
        fail(error, 1)


def fail(message: object, code: int) -> None:
    """Say in one line what went wrong, and leave."""
    click.echo(f"membership: {message}", err=True)
    sys.exit(code)


if __name__ == "__main__":
    main()
