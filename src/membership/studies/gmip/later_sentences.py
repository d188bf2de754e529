"""What Controls 20 to 22 say in a line, and their pictures in words."""

from collections.abc import Iterator

import pandas as pd

from membership.metrics.rate_names import tpr_label
from membership.studies.gmip.names import (
    GLIR,
    LIRA,
    PAIRS,
    PROMISED,
    PROMISED_COMPOSED,
    difference,
)


def _rates_of(table: pd.DataFrame) -> Iterator[tuple[str, "pd.Series[float]"]]:
    """The rates at 1% FPR of each data set and length of training, by attack."""
    at = table[table["quantity"] == tpr_label(0.01)]
    for (data, steps), part in at.groupby(["data", "steps"], sort=False):
        yield f"{data}, {steps}", part.set_index("attack")["value"]


def of_control_20(table: pd.DataFrame) -> str:
    """GLiR beside LiRA, and the promise."""
    parts = []
    for name, value in _rates_of(table):
        stated = value[PROMISED if PROMISED in value else PROMISED_COMPOSED]
        parts.append(
            f"{name.partition(', ')[2]} {value[GLIR]:.1f}, {value[LIRA]:.1f}, {stated:.1f}"
        )
    return f"Members (%) at 1% FPR, GLiR, LiRA, promised: {'; '.join(parts)}."


def of_the_rivals(table: pd.DataFrame) -> str:
    """All attacks in words."""
    differences = [difference(*pair) for pair in PAIRS]
    parts = [
        f"{name}: " + ", ".join(f"{attack} {rate:.1f}" for attack, rate in rates.items())
        for name, value in _rates_of(table)
        for rates in [value[~value.index.isin(differences)]]
    ]
    return (
        "A panel a length of training, a row an attack: the percentage of members found at 1% "
        f"false positives, and a line where the promise stands. {'; '.join(parts)}."
    )


def _ratios(table: pd.DataFrame) -> "pd.Series[float]":
    """Noise over that of differential privacy at the larger level, by C and record."""
    at = table[table["quantity"] == "tau over that of differential privacy"]
    at = at[(at["mu"] == at["mu"].max()) & (at["method"] == "eigenvalues measured")]
    return at.set_index(["C", "record"])["value"]


def of_control_21(table: pd.DataFrame) -> str:
    """What the spectrum saves of the noise for 99% of the records."""
    ratio = _ratios(table)
    parts = [f"C = {norm} {ratio[norm, '99% of records']:.2f}" for norm in ratio.index.unique("C")]
    return (
        "Noise by the measured spectrum that protects 99% of records, over that of differential "
        f"privacy: {', '.join(parts)}."
    )


def of_the_bounds(table: pd.DataFrame) -> str:
    """The picture of Control 21 in words."""
    at = table[table["quantity"] == "tau over that of differential privacy"]
    at = at[at["mu"] == at["mu"].max()]
    parts = [f"C = {row.C}, {row.record}, {row.method}: {row.value:.2g}" for row in at.itertuples()]
    return (
        "A panel a clipping norm, a row a share of the records: the noise that a level takes by "
        f"each bound, over that of differential privacy. {'; '.join(parts)}."
    )


def of_control_22(table: pd.DataFrame) -> str:
    """AUC of five steps by either inverse and in the picture; of one step by what training saw."""
    at = table[(table["quantity"] == "AUC (%)") & (table["steps"] != "1 step")]
    parts = []
    for name, part in at.groupby("data", sort=False):
        value = part.set_index("inverse")["value"]
        if "released" in value and len(value) == 3:
            right, released, stored = value.sort_index(key=lambda names: names.map(_PLACE))
            parts.append(
                f"{name}, AUC by the right inverse {right:.1f}, by the released one "
                f"{released:.1f}, in the picture {stored:.0f}%"
            )
    first = table[(table["quantity"] == "AUC (%)") & (table["steps"] == "1 step")]
    digits = first[(first["data"] == "digits") & (first["inverse"] == "right")]
    own = digits.set_index("training")["value"]
    parts.append(
        f"Digits, originals {own['originals']:.1f}, shifted images {own['shifted images']:.1f}%"
    )
    return f"{'. '.join(parts)}."


_PLACE = {"right": 0, "released": 1, "the authors' picture": 2}
