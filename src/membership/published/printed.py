"""Every number that a paper's tables print, whether or not a run stands beside it."""

import re

import pandas as pd

from membership.errors import InputError
from membership.published.references import reference
from membership.published.tables import table_names

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
        in the text), ``what`` (its keys in words), ``metric``, ``value`` and ``decimals``.
    """
    columns = ["printed_at", "exhibit", "what", "metric", "value", "decimals"]
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
