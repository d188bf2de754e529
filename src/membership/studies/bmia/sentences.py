"""The sentences that no row says alone, and what pictures show in words."""

import numpy as np
import pandas as pd

from membership.exhibits.sentences import span

RATE = "TPR(%)@FPR=1%"
_SHARE = "inference / training"


def of_figure_1(table: pd.DataFrame) -> str:
    """Each band's width in the middle, over that where the records are."""
    texts = []
    for name, part in table[table["series"] != "data"].groupby("series", sort=False):
        width, x = part["high"] - part["low"], part["x"].abs()
        middle, near = (width[place].mean() for place in (x < 1, (x - 3).abs() < 1))
        texts.append(f"{name} {middle / near:.1f}")
    return f"In the middle bands are wider by these factors: {'; '.join(texts)}."


def of_control_16(table: pd.DataFrame) -> str:
    """With how many networks the rate at 1% gains clearly, and how good the networks are."""
    rows = table[table["metric"] == f"{RATE} gained"]
    clear, right = rows["low"] > 0, rows["test accuracy (%)"]
    sentence = f"At 1% false positives {clear.sum()} of {len(rows)} networks gain clearly."
    sides = {"These": clear, "the others": ~clear}
    clauses = [f"{who} on {span(right[at])}" for who, at in sides.items() if at.any()]
    words = ", ".join(clauses).replace(" on ", " are right on ", 1)
    return f"{sentence} {words[0].upper()}{words[1:]} of new records."


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


def of_control_4(table: pd.DataFrame) -> str:
    """How many points lie right of the line of equal standard deviations."""
    larger = (table["laplace"] > table["retraining"]).groupby(table["dataset"], sort=False).mean()
    texts = [f"{name} {share:.0%}" for name, share in larger.items()]
    return f"Records whose Laplace standard deviation is the larger one: {'; '.join(texts)}."


def of_control_5(table: pd.DataFrame) -> str:
    """The ratio of the two, and the corrected correlation where it is identified."""
    value = table.set_index("quantity")["value"]
    ratio = 1 / value[["retraining / Laplace, geometric mean"]]
    sentence = (
        f"By data set the Laplace standard deviation is {span(ratio, 1, '')} times that over "
        "retraining"
    )
    if "corrected for noise" not in value:
        return f"{sentence}."
    return f"{sentence}; their correlation is {span(value[['corrected for noise']], 2, '')}."


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


def of_control_10(table: pd.DataFrame) -> str:
    """The fit and the scores as a share of one reference's training."""
    shares = table[(table["attack"] == "BMIA") & (table["metric"] == _SHARE)]["value"]
    how = f"(KFAC, {table.attrs['sizes']['Draws']} samples)"
    return f"Fit and scores {how} take {span(100 * shares)} of the time of training one reference."
