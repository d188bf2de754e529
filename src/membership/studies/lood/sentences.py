"""One computed sentence for each exhibit that says something by itself."""

import pandas as pd

from membership.exhibits.sentences import span
from membership.studies.lood.activations import by_kl, depth_of
from membership.studies.lood.experiment import MATCHED, SETTING, family_of
from membership.studies.lood.influenced import PICTURES
from membership.studies.lood.leakage import MORE, OF_KL, OF_MEAN, RECORDS, RELEASED
from membership.studies.lood.one_inverse import ALONE, AT_ONCE, COSTS, KERNEL, RETRAINING
from membership.studies.lood.queries import FROM_MEAN, IN_LEVELS, LARGEST_GAIN, SMALLEST_GAIN
from membership.studies.lood.reconstruction import (
    SUCCESS,
    recovery,
)
from membership.studies.lood.statements import slope_of


def speed(table: pd.DataFrame) -> str:
    """Control 2."""
    value = table.set_index("quantity")["value"]
    one_by_one = value[value.index.str.endswith(AT_ONCE)].iloc[0]
    alone, training = value[ALONE], value[value.index.str.endswith(RETRAINING)]
    kernel = value[value.index.str.startswith(KERNEL)].iloc[0]
    times, with_kernel = (training.iloc[0] / seconds for seconds in (alone, alone + kernel))
    sentence = (
        f"Retraining for a record takes {times:,.0f} times as long as its closed form "
        f"({with_kernel:,.0f} with the kernel). "
    )
    paper = value[value.index.str.endswith(COSTS)]
    if paper.empty:
        return f"{sentence}One by one records take {one_by_one:,.0f} times as long as all at once."
    return f"{sentence}At the paper's size it takes {paper.iloc[0]:,.0f} times as long."


def statements(table: pd.DataFrame) -> str:
    """Control 10."""
    by = {name: rows for name, rows in table.groupby("statement")}
    slopes = by["Theorem 4.1"].set_index("quantity")["value"]
    slope = slopes[[slope_of("kl"), slope_of("kl-reverse")]].max()
    gradient = by["Proposition 5.1"].pivot(index="case", columns="quantity", values="value")
    apart = (gradient["formula"] - gradient["differences"]).abs() / gradient.abs().max().max()
    return (
        f"At the record the slope of KL is at most {slope:.0e} of that away from it. "
        f"Proposition 5.1 and differences are at most {apart.max():.0e} of the largest gradient "
        "apart."
    )


def over_sets(table: pd.DataFrame) -> str:
    """The range over training sets, depths and kernels of each rank correlation."""
    parts, raw = [], table[table["inputs"] == "raw"]
    for metric in (OF_KL, OF_MEAN):
        value = raw.loc[raw["metric"] == metric, "value"]
        parts.append(f"{metric}: {value.min():.3f} to {value.max():.3f}")
    more = raw[raw["metric"] == MORE]
    shares = []
    for name, deviation in RELEASED.items():
        value = more.loc[more["kernel"].map(family_of) == name, "value"]
        shares.append(f"{span(value)} at {deviation}")
    return (
        f"Rank correlations on raw pixels: {'; '.join(parts)}. GeLU leaks more for this share of "
        f"records, by depth and training set: {', '.join(shares)}."
    )


def rates(table: pd.DataFrame) -> str:
    """Which of GeLU's fixed points are stable."""
    chi = table[(table["metric"] == "chi_var") & (table["activation"] == "GeLU")]
    stable = chi.loc[chi["value"] < 1, "q"].tolist()
    return f"GeLU's fixed points are stable at q = {', '.join(stable)}."


def by_point(table: pd.DataFrame) -> str:
    """In how many cells at stable points GeLU leads."""
    deep = table[(table["activation"] == "GeLU") & (table["chi_var"] < 1)]
    deep = deep[depth_of(deep["metric"]) > 1]
    behind = deep[deep["value"] <= 50]
    return (
        "At its stable points, with two layers or more, GeLU leaks more for most records in "
        f"{len(deep) - len(behind)} of {len(deep)} cells."
    )


def measures(table: pd.DataFrame) -> str:
    """Figure 6: how much the attack may know where either measure is small."""
    most = {}
    for panel in ("mean distance", "KL"):
        part = table[(table["panel"] == panel) & (table["series"] == RECORDS)]
        most[panel] = part.loc[part["x"] < part["x"].median(), "y"].max()
    return (
        "The largest AUC among the half of records with the smallest mean distance is "
        f"{most['mean distance']:.2f}; with the smallest KL, {most['KL']:.2f}."
    )


def at_the_mean(table: pd.DataFrame) -> str:
    """The alternative text of Figure 10."""
    queries = table[table["row"] == "better query"]
    alike = int((queries["correlation"] > SUCCESS).sum())
    return (
        f"Two rows of pictures, records above the queries found from them, of which {alike} of "
        f"{len(queries)} look like their records. Below, three curves that are flat far from the "
        "mean and then rise a hundredfold for each factor of ten nearer; all cross the line of the "
        "record itself."
    )


def attempts(table: pd.DataFrame) -> str:
    """Control 5."""
    tried, excess = int(table.groupby(["kernel", "queries"])["tried"].max().sum()), table["value"]
    most = excess.max()
    above = "none lies above the record beyond rounding" if most < 1e-6 else "one tells more"
    return f"Of {tried:,} queries and sets of queries {above}: the largest excess is {most:.0e}."


def escapes(table: pd.DataFrame) -> str:
    """Control 6: what was found near the mean of the data, and what pictures can hold of it."""
    rows = table[table["metric"] == LARGEST_GAIN].set_index("query")["value"]
    is_near = table["query"].str.endswith(FROM_MEAN)
    least = table[(table["metric"] == SMALLEST_GAIN) & is_near].iloc[-1]
    return (
        f"Beside the mean each of {least['n']:.0f} records has {least['value']:,.3g} times its KL "
        f"or more. The mean in 256 grey levels has at most {rows[IN_LEVELS]:.2g} times."
    )


def recovered(table: pd.DataFrame) -> str:
    """How many of the shown searches found their record."""
    shown = table[table["kernel"].fillna("") != ""]
    count, kernels = int((shown["correlation"] > SUCCESS).sum()), shown["kernel"].unique()
    under = f" under {kernels[0]}" if len(kernels) == 1 else ""
    return (
        f"{count} of {len(shown)} queries{under} found their record (correlation above {SUCCESS})."
    )


def groups(table: pd.DataFrame) -> str:
    """Figure 3: which members single searches find, and how often all of a group are found."""
    rates = recovery(table)
    by_rank = ", ".join(f"{rate['value']:.0f}" for rate in rates["members"])
    whole = rates["whole"]
    return (
        f"Of {rates['members'][0]['n']} single searches {by_rank}% recover the most, the second "
        f"and the least exposed member. All searches of a group recover all three members "
        f"in {whole['value']:.0f}% of {whole['n']} groups."
    )


def peaks(table: pd.DataFrame) -> str:
    """Where each curve of a toy is largest."""
    parts = []
    for (panel, series), part in table.groupby(["panel", "series"], sort=False):
        dips = panel == "variances"
        at = part["value"].idxmin() if dips else part["value"].idxmax()
        to = f"dips to {part.loc[at, 'value']:.2f}" if dips else "peaks"
        parts.append(f"{panel}, {series}, {to} at {part.loc[at, 'x']:.2f}")
    return f"Curves along one-dimensional queries: {'; '.join(parts)}."


def places(table: pd.DataFrame) -> str:
    """Control 8, its pictures."""
    pictures = table[table["case"] == PICTURES]
    of_pictures, n = pictures.set_index("metric")["value"], int(pictures["n"].iloc[0])
    better = round(of_pictures["records with a better query (%)"] * n / 100)
    lower = of_pictures["of these queries, those with a lower AUC (%)"]
    return (
        f"By mean distance another picture is better for {better} of {n} records, and "
        f"{round(lower * better / 100) if better else 0} of these {better} pictures tell an "
        "attacker less."
    )


def activations(table: pd.DataFrame) -> str:
    """Figure 5: the share of points above the line."""
    parts = []
    for series, part in table.groupby("series", sort=False):
        share = 100 * (part["y"] > part["x"]).mean()
        parts.append(f"{share:.0f}% ({series})")
    return f"Records for which GeLU leaks more: {', '.join(parts)}."


def shares(table: pd.DataFrame) -> str:
    """Control 9: the released weights, and the same at equal mean variance."""
    of_kl = by_kl(table).set_index("kernels")["value"]
    released, alike = (span(of_kl[[kernels]]) for kernels in (SETTING, MATCHED))
    return (
        f"Over inputs and depths GeLU leaks more for {released} of records as released, "
        f"and for {alike} at the same mean variance."
    )
