"""``make bench``, and ``python -m benchmarks [--keep] [name ...]`` for the longer tables."""

import importlib
import pkgutil
import sys

import benchmarks
from membership import processes
from membership.book import site
from membership.book.cli.command_line import show
from membership.book.site.statistics import shown
from membership.errors import InputError
from membership.paths import shown as shown_path

FIRST = "growth"


def main(chosen: list[str], keep: bool = False) -> None:
    """Run modules of this package, show each table and leave it under ``runs``.

    Parameters
    ----------
    chosen : list of str
        Names of modules; the one table of all steps where it is empty. Each has ``run()``, which
        returns a table, one row a measurement.
    keep : bool
        Put the tables in the place of those that come with the book.

    Raises
    ------
    InputError
        There is no such benchmark.
    """
    found = sorted(module.name for module in pkgutil.iter_modules(benchmarks.__path__))
    known = [name for name in found if not name.startswith("_")]
    unknown = sorted(set(chosen) - set(known))
    if unknown:
        raise InputError(f"no benchmark {', '.join(unknown)}; there are: {', '.join(known)}")
    for name in chosen or [FIRST]:
        with processes.supervised():
            table = importlib.import_module(f"benchmarks.{name}").run()
        path = site.write_benchmarks(name, table, keep=keep)
        cells = [[shown(cell) for cell in row] for row in table.to_dict("split")["data"]]
        show(f"Benchmark {name}", list(table.columns), cells)
        print(f"{shown_path(path)}; `make book` shows it on the page of run times")


if __name__ == "__main__":
    words = sys.argv[1:]
    try:
        main([word for word in words if word != "--keep"], "--keep" in words)
    except InputError as error:
        sys.exit(str(error))
