"""One computed sentence an exhibit, and what its picture shows in words."""

import numpy as np
import pandas as pd

from membership.exhibits.numbers import number

RATE = "TPR(%)@FPR=1%"
_DATASETS, _SHARE = "dataset", "inference / training"


def _joined(parts: list[str], before: str = "", after: str = ".") -> str:
    return f"{before}{'; '.join(parts)}{after}" if parts else ""


def _ranked(part: pd.DataFrame, name: str, n: int) -> float:
    """One attack's number."""
    return float(part[(part["attack"] == name) & (part["n_reference"] == n)]["value"].iloc[0])


def of_figure_1(table: pd.DataFrame) -> str:
    """Each band's width in the middle and where the records are."""
    found = []
    for name, part in table[table["series"] != "data"].groupby("series", sort=False):
        width = part["high"] - part["low"]
        middle = width[part["x"].abs() < 1].mean()
        near = width[(part["x"].abs() - 3).abs() < 1].mean()
        found.append(f"{name} {number(middle)} in the middle and {number(near)} near the records")
    return _joined(found, "Mean width of the 90% band: ")


def of_table_1(table: pd.DataFrame) -> str:
    """BMIA, the difference, and the best of the attacks without a posterior, at 1%."""
    found = []
    for name, part in table[table["metric"] == RATE].groupby(_DATASETS, sort=False):
        plain = part[~part["attack"].str.startswith("BMIA")]
        best = plain.loc[plain["value"].idxmax()]
        found.append(
            f"{name} {_ranked(part, 'BMIA', 1):.1f}% for BMIA, "
            f"{_ranked(part, 'difference', 1):.1f}% for the plain difference and "
            f"{best['value']:.1f}% for {best['attack']} with {best['n_reference']} references, "
            "the best without a posterior"
        )
    return _joined(found, "TPR at 1% FPR: ")


def of_control_1(table: pd.DataFrame) -> str:
    """BMIA's gain in rate at 1%, with its interval."""
    rows = table[(table["attack"] == "BMIA") & (table["metric"] == f"{RATE} gained")]
    found = [
        f"{row.dataset} {row.value:+.1f} points [{row.low:+.1f}, {row.high:+.1f}]"
        for row in rows.itertuples()
    ]
    return _joined(found, "BMIA's TPR at 1% FPR over that of the plain difference: ")


def of_control_16(table: pd.DataFrame) -> str:
    """The networks where the rate at 1% gains clearly, and how many where it does not."""
    rows = table[table["metric"] == f"{RATE} gained"].sort_values("test accuracy (%)")
    clear = rows["low"] > 0
    found = [
        f"{row['value']:+.1f} points [{row['low']:+.1f}, {row['high']:+.1f}] on {row['dataset']} "
        f"({row['network']}, {row['members']:,} members, {row['test accuracy (%)']:.0f}% right on "
        "other records)"
        for _, row in rows[clear].iterrows()
    ]
    rest = rows[~clear]["test accuracy (%)"]
    found += [
        f"no clear gain with the {len(rest)} other networks, which are right on {rest.min():.0f}% "
        f"to {rest.max():.0f}%"
    ] * (len(rest) > 0)
    return _joined(found, "TPR at 1% FPR, BMIA less the plain difference: ")


def of_control_11(table: pd.DataFrame) -> str:
    """The ratio of widths of the Bayesian network of all weights and of the regression."""
    ratio, found = table[~table["metric"].str.contains("less")], []
    for name, part in ratio.groupby("reading", sort=False):
        value = part.set_index("model")["value"]
        found.append(
            f"{name}: {value['Laplace, all weights']:.1f} for the Laplace posterior over all "
            f"weights, {value['Laplace, last layer']:.1f} over the last layer's, "
            f"{value['quantile regression']:.1f} for the quantile regression"
        )
    return _joined(found, "Width of the 90% band in the middle over that near the records: ")


def of_control_12(table: pd.DataFrame) -> str:
    """What one posterior is worth in plain differences, LiRA's and Attack-R's references."""
    rows, found = table[table["metric"] == "references that equal BMIA"], []
    rows = rows[~rows["attack"].str.startswith("log-")]  # their like, in the card's table
    for name, part in rows.groupby(_DATASETS, sort=False):
        each = [
            f"{row.value:.1f} [{row.low:.1f}, {row.high:.1f}] of {row.attack}"
            for row in part.itertuples()
        ]
        found.append(f"{name} {', '.join(each)}")
    tried = f"of 1 to {rows['n_reference'].max()}"
    return _joined(found, f"References, {tried}, with one posterior's TPR at 1% FPR: ")


def of_control_13(table: pd.DataFrame) -> str:
    """The distance, and the difference between kinds of draws."""
    row = table.set_index("quantity").loc
    near = row["Kolmogorov distance from the normal law"]
    less, spread = row["LLN less MC"], row["TPR (%) at 1% FPR, LLN, sd over sampling seeds"]
    return (
        f"The mean distance from a normal law is {near['value']:.3f}; at 1% FPR draws of logits "
        f"are {less['value']:+.2f} points [{less['low']:+.2f}, {less['high']:+.2f}] from draws of "
        f"weights, and another sampling seed moves a target's rate by {spread['value']:.1f} points."
    )


def of_control_14(table: pd.DataFrame) -> str:
    """The loss of each threshold as a quantile, the least first."""
    loss = table[table["metric"] == "pinball loss at 95%"].sort_values("value")
    found = [f"{row.threshold} {row.value:.2f}" for row in loss.itertuples()]
    return _joined(found, "Pinball loss as the 95% quantile of retrained models' scores: ")


def of_control_15(table: pd.DataFrame) -> str:
    """Every rate with the most references, beside BMIA's."""
    rates = table[table["metric"] == RATE]
    ours = rates[rates["attack"] == "BMIA"]["value"].iloc[0]
    most = rates[rates["n_reference"] == rates["n_reference"].max()]
    found = [f"{row.value:.1f}% for {row.attack}" for row in most.itertuples()]
    several = f"{most['n_reference'].iloc[0]} references"
    return f"TPR at 1% FPR: {ours:.1f}% for BMIA; with {several} {', '.join(found)}."


def laws(table: pd.DataFrame) -> str:
    """Where each law of Figure 2 peaks, against the target's score."""
    found = []
    for name, part in table.groupby(_DATASETS, sort=False):
        peaks = [
            f"{series} near {one.loc[one['density'].idxmax(), 'hinge']:.0f}"
            for series, one in part.groupby("series", sort=False)
        ]
        found.append(f"{name}: {', '.join(peaks)}, the target at {part['target'].iloc[0]:.0f}")
    return _joined(found, "Densities of the hinge of one record, a panel a data set. Peaks: ")


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


def of_control_3(table: pd.DataFrame) -> str:
    """The rate at 1% by p as printed, and by z."""
    rate = table[table["metric"] == RATE].set_index([_DATASETS, "ranking"])["value"]
    found = [
        f"{name} {rate[name, 'p, as 1 - F(t)']:.1f}% by p as printed and {rate[name, 'z']:.1f}% "
        "by z"
        for name in dict.fromkeys(table[_DATASETS])
    ]
    return _joined(found, "TPR at 1% FPR: ")


def of_control_17(table: pd.DataFrame) -> str:
    """The share of false accusations by each p-value."""
    rows, found = table[table["metric"].str.startswith("false among")], []
    for name, part in rows.groupby(_DATASETS, sort=False):
        each = [f"{row.value:.0f}% by the {row.p_value} p-value" for row in part.itertuples()]
        found.append(f"{name} {', '.join(each)}")
    return _joined(found, "Of those accused at 10% false discoveries, not members are: ")


def of_control_4(table: pd.DataFrame) -> str:
    """How many points lie right of the line of equal standard deviations."""
    found = [
        f"{name} {(part['laplace'] > part['retraining']).mean():.0%}"
        for name, part in table.groupby(_DATASETS, sort=False)
    ]
    return _joined(found, "Records whose Laplace standard deviation is the larger one: ")


def of_control_5(table: pd.DataFrame) -> str:
    """The ratio of the two, and the corrected correlation where it is identified."""
    value, found = table.set_index([_DATASETS, "quantity"])["value"], []
    for name in dict.fromkeys(table[_DATASETS]):
        ratio = 1 / value[name, "retraining / Laplace, geometric mean"]
        known = (name, "corrected for noise") in value.index
        related = (
            f"correlation {value[name, 'corrected for noise']:.2f}"
            if known
            else "correlation not identified"
        )
        found.append(f"{name}: {ratio:.1f} times as large, {related}")
    return _joined(found, "The Laplace standard deviation against that over retraining: ")


def of_control_6(table: pd.DataFrame) -> str:
    """LiRA's rate at 1% with the fewest and the most references, either variance."""
    rows, found = table[table["metric"] == RATE], []
    for name, part in rows.groupby(_DATASETS, sort=False):
        rate = part.set_index(["variance", "n_reference"])["value"]
        few, many = part["n_reference"].min(), part["n_reference"].max()
        own, shared = "a record, one-sided", "global, one-sided"
        found.append(
            f"{name} {rate[own, few]:.1f}% and {rate[own, many]:.1f}% with {few} and {many} "
            f"references and a variance a record, {rate[shared, few]:.1f}% and "
            f"{rate[shared, many]:.1f}% with one variance"
        )
    return _joined(found, "TPR at 1% FPR: ")


def of_control_7(table: pd.DataFrame) -> str:
    """The shift of the mean, in standard deviations."""
    rows = table[table["quantity"] == "frozen mean less mean, in sd"]
    found = [f"{row.dataset} {row.value:.1f}" for row in rows.itertuples()]
    return _joined(found, "The drawn hinge lies below the network's own, in standard deviations: ")


def by_samples(table: pd.DataFrame) -> str:
    """The first and the last rate of each line."""
    found = []
    for (panel, series), part in table.groupby(["panel", "series"], sort=False):
        part = part.sort_values("n_samples")
        found.append(
            f"{panel}, {series}: {part['value'].iloc[0]:.1f} to {part['value'].iloc[-1]:.1f}"
        )
    return _joined(found, "Panels of true-positive rate (%) against the number of samples. ")


def curves(table: pd.DataFrame) -> str:
    """The rate of each curve near 1%."""
    found = []
    for panel, part in table.groupby("panel", sort=False):
        near = part[np.isclose(part["fpr"], 0.01, rtol=0.05)]
        rates = [f"{row.series} {100 * row.tpr:.1f}%" for row in near.itertuples()]
        found.append(f"{panel}: {', '.join(rates)}")
    return _joined(found, "ROC curves on logarithmic axes, a panel a data set. TPR at 1% FPR: ")


def of_figure_4(table: pd.DataFrame) -> str:
    """How often the matched reference is best."""
    best = table.loc[table.groupby("target", sort=False)["value"].idxmax()]
    matched = int((best["target"] == best["reference"]).sum())
    return (
        f"A reference of the target's own architecture is best for {matched} of {len(best)} "
        "targets."
    )


def of_table_2(table: pd.DataFrame) -> str:
    """The best attack at 1% beside BMIA."""
    part = table[table["metric"] == RATE]
    best = part.loc[part["value"].idxmax()]
    return (
        f"TPR at 1% FPR: {_ranked(part, 'BMIA', 1):.1f}% for BMIA, "
        f"{_ranked(part, 'Attack-P', 0):.1f}% for Attack-P; the highest is {best['attack']}'s, "
        f"{best['value']:.1f}%."
    )


def of_control_9(table: pd.DataFrame) -> str:
    """The counterexample with exact laws."""
    rate = table[table["case"].str.startswith("4.2, two kinds")].set_index("quantity")["value"]
    return (
        f"With two kinds of record and exact laws the marginal attack has "
        f"{rate['TPR (%), marginal']:.1f}% and the conditional one "
        f"{rate['TPR (%), conditional, 1% for each kind']:.1f}%: Proposition 4.2 fails."
    )


def of_control_10(table: pd.DataFrame) -> str:
    """The fit and the scores as a share of one reference's training."""
    found = []
    shares = table[(table["metric"] == _SHARE) & table["attack"].str.contains("KFAC")]
    for row in shares.itertuples():
        training = table[(table["dataset"] == row.dataset) & (table["attack"] == "BMIA")]
        found.append(
            f"{row.dataset} {100 * row.value:.0f}% [{100 * row.low:.0f}, {100 * row.high:.0f}] "
            f"of {60 * training['value'].iloc[0]:.0f} s"
        )
    name = shares["attack"].iat[0].removeprefix("BMIA, ")
    return _joined(found, f"Fit and scores ({name}) beside training one reference: ")
