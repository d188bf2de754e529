"""A user's own CSV or Parquet file: numbers, words as 0/1 columns, and one column of classes."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from membership.data.npz import Prepared, free_memory, reason
from membership.errors import InputError
from membership.settings import brief

if TYPE_CHECKING:
    import polars

MOST_WORDS = 100
"""Different words of a column that is made into as many 0/1 columns."""


def read(path: Path, label: str) -> Prepared:
    """Read a table; each column of words becomes one 0/1 column a word.

    Parameters
    ----------
    path : Path
        Ends in .csv (with a line of names, separated by commas) or .parquet.
    label : str
        The column that holds the classes, in words or numbers; they are numbered in their order.

    Raises
    ------
    InputError
        The file cannot be read, lacks the column, has empty cells, or a column is neither numbers
        nor few words.
    """
    table = _opened(path)
    if label not in table.columns:
        named = f"it has no column {label!r}" if label else "which column holds the classes?"
        shown = brief(", ".join(table.columns), most=200)
        raise InputError(f"{path}: {named} Give `-p label COLUMN`, one of {shown}")
    for column in table:
        if empty := column.null_count():
            raise InputError(
                f"{path}: {empty:,} of {len(column):,} cells of column {column.name!r} are empty; "
                "fill them in or leave their records out"
            )
    x = _numbers(path, table.drop(label))
    values, y = np.unique(_plain(table[label]), return_inverse=True)
    if len(values) > max(2, len(y) // 2):
        raise InputError(
            f"{path}: column {label!r} holds {len(values):,} different values in {len(y):,} "
            "records; name a column of classes with `-p label COLUMN`"
        )
    return Prepared(
        x.to_numpy().astype(np.float64), y.astype(np.int64), None, columns=tuple(x.columns)
    )


def _opened(path: Path) -> "polars.DataFrame":
    # Here and not above: who reads no table need not wait for it.
    import polars

    try:
        if path.stat().st_size > free_memory():
            raise InputError(f"{path} is larger than the memory that is free; give fewer records")
        if path.name.lower().endswith(".csv"):
            return polars.read_csv(path, infer_schema_length=None)
        return polars.read_parquet(path)
    except InputError:
        raise
    except (OSError, ValueError, *_damage(polars.exceptions)) as e:
        kind = "CSV file with a line of names" if path.suffix.lower() == ".csv" else "Parquet file"
        raise InputError(f"cannot read {path}: {reason(e)}; give a whole {kind}") from None


def _damage(errors: Any) -> tuple[type[BaseException], ...]:
    return errors.PolarsError, errors.PanicException


def _numbers(path: Path, table: "polars.DataFrame") -> "polars.DataFrame":
    """The table with its words one-hot; other columns must be numbers."""
    import polars

    words = []
    for column in table:
        if column.dtype.is_numeric() or column.dtype == polars.Boolean:
            continue
        if column.dtype not in (polars.String, polars.Categorical, polars.Enum):
            raise InputError(
                f"{path}: column {column.name!r} holds {column.dtype}; make numbers of it, or "
                "leave it out"
            )
        if (count := column.n_unique()) > MOST_WORDS:
            raise InputError(
                f"{path}: column {column.name!r} holds {count:,} different words, such as "
                f"{brief(column[0], most=40)}; make numbers of it, or leave it out"
            )
        words.append(column.name)
    if not table.width:
        raise InputError(f"{path} holds no column beside the label; give one feature or more")
    return table.to_dummies(words, separator="=") if words else table


def _plain(column: "polars.Series") -> np.ndarray[Any, Any]:
    """The labels as one array that sorts."""
    if column.dtype.is_numeric():
        return column.to_numpy()
    return column.cast(str).to_numpy().astype(str)
