"""What Table 1 of the paper says about itself, computed from its printed numbers (Control 8)."""

from itertools import combinations

import numpy as np
import pandas as pd

from membership import published

LOW, RATE, TIME = "TPR(%)@FPR=0.1%", "TPR(%)@FPR=1%", "time_min"
N_MEMBERS = {"Purchase-100": 39_465, "ImageNet-1k": 256_233, "CIFAR-10": 12_000}
"""A fifth of the records of each set, as Appendix B splits them."""


def control_8() -> pd.DataFrame:
    """Where Table 1 contradicts itself or the text (Control 8)."""
    printed = published.table("bmia_table1")
    cells = printed.set_index(["dataset", "attack", "n_reference", "metric"])["value"]
    listed = [*_copies(printed), *_times(cells), *_headline(cells), *_ties(cells)]
    table = pd.DataFrame(listed, columns=["finding", "where", "printed", "computed"])
    table.attrs = {"data": {}, "deviations": [], "device": "cpu"}
    return table


def _copies(printed: pd.DataFrame) -> list[tuple]:
    """Cells of one row with the same pair of rates for two data sets."""
    rates = printed[printed["metric"].isin([LOW, RATE])]
    pairs = rates.pivot_table(
        index=["attack", "n_reference"], columns=["dataset", "metric"], values="value"
    )
    copies = []
    for (attack, n), row in pairs.iterrows():
        for first, second in combinations(dict.fromkeys(name for name, _ in row.index), 2):
            if row[first, LOW] == row[second, LOW] and row[first, RATE] == row[second, RATE]:
                where = f"{attack} (n={n}): {first} and {second}"
                copies.append(
                    ("copied cells", where, f"{row[first, LOW]}, {row[first, RATE]}", "equal")
                )
    return copies


def _times(cells: pd.Series) -> list[tuple]:
    """Training times of n references over the time of one, where they are not n."""
    rows = []
    for dataset in cells.index.unique("dataset"):
        single = cells[dataset, "BMIA", 1, TIME]
        for n in (2, 4, 8):
            ratio = cells[dataset, "LiRA", n, TIME] / single
            if abs(ratio / n - 1) > 0.05:
                where = f"{dataset}, n={n}: minutes over those of one reference"
                rows.append(("doubled time", where, f"{ratio:.2f}", f"{n}"))
    return rows


def _headline(cells: pd.Series) -> list[tuple]:
    best = {name: cells[name, "BMIA", 1, RATE] for name in ("CIFAR-10", "CIFAR-100")}
    rows = []
    for name, n, where in (
        ("CIFAR-10", 8, "introduction"),
        ("CIFAR-10", 4, "introduction, were four references meant"),
        ("CIFAR-100", 8, "Section 5.2"),
    ):
        gain = 100 * (best[name] / cells[name, "LiRA", n, RATE] - 1)
        words = f"{where}: BMIA over LiRA (n={n}) at 1% FPR on {name}"
        rows.append(("headline", words, "+64%", f"{gain:+.1f}%"))
    longest = cells["CIFAR-10", "QMIA", 0, TIME] / cells["CIFAR-10", "BMIA", 1, TIME]
    where = "Section 5.2: minutes of QMIA over those of BMIA on CIFAR-10"
    rows.append(("headline", where, "up to eleven times", f"{longest:.1f}"))
    rates = cells[cells.index.get_level_values("metric") == RATE]
    nearest = rates.iloc[(rates - 37.5).abs().argmin()]
    where = "introduction: TPR at 1% FPR on CIFAR-10; the nearest entry of the table, any data set"
    rows.append(("headline", where, "37.5", f"{best['CIFAR-10']:g}; {nearest:g}"))
    rivals = cells["CIFAR-100"].xs(RATE, level="metric").drop("BMIA", level="attack")
    gain = 100 * (best["CIFAR-100"] / rivals.max() - 1)
    attack, n = rivals.idxmax()
    where = f"BMIA over the best other row, {attack} (n={n}), on CIFAR-100"
    rows.append(("headline", where, "not given", f"{gain:+.1f}%"))
    return rows


def _ties(cells: pd.Series) -> list[tuple]:
    """Leads within one binomial standard error of the difference, where sizes are known.

    As if the two rates were of different members: two attacks on the same
    ones vary together, by how much the paper does not say.
    """
    rows = []
    for dataset, n_members in N_MEMBERS.items():
        for metric in (LOW, RATE):
            bmia = cells[dataset, "BMIA", 1, metric]
            rivals = cells[dataset].xs(metric, level="metric").drop("BMIA", level="attack")
            error = 100 * np.sqrt(2 * (bmia / 100) * (1 - bmia / 100) / n_members)
            lead = bmia - rivals.max()
            if lead < error:
                attack, n = rivals.idxmax()
                where = f"{dataset}, {metric}: BMIA over {attack} (n={n})"
                words = f"one standard error {error:.2f}"
                rows.append(("lead within the noise", where, f"{lead:.2f}", words))
    return rows
