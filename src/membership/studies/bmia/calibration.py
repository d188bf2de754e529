"""Is Algorithm 1's p-value a false-positive rate, and can it rank records? (Controls 2 and 3)"""

from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from membership.attacks.bmia import bmia_p_value, bmia_sampled
from membership.studies.bmia.evidence import Evidence, attrs
from membership.studies.bmia.summaries import measured, spread

SAMPLES = (10, 30, 100, 300, 1000)
NOMINAL = 0.01
SIMULATED = 200_000
QUERIES = 500
PERFECT = "perfect predictive"
TESTS = {"published": False, "corrected": True}


def control_2(some: list[Evidence], settings: Any) -> pd.DataFrame:
    """How many non-members have a p-value below 1% (Control 2).

    With a perfect predictive the target's score and the N draws come from one normal law. Then
    the published t is sqrt(N + 1) times a Student variable, so that its rate is known exactly.
    On data, the non-members are judged by their reference's posterior, at most 500 a target.

    Parameters
    ----------
    some : list of Evidence
    settings : Settings
        Uses ``seed``.

    Returns
    -------
    DataFrame
        Columns panel, series ("published", "corrected", and "exact" for the first on a perfect
        predictive), n_samples, metric ("FPR(%)"), value, low, high, n_repeats.
        Intervals are binomial for simulated records and over the targets on data.
    """
    listed = _perfect(np.random.default_rng([settings.seed, 21]))
    for evidence in some:
        rates = {name: {n: [] for n in SAMPLES} for name in TESTS}
        for t in range(evidence.n_targets):
            others = np.flatnonzero(~evidence.member[t])[:QUERIES]
            reference = evidence.references(t, 1)[0]
            drawn = evidence.draws(reference, SAMPLES[-1], queries=others)
            hinge = evidence.signals.hinge[t][others]
            for name, calibrated in TESTS.items():
                for n in SAMPLES:
                    p = bmia_p_value(hinge, drawn[:n], calibrated)
                    rates[name][n].append(100 * (p < NOMINAL).mean())
        for name, by_size in rates.items():
            for n, values in by_size.items():
                listed.append(_row(evidence.world.label, name, n, spread(values, 100, 0)))
    table = pd.DataFrame(listed)
    table.attrs = attrs([each.world for each in some])
    return table


def exact_rate(n: int, nominal: float = NOMINAL) -> float:
    """The published test's false-positive rate with a perfect predictive and n draws.

    ``(s0 - mean) / (sd sqrt(1 + 1/n))`` follows Student's law with n - 1 degrees of freedom; the
    published t is that times sqrt(n + 1).
    """
    threshold = stats.t.isf(nominal, n - 1)
    return float(stats.t.sf(threshold / np.sqrt(n + 1), n - 1))


def control_3(some: list[Evidence], settings: Any) -> pd.DataFrame:
    """What is lost by ranking records by p = 1 - F(t), which rounds to 0 (Control 3).

    Parameters
    ----------
    some : list of Evidence
    settings : Settings
        Uses ``n_samples``.

    Returns
    -------
    DataFrame
        Columns dataset, ranking, metric, value, low, high, n_repeats: the rates and the AUC, and
        the share of non-members with the largest score of all.
    """
    listed = []
    for evidence in some:
        drawn = {t: _draws(evidence, t) for t in range(evidence.n_targets)}
        hinge = evidence.signals.hinge
        rankings = {
            "p, as 1 - F(t)": lambda t, d=drawn, h=hinge: -_naive_p(h[t], d[t]),
            "p, as a survival function": lambda t, d=drawn, h=hinge: (
                -bmia_p_value(h[t], d[t], calibrated=False)
            ),
            "log survival": lambda t, d=drawn, h=hinge: (
                -bmia_p_value(h[t], d[t], calibrated=False, log=True)
            ),
            "z": lambda t, d=drawn, h=hinge: bmia_sampled(h[t], d[t]),
        }
        for name, score in rankings.items():
            pairs = evidence.each(score)
            key = {"dataset": evidence.world.label, "ranking": name}
            for metric, values in measured(pairs).items():
                listed.append({**key, "metric": metric, **spread(values, 100, 0)})
            tied = [100 * (s[~m] == s.max()).mean() for s, m in pairs]
            listed.append({**key, "metric": "non-members at the top(%)", **spread(tied, 100, 0)})
    table = pd.DataFrame(listed)
    table.attrs = attrs([each.world for each in some], note=f"{settings.n_samples} samples.")
    return table


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
            found = {"value": 100 * rate, "low": 100 * rate - error, "high": 100 * rate + error}
            listed.append(_row(PERFECT, name, n, {**found, "n_repeats": SIMULATED}))
        exact = 100 * exact_rate(n)
        found = {"value": exact, "low": exact, "high": exact, "n_repeats": 0}
        listed.append(_row(PERFECT, "published, exact", n, found))
    return listed


def _row(panel: str, series: str, n: int, found: dict) -> dict:
    key = {"panel": f"{panel}: FPR (%) at a nominal 1%", "series": series, "n_samples": n}
    return {**key, "metric": "FPR(%)", **found}


def _draws(evidence: Evidence, target: int) -> np.ndarray:
    n_samples = evidence.world.settings.n_samples
    return evidence.draws(evidence.references(target, 1)[0], n_samples)


def _naive_p(hinge: np.ndarray, drawn: np.ndarray) -> np.ndarray:
    """Algorithm 1, line 14, to the letter."""
    n = len(drawn)
    return 1 - stats.t.cdf(bmia_sampled(hinge, drawn) * np.sqrt(n), n - 1)
