"""One computed sentence for each exhibit that says something by itself."""

import pandas as pd

from membership.studies.lood.mistakes import LEFT_IN
from membership.studies.lood.reconstruction import SUCCESS


def identity(table: pd.DataFrame) -> str:
    """Control 1."""
    return f"No number deviates by more than {table['value'].max():.0e} of its size."


def correlations(table: pd.DataFrame) -> str:
    """Control 3."""
    found = table[table["metric"] == "rank correlation"].set_index(["estimate", "of"])["value"]
    kl, mean = (found[name, "AUC of the process"] for name in ("KL", "mean distance"))
    return (
        f"On the process, ranks of KL and of the best attack's AUC correlate at {kl:.3f}, those of "
        f"the mean distance at {mean:.3f}."
    )


def attempts(table: pd.DataFrame) -> str:
    """Control 5."""
    tried, excess = int(table.groupby(["kernel", "queries"])["tried"].max().sum()), table["value"]
    most = excess.max()
    above = "none lies above the record beyond rounding" if most < 1e-6 else "one tells more"
    return f"Of {tried:,} queries and sets of queries {above}: the largest excess is {most:.0e}."


def escapes(table: pd.DataFrame) -> str:
    """Control 6."""
    largest = table[table["metric"] == "largest KL over the record's"].set_index("case")["value"]
    parts = [f"{value:.3f} times ({case.split()[-1]})" for case, value in largest.items()]
    return f"Where the data normalise, a query has up to {' and '.join(parts)} the record's KL."


def grid(table: pd.DataFrame) -> str:
    """The alternative text of a grid of records and found queries."""
    return "Records above the queries that were found for them. " + found(table)


def found(table: pd.DataFrame) -> str:
    """How many of the shown searches found their record."""
    shown = table[table["kernel"].fillna("") != ""]
    count = int((shown["correlation"] > SUCCESS).sum())
    return f"{count} of {len(shown)} queries have a correlation above {SUCCESS} with their record."


def success(table: pd.DataFrame) -> str:
    """Control 7, its first kernel."""
    first = table[table["kernel"] == table["kernel"].iloc[0]]
    rows = first[first["metric"].str.startswith("correlation above")]
    parts = [
        f"{row.value:.0f}% [{row.low:.0f}, {row.high:.0f}] ({row.dataset})"
        for row in rows.itertuples()
    ]
    return f"The first kernel's searches find {' and '.join(parts)} of their records."


def groups(table: pd.DataFrame) -> str:
    """Figure 3: how much of a group's leakage three joint queries reach."""
    parts = []
    for name, part in table.groupby("group"):
        joint = part[part["row"].str.endswith("three queries")]
        share = joint["kl"].max() / joint["kl_of_all"].max()
        near = joint["member"].nunique()
        members = "one member" if near == 1 else f"{near} different members"
        parts.append(f"{100 * share:.0f}% of the KL of all three, near {members} ({name})")
    return f"Three queries together reach {' and '.join(parts)}."


def peaks(table: pd.DataFrame) -> str:
    """Where each curve of a toy is largest."""
    parts = [
        f"{panel}, {series}, at {part.loc[part['value'].idxmax(), 'x']:.2f}"
        for (panel, series), part in table.groupby(["panel", "series"], sort=False)
    ]
    return f"Curves along one-dimensional queries, with their peaks: {'; '.join(parts)}."


def places(table: pd.DataFrame) -> str:
    """Control 8, its pictures."""
    of_pictures = table[table["case"].str.startswith("pictures")].set_index("metric")["value"]
    better = of_pictures["records with a better query (%)"]
    lower = of_pictures["of these queries, those with a lower AUC (%)"]
    return (
        f"By mean distance another picture is better for {better:.0f}% of the records, and "
        f"{lower:.0f}% of these pictures tell an attacker less."
    )


def activations(table: pd.DataFrame) -> str:
    """Figure 5: the share of points above the line."""
    parts = []
    for series, part in table.groupby("series", sort=False):
        share = 100 * (part["y"] > part["x"]).mean()
        parts.append(f"{share:.0f}% of {len(part):,} records ({series})")
    return f"GeLU leaks more for {', '.join(parts)}."


def shares(table: pd.DataFrame) -> str:
    """Control 9: how far apart the settings lie."""
    share = table.loc[table["kernels"] != "networks", "value"]
    return (
        "By setting of the kernels, inputs and depth GeLU leaks more for "
        f"{share.min():.0f} to {share.max():.0f}% of the records."
    )


def slips(table: pd.DataFrame) -> str:
    """Control 11, its second slip."""
    value = table[table["slip"] == LEFT_IN].set_index("metric")["value"]
    out, left = value["median KL, record left out"], value["median KL, as released"]
    return f"With the record left in D the median KL is {left:.2f} nats instead of {out:.2f}."
