"""The tests of claims on formulas and simulations; thresholds as fixed before the results."""

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from membership import privacy
from membership.attacks.glir import glir_from_distance, glir_log_ratio
from membership.book.exhibits import Source
from membership.book.published import Contrast, Outcome
from membership.book.published.claim_rules import about, better, chance, identity, much_better
from membership.book.published.outcomes import every, overall, summed_up, untested
from membership.book.published.rows import number, of_row, rows_at, stated_size
from membership.book.studies.gmip import theory
from membership.book.studies.gmip.audit import ABLATIONS, OTHER_LAWS, SIZES, SMALL_SIZES
from membership.book.studies.gmip.settings import RECIPES
from membership.book.studies.gmip.setups import KNOWN
from membership.metrics.rate_names import tpr_label

AUC = 0.01
_LEAST_DRAWS = 400_000


def theorem(source: Source) -> Outcome:
    """c01: the greatest deviation of each setting, with a band for all fifty points at once."""
    table = source.table("gmip-ctl-1")
    draws = stated_size(table.attrs, "Draws under each hypothesis")
    if draws < _LEAST_DRAWS:
        return untested(f"{draws:,} draws; it takes {_LEAST_DRAWS:,}")
    rows = rows_at(table, metric=theory.deviation_of("FNR"))
    wider = stats.norm.ppf(1 - 0.025 / (10 * len(rows))) / stats.norm.ppf(0.975)
    error = wider * 0.5 / np.sqrt(draws)
    deviations = [
        Contrast(f"|FNR less Eq. 8|, d = {r.d}, n = {r.n}, tau = {r.tau:g}", r.value, error)
        for r in rows.itertuples()
    ]
    return summed_up(
        chance(deviation, 0.005, parts=len(deviations)) for deviation in deviations
    ).on("simulation")


def grows_gaussian(source: Source) -> Outcome:
    """c02: the gap to the Gaussian curve at four sizes, and at Table 3's."""
    sizes = [(81, 63), (163, 125), (325, 250), (650, 500)]
    gaps = {d: _gap(d, n) for d, n in sizes}
    falls = [
        better(Contrast(f"gap at d = {a} less gap at d = {b}", gaps[a] - gaps[b]), 0.0, parts=6)
        for a, b in itertools.pairwise(gaps)
    ]
    small = [
        chance(Contrast(f"gap at d = {d}, n = {n}", _gap(d, n)), 0.01, parts=6)
        for d, n in SIZES.values()
    ]
    return every([*falls, *small]).on("closed form")


def tight(source: Source) -> Outcome:
    """c04: GLiR with known moments against the predicted curve, AUC and TPR."""
    table = source.table("gmip-fig-2")
    panels = rows_at(table, steps=KNOWN)["panel"].unique().tolist()
    return summed_up(
        outcome for panel in panels for outcome in _against(table, panel, len(panels), _predicted)
    ).on("simulation")


def optimal_for_a_record(source: Source) -> Outcome:
    """c08: GLiR's score of one record over published means against their likelihood ratio's."""
    rng = np.random.default_rng(8)
    apart = []
    for d, n in SIZES.values():
        k = d * rng.lognormal(0, 0.5)
        distance = np.sort(d / n * rng.noncentral_chisquare(d, n * k, 2000) / d)
        fixed = np.full_like(distance, k)
        score = glir_from_distance(distance, fixed, n, d)
        ratio = glir_log_ratio(distance, fixed, n, d)
        apart.append((np.sign(np.diff(score)) != np.sign(np.diff(ratio))).sum())
    label = "neighbouring means that GLiR and the likelihood ratio order otherwise"
    return identity(apart, 0.0, label, exact=True).on("closed form, Table 3's sizes")


def robust(source: Source) -> Outcome:
    """c11 as it was fixed: small sizes and other laws together."""
    return _like_corollary(source, ABLATIONS)


def small_sizes(source: Source) -> Outcome:
    """c11: GLiR for few dimensions and small batches against Corollary 5.1, each size by itself."""
    sizes = _by_case(source, SMALL_SIZES)
    outcomes = {panel: summed_up(parts) for panel, parts in sizes.items()}
    return overall(outcomes, tuple(outcomes)).on("simulation")


def other_laws(source: Source) -> Outcome:
    """c11: GLiR for gradients that are not normal against Corollary 5.1."""
    return _like_corollary(source, OTHER_LAWS)


def _like_corollary(source: Source, ablations: dict[str, tuple[int, int, Any]]) -> Outcome:
    outcomes = _by_case(source, ablations)
    summary = summed_up(itertools.chain(*outcomes.values()))
    reason = "; ".join(f"{panel}: {every(parts).word}" for panel, parts in outcomes.items())
    return replace(summary, reason=reason).on("simulation")


def _by_case(
    source: Source, ablations: dict[str, tuple[int, int, Any]]
) -> dict[str, list[Outcome]]:
    """What each rate, and the area, says of each case."""
    table = source.table("gmip-fig-4")
    sizes = {name: size[:2] for name, size in ablations.items()}

    def predicted(part: pd.DataFrame, panel: str) -> np.ndarray:
        (d, n), fpr = sizes[panel], rows_at(part, series="GLiR")["fpr"].to_numpy()
        return privacy.gaussian_tpr(fpr, privacy.mip_mu_step(d, n, d))

    return {panel: list(_against(table, panel, len(sizes), predicted)) for panel in sizes}


def ratio_decides(source: Source) -> Outcome:
    """c12: the AUC of Theorem 5.1 when d and n grow fourfold, and when d / n doubles."""
    start, larger, wider = (_area(*size) for size in ((160, 125), (640, 500), (320, 125)))
    return every(
        [
            about(Contrast("AUC, d and n fourfold", larger - start), AUC, parts=2),
            much_better(Contrast("AUC, d / n doubled", wider - start), AUC, parts=2),
        ]
    ).on("closed form")


def composition(source: Source) -> Outcome:
    """c13: the numerical composition less Equation 10, at the paper's sizes."""
    table = source.table("gmip-ctl-9")
    labels = [RECIPES[name].label for name in theory.DATASETS]
    parts = [
        chance(_over_equation_10(table, label, fpr), 0.001, parts=12)
        for label in labels
        for fpr in theory.LOW_RATES
    ]
    return summed_up(parts).on("computation")


def table_5(source: Source) -> Outcome:
    """c14: all 120 entries, and the same zeros."""
    table = source.table("gmip-tab-5")
    printed = theory.printed_table_5()
    merged = table.merge(printed, on=["mu", "metric"], suffixes=("", "_printed"))
    if len(merged) < len(printed):
        return untested(f"it takes all {len(printed)} entries")
    noise, of_paper = (merged[name].to_numpy(float) for name in ("value", "value_printed"))
    # Another zero is no rounding.
    apart = np.where((noise == 0) != (of_paper == 0), 1.0, np.abs(noise - of_paper))
    return identity(
        apart,
        0.01,
        "greatest distance of 120 entries from the printed ones",
        refuted=0.02,
        exact=True,
    ).on("computation")


def less_noise(source: Source) -> Outcome:
    """c15: the share of levels at which MIP needs less noise than DP, less one half."""
    table = theory.by_notion(source.table("gmip-tab-5"))
    wide = table.pivot_table(index=["dataset", "mu"], columns="notion", values="value")
    less = (wide["MIP"] < wide["DP"]).sum()
    label = f"share of levels with less noise ({less} of {len(wide)}) less one half"
    return much_better(Contrast(label, less / len(wide) - 0.5), 0.0).on("computation")


def _gap(d: int, n: int) -> float:
    alpha = np.linspace(0, 1, 401)
    exact = privacy.mip_tradeoff(alpha, d, n, d)
    limit = privacy.gaussian_tradeoff(alpha, privacy.mip_mu_step(d, n, d))
    return float(np.abs(exact - limit).max())


def _area(d: int, n: int) -> float:
    """AUC of the best test at K = d, by the trapezoid rule in the probit of the rate."""
    z = np.linspace(-8, 8, 801)
    alpha = stats.norm.cdf(z)
    return float(np.trapezoid((1 - privacy.mip_tradeoff(alpha, d, n, d)) * stats.norm.pdf(z), z))


def _predicted(part: pd.DataFrame, panel: str) -> np.ndarray:
    return rows_at(part, series="level at K = d")["tpr"].to_numpy()


def _against(
    table: pd.DataFrame,
    panel: str,
    panels: int,
    predicted: Callable[[pd.DataFrame, str], np.ndarray],
) -> list[Outcome]:
    """AUC within .01 and TPR within .02 of a predicted curve, at rates from 1 to 99%."""
    part = rows_at(table, panel=panel)
    glir = rows_at(part, series="GLiR").reset_index(drop=True)
    fpr, curve = glir["fpr"].to_numpy(), predicted(part, panel)
    gaps = [
        of_row(row).minus(expected, f"TPR at {100 * row['fpr']:.2g}% FPR less level, {panel}")
        for (_, row), expected in zip(glir.iterrows(), curve, strict=True)
    ]
    inside = [gap for gap, rate in zip(gaps, fpr, strict=True) if 0.01 <= rate <= 0.99]
    parts = panels * (len(inside) + 1)
    area = Contrast(
        f"AUC of GLiR less the level's, {panel}",
        float(np.trapezoid([gap.difference for gap in gaps], fpr)),
        float(np.trapezoid([gap.standard_error for gap in gaps], fpr)),
        gaps[0].degrees_of_freedom,
        gaps[0].units,
    )
    return [about(area, AUC, parts=parts), *(about(gap, 0.02, parts=parts) for gap in inside)]


def _over_equation_10(table: pd.DataFrame, label: str, fpr: float) -> Contrast:
    """The numerical rate less Equation 10's, its enclosure as the interval."""
    quantity = tpr_label(fpr)
    limit = rows_at(table, data=label, quantity=quantity, method="Equation 10")["value"].iloc[0]
    row = rows_at(table, data=label, quantity=quantity, method="numerical").iloc[0]
    half = (row["high"] - row["low"]) / 200
    name = f"numerical {quantity.removesuffix(' (%)')} less Equation 10's, {label}"
    return Contrast(name, (row["value"] - limit) / 100, half / stats.norm.ppf(0.975))


def no_bound(source: Source) -> Outcome:
    """The numerical rate of few steps less Equation 10's, relative to a quarter of it."""
    table = source.table("gmip-ctl-9")
    rows = rows_at(table, data=theory.EXAMPLE, quantity=tpr_label(0.001))
    limit = number(rows, method="Equation 10").difference
    enclosure = rows_at(rows, method="numerical").iloc[0]
    label = "TPR (%) at 0.1% FPR, lower end of the enclosure, less 1.25 times Equation 10's"
    return much_better(Contrast(label, float(enclosure["low"]) - 1.25 * limit), 0.0).on(
        "computation"
    )
