"""A published table with what its verdicts need: spread, number of models, digits, margin."""

import math
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
import pandas as pd

from membership.errors import InputError
from membership.published.bibliography import questions
from membership.published.tables import chapter_of, table, text_of

_FOLDER = files("membership.published")
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
