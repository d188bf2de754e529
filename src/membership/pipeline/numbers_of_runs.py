"""The numbers of saved runs as one table: a sweep's with their spread over seeds, or two runs'."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from membership.exhibits import declared, load
from membership.exhibits.quantities import is_tidy, quantities

NUMBER = ["exhibit", "label", "row", "metric"]
"""The columns that say which number it is."""
LEVEL = 0.95
SEED = "seed"


def numbers(chapter: str, profile: str, root: Path | str) -> pd.DataFrame:
    """Every single number that a run saved, one a row.

    Parameters
    ----------
    chapter, profile : str
    root : Path or str
        The run's results folder.

    Returns
    -------
    DataFrame
        Columns of `NUMBER`, then ``value``, ``low`` and ``high``. Exhibits whose tables are not one
        number a row, such as curves, are left out, and so are those that the run did not save.

    Raises
    ------
    InputError
        A file is not the one that its run wrote.
    """
    rows: list[tuple[Any, ...]] = []
    for exhibit in declared(chapter):
        saved = load(exhibit.id, profile, root)
        if saved is None or not is_tidy(saved[0]):
            continue
        for one in quantities(saved[0]):
            which = (exhibit.id, exhibit.label, ", ".join(one.keys.values()), one.metric)
            rows.append((*which, one.value, one.low, one.high))
    return pd.DataFrame(rows, columns=[*NUMBER, "value", "low", "high"])


def merged(runs: Sequence[tuple[Mapping[str, str], pd.DataFrame]]) -> pd.DataFrame:
    """Runs below one another, with the varied parameters as the first columns."""
    parts = [table.assign(**varied)[[*varied, *table.columns]] for varied, table in runs]
    return pd.concat(parts, ignore_index=True)


def spread(table: pd.DataFrame, varied: Sequence[str]) -> pd.DataFrame:
    """What the seeds make of each number, for every combination of the other parameters.

    Parameters
    ----------
    table : DataFrame
        As `merged` made it.
    varied : sequence of str
        The varied parameters, ``seed`` among them or not.

    Returns
    -------
    DataFrame
        The other parameters, `NUMBER`, then ``runs``, ``mean``, ``sd`` (over the runs, with
        ``runs - 1``), ``low`` and ``high`` (Student's interval of the mean at 95%, over seeds, with
        the data as they are; it knows of no bounds and may end above 1 for a correlation),
        ``least`` and ``most``. With one run ``sd`` and the interval are NaN.
    """
    keys = [name for name in varied if name != SEED] + NUMBER
    grouped = table.groupby(keys, sort=False, dropna=False)["value"]
    found = grouped.agg(runs="count", mean="mean", sd="std", least="min", most="max").reset_index()
    several = found["runs"].where(found["runs"] > 1)
    half = stats.t.ppf((1 + LEVEL) / 2, several - 1) * found["sd"] / np.sqrt(several)
    found["low"], found["high"] = found["mean"] - half, found["mean"] + half
    return found[[*keys, "runs", "mean", "sd", "low", "high", "least", "most"]]
