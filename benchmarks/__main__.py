"""Run the benchmarks: ``python -m benchmarks [name ...]``, or all of them with ``make bench``."""

import importlib
import pkgutil
import sys

import benchmarks
from membership import pipeline, processes
from membership.cli import show
from membership.errors import InputError
from membership.pipeline.benchmarks import shown


def main(chosen: list[str]) -> None:
    """Run the modules of this package, show each table and keep it under ``runs``.

    Parameters
    ----------
    chosen : list of str
        Names of modules; all of them where it is empty. Each has ``run()``, which returns a
        table with the columns what, size, ours (s), reference (s), ratio and perhaps others.

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
    for name in chosen or known:
        with processes.supervised():
            table = importlib.import_module(f"benchmarks.{name}").run()
        pipeline.write_benchmarks(name, table)
        cells = [[shown(cell) for cell in row] for row in table.to_dict("split")["data"]]
        show(f"Benchmark {name}", list(table.columns), cells)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except InputError as error:
        sys.exit(str(error))
