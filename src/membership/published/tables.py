"""The numbers as the papers print them."""

import re
from importlib.resources import files

import pandas as pd

from membership.errors import InputError

_FOLDER = files("membership.published")
_WORDS = {
    "auc(%)": "AUC (%)",
    "attack_accuracy_other_threshold(%)": "accuracy, threshold from other records (%)",
    "attack_accuracy_model_threshold(%)": "accuracy, threshold from other models (%)",
    "std_ratio": "ratio of standard deviations",
}


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
    return _read(name)


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
    with (_FOLDER / f"{name}.csv").open(encoding="utf-8") as file:
        return pd.read_csv(file, dtype=str, keep_default_na=False)


def metric_words(metric: str) -> str:
    """A metric's name as a reader wants it: "TPR at 1% FPR (%)" for "TPR@1%FPR(%)"."""
    name, comma, rest = metric.partition(", ")
    if name in _WORDS:
        return _WORDS[name] + comma + rest
    metric = re.sub(r"TPR ?\(%\)@FPR=([\d.]+)%(?=$|,)", r"TPR@\1%FPR (%)", metric)
    words = re.sub(r"@([\d.]+)%FPR", r" at \1% FPR", metric).replace("_", " ")
    return re.sub(r" ?\(%\)(?=$|,)", " (%)", words)


def _read(name: str) -> pd.DataFrame:
    # Only an empty cell is missing: "None" and "NA" are words a table may print.
    with (_FOLDER / f"{name}.csv").open(encoding="utf-8") as file:
        return pd.read_csv(file, keep_default_na=False, na_values=[""])
