"""One computed sentence an exhibit on features, and what its picture shows."""

import pandas as pd

from membership.studies.bayes_optimal.names import ACCURACY, LEADS, PEAK, RATIO, SLOPE, SPREAD


def of_ladder(table: pd.DataFrame) -> str:
    """The gap and both attacks at the smallest n, by features."""
    n = table["n"].min()
    rows = table[(table["n"] == n) & (table["metric"] == ACCURACY)]
    found = []
    for features, part in rows.groupby("features", sort=False):
        value = part.set_index("attack")["value"]
        found.append(
            f"{features}: gap {part['gap'].iloc[0]:.1f} points, MALT {value['MALT']:.1f}%, MATT "
            f"{value['MATT']:.1f}%"
        )
    return f"n = {n:,}. {'; '.join(found)}."


def ladder_picture(table: pd.DataFrame) -> str:
    """Alternative text."""
    found = {}
    for attack in ("MALT", "MATT"):
        rows = table[(table["metric"] == ACCURACY) & (table["attack"] == attack)]
        found[attack] = rows["gap"].corr(rows["value"], method="spearman")
    return (
        "Two panels, MALT and MATT: attack accuracy against the gap between training and "
        "validation accuracy, with one line for each kind of features. Over all points the rank "
        f"correlation is {found['MALT']:.2f} for MALT and {found['MATT']:.2f} for MATT."
    )


def of_references(table: pd.DataFrame) -> str:
    """MAST's accuracy as cut at zero and at its best cut, by references; the spread."""
    mast = table[table["attack"] == "MAST"]
    fewest, most = mast["references"].min(), mast["references"].max()
    value = mast.set_index(["references", "metric"])["value"]
    each = "; ".join(
        f"{n} references: MAST {value[n, ACCURACY]:.1f}% cut at zero, "
        f"{value[n, PEAK]:.1f}% cut where it is best"
        for n in dict.fromkeys((fewest, most))
    )
    spread = table[table["metric"] == SPREAD]["value"].item()
    return f"{each}. The middle half of the thresholds spans {spread:.2f} times that of the losses."


def references_picture(table: pd.DataFrame) -> str:
    """Alternative text."""
    rows = table[(table["metric"] == ACCURACY) & (table["attack"] == "MAST")]
    rows = rows.sort_values("references")["value"]
    trend = "rises" if rows.iloc[-1] > rows.iloc[0] else "does not rise"
    return (
        "Two panels of attack accuracy against the number of reference models, with lines for MALT "
        f"and MAST. Cut at zero, MAST's accuracy {trend} from the fewest references to the most."
    )


def of_powers(table: pd.DataFrame) -> str:
    """The slopes of each kind of features."""
    found = []
    for name in (RATIO, *LEADS.values()):
        rows = table[table["quantity"] == f"{name}, {SLOPE}"]
        each = "; ".join(
            f"{row.features} {row.value:.2f}"
            + (f" [{row.low:.2f}, {row.high:.2f}]" if row.low < row.high else "")
            for row in rows.itertuples()
        )
        found.append(f"{name[0].upper()}{name[1:]}: {each or 'none'}.")
    return f"Slopes of the logarithm over that of n. {' '.join(found)}"
