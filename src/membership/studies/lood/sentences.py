"""One computed sentence for each exhibit that says something by itself."""

import pandas as pd

from membership.studies.lood.leakage import BY_VALUE, MORE, OF_KL, OF_MEAN, RELEASED
from membership.studies.lood.one_inverse import COSTS, RATIO
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
        f"({with_kernel:,.0f} with the kernel), and {value[RATIO]:,.0f} times its share of all at "
        f"once; one by one the records take {one_by_one:,.0f} times as long as that."
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
        f"At the record the slope of KL is at most {slope:.0e} of that away from it; KL(D, D') is "
        f"at least {ratio:.2f} times KL(D', D); the gradient of Proposition 5.1 and differences "
        f"are at most {apart.max():.0e} of the largest apart."
    )


def correlations(table: pd.DataFrame) -> str:
    """Control 3."""
    ranks = table[table["metric"] == "rank correlation"].set_index(["estimate", "of"])["value"]
    kl, mean = (ranks[name, "AUC of the process"] for name in ("KL", "mean distance"))
    values = table[table["metric"] == BY_VALUE].set_index(["estimate", "of"])["value"]
    by_value = (values[name, "AUC of the process"] for name in ("KL", "mean distance"))
    return (
        f"On the process, ranks of KL and of the best attack's AUC correlate at {kl:.3f}, those of "
        f"the mean distance at {mean:.3f}; by Pearson's r it is "
        f"{' and '.join(f'{one:.3f}' for one in by_value)}."
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
        shares.append(f"{value.min():.0f} to {value.max():.0f}% at {deviation}")
    return (
        f"Rank correlations on raw pixels: {'; '.join(parts)}. GeLU leaks more for "
        f"{' and '.join(shares)} of the records, by depth and training set."
    )


def rates(table: pd.DataFrame) -> str:
    """Which of GeLU's fixed points are stable."""
    chi = table[(table["metric"] == "chi_var") & (table["activation"] == "GeLU")]
    stable = chi.loc[chi["value"] < 1, "q"].tolist()
    return f"Of GeLU's fixed points those at q = {', '.join(stable)} keep their variance stably."


def by_point(table: pd.DataFrame) -> str:
    """Shares on the sphere at an unstable and at stable points, shallow and deep."""
    parts = []
    part = table[(table["inputs"] == "unit sphere") & table["q"].isin([0.5, 4, 16])]
    part = part[part["activation"] == "GeLU"]
    for name, own in part.groupby("dataset", sort=False):
        shares = []
        for q, at in own.groupby("q"):
            ends = (
                at.loc[at["metric"].str.startswith(f"depth {depth},"), "value"].mean()
                for depth in (2, 10)
            )
            shares.append("{:.0f} and {:.0f}%".format(*ends) + f" (q = {q:g})")
        parts.append(f"{', '.join(shares)} of {name}")
    deep = table[(table["activation"] == "GeLU") & (table["chi_var"] < 1)]
    deep = deep[~deep["metric"].str.startswith("depth 1,")]
    behind = deep[deep["value"] <= 50]
    where = [f"q = {q:g}, {metric.removesuffix(' (%)')}" for q, metric in _cells(behind)]
    but = f" (not at {'; '.join(where)})" if 0 < len(where) < 4 else ""
    return (
        f"On the sphere, at depths 2 and 10 (means of both noises), GeLU leaks more for "
        f"{'; for '.join(parts)}. At its stable points, with two layers or more, it leads in "
        f"{len(deep) - len(behind)} of {len(deep)} cells of data, inputs, depth and noise{but}."
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
        "The half of the NNGP's records with the smallest mean distance has an AUC of up to "
        f"{most['mean distance']:.2f}, that with the smallest KL of up to {most['KL']:.2f}."
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
        f"Where the data normalise, climbing finds up to {' and '.join(parts)} the record's KL. "
        f"Beside the mean each of {least['n']:.0f} records has {least['value']:,.3g} times its KL "
        f"or more; in 256 grey levels at most {rows[IN_LEVELS]:.2g} times, and under kernels that "
        f"are not zero there at most {others:.1g}."
    )


def recovered(table: pd.DataFrame) -> str:
    """How many of the shown searches found their record."""
    shown = table[table["kernel"].fillna("") != ""]
    count, kernels = int((shown["correlation"] > SUCCESS).sum()), shown["kernel"].unique()
    under = f" under {kernels[0]}" if len(kernels) == 1 else ""
    return (
        f"{count} of {len(shown)} queries{under} have a correlation above {SUCCESS} with their "
        "record."
    )


def success(table: pd.DataFrame) -> str:
    """Control 7: rates over kernels, by the best start and by any, and where others end."""
    parts = []
    for name, own in table.groupby("dataset", sort=False):
        best = own[own["metric"] == RECOVERED].sort_values("value")
        ends = [
            f"{row.value:.0f}% [{row.low:.0f}, {row.high:.0f}] ({row.kernel})"
            for row in best.iloc[sorted({0, len(best) - 1})].itertuples()
        ]
        starts = own.loc[own["metric"] == OF_STARTS, "value"]
        of = (
            f"{starts.min():.0f} to {starts.max():.0f}"
            if len(starts) > 1
            else f"{starts.min():.0f}"
        )
        parts.append(f"{' to '.join(ends)} of {name}, {of}% of single starts")
    elsewhere = table.loc[table["metric"] == ELSEWHERE, "value"]
    sentence = f"The best start recovers {'; '.join(parts)}."
    if elsewhere.empty:
        return sentence
    return (
        f"{sentence} Of the others {elsewhere.min():.0f} to {elsewhere.max():.0f}% end nearer to "
        "another record."
    )


def groups(table: pd.DataFrame) -> str:
    """Figure 3: which members single searches find, and how much joint ones reach and find."""
    joint = table[table["row"].str.endswith("three queries")].groupby("group")
    share = 100 * joint["kl"].max() / joint["kl_of_all"].max()
    rates = recovery(table)
    by_rank = ", ".join(f"{one['value']:.0f}" for one in rates["members"])
    whole = rates["whole"]
    return (
        f"Of {rates['members'][0]['n']} single searches {by_rank}% recover the most, the second "
        f"and the least exposed member. Three queries together reach {share.min():.0f} to "
        f"{share.max():.0f}% of the KL of all three; all searches of a group together recover all "
        f"three in {whole['value']:.0f}% [{whole['low']:.0f}, {whole['high']:.0f}] of "
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
        parts.append(f"{share:.0f}% of {len(part):,} records ({series})")
    return f"GeLU leaks more for {', '.join(parts)}."


def shares(table: pd.DataFrame) -> str:
    """Control 9: how far apart the settings lie."""
    of_kl = table[(table["kernels"] != "networks") & table["metric"].str.endswith("KL (%)")]
    parts = [
        f"{rows['value'].min():.0f} to {rows['value'].max():.0f}% ({name})"
        for name, rows in of_kl.groupby("kernels", sort=False)
    ]
    return f"By inputs and depth GeLU has more KL for {', '.join(parts)} of the records."


def slips(table: pd.DataFrame) -> str:
    """Control 11, its second slip."""
    value = table[table["slip"] == LEFT_IN].set_index("metric")["value"]
    out, left = value["median KL, record left out"], value["median KL, as released"]
    return f"With the record left in D the median KL is {left:.2f} nats instead of {out:.2f}."
