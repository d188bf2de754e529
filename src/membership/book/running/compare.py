"""The numbers of saved runs as one table: a sweep's with their spread over seeds, or two runs'."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from membership import paths
from membership.book import manifest
from membership.book.exhibits import declared, load
from membership.book.exhibits.numbers import is_tidy, quantities, with_interval
from membership.book.running.chapter_files import chapters
from membership.book.settings import PROFILES
from membership.errors import InputError

NUMBER = ["exhibit", "label", "row", "metric"]
"""The columns that say which number it is."""
LEVEL = 0.95
SEED = "seed"
_SHOWN = ("commit", "code_sha256", "versions", "device", "data")


def numbers(chapter: str, profile: str, root: Path | str) -> pd.DataFrame:
    """Every single number that a run saved, one a row: `NUMBER`, ``value``, ``low`` and ``high``.

    Exhibits whose tables are not one number a row, such as curves, are left out.
    """
    rows: list[tuple[Any, ...]] = []
    for exhibit in declared(chapter):
        saved = load(exhibit.id, profile, root)
        if saved is None or not is_tidy(saved[0]):
            continue
        for quantity in quantities(saved[0]):
            which = (exhibit.id, exhibit.label, ", ".join(quantity.keys.values()), quantity.metric)
            rows.append((*which, quantity.value, quantity.low, quantity.high))
    return pd.DataFrame(rows, columns=[*NUMBER, "value", "low", "high"])


def merged(runs: Sequence[tuple[Mapping[str, str], pd.DataFrame]]) -> pd.DataFrame:
    """Runs below one another, with the varied parameters as the first columns."""
    parts = [table.assign(**varied)[[*varied, *table.columns]] for varied, table in runs]
    return pd.concat(parts, ignore_index=True)


def spread(table: pd.DataFrame, varied: Sequence[str]) -> pd.DataFrame:
    """What the seeds make of each number, for every combination of the other parameters.

    The interval is Student's of the mean over seeds, with the data as they are; it knows of no
    bounds and may end above 1 for a correlation.
    """
    keys = [name for name in varied if name != SEED] + NUMBER
    grouped = table.groupby(keys, sort=False, dropna=False)["value"]
    summary = grouped.agg(
        runs="count", mean="mean", sd="std", least="min", most="max"
    ).reset_index()
    several = summary["runs"].where(summary["runs"] > 1)
    half = stats.t.ppf((1 + LEVEL) / 2, several - 1) * summary["sd"] / np.sqrt(several)
    summary["low"], summary["high"] = summary["mean"] - half, summary["mean"] + half
    return summary[[*keys, "runs", "mean", "sd", "low", "high", "least", "most"]]


@dataclass(frozen=True)
class Saved:
    """A run's results: ``<root>/<profile>/<chapter>``."""

    root: Path
    profile: str
    chapter: str

    @property
    def folder(self) -> Path:
        return self.root / self.profile / self.chapter


def saved(path: Path) -> Saved:
    """Find the one run in a folder.

    Parameters
    ----------
    path : Path
        ``results/<profile>/<chapter>``, or a folder such as ``membership run --output`` and
        ``membership sweep`` make, if one run lies in it.

    Raises
    ------
    InputError
        No run lies there, or several do; those are named.
    """
    path = paths.own_path(str(path)).absolute()
    known = chapters()

    def is_run(folder: Path) -> bool:
        return folder.is_dir() and folder.name in known and folder.parent.name in PROFILES

    manifests = sorted(path.glob(f"*/*/{manifest.NAME}")) + sorted(path.glob(f"*/{manifest.NAME}"))
    runs = [path] if is_run(path) else [f.parent for f in manifests if is_run(f.parent)]
    if len(runs) == 1:
        return Saved(runs[0].parent.parent, runs[0].parent.name, runs[0].name)
    if not runs:
        raise InputError(
            f"no run lies in {paths.shown(path)}; name a folder such as results/quick/iha, or what "
            "`membership run --output` wrote to"
        )
    raise InputError(
        f"{len(runs)} runs lie in {paths.shown(path)}; name one, such as {paths.shown(runs[0])}"
    )


def asked(first: Saved, second: Saved) -> pd.DataFrame:
    """What was asked of the two runs and what they ran on, where it is not the same."""
    facts = [_facts(run) for run in (first, second)]
    names = list(dict.fromkeys([*facts[0], *facts[1]]))
    rows = [(name, facts[0].get(name, ""), facts[1].get(name, "")) for name in names]
    return pd.DataFrame(
        [row for row in rows if row[1] != row[2]], columns=["what", "first", "second"]
    )


def compare(first: Saved, second: Saved) -> pd.DataFrame:
    """Every number of two runs of one chapter, side by side.

    Parameters
    ----------
    first, second : Saved

    Returns
    -------
    DataFrame
        Columns ``exhibit``, ``label``, ``row``, ``metric``; ``first``, ``first_low``,
        ``first_high``; the same of ``second``; ``difference``, second less first. A number that one
        run lacks is NaN there. The intervals are each run's own.

    Raises
    ------
    InputError
        The runs are of two chapters, have no number, or a file is not as its run wrote it.
    """
    if first.chapter != second.chapter:
        raise InputError(
            f"the runs are of {first.chapter} and {second.chapter}; compare two runs of one chapter"
        )
    tables = [
        numbers(run.chapter, run.profile, run.root).rename(
            columns={"value": name, "low": f"{name}_low", "high": f"{name}_high"}
        )
        for name, run in (("first", first), ("second", second))
    ]
    for run, table in zip((first, second), tables, strict=True):
        if table.empty:
            raise InputError(f"no numbers are saved in {paths.shown(run.folder)}; run it again")
    # An exhibit without keys may print one number twice; a row's place tells such rows apart.
    tables = [t.assign(place=t.groupby(NUMBER, sort=False).cumcount()) for t in tables]
    joined = tables[0].merge(tables[1], on=[*NUMBER, "place"], how="outer", sort=False)
    order = {
        name: place for place, name in enumerate(exhibit.id for exhibit in declared(first.chapter))
    }
    joined = joined.sort_values("exhibit", key=lambda ids: ids.map(order), kind="stable")
    joined["difference"] = joined["second"] - joined["first"]
    return joined.drop(columns="place").reset_index(drop=True)


def as_text(value: float, low: float, high: float) -> str:
    """A number with its own interval, where it has one."""
    return " ".join(with_interval(value, low, high)).strip()


def _facts(run: Saved) -> dict[str, str]:
    """What the manifest, or else an exhibit's record, says of a run; one line a parameter."""
    described: dict[str, Any] = {}
    for record in sorted(run.folder.glob("*.json"))[:1]:
        described |= json.loads(record.read_text(encoding="utf-8"))
    for entry in manifest.read(run.folder):
        described |= {k: v for k, v in entry.items() if k != "files"}
    parameters = dict(described.get("parameters") or {})
    facts = {"profile": run.profile, **{str(k): _plain(v) for k, v in parameters.items()}}
    return facts | {name: _plain(described[name]) for name in _SHOWN if name in described}


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)
