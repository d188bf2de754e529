"""What several commands share: parameters as they are typed, and tables for the terminal."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from membership import paths
from membership.book.settings import ChapterSettings
from membership.errors import InputError


class OwnPath(click.Path):
    """A path, with ``~`` filled in, as no shell does behind ``--output=``."""

    def __init__(self, **options: Any) -> None:
        super().__init__(path_type=Path, **options)

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        return super().convert(paths.own_path(os.fspath(value)), param, ctx)


PROFILE = click.option("--profile", help="Sizes of the run: tiny, quick (the default) or paper.")


def parameters(help: str, values: str = "VALUE") -> Callable[[Any], Any]:
    """The option by which a command is given parameters of a notebook."""
    metavar = f"NAME {values}"
    return click.option("-p", "given", nargs=2, multiple=True, metavar=metavar, help=help)


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
