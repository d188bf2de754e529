"""One computed sentence an exhibit on features, and what its picture shows."""

import pandas as pd

from membership.studies.bayes_optimal.names import (
    ACCURACY,
    LEADS,
    LIKE_PRINT,
    MEMBERS,
    ONE_PENALTY,
    PEAK,
    RATIO,
    SHARE,
    SLOPE,
    SPREAD,
)

NAMED = {"threshold tau(z)": "thresholds", "loss": "losses"}


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
        "Two panels on one scale, MALT and MATT: attack accuracy against the gap between training "
        "and validation accuracy, with one line for each kind of features. Over all points of "
        f"this run the rank correlation is {found['MALT']:.2f} for MALT and "
        f"{found['MATT']:.2f} for MATT."
    )


def of_references(table: pd.DataFrame) -> str:
    """MAST's lead in accuracy at the fewest and the most references, cut either way; the spread."""
    lead = table[table["attack"] == "MAST less MALT"].set_index(["references", "metric"])
    counts = sorted(set(lead.index.get_level_values("references")))
    each = "; ".join(
        f"{n} references: {_points(lead.loc[(n, ACCURACY)])} cut at zero, "
        f"{_points(lead.loc[(n, PEAK)])} cut where either is best"
        for n in dict.fromkeys((counts[0], counts[-1]))
    )
    spread = table[table["metric"] == SPREAD]["value"].item()
    return (
        f"Accuracy of MAST less MALT in points, paired by target. {each}. The middle half of the "
        f"thresholds spans {spread:.2f} times that of the losses."
    )


def references_picture(table: pd.DataFrame) -> str:
    """Alternative text."""
    rows = table[(table["metric"] == ACCURACY) & (table["attack"] == "MAST")]
    rows = rows.sort_values("references")["value"]
    trend = "rises" if rows.iloc[-1] > rows.iloc[0] else "does not rise"
    return (
        "Two panels of attack accuracy against the number of reference models, on one scale, with "
        f"lines for MALT and MAST. Cut at zero, MAST's accuracy {trend} from the fewest references "
        "to the most."
    )


def of_histograms(table: pd.DataFrame) -> str:
    """Where thresholds and losses are the most, and whether the least losses are the members'."""
    found = []
    for name, rows in table[table["metric"] == SHARE].groupby("quantity", sort=False):
        row = rows.loc[rows["value"].idxmax()]
        found.append(f"{row['value']:.0f}% of the {NAMED[name]} about {row['nats']:.1g} nats")
    members = table[table["metric"] == MEMBERS].sort_values("nats")
    most = members.loc[members["value"].idxmax()]
    least = members.iloc[0]
    said = f"The fullest bins have {' and '.join(found)}. Of the records with"
    if most["nats"] == least["nats"]:
        return f"{said} the least loss {most['value']:.0f}% are members, the highest share."
    return (
        f"{said} a loss about {most['nats']:.1g} nats {most['value']:.0f}% are members, of those "
        f"about {least['nats']:.1g} nats {least['value']:.0f}%."
    )


def histograms_picture(table: pd.DataFrame) -> str:
    """Alternative text."""
    shares = table[table["metric"] == SHARE]
    overlap = shares.pivot_table(index="nats", columns="quantity", values="value").min(axis=1)
    members = table[table["metric"] == MEMBERS].sort_values("nats")["value"].reset_index(drop=True)
    shape = (
        "is largest between the ends" if 0 < members.idxmax() < len(members) - 1 else "has no peak"
    )
    return (
        "Two panels on one logarithmic axis of nats. Left: histograms of MAST's thresholds and of "
        f"the target's losses as lines; {overlap.sum():.0f}% of their areas overlap. Right: the "
        f"share of members among the records of each loss, which {shape}."
    )


def _points(row: pd.Series) -> str:
    return f"{row['value']:+.1f} [{row['low']:+.1f}, {row['high']:+.1f}]"


def of_powers(table: pd.DataFrame) -> str:
    """The slopes on the last kind of features, and the printed one."""
    found = []
    leads = LEADS.values()
    for name in (RATIO, *leads, *(f"{lead}, {ONE_PENALTY}" for lead in leads)):
        rows = table[table["quantity"] == f"{name}, {SLOPE}"]
        printed, ours = rows[rows["low"] == rows["high"]], rows[rows["low"] < rows["high"]]
        each = [f"{row.value:.2f} {row.features}" for row in printed.itertuples()]
        for row in list(ours.itertuples())[-1:]:
            each.insert(0, f"{row.value:.2f} [{row.low:.2f}, {row.high:.2f}] ({row.features})")
        if each:
            found.append(f"{name}: {', '.join(each)}")
    return f"Exponent of n. {'; '.join(found)}." if found else ""


def powers_picture(table: pd.DataFrame) -> str:
    """Alternative text."""
    rows = table[table["quantity"].str.endswith(SLOPE)]
    if rows.empty:
        return "The second-order over the first-order term against n, one line a kind of features."
    ratio = rows[rows["quantity"].str.startswith(RATIO)]["value"]
    return (
        "A row for each quantity and a dot for each kind of features: the exponent of n, with its "
        f"interval. Those of the second-order over the first-order term go from {ratio.min():.2f} "
        f"to {ratio.max():.2f}."
    )


def of_augmentation(table: pd.DataFrame) -> str:
    """MALT and 0-1 by augmentation, one network after the other."""
    rows = table[table["metric"] == ACCURACY]
    found = []
    for network, part in rows.groupby("network", sort=False):
        value = part.set_index(["attack", "augmentation"])["value"]
        each = "; ".join(
            f"{name} {value['MALT', name]:.1f}% and {value['0-1', name]:.1f}%"
            for name in dict.fromkeys(part["augmentation"])
        )
        found.append(f"{network}: {each}.")
    return f"Right by MALT and by 0-1. {' '.join(found)}"


def of_penalties(table: pd.DataFrame) -> str:
    """Both attacks at the least n: at the printed gap, and from the strongest penalty on."""
    n = table["n"].min()
    rows = table[(table["n"] == n) & (table["metric"] == ACCURACY)]
    by_c = {c: part.set_index("attack")["value"] for c, part in rows.groupby("C", sort=False)}
    found = []
    if LIKE_PRINT in by_c:
        there = by_c.pop(LIKE_PRINT)
        each = (f"{a} {there[a]:.1f}% ({there[f'{a} less print']:+.1f})" for a in ("MALT", "MATT"))
        found.append(f"At the printed gap, and less the printed number: {', '.join(each)}.")
    first, *_, last = by_c
    each = (
        f"{a} goes from {by_c[first][a]:.1f}% to {by_c[last][a]:.1f}%" for a in ("MALT", "MATT")
    )
    found.append(f"From C = {first} to C = {last} {' and '.join(each)}.")
    return f"n = {n:,}. {' '.join(found)}"


def penalties_picture(table: pd.DataFrame) -> str:
    """Alternative text."""
    rows = table[(table["metric"] == ACCURACY) & (table["C"] != LIKE_PRINT)]
    wide = rows.pivot_table(index=["n", "C"], columns="attack", values="value")
    rise = {a: (part := wide[a].groupby("n")).max() - part.min() for a in ("MALT", "MATT")}
    return (
        "Two panels on one scale, MALT and MATT: attack accuracy against the gap between training "
        "and validation accuracy, with one line for each n. Along its line MALT's accuracy spans "
        f"{rise['MALT'].min():.1f} to {rise['MALT'].max():.1f} points, MATT's "
        f"{rise['MATT'].min():.1f} to {rise['MATT'].max():.1f}."
    )
