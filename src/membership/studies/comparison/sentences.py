"""One computed sentence an exhibit."""

import pandas as pd

from membership.exhibits.sentences import joined, span
from membership.studies.comparison import names
from membership.studies.comparison.names import AREA, RATE

CORRELATION = "rank correlation with the risk"
FEW = ("LiRA", "BMIA, mixture", "BaVarIA-t", "RMIA", "BASE")
SHARE, CHANCE = "members found so (%)", "members found so by chance (%)"
ONE, TEN, LESS, ABSENT = "one", "ten, averaged", "less one query's", "targets there"
CHANGED = "gain over the first setting"
OVERLAP, BY_CHANCE, OTHER = "Jaccard", "Jaccard by chance", "other references"


def _picked(table: pd.DataFrame, metric: str) -> pd.DataFrame:
    return table[table["metric"] == metric]


def _number(table: pd.DataFrame, **where: object) -> float:
    for name, value in where.items():
        table = table[table[name] == value]
    return float(table["value"].iloc[0])


def of_references(table: pd.DataFrame) -> str:
    """The first attack, the loss, and the largest rate."""
    area = _picked(table, AREA)
    widest = area["cells"].iloc[0]
    area = area[area["cells"] == widest].sort_values("value", ascending=False)
    first, loss = area.iloc[0], area[area["attack"] == "LOSS"]["value"].iloc[0]
    rate = _picked(table, RATE).query("cells == @widest").nlargest(1, "value")
    most = "".join(
        f" {row.attack} has the largest TPR at 1% FPR, {row.value:.1f}%."
        for row in rate.itertuples()
    )
    return (
        f"{first['attack']} has the largest AUC, {first['value']:.3f} averaged over {widest}; "
        f"LOSS has {loss:.3f}.{most}"
    )


def of_cells(table: pd.DataFrame) -> str:
    """The extremes, and which attack leads how many cells."""
    area = _picked(table, AREA)
    best = area.loc[area.groupby(["dataset", "target"], sort=False)["value"].idxmax()]
    counts = best["attack"].value_counts()
    clauses = [f"{name} leads in {count}" for name, count in counts.items()]
    high, low = best.loc[best["value"].idxmax()], best.loc[best["value"].idxmin()]
    return (
        f"The largest AUC goes from {low['value']:.3f} ({low['dataset']}, {low['target']}) to "
        f"{high['value']:.3f} ({high['dataset']}, {high['target']}). Of {len(best)} rows "
        f"{joined(clauses)}."
    )


def of_others(table: pd.DataFrame) -> str:
    """Every attack of the panel, or why there is none."""
    area = _picked(table, AREA)
    if area.empty:
        size, most = _picked(table, names.PARAMETERS)["value"].iloc[0], names.LARGEST_OPENED
        return (
            f"The smallest target has {size:,.0f} parameters. Attacks that invert its Hessian are "
            f"run up to {most:,}: here none is."
        )
    clauses = [f"{row.attack} {row.value:.3f}" for row in area.itertuples()]
    return f"AUC averaged over {area['cells'].iloc[0]}: {joined(clauses)}."


def of_power(table: pd.DataFrame) -> str:
    """Which attack leads with how many references, and how the attacks fare with few."""
    area = _picked(table, AREA)
    first = area.loc[area.groupby("references")["value"].idxmax()]
    ends = sorted({first["references"].min(), first["references"].max()})
    first = first[first["references"].isin(ends)]
    clauses = [f"{row.attack} {row.value:.3f} with {row.references}" for row in first.itertuples()]
    loss = area_of_loss(table)
    return f"Largest AUC: {joined(clauses)}; LOSS, with none, has {loss:.3f}.{_of_few(table)}"


def _of_few(table: pd.DataFrame) -> str:
    """The rates with the fewest references that give every attack its numbers."""
    rate = _picked(table, RATE)
    few = rate[rate["references"] == rate.loc[rate["attack"] == "LiRA", "references"].min()]
    if few.empty:
        return ""
    few = few[few["attack"].isin(FEW)].sort_values("value")
    clauses = [f"{row.attack} {row.value:.1f}%" for row in few.itertuples()]
    return f" TPR at 1% FPR with {few['references'].iloc[0]}: {joined(clauses)}."


def area_of_loss(table: pd.DataFrame) -> float:
    """The AUC without references."""
    return float(_picked(table, AREA).query("attack == 'LOSS'")["value"].iloc[0])


def of_seconds(table: pd.DataFrame) -> str:
    """Who is on the front, and the seconds and AUC of its ends."""
    front = table[table["on the front"] == "yes"].sort_values("seconds")
    front = front.drop_duplicates("attack", keep="first")
    takes = [
        f"{row.attack} takes {row.seconds:.2g} s for an AUC of {row.value:.3f}"
        for row in front.itertuples()
    ]
    ends = ", ".join(dict.fromkeys((takes[0], takes[-1])))
    attacks = joined(list(front["attack"]))
    return f"For the seconds that they take, none is better than {attacks}. {ends}."


def of_records(table: pd.DataFrame) -> str:
    """Shares of records with four times the rate, loss against calibrated."""
    rows = _picked(table, "records with an FPR above 20% (%)")
    clauses = [
        f"{name} {rows[rows['attack'] == name]['value'].mean():.1f}%"
        for name in ("LOSS", "LiRA offline")
    ]
    chance = _picked(table, "the same by chance (%)")["value"].mean()
    return (
        f"Records with an FPR above 20%, on average: {joined(clauses)}. Chance would give "
        f"{chance:.1f}%."
    )


def of_thresholds(table: pd.DataFrame) -> str:
    """The rates kept, and what a flag means where members are few."""
    rows = _picked(table, "realised FPR (%)")
    at_1 = rows[rows["nominal FPR"] == "1%"]
    low, high = at_1.loc[at_1["value"].idxmin()], at_1.loc[at_1["value"].idxmax()]
    rare = _number(
        table, **{"nominal FPR": "1%"}, attack="LiRA", metric="PPV where 1% are members (%)"
    )
    return (
        f"Asked for an FPR of 1%, attacks get {low['value']:.2f}% ({low['attack']}) to "
        f"{high['value']:.2f}% ({high['attack']}). Where 1% are members, {rare:.0f}% of those that "
        "LiRA flags are."
    )


def of_agreement(table: pd.DataFrame) -> str:
    """The largest and the least overlap of two attacks at 5%."""
    rows = _picked(table, OVERLAP)
    rows = rows[(rows["FPR"] == "5%") & ~rows["attacks"].str.contains(OTHER)]
    high, low = rows.loc[rows["value"].idxmax()], rows.loc[rows["value"].idxmin()]
    return (
        "Of the members that either of two attacks flags at 5% FPR, both flag from "
        f"{100 * low['value']:.0f}% ({low['attacks']}) to {100 * high['value']:.0f}% "
        f"({high['attacks']})."
    )


def of_bounds(table: pd.DataFrame) -> str:
    """The private cell's bound beside its level, and the largest bound."""
    bound = _picked(table, "lower bound on mu")
    top = bound.loc[bound["value"].idxmax()]
    largest = f"The largest bound is mu {top['value']:.2f} ({top['dataset']}, {top['target']})."
    stated = _picked(table, "stated mu (differential privacy)")
    if stated.empty:
        return largest
    private = stated.iloc[0]
    own = _number(bound, dataset=private["dataset"], target=private["target"])
    return (
        f"On the private target the attacks prove mu {own:.2f}, where {private['value']:.2f} is "
        f"stated. {largest}"
    )


def of_risk(table: pd.DataFrame) -> str:
    """How well the best predictor of each data set does."""
    best = _picked(table, CORRELATION).groupby("dataset")["value"].max()
    return (
        f"The best predictor's rank correlation with the risk is {span(best, 2, '')} by data set."
    )


def of_nulls(table: pd.DataFrame) -> str:
    """The range of shares, and what was meant."""
    rows = table[table["n_repeats"] >= 20]
    rows = table if rows.empty else rows
    return (
        f"Intervals of 95% that leave one half out: {rows['value'].min():.1f}% to "
        f"{rows['value'].max():.1f}%, where 5% are meant to."
    )


def of_found(table: pd.DataFrame) -> str:
    """The group of members that is the furthest from what chance gives."""
    groups = table.drop_duplicates("row")
    group = groups.loc[(groups[SHARE] - groups[CHANCE]).idxmax()]
    return (
        f"On {group['dataset']}, {group['target']}, {group[SHARE]:.1f}% of members are found by "
        f"{group['row']}, where chance gives {group[CHANCE]:.1f}%."
    )


def of_tuned(table: pd.DataFrame) -> str:
    """What tuning brings each family, the largest gain first."""
    gain = _picked(table, f"{RATE}, {CHANGED}").sort_values("value", ascending=False)
    # No "-0.0": a gain that prints as nothing has no sign.
    clauses = [f"{row.attack} {round(row.value, 1) + 0.0:+.1f}" for row in gain.itertuples()]
    return f"Tuning changes TPR at 1% FPR by points: {joined(clauses)}."


def of_network(table: pd.DataFrame) -> str:
    """The three largest rates at 1%, and what ten queries add to LiRA and RMIA."""
    if ABSENT in set(table["metric"]):
        return "The paper-size evidence of BMIA's network is not here."
    if RATE not in set(table["metric"]):
        best = _picked(table, AREA).nlargest(1, "value").iloc[0]
        return f"{best['attack']} has the largest AUC, {best['value']:.3f}."
    rate = table[table["metric"] == RATE].sort_values("value", ascending=False)
    first = rate[rate["queries"] == ONE].head(3)
    clauses = ", ".join(f"{row.attack} {row.value:.1f}%" for row in first.itertuples())
    gains = table[table["metric"] == f"{RATE}, {LESS}"].set_index("attack")["value"]
    more = " and ".join(
        f"{name} {gains[name]:+.1f}" for name in ("LiRA offline", "RMIA") if name in gains
    )
    return (
        f"Largest TPR at 1% FPR with one query: {clauses}. Ten queries change it by points: {more}."
    )


def of_outside(table: pd.DataFrame) -> str:
    """What each finds at 1% beside the bench's own, by data set."""
    if names.NO_TABLES in set(table["metric"]):
        return f"Trees are fitted to records of at most {names.MOST_COLUMNS} numbers: here none is."
    rate = _picked(table, RATE).set_index(["dataset", "attack"])["value"]
    each = [
        f"On {name} QMIA finds {rate[name, 'QMIA']:.1f}% at 1% FPR, by trees "
        f"{rate[name, names.BOOSTED]:.1f}%; BMIA {rate[name, 'BMIA, closed form']:.1f}%, the "
        f"public code's {rate[name, names.PUBLIC]:.1f}%."
        for name in dict.fromkeys(table["dataset"])
    ]
    return " ".join(each[:2])
