"""One computed sentence an exhibit: what its table shows, at any size of run."""

import pandas as pd

from membership.exhibits.rows import rank_correlation
from membership.exhibits.sentences import joined, span
from membership.studies.iha.subjects import LENGTHS, RATIO

# As `combined` names them, which needs torch.
RANKS, BELOW = "rank correlation with the loss", "below 0 (%)"
FALSE, TRUE = "non-members accused (%)", "members accused (%)"


def compared(
    table: pd.DataFrame, first: str, second: str, names: tuple[str, str] | None = None
) -> str:
    """On which data sets one attack's AUC is above another's, their intervals apart."""
    above, below, open_ = [], [], []
    auc = table[table["metric"] == "AUC"].set_index(["dataset", "attack"])
    for dataset in table["dataset"].unique():
        a, b = auc.loc[(dataset, first)], auc.loc[(dataset, second)]
        apart = above if a["low"] > b["high"] else below if a["high"] < b["low"] else open_
        apart.append(dataset)
    first_name, second_name = names or (first, second)
    clauses = [f"above {second_name} on {joined(above)}"] if above else []
    clauses += [f"below {'it' if above else second_name} on {joined(below)}"] if below else []
    meet = f"on {joined(open_)} the intervals of the two overlap" if open_ else ""
    if not clauses:
        return f"By AUC, {first_name} next to {second_name}: {meet}."
    return f"By AUC, {first_name} is {' and '.join(clauses)}{'; ' + meet if meet else ''}."


def of_table_1(table: pd.DataFrame) -> str:
    """Who has both parameters and leave-one-out knowledge."""
    full_access = (table["model access"] == "white-box") & (
        table["leave-one-out knowledge"] == "yes"
    )
    attacks = table["attack"][full_access].tolist()
    return f"Parameters and leave-one-out knowledge together: {joined(attacks)}."


def of_figure_1(table: pd.DataFrame) -> str:
    """Which curve is the highest at 1% false positives."""
    at = table[table["fpr"] >= 0.01].groupby(["panel", "series"], sort=False)["tpr"].first()
    best = {panel: at[panel].idxmax() for panel in table["panel"].unique()}
    panels = {attack: [one for one in best if best[one] == attack] for attack in best.values()}
    parts = [f"{attack}'s on {joined(where)}" for attack, where in panels.items()]
    return f"At 1% false positives the highest curve is {joined(parts)}."


def of_table_2(table: pd.DataFrame) -> str:
    """IHA beside LiRA."""
    return compared(table, "IHA (Exact)", "LiRA", ("IHA", "LiRA"))


def of_control_1(table: pd.DataFrame) -> str:
    """IHA with one gradient for members and others beside LOSS."""
    name = "IHA, gradient over D for everyone"
    return compared(table, name, "LOSS", ("IHA without that knowledge", "LOSS"))


def of_control_2(table: pd.DataFrame) -> str:
    """The best damping over attacks and data sets."""
    best = table.loc[table.groupby(["panel", "series"], sort=False)["value"].idxmax(), "damping"]
    dampings = joined([f"{damping:g}" for damping in sorted(set(best))])
    return f"The AUC of IHA and IHA* is the highest at a damping of {dampings}."


def of_table_8(table: pd.DataFrame) -> str:
    """The best conditioning on each data set."""
    auc = table[table["metric"] == "AUC"]
    parts = [name.removeprefix("IHA ") for name in _highest(auc, "dataset")]
    return f"The highest AUC: {joined(parts)}."


def _highest(table: pd.DataFrame, column: str) -> list[str]:
    """The row with the highest value in each part of a table."""
    return [
        f"{part.loc[part['value'].idxmax(), 'attack']} on {name}"
        for name, part in table.groupby(column, sort=False)
    ]


def of_control_3(table: pd.DataFrame) -> str:
    """What the target among its own references does to LiRA."""
    name = "LiRA, target among its references"
    return compared(table, name, "LiRA", ("LiRA with its target as a reference", "LiRA without"))


def of_control_4(table: pd.DataFrame) -> str:
    """What the weight decay adds to IHA, paired by target."""
    gains = table[table["quantity"] == "AUC, IHA* less IHA"]
    up = gains.loc[gains["low"] > 0, "dataset"].tolist()
    down = gains.loc[gains["high"] < 0, "dataset"].tolist()
    clauses = [f"above IHA on {joined(up)}"] if up else []
    clauses += [f"below it on {joined(down)}"] if down else []
    if not clauses:
        return "IHA* and IHA differ by less than the interval on every data set."
    return f"By AUC, paired by target, IHA* is {', '.join(clauses)}."


def _signs(table: pd.DataFrame) -> str:
    """Where differences are above 0, below it, and neither."""
    names = table["dataset"]
    sides = {
        "above 0 on": table["low"] > 0,
        "below 0 on": table["high"] < 0,
        "undecided on": (table["low"] <= 0) & (table["high"] >= 0),
    }
    return ", ".join(
        f"{side} {joined(names[at].tolist())}" for side, at in sides.items() if at.any()
    )


def of_control_11(table: pd.DataFrame) -> str:
    """What curvature is worth to those who know the others, with and without the weight decay."""
    return " ".join(
        f"What curvature adds {decay} weight decay, loss left out: "
        f"{_signs(table[table['contrast'] == f'curvature: {decay} decay, without the loss'])}."
        for decay in ("with", "without")
    )


def of_control_12(table: pd.DataFrame) -> str:
    """At how many dampings each contrast is above 0."""
    intervals = table.groupby("series", sort=False)["low"]
    parts = [f"{name.replace(':', '')} {int((low > 0).sum())}" for name, low in intervals]
    return f"Intervals above 0, of {intervals.size().max()} each: {', '.join(parts)}."


def of_control_13(table: pd.DataFrame) -> str:
    """How often attacks on parameters alone are ahead of the loss, and the largest lead."""
    ahead = table[table["low"] > 0]
    if ahead.empty:
        return "None is ahead of LOSS."
    most = ahead.loc[ahead["value"].idxmax()]
    return (
        f"{len(ahead)} of {len(table)} differences to LOSS are above 0, the largest in AUC "
        f"{most['value']:+.4f} ({most['attack']} on {most['dataset']})."
    )


def _paired(table: pd.DataFrame, *names: str) -> str:
    """The signs of some of a table's paired differences, by the beginning of their names."""
    rows = table[table["metric"].str.contains("paired difference")]
    if rows["metric"].nunique() > 1:
        word = rows["metric"].str.rpartition(", ")[2]
        rows = rows.assign(attack=rows["attack"] + ", " + word)
    kept = [name for name in rows["attack"].unique() if name.startswith(names)]
    parts = [f"{name}: {_signs(rows[rows['attack'] == name])}" for name in kept]
    return f"Paired in AUC, {'; '.join(parts)}."


def of_control_5(table: pd.DataFrame) -> str:
    """Parameters without retraining beside the loss, and beside outputs with retraining."""
    return _paired(table, "IHA less LOSS, pooled", "LiRA-L, online less IHA, pooled")


def of_control_14(table: pd.DataFrame) -> str:
    """Where retraining with outputs only is ahead of parameters without it, by one threshold."""
    pooled = table[table["metric"] == "AUC, paired difference, pooled"]
    leads = pooled[pooled["attack"] == "LiRA-L less IHA"]
    sides = {"ahead of": leads["low"] > 0, "behind": leads["high"] < 0}
    clear = [
        f"LiRA-L is {side} IHA on {joined(leads.loc[at, 'dataset'].tolist())}"
        for side, at in sides.items()
        if at.any()
    ]
    said = joined(clear) if clear else "neither LiRA-L nor IHA is clearly ahead"
    return f"With one threshold for all records {said}."


def of_control_15(table: pd.DataFrame) -> str:
    """Which attack has the highest AUC in how many settings."""
    best = table.loc[table.groupby("series", sort=False)["value"].idxmax(), "attack"]
    parts = [f"{attack} in {n}" for attack, n in best.value_counts().items()]
    return f"The highest AUC of {len(best)} settings: {joined(parts)}."


def of_control_16(table: pd.DataFrame) -> str:
    """The residual with the weight decay, over data sets and both kinds of models."""
    length = table.loc[table["metric"] == LENGTHS[1], "value"]
    return f"The gradient with the weight decay is {span(length, 4, '')} long."


def of_control_20(table: pd.DataFrame) -> str:
    """The lead of parameters over outputs where both retrain, under both schedules."""
    rows = table[table["attack"] == "projection less LiRA-L"]
    rows = rows[rows["metric"].str.endswith("pooled")]
    parts = [
        f"{row.value:+.3f} [{row.low:+.3f}, {row.high:+.3f}], {row.schedule.partition(' (')[0]}"
        for row in rows.itertuples()
    ]
    return f"AUC of the projection minus that of LiRA-L, one threshold: {joined(parts)}."


def of_control_10(table: pd.DataFrame) -> str:
    """How alike two attacks order the records of each data set."""
    parts = []
    for dataset, part in table.groupby("dataset", sort=False):
        wide = part.pivot(index="record", columns="attack", values="value")
        rank = rank_correlation(wide["IHA"].to_numpy(), wide["LiRA-L, online"].to_numpy())
        value, low, high = rank.values()
        parts.append(f"{value:.2f} [{low:.2f}, {high:.2f}] over {len(wide)} records of {dataset}")
    return f"Rank correlation of IHA and LiRA-L online: {joined(parts)}."


def of_most_exposed(table: pd.DataFrame) -> str:
    """The picture in words."""
    names = joined(table["attack"].unique().tolist())
    return f"Rows of pictures, the records that each attack tells best: {names}."


def of_control_8(table: pd.DataFrame) -> str:
    """The L-attack beside IHA, and the residual norm beside the L-attack."""
    return _paired(table, "L-attack less IHA", "residual norm less")


def of_table_5(table: pd.DataFrame) -> str:
    """The pairs that agree most on members."""
    pairs = table[table["metric"] == "agreement on members @FPR 0.3"]
    pairs = pairs[~pairs["attack"].str.contains("GT")]
    most = pairs.loc[pairs.groupby("dataset", sort=False)["value"].idxmax()]
    parts = [
        f"{attacks} on {joined(part['dataset'].tolist())}"
        for attacks, part in most.groupby("attack", sort=False)
    ]
    return f"At 30% false positives these agree most on members: {joined(parts)}."


def of_table_4(table: pd.DataFrame) -> str:
    """The two inverse-Hessian products beside all terms."""
    auc = table[table["metric"] == "AUC"].set_index(["dataset", "attack"])["value"]
    shares = [
        (auc[name, "IHA[I1,I2]"] - 0.5) / (auc[name, "IHA[All]"] - 0.5)
        for name in table["dataset"].unique()
        if auc[name, "IHA[All]"] > 0.5
    ]
    if not shares:
        return ""
    return (
        f"Of what IHA's AUC exceeds one half by, the first two terms alone reach {min(shares):.0%} "
        f"to {max(shares):.0%}."
    )


def of_table_9(table: pd.DataFrame) -> str:
    """What is lost when a tenth of the others is unknown."""
    aucs = table[(table["metric"] == "AUC") & (table["attack"] == "as the appendix describes")]
    auc = aucs.set_index(["dataset", "fraction"])["value"]
    names = table["dataset"].unique()
    parts = [f"{auc[name, 1.0]:.3f} to {auc[name, 0.9]:.3f} on {name}" for name in names]
    return f"AUC with a tenth of the others unknown: {joined(parts)}."


def of_table_3(table: pd.DataFrame) -> str:
    """How far apart the two solvers' scores are."""
    apart = table.loc[table["metric"].str.startswith("largest difference"), "value"].max()
    return f"The scores of the two solvers differ by at most {apart:.1g} of the largest score."


def of_table_6(table: pd.DataFrame) -> str:
    """LiRA's time next to IHA's, its models trained singly and side by side."""
    times = table[table["metric"] == RATIO].set_index("attack")["value"]
    single, many = times["LiRA"], times["LiRA, side by side"]
    return (
        f"For a thousand records LiRA took {single:.2g} times as long as exact IHA, and "
        f"{many:.2g} times with its models trained side by side."
    )


def of_table_7(table: pd.DataFrame) -> str:
    """IHA beside LiRA on each variant."""
    return compared(table, "IHA (Ours)", "LiRA", ("IHA", "LiRA"))


def of_control_6(table: pd.DataFrame) -> str:
    """Whether the formulas are exact where their assumptions hold."""
    error = table[table["metric"].str.startswith("largest error")]
    worst = error.groupby("case", sort=False)["value"].max()
    return (
        f"IHA* is off the exact log-likelihood ratio by at most {worst['IHA*']:.2g} of its "
        f"standard deviation, IHA by up to {worst['IHA']:.2g} with weight decay."
    )


def of_control_9(table: pd.DataFrame) -> str:
    """In how many settings each contrast is clear."""
    rows = table[table["metric"].str.contains(" less ")]
    ahead = (rows["low"] > 0).groupby(rows["metric"], sort=False).sum()
    score, law = ahead
    return (
        f"With {score} of {table['case'].nunique()} recipes the score on parameters is clearly "
        f"ahead of the loss. With {law} the paper's law is clearly ahead of Boltzmann's."
    )


def of_control_7(table: pd.DataFrame) -> str:
    """How many pairs there are."""
    return f"{len(table)} pairs of printed numbers that should be one, or in another order."


def of_curves(table: pd.DataFrame) -> str:
    """Figure 1 in words."""
    series = joined(table["series"].unique().tolist())
    return (
        "One panel a data set: true against false positive rate on logarithmic axes, with curves "
        f"of {series} and the line of random scores. {of_figure_1(table)}"
    )


def of_control_19(table: pd.DataFrame) -> str:
    """What both accuse, by data set."""
    at = table.set_index(["dataset", "metric"])["value"]
    parts = [
        f"{at[name, TRUE]:.2g}% and {at[name, FALSE]:.2g}% on {name}"
        for name in table["dataset"].unique()
    ]
    return f"Of members and of others both attacks accuse {joined(parts)}."


def of_control_21(table: pd.DataFrame) -> str:
    """The score's correlation with the loss, by data set."""
    rows = table[(table["attack"] == "IHA[All]") & (table["metric"] == RANKS)]
    rows = rows[rows["records"] == "all"]
    parts = [f"{row.value:+.2f} on {row.dataset}" for row in rows.itertuples()]
    return f"The score's rank correlation with the loss is {joined(parts)}."


def of_control_17(table: pd.DataFrame) -> str:
    """The median record at the smallest damping."""
    rows = table[table["of"] == "median record"]
    rows = rows[rows["damping"] == rows["damping"].min()]
    parts = [f"{row.value:.2g} on {row.dataset}" for row in rows.itertuples()]
    return (
        f"At damping {rows['damping'].iloc[0]:g} the loss keeps {joined(parts)} of the median "
        "record's squared signal."
    )


def of_control_18(table: pd.DataFrame) -> str:
    """Exponent and scale of the noise."""
    parts = []
    for name, rows in table.groupby("dataset", sort=False):
        at = rows[rows["eigenvalue"].isna()].set_index("quantity")["value"]
        parts.append(
            f"On {name} noise goes with the eigenvalue to the power "
            f"{at['exponent of the noise']:.2f}, "
            f"at {at['noise over 2 L H / S']:.2g} times the stated size."
        )
    return " ".join(parts)
