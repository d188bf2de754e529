"""What the paper states, checked without a model: two propositions, and Table 1's printed numbers.

Control 9: what Propositions 4.1 and 4.2 say, what is true, what does hold. Control 8: what Table 1
says about itself.
"""

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.stats import norm

from membership.arrays import FloatArray
from membership.book import published
from membership.book.studies.bmia.settings import Settings

DRAWS = 1_000_000
PARAMETERS = 1_000
KINDS = (2, 8)


def control_9(settings: Settings) -> pd.DataFrame:
    """Both propositions, as stated, as proved, and as simulated (Control 9)."""
    rng = np.random.default_rng([settings.seed, 22])
    table = pd.DataFrame([*_proposition_1(rng), *_counterexample(), *_two_laws(), *_random(rng)])
    table["low"], table["high"] = (table[c].fillna(table["value"]) for c in ("low", "high"))
    table.attrs = {"data": {}, "deviations": [], "device": "cpu"}
    return table


def marginal_tpr(mean_member, mean_other, sd_member, sd_other, alpha: float):
    """Proposition 4.1, its proof's sign: Phi((mu_S - mu_D + Phi^-1(alpha) sd_D) / sd_S)."""
    return norm.cdf((mean_member - mean_other + norm.ppf(alpha) * sd_other) / sd_member)


def exact_tprs(non_members: Any, members: Any, alpha: float) -> tuple[float, FloatArray]:
    """True rates of the marginal attack, and of the one that spends ``alpha`` on each kind.

    A kind is the (mean, sd) of the normal law of its score; kinds are equally frequent.
    """
    (mean, sd), (mean_in, sd_in) = np.transpose(non_members), np.transpose(members)
    ends = mean.min() - 20 * sd.max(), mean.max() + 20 * sd.max()
    tau = brentq(lambda t: norm.sf(t, mean, sd).mean() - alpha, *ends)
    own = norm.isf(alpha, mean, sd)
    return float(norm.sf(tau, mean_in, sd_in).mean()), norm.sf(own, mean_in, sd_in)


def _proposition_1(rng: np.random.Generator) -> list[dict]:
    case = "4.1, means 2 and 0, sd 1.2 and 1, 1% FPR"
    tau = norm.isf(0.01)
    rate = (2 + 1.2 * rng.standard_normal(DRAWS) >= tau).mean()
    error = 1.96 * np.sqrt(rate * (1 - rate) / DRAWS)
    simulated = {"low": 100 * (rate - error), "high": 100 * (rate + error)}
    sign_of_4_2 = norm.cdf((2 - norm.ppf(0.01)) / 1.2)
    listed = [
        _row(case, "TPR (%), simulated", rate, **simulated),
        _row(case, "TPR (%), plus sign (4.1 and the proof)", marginal_tpr(2, 0, 1.2, 1, 0.01)),
        _row(case, "TPR (%), minus sign (statement of 4.2)", sign_of_4_2),
    ]
    for sd in (0.5, 1.0, 1.5, 2.0):
        value = marginal_tpr(1.5, 0, sd, 1, 0.01)
        listed.append(_row("4.1, does a lower member sd help?", f"TPR (%), sd {sd:g}", value))
        in_proportion = marginal_tpr(1.5, 0, sd, sd, 0.01)
        listed.append(_row("4.1, do both, in proportion?", f"TPR (%), sd {sd:g}", in_proportion))
    return listed


def _counterexample() -> list[dict]:
    """Equal means and one non-member law for all z; only the members' sd varies: 0.1 or 1.4."""
    alpha, sd_other, sds = 0.05, 0.304, np.array([0.1, 1.4])
    conditional = marginal_tpr(0, 0, sds, sd_other, alpha).mean()
    marginal = marginal_tpr(0, 0, np.sqrt((sds**2).mean()), sd_other, alpha)
    exact = norm.sf(norm.isf(alpha) * sd_other / sds).mean()
    case = "4.2, counterexample: member sd 0.1 or 1.4, other sd 0.304, 5% FPR"
    return [
        _row(case, "TPR (%), conditional", conditional),
        _row(case, "TPR (%), marginal, by the normal law", marginal),
        _row(case, "TPR (%), marginal, exact", exact),
    ]


EXACT = {
    "4.2, two kinds of record, exact laws, 1% FPR": ([(0, 1), (3, 1)], [(0, 1), (5, 1)]),
    "4.2, one law for all members, exact laws, 1% FPR": ([(-4.1, 2), (-0.3, 0.1)], [(-1, 1)] * 2),
}
"""Non-members' and members' laws of two kinds of record; every TPR(z) is below one half."""


def _two_laws() -> list[dict]:
    listed = []
    for case, laws in EXACT.items():
        marginal, conditional = exact_tprs(*laws, 0.01)
        listed += [
            _row(case, "TPR (%), marginal", marginal),
            _row(case, "TPR (%), conditional, 1% for each kind", conditional.mean()),
            _row(case, "TPR(z) (%), the larger", conditional.max()),
        ]
    return listed


def _random(rng: np.random.Generator) -> list[dict]:
    """How often the inequality fails with random parameters, and under what conditions it holds."""
    listed = []
    for kinds in KINDS:
        fails: dict[str, list[bool]] = {"all": [], "low": [], "same": []}
        for _ in range(PARAMETERS):
            mean_member, mean_other = rng.normal([[1.5], [0.0]], 1, (2, kinds))
            sd_member, sd_other = rng.uniform(0.3, 2, (2, kinds))
            lost, low = _fails(mean_member, mean_other, sd_member, sd_other)
            fails["all"].append(lost)
            if low:
                fails["low"].append(lost)
            one_law = np.full(kinds, mean_member[0]), np.full(kinds, sd_member[0])
            lost, low = _fails(one_law[0], mean_other, one_law[1], sd_other)
            if low:
                fails["same"].append(lost)
        case = f"4.2, random parameters of {kinds} kinds of record, 1% FPR"
        for key, words in (
            ("all", "inequality fails (%)"),
            ("low", "fails (%) where all TPR(z) < 1/2"),
            ("same", "fails (%) where, too, all members have one law"),
        ):
            listed.append(_row(case, f"{words}, of {len(fails[key])}", np.mean(fails[key])))
    return listed


def _fails(mean_member, mean_other, sd_member, sd_other) -> tuple[bool, bool]:
    """Whether the claimed inequality fails, and whether all conditional rates are below 1/2."""
    conditional = marginal_tpr(mean_member, mean_other, sd_member, sd_other, 0.01)
    spreads = [
        np.sqrt((sd**2).mean() + mean.var())
        for mean, sd in ((mean_member, sd_member), (mean_other, sd_other))
    ]
    marginal = marginal_tpr(mean_member.mean(), mean_other.mean(), *spreads, 0.01)
    return bool(conditional.mean() < marginal - 1e-12), bool((conditional < 0.5).all())


def _row(case: str, quantity: str, rate: float, **interval: float) -> dict:
    row = {"case": case, "quantity": quantity, "value": 100 * float(rate)}
    return {**row, "low": np.nan, "high": np.nan, **interval}


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
