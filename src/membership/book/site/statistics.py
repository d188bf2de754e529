"""The pages that the build computes: run times, benchmarks, and how often the verdicts err."""

import json
import math
import os
import re
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from membership import paths
from membership.book import published
from membership.book.running.times import kept, machine, read_all, save

if TYPE_CHECKING:  # a second to import, and read by its user
    import pandas as pd

_NO_RUNS = """\
No chapter has been run here yet. `membership run` runs them all; this page then tells how long
each took, and on what machine.
"""

_RUNS = """\
Wall times of the last finished run of each chapter and profile. A run that finds its trained
models in the cache takes a fraction of the first one's time.

| chapter | profile | seconds | longest section | machine | started |
|---|---|---:|---|---|---|
"""
_SECTION = """
## Benchmark: {name}

{told} (`{command}`; {machine}, {cpus} CPUs{busy}).

"""
# What a row of each table says; of the others, the last.
_MEANING = {
    "growth": "Each row is a fast path: median seconds at the largest of three sizes, peak memory "
    "of its process in GB, the power of the size that the seconds grow with (with the half-width "
    "of its 95% interval), and how many times as fast it is as a plain way or another library",
    "bounds": "Each number of a bound is its mean over runs, at 95%, with the share of runs where "
    "it is above the truth. Where a bound is valid that is at most 5% on average: by chance up to "
    "7% of 400 runs, or 11% of 50. Epsilon is that at delta 1e-5 unless a row says otherwise. "
    "jax_privacy calls its Gaussian number an estimate, and no bound. A fair coin decides on each "
    "record, and scores are independent, where a row says nothing else. One noisy sum answers for "
    "all records: their scores move together, which bounds of independent trials do not allow and "
    "those of one run do. Of ten visits in or out whole no bound by record holds, and the last row "
    "judges persons by their mean score. A bound of one run is refused where coins are so uneven. "
    "Where nothing leaks, the last column has the share of runs in which the AUC's interval, at "
    "95%, holds 0.5. All bounds of a row see the same scores",
    "": "Each row compares a fast path of the package with what a reader would write first, both "
    "in one process",
}
_KEPT, _OWN = "benchmark-", "own-benchmark-"
VERDICT_ERRORS = "book/generated/verdict_errors"
# What begins markup, HTML, a formula, a role, a substitution or a cell within a line.
_MARKS = re.compile(r"([\\`*_{}\[\]<>|$~&^#])")


def run_statistics() -> str:
    """Write the page of run times as Markdown, from the records under ``runs``."""
    runs = read_all()
    body = _RUNS + "".join(map(_run_row, runs)) if runs else _NO_RUNS
    return f"# Run statistics\n\n{body}{sections()}"


def _run_row(record: dict[str, Any]) -> str:
    longest = max(record["sections"], key=lambda section: section["seconds"], default=None)
    cells = [
        record["title"],
        record["profile"],
        f"{record['seconds']:.0f}",
        f"{longest['title']} ({longest['seconds']:.0f} s)" if longest else "",
        f"{record['machine']}, {record['cpus']} CPUs, Python {record['python']}",
        record["started"][:10],
    ]
    return row(cells)


def lasted(chapter: str) -> str:
    """The command that runs a chapter at its least profile that was timed, and what it took."""
    records = {
        record["profile"]: record for record in read_all() if record.get("chapter") == chapter
    }
    profile = next((name for name in ("tiny", "quick") if name in records), "tiny")
    duration = "not timed here"
    if profile in records:
        duration = f"{records[profile]['seconds']:.0f} seconds with {records[profile]['cpus']} CPUs"
    return f"`membership run {chapter} --profile {profile}`: {duration}"


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
    by_name = {
        path.name.removeprefix(prefix): path
        for prefix in (_KEPT, _OWN)
        for path in folder.glob(f"{prefix}*.json")
    }
    return "".join(map(_section, kept([by_name[name] for name in sorted(by_name)], _is_record)))


def _is_record(record: Any) -> bool:
    rows = record["rows"]
    same_columns = all(isinstance(row, dict) and row.keys() == rows[0].keys() for row in rows)
    return bool(rows) and same_columns and {"name", "machine", "cpus"} <= record.keys()


def _section(record: dict[str, Any]) -> str:
    columns, rows = list(record["rows"][0]), record["rows"]
    head = row(columns) + "|" + "---|" * len(columns) + "\n"
    table = "".join(row([shown(values[column]) for column in columns]) for values in rows)
    fields = {key: literal(record[key]) for key in ("name", "machine", "cpus")}
    name = record["name"]
    meaning = _MEANING.get(name, _MEANING[""])
    # In code nothing can be escaped: a name that is none stays out of it.
    argument = f" {name}" if str(name).isidentifier() else ""
    command = "make bench" if name == "growth" else f"python -m benchmarks{argument}"
    # Seconds on a machine that others use are long, and more so for what uses all of it.
    load = record.get("load", 0.0)
    load_note = f", busy with other work: a load of {load:g}" if load > 1.5 * record["cpus"] else ""
    return _SECTION.format(**fields, told=meaning, command=command, busy=load_note) + head + table


def verdict_errors() -> str:
    """Write the page as Markdown; the simulation takes a few seconds."""
    # Here and not above: it needs scipy, and no other command waits for that.
    from membership.book.published.tables import PRINTED_UNITS
    from membership.book.published.verdicts import MARGIN, REPEATS, error_rates

    rates = error_rates()
    printed = rates[rates["error"] == "printed"]
    unequal = rates[rates["sd_paper"] > rates["sd"]].iloc[0]
    rows = [
        f"| {row.n} | {row.m} | {row.sd:g} | {row.sd_paper:g} | {row.error} | "
        + " | ".join(f"{100 * share:.1f} %" for share in row[5:])
        + " |\n"
        for row in rates.itertuples(index=False, name="Row")
    ]
    page = (files("membership.book.site") / "verdict_errors.md").read_text(encoding="utf-8")
    return page.format(
        margin=MARGIN,
        repeats=REPEATS,
        error=100 * math.sqrt(0.05 * 0.95 / REPEATS),
        rows="".join(rows),
        differs=100 * printed["false differs"].max(),
        agrees=100 * printed["false agrees"].max(),
        wide=unequal["sd_paper"],
        narrow=unequal["sd"],
        units=PRINTED_UNITS,
        margins="".join(_margins()),
    )


def _margins() -> list[str]:
    from membership.book.published.tables import notes_of

    return [
        f"| {paper.short} | {published.metric_words(metric)} | {_margin(stated)} |\n"
        for chapter, paper in published.papers.items()
        for metric, stated in notes_of(chapter)["metrics"].items()
    ]


def _margin(stated: dict[str, float]) -> str:
    """One metric's margin in words, in its own unit."""
    if stated.get("seconds"):
        return "depends on the machine: never compared"
    if "factor" in stated:
        return f"a factor of {stated['factor']:g}, on logarithms"
    if "margin" in stated:
        return f"{stated['margin']:g}"
    share = f"{100 * stated['share']:g} % of the published number"
    return f"{share}, at least {stated['least']:g}" if "least" in stated else share


def literal(value: object) -> str:
    """Show a value as text within one line of Markdown: no markup, no HTML, no formula, no cell.

    It is for the middle of a line: a mark that means something only where a line begins stays.
    """
    return _MARKS.sub(r"\\\1", re.sub(r"\s+", " ", str(value)).strip())


def row(cells: Sequence[object]) -> str:
    """A row of a table, its cells shown as they are."""
    return "| " + " | ".join(literal(cell) for cell in cells) + " |\n"
