"""Is Algorithm 1's p-value a false-positive rate, can it rank records, and whom does it accuse?"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy import stats

from membership import metrics, plots
from membership.arrays import FloatArray
from membership.attacks.bmia import student_log_survival
from membership.book.exhibits.tidy import origin, tidy
from membership.book.studies.bmia.scores import Seen, measured, percent
from membership.book.studies.bmia.settings import SAMPLES, Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NOMINAL = 0.01
PERFECT = "perfect predictive"
AT_NOMINAL = ": FPR (%) at a nominal 1%"
"""How a panel of Control 2 goes on after its data set, or after the above."""
SIMULATED = 200_000
LESS_PRINTED = "less by p as printed"
TESTS = {"published": False, "corrected": True}
RATE = 0.1
"""The share of false accusations that Benjamini and Hochberg's procedure is given."""
PUBLISHED, CORRECTED, CONFORMAL = "published", "corrected", "conformal"
FPR, TPR = "non-members with p < 1% (%)", "members with p < 1% (%)"
FALSE, FOUND = "false among those accused at 10% (%)", "members accused at 10% (%)"


def control_2(datasets: list[Seen], measured: list[xr.Dataset], settings: Settings) -> pd.DataFrame:
    """How many non-members have a p-value below 1% (Control 2).

    With a perfect predictive the target's score and the N draws come from one normal law. Then
    the published t is sqrt(N + 1) times a Student variable, so that its rate is known exactly.
    On data, the non-members are judged by their reference's posterior, at most 500 a target.
    """
    listed = _perfect(np.random.default_rng([settings.seed, 21]))
    for seen, drawn in zip(datasets, measured, strict=True):
        place = drawn["place"].values
        hinge = np.stack([seen.hinge[t][place[k]] for k, t in enumerate(seen.targets)])
        for name, calibrated in TESTS.items():
            for k, n in enumerate(drawn["draws"].values):
                mean, sd = (drawn[f"drawn_{m}"].values[:, k] for m in ("mean", "sd"))
                p = p_value((hinge - mean) / sd, int(n), calibrated)
                rates = 100 * (p < NOMINAL).mean(axis=1)
                listed.append(_row(seen.label, name, int(n), percent(rates)))
    return tidy(listed, origin(datasets))


def control_2_drawn(table: pd.DataFrame) -> "Figure":
    """Control 2: the share of non-members below a nominal rate, beside that rate."""
    shown = table.assign(panel=table["panel"].str.removesuffix(AT_NOMINAL))
    promised = shown.drop_duplicates(["panel", "n_samples"])
    promised = promised.assign(series="promised", value=1.0, low=1.0, high=1.0)
    return plots.lines_with_intervals(
        pd.concat([shown[shown["series"] != "published, exact"], promised]),
        "n_samples",
        by="series",
        panel="panel",
        log_x=True,
        same_scale=True,
        x_label="samples",
    )


def p_value(z: FloatArray, n: int, calibrated: bool) -> FloatArray:
    """The p-value of z over the moments of n draws, as `attacks.bmia_p_value` has it of draws."""
    return stats.t.sf(z / np.sqrt(1 + 1 / n) if calibrated else z * np.sqrt(n), n - 1)


def exact_rate(n: int, nominal: float = NOMINAL) -> float:
    """The published test's false-positive rate with a perfect predictive and n draws.

    ``(s0 - mean) / (sd sqrt(1 + 1/n))`` follows Student's law with n - 1 degrees of freedom; the
    published t is that times sqrt(n + 1).
    """
    threshold = stats.t.isf(nominal, n - 1)
    return float(stats.t.sf(threshold / np.sqrt(n + 1), n - 1))


def control_3(datasets: list[Seen]) -> pd.DataFrame:
    """What is lost by ranking records by p = 1 - F(t), which rounds to 0 (Control 3)."""
    listed = []
    for seen in datasets:
        n = seen.posterior.attrs["n_samples"]
        printed: dict[str, Any] = {}
        for name, ranking in _rankings(n).items():
            pairs = seen.each(lambda t, s=seen, r=ranking: r(_z(s, t)))
            key, values_of = {"dataset": seen.label, "ranking": name}, measured(pairs)
            printed = printed or values_of
            for metric, values in values_of.items():
                listed.append({**key, "metric": metric, **percent(values)})
                if name == "z":
                    less = metrics.summary(np.subtract(values, printed[metric]))
                    listed.append({**key, "metric": f"{metric}, {LESS_PRINTED}", **less})
            tied = [100 * (s[~m] == s.max()).mean() for s, m in pairs]
            listed.append({**key, "metric": "non-members at the top(%)", **percent(tied)})
    table = pd.DataFrame(listed)
    table.attrs = origin(datasets)
    return table


def _z(seen: Seen, target: int) -> FloatArray:
    mean, sd = seen.moments(seen.first(target))
    return (seen.hinge[target] - mean) / sd


def _rankings(n: int) -> dict[str, Callable[[FloatArray], FloatArray]]:
    """Scores from z of n draws; the first is Algorithm 1, line 14, to the letter."""
    return {
        "p, as 1 - F(t)": lambda z: -(1 - stats.t.cdf(z * np.sqrt(n), n - 1)),
        "p, as a survival function": lambda z: -p_value(z, n, calibrated=False),
        "log survival": lambda z: -student_log_survival(z * np.sqrt(n), n - 1),
        "z": lambda z: z,
    }


def _perfect(rng: np.random.Generator) -> list[dict]:
    listed = []
    for n in SAMPLES:
        # Mean and variance of n normal draws are independent: normal and chi-squared.
        mean = rng.standard_normal(SIMULATED) / np.sqrt(n)
        sd = np.sqrt(rng.chisquare(n - 1, SIMULATED) / (n - 1))
        z = (rng.standard_normal(SIMULATED) - mean) / sd
        for name, factor in (("published", np.sqrt(n)), ("corrected", 1 / np.sqrt(1 + 1 / n))):
            rate = (stats.t.sf(z * factor, n - 1) < NOMINAL).mean()
            error = 196 * np.sqrt(rate * (1 - rate) / SIMULATED)
            columns = {"value": 100 * rate, "low": 100 * rate - error, "high": 100 * rate + error}
            listed.append(_row(PERFECT, name, n, {**columns, "n_repeats": SIMULATED}))
        exact = 100 * exact_rate(n)
        columns = {"value": exact, "low": exact, "high": exact, "n_repeats": 0}
        listed.append(_row(PERFECT, "published, exact", n, columns))
    return listed


def _row(panel: str, series: str, n: int, columns: dict) -> dict:
    key = {"panel": f"{panel}{AT_NOMINAL}", "series": series, "n_samples": n}
    return {**key, "metric": "FPR(%)", **columns}


def control_17(datasets: list[Seen], settings: Settings) -> pd.DataFrame:
    """Rates at a nominal 1%, and who is accused at 10% false discoveries (Control 17).

    Half of each target's non-members, drawn at random, are known not to be members; the conformal
    p-value of a record is its place among them. All p-values are judged on the members and the
    other half. Where nobody is accused, no accusation is false.
    """
    listed = []
    for seen in datasets:
        by_target = [_of_target(seen, t, settings.seed) for t in seen.targets]
        for name in by_target[0]:
            for metric in by_target[0][name]:
                share = percent([target[name][metric] for target in by_target])
                listed.append({"dataset": seen.label, "p_value": name, "metric": metric, **share})
    return tidy(listed, origin(datasets))


def control_17_drawn(table: pd.DataFrame) -> "Figure":
    """Control 17: how many of those accused are no members, beside the share that was promised."""
    return plots.dots_by_row(
        table[table["metric"] == FALSE].assign(series="found"),
        "p_value",
        by="series",
        panel="dataset",
        label="of those accused, no members (%)",
        baseline=10.0,
        baseline_label="promised",
        told=".0f",
    )


def _of_target(seen: Seen, target: int, seed: int) -> dict[str, dict[str, float]]:
    """The metrics of each p-value in percent."""
    mean, sd = seen.moments(seen.first(target))
    z, member = (seen.hinge[target] - mean) / sd, seen.member[target]
    non_members = np.random.default_rng([seed, 31, target]).permutation(np.flatnonzero(~member))
    known, rest = non_members[: len(non_members) // 2], non_members[len(non_members) // 2 :]
    queries = np.concatenate([np.flatnonzero(member), rest])
    n = seen.posterior.attrs["n_samples"]
    p_values = {
        PUBLISHED: p_value(z[queries], n, calibrated=False),
        CORRECTED: p_value(z[queries], n, calibrated=True),
        CONFORMAL: conformal(z[queries], z[known]),
    }
    return {name: _judged(p, member[queries]) for name, p in p_values.items()}


def conformal(score: FloatArray, known: FloatArray) -> FloatArray:
    """The share of known non-members, and the record itself, that score at least as high.

    Of a further non-member it is below any level no more often than that level, whatever the law
    of the scores.
    """
    below = np.searchsorted(np.sort(known), score, side="left")
    return (1 + len(known) - below) / (1 + len(known))


def _judged(p: FloatArray, member: np.ndarray) -> dict[str, float]:
    accused = stats.false_discovery_control(p, method="bh") <= RATE
    false = (accused & ~member).sum() / max(1, accused.sum())
    shares = ((p < NOMINAL)[~member], (p < NOMINAL)[member], accused[member])
    low, high, detected = (100 * float(share.mean()) for share in shares)
    return {FPR: low, TPR: high, FALSE: 100 * float(false), FOUND: detected}
