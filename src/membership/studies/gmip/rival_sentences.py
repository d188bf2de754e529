"""What Control 20 says in a line, and its picture in words."""

from collections.abc import Iterator

import pandas as pd


def _rates_of(table: pd.DataFrame) -> Iterator[tuple[str, "pd.Series[float]"]]:
    """The rates at 1% FPR of each data set and length of training, by attack."""
    at = table[table["quantity"] == "TPR at 1% FPR (%)"]
    for (data, steps), part in at.groupby(["data", "steps"], sort=False):
        yield f"{data}, {steps}", part.set_index("attack")["value"]


def of_control_20(table: pd.DataFrame) -> str:
    """GLiR beside LiRA, and the promise."""
    parts = []
    for name, value in _rates_of(table):
        stated = value[value.index.str.startswith("promised")].iloc[0]
        parts.append(
            f"{name.partition(', ')[2]} {value['GLiR']:.1f}, {value['LiRA']:.1f}, {stated:.1f}"
        )
    return f"Members (%) at 1% FPR, GLiR, LiRA, promised: {'; '.join(parts)}."


def described(table: pd.DataFrame) -> str:
    """All attacks in words."""
    parts = [
        f"{name}: " + ", ".join(f"{attack} {rate:.1f}" for attack, rate in rates.items())
        for name, value in _rates_of(table)
        for rates in [value[~value.index.str.contains(" less ")]]
    ]
    return (
        "A panel a length of training, a row an attack: the percentage of members found at 1% "
        f"false positives, and a line where the promise stands. {'; '.join(parts)}."
    )
