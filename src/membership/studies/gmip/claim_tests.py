"""The tests of the paper's claims, as fixed before the results, over exhibits' numbers."""

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from membership import privacy, published
from membership.attacks.glir import glir_from_distance, glir_log_ratio
from membership.errors import InputError
from membership.published import Contrast, Outcome
from membership.published.claim_rules import about, better, chance, identity, much_better
from membership.published.outcomes import every, untested
from membership.published.rows import number, of_row, rows_at
from membership.studies.gmip import gradients, panels, theory
from membership.studies.gmip.claim_numbers import on_simulation, over_data, summed_up

AUC = 0.01
_LEAST_DRAWS, _LEAST_SHADOWS = 400_000, 16


def theorem(source: Any) -> Outcome:
    """c01: the greatest deviation of each setting, with a band for all fifty points at once."""
    table = source.table("gmip-ctl-1")
    draws = _size(table, "Draws under each hypothesis")
    if draws < _LEAST_DRAWS:
        return untested(f"{draws:,} draws; it takes {_LEAST_DRAWS:,}")
    rows = table[table["metric"].str.endswith("FNR")]
    wider = stats.norm.ppf(1 - 0.025 / (10 * len(rows))) / stats.norm.ppf(0.975)
    error = wider * 0.5 / np.sqrt(draws)
    found = [
        Contrast(f"|FNR less Eq. 8|, d = {r.d}, n = {r.n}, tau = {r.tau:g}", r.value, error)
        for r in rows.itertuples()
    ]
    return summed_up(chance(one, 0.005, parts=len(found)) for one in found).on("simulation")


def grows_gaussian(source: Any) -> Outcome:
    """c02: the gap to the Gaussian curve at four sizes, and at Table 3's."""
    sizes = [(81, 63), (163, 125), (325, 250), (650, 500)]
    gaps = [_gap(*size) for size in sizes]
    falls = [
        better(Contrast(f"gap at d = {a[0]} less gap at d = {b[0]}", x - y), 0.0, parts=6)
        for (a, x), (b, y) in zip(
            zip(sizes, gaps, strict=True), list(zip(sizes, gaps, strict=True))[1:], strict=False
        )
    ]
    small = [
        chance(Contrast(f"gap at d = {d}, n = {n}", _gap(d, n)), 0.01, parts=6)
        for d, n in panels.SIZES.values()
    ]
    return every([*falls, *small]).on("closed form")


def without_noise(source: Any) -> Outcome:
    """c03: GLiR's rate after one step less 1.25 times the level's, at d and at the rank."""
    table = source.table("gmip-fig-2")

    def test(name: str, _: int) -> Outcome:
        panel = f"{name}: one step"
        parts = []
        for k, fpr in itertools.product(("rank", "d"), (0.01, 0.1)):
            most = 1.25 * _rate(table, panel, f"level at K = {k}", fpr).difference
            tpr = _rate(table, panel, "GLiR", fpr)
            label = f"TPR at {100 * fpr:g}% FPR less 1.25 times the level's at K = {k}, {name}"
            parts.append(chance(tpr.minus(most, label), 0.0, parts=4))
        return every(parts)

    return over_data(_real(table), test)


def tight(source: Any) -> Outcome:
    """c04: GLiR with known moments against the predicted curve, AUC and TPR."""
    table = source.table("gmip-fig-2")
    panels = [p for p in dict.fromkeys(table["panel"]) if ": d = " in p]
    return summed_up(
        one for panel in panels for one in _against(table, panel, len(panels), _predicted)
    ).on("simulation")


def five_steps_of_glir(source: Any) -> Outcome:
    """c06: the AUC of five steps' summed log p less that of one."""
    table = source.table("gmip-ctl-2")

    def test(name: str, _: int) -> Outcome:
        label = f"AUC of GLiR, five steps less one, {name}"
        more = number(table, dataset=name, quantity=gradients.MORE_STEPS).scaled(0.01, label)
        if name != "CIFAR-10":
            return about(more, 0.02)
        return every([about(more, 0.02, parts=2), much_better(more, 0.0, parts=2)])

    return over_data(table, test)


def optimal_for_a_record(source: Any) -> Outcome:
    """c08: GLiR's score of one record over published means against their likelihood ratio's."""
    rng = np.random.default_rng(8)
    apart = []
    for d, n in panels.SIZES.values():
        k = d * rng.lognormal(0, 0.5)
        distance = np.sort(d / n * rng.noncentral_chisquare(d, n * k, 2000) / d)
        fixed = np.full_like(distance, k)
        score = glir_from_distance(distance, fixed, n, d)
        ratio = glir_log_ratio(distance, fixed, n, d)
        apart.append((np.sign(np.diff(score)) != np.sign(np.diff(ratio))).sum())
    label = "neighbouring means that GLiR and the likelihood ratio order otherwise"
    return identity(apart, 0.0, label, exact=True).on("closed form, Table 3's sizes")


def optimal(source: Any) -> Outcome:
    """c08: the optimal composition's TPR at 0.1% FPR over GLiR's, less 1.25."""
    d, n = panels.SIZES["CIFAR-10"]
    normal = stats.chi2.ppf((np.arange(200) + 0.5) / 200, d)
    found = {"simulation": chance(_composition_gain(normal, d, n, "K of normal gradients"), 0.0)}
    table = source.table("gmip-ctl-2")
    for name, audit in _audits(source).items():
        k = audit["susceptibility"].values[:, 0, ~gradients.members(audit)].ravel()
        rank = int(gradients.ranks(audit)[0, 0])
        gain = _composition_gain(k, rank, audit.attrs["batch_size"], f"K measured, {name}")
        found[name] = chance(gain, 0.0)
    if len(found) == 1:
        return on_simulation(found["simulation"])
    simulation = found.pop("simulation")
    real = over_data(table, lambda name, _: found[name])
    return replace(real, numbers=(*real.numbers, *simulation.numbers))


def beats_losses(source: Any) -> Outcome:
    """c09: GLiR's TPR at 1% FPR after five steps less the loss attack's."""
    table = source.table("gmip-fig-6")
    if _size(table, "Shadow models") < _LEAST_SHADOWS:
        return untested(f"it takes {_LEAST_SHADOWS} shadow models")

    def test(name: str, _: int) -> Outcome:
        part = rows_at(table, dataset=name, series="GLiR")
        panel = part["panel"].iloc[0]
        gradient, loss = (_rate(table, panel, s, 0.01) for s in ("GLiR", "loss (LiRA)"))
        return much_better(
            gradient.less(loss, f"TPR at 1% FPR of GLiR less the loss attack's, {name}"), 0.0
        )

    return over_data(table, test)


def robust(source: Any) -> Outcome:
    """c11 as it was fixed: small sizes and other laws together."""
    return _like_corollary(source, panels.ABLATIONS)


def small_sizes(source: Any) -> Outcome:
    """c11: GLiR for few dimensions and small batches against Corollary 5.1, size by size."""
    return _like_corollary(source, {n: x for n, x in panels.ABLATIONS.items() if " = " in n})


def other_laws(source: Any) -> Outcome:
    """c11: GLiR for gradients that are not normal against Corollary 5.1."""
    return _like_corollary(source, {n: x for n, x in panels.ABLATIONS.items() if " = " not in n})


def _like_corollary(source: Any, ablations: dict[str, tuple[int, int, Any]]) -> Outcome:
    table = source.table("gmip-fig-4")
    sizes = {name: size[:2] for name, size in ablations.items()}

    def predicted(part: pd.DataFrame, panel: str) -> np.ndarray:
        (d, n), fpr = sizes[panel], rows_at(part, series="GLiR")["fpr"].to_numpy()
        return privacy.gaussian_tpr(fpr, privacy.mip_mu_step(d, n, d))

    each = {panel: every(_against(table, panel, len(sizes), predicted)) for panel in sizes}
    whole = summed_up(
        one for panel in sizes for one in _against(table, panel, len(sizes), predicted)
    )
    said = "; ".join(f"{panel}: {one.word}" for panel, one in each.items())
    return replace(whole, reason=said).on("simulation")


def ratio_decides(source: Any) -> Outcome:
    """c12: the AUC of Theorem 5.1 when d and n grow fourfold, and when d / n doubles."""
    start, larger, wider = (_area(*size) for size in ((160, 125), (640, 500), (320, 125)))
    return every(
        [
            about(Contrast("AUC, d and n fourfold", larger - start), AUC, parts=2),
            much_better(Contrast("AUC, d / n doubled", wider - start), AUC, parts=2),
        ]
    ).on("closed form")


def composition(source: Any) -> Outcome:
    """c13: the numerical composition less Equation 10, at the paper's sizes."""
    table = source.table("gmip-ctl-9")
    labels = [theory.RECIPES[name].label for name in theory.DATASETS]
    parts = [
        chance(_over_equation_10(table, label, fpr), 0.001, parts=12)
        for label in labels
        for fpr in theory.LOW_RATES
    ]
    return summed_up(parts).on("computation")


def table_5(source: Any) -> Outcome:
    """c14: all 120 entries, and the same zeros."""
    table = source.table("gmip-tab-5")
    printed = published.reference("gmip_table5")
    printed["metric"] = printed["dataset"] + " (" + printed["method"] + ")"
    both = table.merge(printed, on=["mu", "metric"], suffixes=("", "_printed"))
    if len(both) < len(printed):
        return untested(f"it takes all {len(printed)} entries")
    ours, theirs = both["value"].to_numpy(), both["value_printed"].to_numpy(dtype=float)
    # Another zero is no rounding.
    apart = np.where((ours == 0) != (theirs == 0), 1.0, np.abs(ours - theirs))
    return identity(
        apart,
        0.01,
        "greatest distance of 120 entries from the printed ones",
        refuted=0.02,
        exact=True,
    ).on("computation")


def less_noise(source: Any) -> Outcome:
    """c15: the share of levels at which MIP needs less noise than DP, less one half."""
    table = source.table("gmip-tab-5")
    words = table["metric"].str.removesuffix(")").str.split(" (", regex=False, expand=True)
    wide = table.assign(dataset=words[0], notion=words[1])
    wide = wide.pivot_table(index=["dataset", "mu"], columns="notion", values="value")
    less = (wide["MIP"] < wide["DP"]).sum()
    label = f"share of levels with less noise ({less} of {len(wide)}) less one half"
    return much_better(Contrast(label, less / len(wide) - 0.5), 0.0).on("computation")


def more_accurate(source: Any) -> Outcome:
    """c18: at how many of the 20 levels GMIP is more accurate than GDP."""
    table = source.table("gmip-fig-3")
    if table["mu"].nunique() < 20:
        return untested("it takes 20 privacy levels")
    each = {one.attrs["set"]: one["accuracy"].sel(noise="independent") for one in _trained(source)}

    def test(name: str, count: int) -> Outcome:
        gains = each[name].sel(notion="mip") - each[name].sel(notion="gdp")
        found = [Contrast.of_units(gain, name) for gain in gains.values]
        # For 20 levels at once: where the tenth smallest gain is above 0, more than ten are.
        ends = np.array([one.interval(1 - 0.05 / len(found)) for one in found])
        low, high = np.sort(ends, axis=0)[9]
        label = f"tenth smallest of 20 gains ({(ends[:, 0] > 0).sum()} above 0), {name}"
        half = (high - low) / 2 / stats.norm.ppf(0.975)
        return better(Contrast(label, (low + high) / 2, half), 1.0, parts=count)

    return over_data(table, test, always=True)


def _size(table: pd.DataFrame, name: str) -> int:
    text = str(table.attrs.get("sizes", {}).get(name, "0")).replace(",", "")
    return int(text) if text.isdigit() else 0


def _real(table: pd.DataFrame) -> pd.DataFrame:
    found = table[table["panel"].str.endswith("one step")]
    if found.empty:
        raise InputError("the run has no audit on real gradients")
    found.attrs = table.attrs
    return found


def _rate(table: pd.DataFrame, panel: str, series: str, fpr: float) -> Contrast:
    return number(table, f"{series}, {panel}", panel=panel, series=series, fpr=fpr)


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
    found = rows_at(part, series="GLiR").reset_index(drop=True)
    fpr, curve = found["fpr"].to_numpy(), predicted(part, panel)
    each = [
        of_row(row).minus(expected, f"TPR at {100 * row['fpr']:.2g}% FPR less level, {panel}")
        for (_, row), expected in zip(found.iterrows(), curve, strict=True)
    ]
    inside = [one for one, rate in zip(each, fpr, strict=True) if 0.01 <= rate <= 0.99]
    parts = panels * (len(inside) + 1)
    area = Contrast(
        f"AUC of GLiR less the level's, {panel}",
        float(np.trapezoid([one.difference for one in each], fpr)),
        float(np.trapezoid([one.standard_error for one in each], fpr)),
        each[0].degrees_of_freedom,
        each[0].units,
    )
    return [about(area, AUC, parts=parts), *(about(one, 0.02, parts=parts) for one in inside)]


def _audits(source: Any) -> dict[str, Any]:
    """The evidence of single steps that a run has, by data set."""
    names = [f"steps-{word}" for word in source.settings.words.values()]
    found = [source.evidence(name) for name in names if source.has(name)]
    return {one.attrs["set"]: one for one in found}


def _trained(source: Any) -> list[Any]:
    """The evidence of Figure 3 that a run has."""
    names = [f"measured-{word}" for word in source.settings.words.values()]
    return [source.evidence(name) for name in names if source.has(name)]


def _composition_gain(k: np.ndarray, d: int, n: int, what: str) -> Contrast:
    levels = np.array([privacy.mip_mu_step(d, n, float(value)) for value in k])
    best = 1 - privacy.gaussian_mixture_tradeoff(0.001, levels)
    ours = 1 - privacy.constant_rate_tradeoff(0.001, levels)
    label = f"optimal composition's TPR at 0.1% FPR over GLiR's, less 1.25, {what}"
    return Contrast(label, float(best / ours) - 1.25)


def _over_equation_10(table: pd.DataFrame, label: str, fpr: float) -> Contrast:
    """The numerical rate less Equation 10's, its enclosure as the interval."""
    quantity = f"TPR at {100 * fpr:g}% FPR (%)"
    limit = rows_at(table, data=label, quantity=quantity, method="Equation 10")["value"].iloc[0]
    row = rows_at(table, data=label, quantity=quantity, method="numerical").iloc[0]
    half = (row["high"] - row["low"]) / 200
    name = f"numerical {quantity.removesuffix(' (%)')} less Equation 10's, {label}"
    return Contrast(name, (row["value"] - limit) / 100, half / stats.norm.ppf(0.975))
