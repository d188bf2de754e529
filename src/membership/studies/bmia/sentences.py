"""The sentences that no row says alone, and what pictures show in words."""

import numpy as np
import pandas as pd

from membership.exhibits.numbers import number

RATE = "TPR(%)@FPR=1%"
_SHARE = "inference / training"


def of_figure_1(table: pd.DataFrame) -> str:
    """Each band's width in the middle and where the records are."""
    texts = []
    for name, part in table[table["series"] != "data"].groupby("series", sort=False):
        width, x = part["high"] - part["low"], part["x"].abs()
        middle, near = (number(width[place].mean()) for place in (x < 1, (x - 3).abs() < 1))
        texts.append(f"{name} {middle} in the middle and {near} near the records")
    return f"Mean width of the 90% band: {'; '.join(texts)}."


def of_table_1(table: pd.DataFrame) -> str:
    """BMIA, the difference, and the best of the attacks without a posterior, at 1%."""
    texts = []
    for name, part in table[table["metric"] == RATE].groupby("dataset", sort=False):
        plain = part[~part["attack"].str.startswith("BMIA")]
        best, rate = plain.loc[plain["value"].idxmax()], part.set_index("attack")["value"]
        texts.append(
            f"{name} {rate['BMIA']:.1f}% for BMIA, {rate['difference']:.1f}% for the plain "
            f"difference and {best['value']:.1f}% for {best['attack']} with {best['n_reference']} "
            "references, the best without a posterior"
        )
    return f"TPR at 1% FPR: {'; '.join(texts)}."


def of_control_16(table: pd.DataFrame) -> str:
    """The networks where the rate at 1% gains clearly, and how many where it does not."""
    rows = table[table["metric"] == f"{RATE} gained"].sort_values("test accuracy (%)")
    clear = rows["low"] > 0
    texts = [
        f"{row['value']:+.1f} points [{row['low']:+.1f}, {row['high']:+.1f}] on {row['dataset']} "
        f"({row['network']}, {row['members']:,} members, {row['test accuracy (%)']:.0f}% right on "
        "other records)"
        for _, row in rows[clear].iterrows()
    ]
    rest = rows[~clear]["test accuracy (%)"]
    texts += [
        f"no clear gain with the {len(rest)} other networks, which are right on {rest.min():.0f}% "
        f"to {rest.max():.0f}%"
    ] * (len(rest) > 0)
    return f"TPR at 1% FPR, BMIA less the plain difference: {'; '.join(texts)}."


def of_control_12(table: pd.DataFrame) -> str:
    """What one posterior is worth in plain differences, LiRA's and Attack-R's references."""
    rows, texts = table[table["metric"] == "references that equal BMIA"], []
    rows = rows[~rows["attack"].str.startswith("log-")]  # their like, in the card's table
    for name, part in rows.groupby("dataset", sort=False):
        each = [
            f"{r.value:.1f} [{r.low:.1f}, {r.high:.1f}] of {r.attack}" for r in part.itertuples()
        ]
        texts.append(f"{name} {', '.join(each)}")
    start = f"References, of 1 to {rows['n_reference'].max()}, with one posterior's TPR at 1% FPR"
    return f"{start}: {'; '.join(texts)}." if texts else ""


def of_control_15(table: pd.DataFrame) -> str:
    """Every rate with the most references, beside BMIA's."""
    rates = table[table["metric"] == RATE]
    ours = rates[rates["attack"] == "BMIA"]["value"].iloc[0]
    most = rates["n_reference"].max()
    several = rates[rates["n_reference"] == most].itertuples()
    each = ", ".join(f"{row.value:.1f}% for {row.attack}" for row in several)
    return f"TPR at 1% FPR: {ours:.1f}% for BMIA; with {most} references {each}."


def laws(table: pd.DataFrame) -> str:
    """Where each law of Figure 2 peaks, against the target's score."""
    texts = []
    for name, part in table.groupby("dataset", sort=False):
        peaks = [
            f"{series} near {law.loc[law['density'].idxmax(), 'hinge']:.0f}"
            for series, law in part.groupby("series", sort=False)
        ]
        texts.append(f"{name}: {', '.join(peaks)}, the target at {part['target'].iloc[0]:.0f}")
    return f"Densities of the hinge of one record, a panel a data set. Peaks: {'; '.join(texts)}."


def of_control_2(table: pd.DataFrame) -> str:
    """Both tests' rates with a perfect predictive, at the fewest and the most draws."""
    perfect = table[table["panel"].str.startswith("perfect")]
    rate = perfect.set_index(["series", "n_samples"])["value"]
    few, many = perfect["n_samples"].min(), perfect["n_samples"].max()
    return (
        f"With a perfect predictive a nominal 1% is {rate['published, exact', few]:.0f}% at "
        f"{few} draws and {rate['published, exact', many]:.0f}% at {many:,} as published, and "
        f"{rate['corrected', few]:.1f}% and {rate['corrected', many]:.1f}% once corrected."
    )


def of_control_17(table: pd.DataFrame) -> str:
    """The share of false accusations by each p-value."""
    rows, texts = table[table["metric"].str.startswith("false among")], []
    for name, part in rows.groupby("dataset", sort=False):
        each = [f"{row.value:.0f}% by the {row.p_value} p-value" for row in part.itertuples()]
        texts.append(f"{name} {', '.join(each)}")
    return f"Of those accused at 10% false discoveries, not members are: {'; '.join(texts)}."


def of_control_4(table: pd.DataFrame) -> str:
    """How many points lie right of the line of equal standard deviations."""
    larger = (table["laplace"] > table["retraining"]).groupby(table["dataset"], sort=False).mean()
    texts = [f"{name} {share:.0%}" for name, share in larger.items()]
    return f"Records whose Laplace standard deviation is the larger one: {'; '.join(texts)}."


def of_control_5(table: pd.DataFrame) -> str:
    """The ratio of the two, and the corrected correlation where it is identified."""
    value, texts = table.set_index(["dataset", "quantity"])["value"], []
    for name in dict.fromkeys(table["dataset"]):
        ratio = 1 / value[name, "retraining / Laplace, geometric mean"]
        known = value.get((name, "corrected for noise"))
        related = "not identified" if known is None else f"{known:.2f}"
        texts.append(f"{name}: {ratio:.1f} times as large, correlation {related}")
    return f"The Laplace standard deviation against that over retraining: {'; '.join(texts)}."


def of_control_6(table: pd.DataFrame) -> str:
    """LiRA's rate at 1% with the fewest and the most references, either variance."""
    rows, texts = table[table["metric"] == RATE], []
    for name, part in rows.groupby("dataset", sort=False):
        rate = part.set_index(["variance", "n_reference"])["value"]
        few, many = part["n_reference"].min(), part["n_reference"].max()
        own, shared = "a record, one-sided", "global, one-sided"
        texts.append(
            f"{name} {rate[own, few]:.1f}% and {rate[own, many]:.1f}% with {few} and {many} "
            f"references and a variance a record, {rate[shared, few]:.1f}% and "
            f"{rate[shared, many]:.1f}% with one variance"
        )
    return f"TPR at 1% FPR: {'; '.join(texts)}."


def by_samples(table: pd.DataFrame) -> str:
    """The first and the last rate of each line."""
    texts = []
    for (panel, series), part in table.groupby(["panel", "series"], sort=False):
        value = part.sort_values("n_samples")["value"]
        texts.append(f"{panel}, {series}: {value.iloc[0]:.1f} to {value.iloc[-1]:.1f}")
    return f"Panels of true-positive rate (%) against the number of samples. {'; '.join(texts)}."


def curves(table: pd.DataFrame) -> str:
    """The rate of each curve near 1%."""
    texts = []
    for panel, part in table.groupby("panel", sort=False):
        near = part[np.isclose(part["fpr"], 0.01, rtol=0.05)]
        rates = [f"{row.series} {100 * row.tpr:.1f}%" for row in near.itertuples()]
        texts.append(f"{panel}: {', '.join(rates)}")
    start = "ROC curves on logarithmic axes, a panel a data set. TPR at 1% FPR"
    return f"{start}: {'; '.join(texts)}."


def of_figure_4(table: pd.DataFrame) -> str:
    """How often the matched reference is best."""
    best, targets = matched(table)
    return f"A reference of the target's own architecture is best for {best} of {targets} targets."


def matched(table: pd.DataFrame) -> tuple[int, int]:
    """For how many targets the matched reference is best, and of how many."""
    best = table.loc[table.groupby("target", sort=False)["value"].idxmax()]
    return int((best["target"] == best["reference"]).sum()), len(best)


def of_table_2(table: pd.DataFrame) -> str:
    """The best attack at 1% beside BMIA."""
    part = table[table["metric"] == RATE]
    best, rate = part.loc[part["value"].idxmax()], part.set_index("attack")["value"]
    return (
        f"TPR at 1% FPR: {rate['BMIA']:.1f}% for BMIA, {rate['Attack-P']:.1f}% for Attack-P; the "
        f"highest is {best['attack']}'s, {best['value']:.1f}%."
    )


def of_control_10(table: pd.DataFrame) -> str:
    """The fit and the scores as a share of one reference's training."""
    times = table[(table["attack"] == "BMIA") & (table["metric"] == "time_min")]
    minutes = times.set_index("dataset")["value"]
    shares = table[(table["attack"] == "BMIA") & (table["metric"] == _SHARE)]
    texts = [
        f"{row.dataset} {100 * row.value:.0f}% [{100 * row.low:.0f}, {100 * row.high:.0f}] of "
        f"{60 * minutes[row.dataset]:.0f} s"
        for row in shares.itertuples()
    ]
    how = f"(KFAC, {table.attrs['sizes']['Draws']} samples)"
    return f"Fit and scores {how} beside training one reference: {'; '.join(texts)}."
