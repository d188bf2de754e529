"""What ``make bench`` measured: kept with the machine, and shown on the page of run times."""

import json
import os
from pathlib import Path
from typing import Any

import pandas as pd

from membership import paths
from membership.pipeline.records import machine

_SECTION = """
## Benchmark: {name}

Each row compares a fast path of the package with what a reader would write first, both in one
process (`make bench`; {machine}, {cpus} CPUs).

"""


def write_benchmarks(name: str, table: pd.DataFrame) -> Path:
    """Keep one table of measurements.

    Parameters
    ----------
    name : str
        Of the benchmark.
    table : pandas.DataFrame
        One row a comparison; words and numbers.

    Returns
    -------
    Path
        ``runs/benchmark-<name>.json``.
    """
    path = paths.project_root() / "runs" / f"benchmark-{name}.json"
    rows = json.loads(table.to_json(orient="records", double_precision=15))
    record = {"name": name, "rows": rows, "machine": machine("cpu"), "cpus": os.cpu_count()}
    paths.atomic_write(path, json.dumps(record, indent=1, ensure_ascii=False) + "\n")
    return path


def shown(value: Any) -> str:
    """A cell for a reader: three significant digits, thousands apart, nothing where it is empty."""
    if value is None or (isinstance(value, float) and value != value):
        return ""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def sections() -> str:
    """Every kept table as a section of Markdown, by name; empty where there is none."""
    found = sorted((paths.project_root() / "runs").glob("benchmark-*.json"))
    return "".join(_section(json.loads(path.read_text(encoding="utf-8"))) for path in found)


def _section(record: dict[str, Any]) -> str:
    columns = list(record["rows"][0])
    lines = [columns, ["---"] * len(columns)]
    lines += [
        [shown(row[column]).replace("|", "\\|") for column in columns] for row in record["rows"]
    ]
    table = "".join("| " + " | ".join(line) + " |\n" for line in lines)
    return _SECTION.format(**record) + table
