"""What the papers print: their tables, and of each number what its verdict needs."""

import math
import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
import pandas as pd

from membership.book.bibliography import questions
from membership.book.published.rows import rows_at
from membership.errors import InputError
from membership.metrics.rate_names import metric_words

_FOLDER = files("membership.book.published")
_RATE = re.compile(r"TPR at ([\d.]+)% FPR")


def table(name: str) -> pd.DataFrame:
    """One published table, exactly as its CSV file holds it.

    Parameters
    ----------
    name : str
        ``<chapter>_<table>``, such as ``"bayes_optimal_table1"``.

    Returns
    -------
    pandas.DataFrame
        Key columns, then ``metric`` and ``value``; a number the paper leaves out is NaN.
        Numbers that look wrong in the paper are kept as printed.

    Raises
    ------
    InputError
        There is no such table.
    """
    known = table_names()
    if name not in known:
        raise InputError(f"no published table {name!r}; the tables are {', '.join(known)}")
    # Only an empty cell is missing: "None" and "NA" are words a table may print.
    return _read(name, na_values=[""])


def table_names(chapter: str = "") -> list[str]:
    """The published tables, of one chapter or of all."""
    names = (file.name for file in _FOLDER.iterdir() if file.name.endswith(".csv"))
    all_names = sorted(name.removesuffix(".csv") for name in names)
    return [name for name in all_names if chapter in ("", chapter_of(name))]


def chapter_of(name: str) -> str:
    """The chapter that a published table belongs to: the part of its name before the table's."""
    return name.rpartition("_sec4")[0] or name.rpartition("_")[0]


def text_of(name: str) -> pd.DataFrame:
    """A published table as text, digit for digit: 0.00 is not 0.0."""
    return _read(name, dtype=str)


def rate_of(metric: str) -> float:
    """The false positive rate, in percent, of a true positive rate's name; NaN of any other."""
    match = _RATE.match(metric_words(metric))
    return float(match[1]) if match else math.nan


def _read(name: str, **options: Any) -> pd.DataFrame:
    with (_FOLDER / f"{name}.csv").open(encoding="utf-8") as file:
        return pd.read_csv(file, keep_default_na=False, **options)


_ADDED = ("margin", "scale", "rate", "seconds", "setup")
PRINTED_UNITS = 1.1
"""The least margin, so that a correctly rounded exact number always agrees (worst case 1.066)."""


def reference(name: str) -> pd.DataFrame:
    """One published table with the error, digits and margin of each of its numbers.

    Parameters
    ----------
    name : str
        As `table` takes it.

    Returns
    -------
    pandas.DataFrame
        The key columns and ``metric``, then ``value``, ``spread`` (a sample standard deviation,
        NaN where none is printed), ``n_models`` (repeats behind the number; 1 where the paper does
        not say), ``decimals`` (digits after the point of the column as printed), ``margin``
        ("value", in the number's own unit), ``scale`` ("log" for ratios, whose margin is that of
        the logarithm, "percent" for rates in percent), ``rate`` (the false positive rate, NaN for
        other metrics), ``seconds`` (bool), ``setup`` (the name of the paper's set-up),
        ``chapter`` and ``printed_at`` (table and row). Numbers that the paper leaves out have no
        row.

    Raises
    ------
    InputError
        There is no such table, or it holds no numbers to judge.
    """
    rows = _with_metric(table(name))
    text = _with_metric(text_of(name))
    if not {"metric", "value"} <= set(rows):
        raise InputError(f"published table {name!r} holds no results")
    chapter = chapter_of(name)
    notes = notes_of(chapter)
    spread, n_models = _spread(rows, notes, name)
    decimals = text.groupby("metric")["value"].transform(_decimals).astype(int)
    listed = rows.drop(columns=notes.get("spread", {}).get("column", []))
    listed = listed.assign(printed_at=[f"{name}:{row}" for row in listed.index])
    numbers = noted(listed, chapter, decimals=decimals, spread=spread, n_models=n_models)
    return numbers.dropna(subset="value").reset_index(drop=True)


def noted(
    rows: pd.DataFrame, chapter: str, *, decimals: Any, spread: Any = math.nan, n_models: Any = 1
) -> pd.DataFrame:
    """Numbers of a paper that stand in no table, with the columns of `reference`.

    Parameters
    ----------
    rows : pandas.DataFrame
        With the columns metric and value.
    chapter : str
        Whose notes describe the metrics and set-ups.
    decimals, spread, n_models
        Columns, or one for all.
    """
    notes = notes_of(chapter)
    listed = rows.assign(spread=spread, n_models=n_models, decimals=decimals)
    described = [_described(row, notes) for row in listed.to_dict(orient="records")]
    added = {key: [fields[key] for fields in described] for key in _ADDED}
    return listed.assign(**added, chapter=chapter)


@cache
def notes_of(chapter: str) -> dict[str, Any]:
    """A chapter's notes: metrics, spread or repeats, and set-ups."""
    path = _FOLDER / f"{chapter}.toml"
    if not path.is_file():
        raise InputError(f"no published notes for chapter {chapter!r}")
    return tomllib.loads(path.read_text(encoding="utf-8"))


def data_sets(chapter: str) -> list[str]:
    """The data sets that a paper uses, as `membership.data` calls them.

    Parameters
    ----------
    chapter : str
        Such as ``"iha"``.

    Raises
    ------
    InputError
        There are no notes for this chapter.
    """
    # A chapter on a question across papers has no paper whose data there would be to meet.
    return [] if chapter in questions else list(notes_of(chapter)["data"])


def metric_notes(notes: dict[str, Any], metric: str) -> dict[str, Any]:
    """What a chapter's notes say of a metric, by its whole name or its first words."""
    listed = notes["metrics"]
    fitting = [key for key in listed if metric == key or metric.startswith(f"{key} ")]
    if not fitting:
        raise InputError(f"no margin is stated for the metric {metric!r}")
    return listed[max(fitting, key=len)]


def _with_metric(rows: pd.DataFrame) -> pd.DataFrame:
    """Table 5 of Leemann et al. has its number in the column tau."""
    if not {"mu", "tau"} <= set(rows):
        return rows
    return rows.rename(columns={"tau": "value"}).assign(metric="tau")


def _spread(rows: pd.DataFrame, notes: dict[str, Any], name: str) -> tuple[np.ndarray, int]:
    stated = notes.get("spread")
    if stated is None:
        repeats = notes.get("repeats", {})
        count = repeats.get("tables", {}).get(name, repeats.get("default", 1))
        return np.full(len(rows), math.nan), count
    spread = stated["factor"] * pd.to_numeric(rows[stated["column"]])
    for twin in notes.get("same", []):
        if twin["table"] == name:
            spread = spread.fillna(_printed_elsewhere(rows, twin, stated))
    return spread.to_numpy(dtype=float), stated["n_models"]


def _printed_elsewhere(rows: pd.DataFrame, twin: dict[str, str], stated: dict) -> pd.Series:
    """The spread of the same number where another table prints it."""
    other = table(twin["as_table"])
    other = other[other["attack"] == twin["as_attack"]].assign(attack=twin["attack"])
    keys = ["dataset", "model", "attack", "metric", "value"]
    merged = rows[keys].merge(other[[*keys, stated["column"]]], on=keys, how="left")
    return stated["factor"] * merged[stated["column"]].set_axis(rows.index)


def _decimals(printed: pd.Series) -> int:
    return max(len(text.partition(".")[2]) for text in printed)


def _described(row: dict[str, Any], notes: dict[str, Any]) -> dict[str, Any]:
    stated = metric_notes(notes, row["metric"])
    scale = "log" if "factor" in stated else "percent" if stated.get("scale") == 100 else "value"
    return {
        "margin": _margin(row["value"], row["decimals"], stated),
        "scale": scale,
        "rate": stated.get("rate", math.nan),
        "seconds": stated.get("seconds", False),
        "setup": _setup(row, notes),
    }


def _margin(value: float, decimals: int, stated: dict[str, Any]) -> float:
    if stated.get("seconds"):
        return math.nan
    if "factor" in stated:
        return math.log(stated["factor"])
    own = stated.get("margin", max(stated.get("share", 0) * abs(value), stated.get("least", 0)))
    return max(own, PRINTED_UNITS * 10.0 ** (-decimals))


def _setup(row: dict[str, Any], notes: dict[str, Any]) -> str:
    for name, stated in notes["setups"].items():
        if all(str(row.get(key)) in values for key, values in stated["where"].items()):
            return name
    raise InputError(f"no set-up is stated for {row}")


_TABLE = re.compile(r"_table(\d+)[a-z]?$")
_KEYS = ("dataset", "model", "row", "method", "mu", "attack", "n_reference")


def printed(chapter: str) -> pd.DataFrame:
    """The results that a paper prints, a row a number.

    Parameters
    ----------
    chapter : str
        Such as ``"iha"``.

    Returns
    -------
    pandas.DataFrame
        Columns ``printed_at`` (as in `reference`), ``exhibit`` (the table's id; empty for numbers
        in the text), ``what`` (its keys in words), ``metric``, ``value``, ``decimals`` and
        ``seconds`` (bool).
    """
    columns = ["printed_at", "exhibit", "what", "metric", "value", "decimals", "seconds"]
    parts = [_listed(name, chapter) for name in table_names(chapter)]
    kept = [part[columns] for part in parts if len(part)]
    return pd.concat(kept, ignore_index=True) if kept else pd.DataFrame(columns=columns)


def _listed(name: str, chapter: str) -> pd.DataFrame:
    try:
        rows = reference(name)
    except InputError:  # settings or text, no results
        return pd.DataFrame()
    number = _TABLE.search(name)
    exhibit = f"{chapter.replace('_', '-')}-tab-{number[1]}" if number else ""
    if "model" in rows and (rows.groupby("dataset")["model"].nunique() == 1).all():
        rows = rows.drop(columns="model")
    words = [_words(row) for row in rows.to_dict("records")]
    return rows.assign(exhibit=exhibit, what=words)


def _words(row: dict) -> str:
    """The keys of a number; a number among them only where it tells more than its place."""
    named = {key: row[key] for key in _KEYS if key in row}
    words = [value for value in named.values() if isinstance(value, str) and value != "-"]
    if "mu" in named:
        words.append(f"mu = {named['mu']:g}")
    count = str(named.get("n_reference", 0))
    if count not in ("0", "nan"):
        words.append(f"{count} references")
    return ", ".join(dict.fromkeys(words))


def misprints(chapter: str) -> pd.DataFrame:
    """The quantities that a paper prints twice, differently: ``[[misprints]]`` of its notes."""
    return pd.DataFrame([_pair(chapter, **pair) for pair in notes_of(chapter)["misprints"]])


def _pair(
    chapter: str, quantity: str, one: dict[str, str], other: dict[str, str], **both: str
) -> dict[str, Any]:
    first, second = (_printed(chapter, **both, **place) for place in (one, other))
    return {
        "quantity": quantity,
        "one place": f"Table {one['table']}",
        "printed": first,
        "other place": f"Table {other['table']}",
        "printed there": second,
        "difference": round(first - second, 6),
    }


def _printed(chapter: str, **where: str) -> float:
    printed = table(f"{chapter}_table{where.pop('table')}")
    return rows_at(printed, **where)["value"].astype(float).item()
