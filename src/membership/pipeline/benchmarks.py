"""What ``make bench`` measured: kept with the machine, and shown on the page of run times."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from membership import paths
from membership.pipeline import markdown
from membership.pipeline.records import kept, machine, save

if TYPE_CHECKING:  # a second to import, and read by its user
    import pandas as pd

_SECTION = """
## Benchmark: {name}

{told} (`{command}`; {machine}, {cpus} CPUs{busy}).

"""
# What a row of each table says; of the others, the last.
_TOLD = {
    "growth": "Each row is a fast path: median seconds at the largest of three sizes, peak memory "
    "of its process in GB, the power of the size that the seconds grow with (with the half-width "
    "of its 95% interval), and how many times as fast it is as a plain way or another library",
    "": "Each row compares a fast path of the package with what a reader would write first, both "
    "in one process",
}
_KEPT, _OWN = "benchmark-", "own-benchmark-"


def write_benchmarks(name: str, table: "pd.DataFrame", *, keep: bool = False) -> Path:
    """Leave one table of measurements where the page of run times finds it.

    Parameters
    ----------
    name : str
        Of the benchmark.
    table : pandas.DataFrame
        One row a comparison; words and numbers.
    keep : bool
        In the place of the table that comes with the book, which git tracks.

    Returns
    -------
    Path
        ``runs/own-benchmark-<name>.json``, which git does not see and the page prefers, or
        ``runs/benchmark-<name>.json``.
    """
    path = paths.project_root() / "runs" / f"{_KEPT if keep else _OWN}{name}.json"
    rows = json.loads(table.to_json(orient="records", double_precision=15))
    record = {"name": name, "rows": rows, "machine": machine("cpu"), "cpus": os.cpu_count()}
    record["load"] = round(os.getloadavg()[2], 1)
    save(path, record)
    return path


def shown(value: Any) -> str:
    """A cell for a reader: three significant digits, thousands apart, nothing where it is empty."""
    if value is None or (isinstance(value, float) and value != value):
        return ""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def sections() -> str:
    """Every table as a section of Markdown, by name, one's own first; empty where there is none."""
    folder = paths.project_root() / "runs"
    found = {
        path.name.removeprefix(prefix): path
        for prefix in (_KEPT, _OWN)
        for path in folder.glob(f"{prefix}*.json")
    }
    return "".join(map(_section, kept([found[name] for name in sorted(found)], _is_record)))


def _is_record(record: Any) -> bool:
    rows = record["rows"]
    alike = all(isinstance(row, dict) and row.keys() == rows[0].keys() for row in rows)
    return bool(rows) and alike and {"name", "machine", "cpus"} <= record.keys()


def _section(record: dict[str, Any]) -> str:
    columns, rows = list(record["rows"][0]), record["rows"]
    head = markdown.row(columns) + "|" + "---|" * len(columns) + "\n"
    table = "".join(markdown.row([shown(row[column]) for column in columns]) for row in rows)
    told = {key: markdown.literal(record[key]) for key in ("name", "machine", "cpus")}
    name = record["name"]
    said = _TOLD.get(name, _TOLD[""])
    # In code nothing can be escaped: a name that is none stays out of it.
    which = f" {name}" if str(name).isidentifier() else ""
    command = "make bench" if name == "growth" else f"python -m benchmarks{which}"
    # Seconds on a machine that others use are long, and more so for what uses all of it.
    load = record.get("load", 0.0)
    busy = f", busy with other work: a load of {load:g}" if load > 1.5 * record["cpus"] else ""
    return _SECTION.format(**told, told=said, command=command, busy=busy) + head + table
