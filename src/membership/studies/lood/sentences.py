"""One computed sentence for each exhibit that says something by itself."""

import pandas as pd

from membership.studies.lood.experiment import MATCHED, SETTING
from membership.studies.lood.leakage import BY_VALUE, MORE, OF_KL, OF_MEAN, RELEASED
from membership.studies.lood.one_inverse import COSTS
from membership.studies.lood.queries import IN_LEVELS
from membership.studies.lood.reconstruction import (
    ELSEWHERE,
    OF_STARTS,
    RECOVERED,
    SUCCESS,
    recovery,
)
from membership.studies.lood.statements import LEFT_IN


def identity(table: pd.DataFrame) -> str:
    """Control 1."""
    return f"No number deviates by more than {table['value'].max():.0e} of its size."


def speed(table: pd.DataFrame) -> str:
    """Control 2."""
    value = table.set_index("quantity")["value"]
    one_by_one = value[value.index.str.endswith("over all at once")].iloc[0]
    alone, training = value["one record by itself (s)"], value[value.index.str.contains("networks")]
    kernel = value[value.index.str.startswith("kernel of")].iloc[0]
    times, with_kernel = (training.iloc[0] / seconds for seconds in (alone, alone + kernel))
    sentence = (
        f"Retraining for a record takes {times:,.0f} times as long as the closed form for it alone "
        f"({with_kernel:,.0f} with the kernel). One by one the records take {one_by_one:,.0f} "
        "times as long as all at once."
    )
    paper = value[value.index.str.endswith(COSTS)]
    if not paper.empty:
        sentence += (
            f" At the paper's size, by processor time, retraining takes {paper.iloc[0]:,.0f} times "
            "as long."
        )
    memory = value[value.index.str.startswith("largest memory")]
    if memory.empty:
        return sentence
    most = max(int(name.split()[2]) for name in value.index if name.startswith("kernel of"))
    taken = value[
        [
            f"kernel of {most} records (s)",
            f"LOOD and AUC of all {most} records from one inverse (s)",
        ]
    ].sum()
    return f"{sentence} All of {most:,} records take {taken:,.0f} s and {memory.iloc[0]:.1f} GiB."


def statements(table: pd.DataFrame) -> str:
    """Control 10."""
    by = {name: rows for name, rows in table.groupby("statement")}
    slope = by["Theorem 4.1"].loc[by["Theorem 4.1"]["quantity"].str.contains("KL"), "value"].max()
    gradient = by["Proposition 5.1"].pivot(index="case", columns="quantity", values="value")
    apart = (gradient["formula"] - gradient["differences"]).abs() / gradient.abs().max().max()
    ratio = by["Appendix C.2"]["value"].min()
    return (
        f"At the record the slope of KL is at most {slope:.0e} of that away from it. KL(D, D') is "
        f"at least {ratio:.2f} times KL(D', D). Proposition 5.1 and differences are at most "
        f"{apart.max():.0e} of the largest gradient apart."
    )


def correlations(table: pd.DataFrame) -> str:
    """Control 3."""
    ranks = table[table["metric"] == "rank correlation"].set_index(["estimate", "of"])["value"]
    kl, mean = (ranks[name, "AUC of the process"] for name in ("KL", "mean distance"))
    values = table[table["metric"] == BY_VALUE].set_index(["estimate", "of"])["value"]
    by_value = (values[name, "AUC of the process"] for name in ("KL", "mean distance"))
    return (
        f"Rank correlation with the best attack's AUC on the process: KL {kl:.3f}, mean distance "
        f"{mean:.3f}. Pearson's r: {' and '.join(f'{one:.3f}' for one in by_value)}."
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
        value = more.loc[more["kernel"].str.startswith(f"{name}, "), "value"]
        shares.append(f"{_range(value)} at {deviation}")
    return (
        f"Rank correlations on raw pixels: {'; '.join(parts)}. GeLU leaks more for this share of "
        f"records, by depth and training set: {', '.join(shares)}."
    )


def _range(shares: pd.Series) -> str:
    """From the least to the largest of some shares in percent."""
    least, most = (f"{end:.0f}" for end in (shares.min(), shares.max()))
    return f"{most}%" if least == most else f"{least} to {most}%"


def rates(table: pd.DataFrame) -> str:
    """Which of GeLU's fixed points are stable."""
    chi = table[(table["metric"] == "chi_var") & (table["activation"] == "GeLU")]
    stable = chi.loc[chi["value"] < 1, "q"].tolist()
    return f"GeLU's fixed points are stable at q = {', '.join(stable)}."


def by_point(table: pd.DataFrame) -> str:
    """In how many cells at stable points GeLU leads, and in which it does not."""
    deep = table[(table["activation"] == "GeLU") & (table["chi_var"] < 1)]
    deep = deep[~deep["metric"].str.startswith("depth 1,")]
    behind = deep[deep["value"] <= 50]
    where = [f"q = {q:g}, {metric.removesuffix(' (%)')}" for q, metric in _cells(behind)]
    but = f" (not at {'; '.join(where)})" if 0 < len(where) < 4 else ""
    return (
        "At its stable points, with two layers or more, GeLU leaks more for most records in "
        f"{len(deep) - len(behind)} of {len(deep)} cells{but}."
    )


def _cells(rows: pd.DataFrame) -> list[tuple[float, str]]:
    return list(dict.fromkeys(zip(rows["q"], rows["metric"], strict=True)))


def measures(table: pd.DataFrame) -> str:
    """Figure 6: how much the attack may know where either measure is small."""
    most = {}
    for panel in ("mean distance", "KL"):
        part = table[(table["panel"] == panel) & table["series"].str.startswith("NNGP, records")]
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
    """Control 6: what was found from the record, and near the mean of the data."""
    rows = table[table["metric"] == "largest KL over the record's"].set_index("query")["value"]
    climbs = table[(table["metric"] == "largest KL over the record's")]
    climbs = climbs[climbs["query"] == "found from the record"]
    parts = [f"{row.value:.3f} times ({row.case.split()[-1]})" for row in climbs.itertuples()]
    least = table[
        (table["metric"] == "smallest KL over the record's")
        & table["query"].str.endswith("from the mean of D'")
    ].iloc[-1]
    others = rows[rows.index.str.startswith("the mean of D',")].max()
    return (
        f"Climbing finds up to {' and '.join(parts)} the record's KL. Beside the mean each of "
        f"{least['n']:.0f} records has {least['value']:,.3g} times its KL or more. In 256 grey "
        f"levels it is at most {rows[IN_LEVELS]:.2g} times, and under kernels that are not zero "
        f"there {others:.1g}."
    )


def recovered(table: pd.DataFrame) -> str:
    """How many of the shown searches found their record."""
    shown = table[table["kernel"].fillna("") != ""]
    count, kernels = int((shown["correlation"] > SUCCESS).sum()), shown["kernel"].unique()
    under = f" under {kernels[0]}" if len(kernels) == 1 else ""
    return (
        f"{count} of {len(shown)} queries{under} found their record (correlation above {SUCCESS})."
    )


def success(table: pd.DataFrame) -> str:
    """Control 7: rates over kernels, by the best start and by any, and where others end."""
    parts = []
    for name, own in table.groupby("dataset", sort=False):
        best, starts = (own.loc[own["metric"] == of, "value"] for of in (RECOVERED, OF_STARTS))
        parts.append(f"{_range(best)} of {name} (single starts {_range(starts)})")
    sentence = f"The best start recovers, by kernel, {'; '.join(parts)}."
    elsewhere = table.loc[table["metric"] == ELSEWHERE, "value"]
    if elsewhere.empty:
        return sentence
    return f"{sentence} Of failed starts {_range(elsewhere)} end nearer to another record."


def groups(table: pd.DataFrame) -> str:
    """Figure 3: which members single searches find, and how much joint ones reach and find."""
    joint = table[table["row"].str.endswith("three queries")].groupby("group")
    share = 100 * joint["kl"].max() / joint["kl_of_all"].max()
    rates = recovery(table)
    by_rank = ", ".join(f"{one['value']:.0f}" for one in rates["members"])
    whole = rates["whole"]
    return (
        f"Of {rates['members'][0]['n']} single searches {by_rank}% recover the most, the second "
        f"and the least exposed member. Three queries together reach {_range(share)} of the KL of "
        f"all three. All searches of a group recover all three members in {whole['value']:.0f}% of "
        f"{whole['n']} groups."
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
    of_pictures = table[table["case"].str.startswith("pictures")].set_index("metric")["value"]
    n = int(table.loc[table["case"].str.startswith("pictures"), "n"].iloc[0])
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
    of_kl = table[table["metric"].str.endswith("KL (%)")].set_index("kernels")["value"]
    released, alike = (_range(of_kl[[kernels]]) for kernels in (SETTING, MATCHED))
    return (
        f"By input and depth GeLU leaks more for {released} of records at the released weights, "
        f"and for {alike} at the same mean variance."
    )


def slips(table: pd.DataFrame) -> str:
    """Control 11, its second slip."""
    value = table[table["slip"] == LEFT_IN].set_index("metric")["value"]
    out, left = value["median KL, record left out"], value["median KL, as released"]
    return f"With the record left in D the median KL is {left:.2f} nats instead of {out:.2f}."
