"""What follows from the formulas alone: Figure 1, Table 5, and how loose the bounds are."""

import math
from typing import Any

import numpy as np
import pandas as pd

from membership import metrics, privacy
from membership.book import published
from membership.book.exhibits.sentences import span
from membership.book.exhibits.tidy import tidy
from membership.book.studies.gmip.settings import RECIPES, Recipe, Settings
from membership.book.studies.gmip.setups import computed
from membership.metrics.rate_names import tpr_label

FIGURE_1 = ((13, 10), (65, 50), (650, 500))
MONTE_CARLO = ((10, 20, 0.0), (50, 20, 0.0), (650, 500, 0.0), (20, 60, 0.1), (100, 100, 0.5))
RATES = (0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
LOW_RATES = (0.001, 0.01, 0.1, 0.5)
FEW_STEPS = (400, 100, 10_000, 10)
"""d, n, N and T of an example where Equation 10 lies below the numerical rate."""
EXAMPLE = "d = {}, n = {}, N = {:,}, {} steps".format(*FEW_STEPS)
DATASETS = ("cifar10", "purchase_like", "adult")
METHODS = {"MIP": "mip", "DP": "gdp"}
"""The notions of Table 5, as it calls them."""


def levels(count: int = 20) -> np.ndarray:
    """The privacy levels of Table 5: evenly spaced in logarithms from 0.4 to 50."""
    return np.exp(np.linspace(math.log(0.4), math.log(50), count))


def figure_1() -> pd.DataFrame:
    """Trade-off curves of Theorem 5.1 and their Gaussian limits for growing d and n (Figure 1)."""
    alpha = np.linspace(0, 1, 201)
    parts = []
    for d, n in FIGURE_1:
        mu = privacy.mip_mu_step(d, n, d)
        for series, fnr in (
            ("Theorem 5.1", privacy.mip_tradeoff(alpha, d, n, d)),
            ("Gaussian limit", privacy.gaussian_tradeoff(alpha, mu)),
        ):
            key = {"panel": f"d = {d}, n = {n}", "series": series}
            parts.append(pd.DataFrame({**key, "fpr": alpha, "fnr": fnr}))
    return tidy(parts, computed(note="These dimensions are ours."))


def figure_1_said(table: pd.DataFrame) -> str:
    """How far the exact curve and its limit lie apart, at the smallest and the largest sizes."""
    wide = table.pivot_table(index=["panel", "fpr"], columns="series", values="fnr", sort=False)
    gap = (wide["Theorem 5.1"] - wide["Gaussian limit"]).abs().groupby("panel", sort=False).max()
    first, last = gap.index[0], gap.index[-1]
    return (
        f"The two curves are at most {100 * gap.iloc[0]:.1f} points apart for {first}, and "
        f"{100 * gap.iloc[-1]:.2f} for {last}."
    )


def table_5() -> pd.DataFrame:
    """The noise that each privacy level needs, under both notions (Table 5)."""
    rows = [
        {"mu": round(mu, 2), "metric": _entry(RECIPES[name].label, method)}
        | metrics.exactly(needed_noise(RECIPES[name], mu, notion))
        for name in DATASETS
        for method, notion in METHODS.items()
        for mu in levels()
    ]
    table = pd.DataFrame(rows).drop(columns="n_repeats")
    table.attrs = computed(setup={"formula": {}})
    return table


def table_5_judged(table: pd.DataFrame) -> pd.DataFrame:
    """Each entry of `table_5` beside the printed one, which has two decimals."""
    return published.compare(table, printed_table_5(), ["mu", "metric"])


def printed_table_5() -> pd.DataFrame:
    """The published entries, with a metric as `table_5` has it."""
    printed = published.reference("gmip_table5")
    pairs = zip(printed["dataset"], printed["method"], strict=True)
    printed["metric"] = [_entry(*pair) for pair in pairs]
    return printed


def _entry(label: str, method: str) -> str:
    """The metric of Table 5 that is of a data set and a notion, MIP or DP."""
    return f"{label} ({method})"


def by_notion(table: pd.DataFrame) -> pd.DataFrame:
    """Table 5 with columns dataset and notion, which its metrics name."""
    of = {_entry(r.label, method): (r.label, method) for r in _recipes() for method in METHODS}
    parts = table["metric"].map(of)
    return table.assign(dataset=parts.str[0], notion=parts.str[1])


def _recipes() -> list[Recipe]:
    return [RECIPES[name] for name in DATASETS]


def table_5_said(table: pd.DataFrame) -> str:
    """How many entries are the printed ones, and from which level on no noise is needed."""
    wide = by_notion(table)
    free = wide[(wide["notion"] == "MIP") & (wide["value"] == 0)]
    least = free.groupby("dataset", sort=False)["mu"].min()
    listing = ", ".join(f"{name} {mu:g}" for name, mu in least.items())
    return f"Membership inference privacy asks for no noise from these levels on: {listing}."


def table_5_origin() -> pd.DataFrame:
    """How often membership inference privacy asked for noise of its own in Table 5 (Control 8)."""
    printed = published.table("gmip_text").set_index("quantity")["value"]
    rows = []
    for name in DATASETS:
        recipe = RECIPES[name]
        mip, dp, alone = (
            np.array([needed_noise(recipe, mu, notion) for mu in levels()])
            for notion in ("mip", "gdp", "mip-alone")
        )
        noisy = mip > 0
        ratio = alone[noisy] / dp[noisy]
        d, n = recipe.dimension, recipe.batch_size
        free = _step(d, recipe)
        below_free = [
            mu for mu in free * np.linspace(0.9, 1, 10_001)[:-1] if _asks_for_less(mu, d, n)
        ]
        numbers = {
            "levels that need noise": noisy.sum(),
            "levels that need noise, but less than DP": (mip < dp)[noisy].sum(),
            "noise by Corollary 5.1 over that of DP, least": ratio.min(),
            "noise by Corollary 5.1 over that of DP, greatest": ratio.max(),
            "least mu of one step with less noise than DP, over the free one": below_free[0] / free,
            "mu without noise": _composed(free, recipe),
            "mu without noise, the authors' notebook": printed[f"mu without noise {recipe.label}"],
            "rank": recipe.rank,
            "mu without noise, with the rank for d": _composed(_step(recipe.rank, recipe), recipe),
        }
        key = {"dataset": recipe.label}
        rows += [{**key, "quantity": q, **metrics.exactly(float(v))} for q, v in numbers.items()]
    return tidy(rows, computed())


def table_5_origin_said(table: pd.DataFrame) -> str:
    """How many levels need noise, and how many of them less than DP."""
    count = table.groupby("quantity")["value"].sum()
    whole = len(levels()) * table["dataset"].nunique()
    less = count["levels that need noise, but less than DP"]
    return (
        f"Of {whole} levels {count['levels that need noise']:.0f} need noise for membership "
        f"inference privacy, {less:.0f} of them less than for differential privacy."
    )


def _asks_for_less(mu: float, d: int, n: int) -> bool:
    """Whether Corollary 5.1 reaches mu in one step with less noise than mu-GDP has."""
    return privacy.gdp_mu_of_mip(mu, d, n) > mu


def control_1(settings: Settings) -> pd.DataFrame:
    """The greatest deviations of simulated tests from Theorem 5.1 over ten levels, by setting.

    The published mean is drawn under both hypotheses and the likelihood-ratio statistic U is
    compared with the theorem's threshold. In coordinates where the record lies on the first axis,
    the other d - 1 enter through a chi-squared draw.
    """
    rng = np.random.default_rng([settings.seed, 2])
    alpha = np.array(RATES)
    rows = []
    for d, n, tau in MONTE_CARLO:
        k, n_e = float(d), privacy.effective_batch_size(n, tau, 1.0)
        threshold = privacy.chi2.quantile(np.log(alpha), d, n_e * k) * n_e / n**2
        out = _statistic(rng, settings.monte_carlo, d, k, n, n_e, inside=False)
        inside = _statistic(rng, settings.monte_carlo, d, k, n, n_e, inside=True)
        off = {
            "FPR": [(out <= at).mean() for at in threshold] - alpha,
            "FNR": [(inside > at).mean() for at in threshold]
            - privacy.mip_tradeoff(alpha, d, n, k, tau, 1.0),
        }
        rows += [
            {"d": d, "n": n, "tau": tau, "metric": deviation_of(rate), "value": abs(gap).max()}
            for rate, gap in off.items()
        ]
    return tidy(rows, computed(sizes={"Draws under each hypothesis": f"{settings.monte_carlo:,}"}))


def control_1_said(table: pd.DataFrame) -> str:
    """The greatest deviation of all."""
    return f"No simulated error rate is off by more than {100 * table['value'].max():.2f} points."


def deviation_of(rate: str) -> str:
    """The metric of Control 1 that is the deviation of a rate, FPR or FNR."""
    return f"greatest deviation of the {rate}"


def looseness() -> pd.DataFrame:
    """How much the composition and the noise bound give away (Control 9)."""
    rows = []
    for name in DATASETS:
        recipe = RECIPES[name]
        step = _step(recipe.dimension, recipe)
        schedule = (recipe.batch_size, recipe.n_records, recipe.steps)
        rows += _composition(recipe.label, step, schedule)
        flat = recipe.clip / math.sqrt(recipe.dimension)
        for method, notion, clip in (
            ("DP", "gdp", None),
            ("eigenvalues at most C^2", "mip-alone", None),
            ("eigenvalues all C^2 / d", "mip-alone", flat),
        ):
            tau = needed_noise(recipe, 0.4, notion, clip)
            rows.append(_bounded(recipe.label, "tau for mu = 0.4", method, tau))
    d, n, n_records, steps = FEW_STEPS
    rows += _composition(
        EXAMPLE,
        privacy.mip_mu_step(d, n, d),
        (n, n_records, steps),
    )
    return tidy(
        rows,
        computed(
            note="Noise for a flat spectrum is for records at K = d, the mean; it is no guarantee."
        ),
    )


def looseness_said(table: pd.DataFrame) -> str:
    """Equation 10 over the numerical rate at 0.1% FPR, at the paper's sizes and in the example."""
    rates = table[table["quantity"] == tpr_label(0.001)]
    wide = rates.pivot_table(index="data", columns="method", values="value")
    ratio = wide["Equation 10"] / wide["numerical"]
    return (
        f"At 0.1% FPR the TPR of Equation 10 is {span(ratio, 1, '')} times the one that is "
        "composed numerically."
    )


def _composition(label: str, step: float, schedule: tuple[int, int, int]) -> list[dict]:
    """mu and TPR after all steps by both limits, and the TPR's numerical enclosure."""
    n, n_records, steps = schedule
    rates = np.array(LOW_RATES)
    quantities = [tpr_label(rate) for rate in LOW_RATES]
    rows = []
    for method, order in (("Equation 10", "either"), ("one-sided", "fixed")):
        mu = privacy.subsampled_mu(step, n, n_records, steps, order=order)
        rows.append(_bounded(label, "mu", method, mu))
        tprs = 100 * privacy.gaussian_tpr(rates, mu)
        rows += [
            _bounded(label, *point) for point in zip(quantities, [method] * 4, tprs, strict=True)
        ]
    best, worst = (100 * (1 - fnr) for fnr in privacy.numerical_tradeoff(rates, step, *schedule))
    for quantity, high, low in zip(quantities, best, worst, strict=True):
        # What no attack exceeds is the tight end.
        rows.append(_bounded(label, quantity, "numerical", high, low, high))
    return rows


def _bounded(label: str, quantity: str, method: str, value: float, *ends: float) -> dict[str, Any]:
    """A row known exactly, or within an enclosure."""
    low, high = ends or (value, value)
    key = {"data": label, "quantity": quantity, "method": method}
    return {**key, "value": value, "low": low, "high": high}


def needed_noise(recipe: Recipe, mu: float, notion: str, clip: float | None = None) -> float:
    """The noise for a level, at the paper's K = d = the number of parameters."""
    d, n = recipe.dimension, recipe.batch_size
    c = clip or recipe.clip
    return privacy.required_noise(mu, notion, d, n, d, c, recipe.n_records, recipe.steps)


def _step(dimension: int, recipe: Recipe) -> float:
    """mu of one step without noise at K = d."""
    return privacy.mip_mu_step(dimension, recipe.batch_size, dimension)


def _composed(mu: float, recipe: Recipe, order: str = "either") -> float:
    n, steps = recipe.batch_size, recipe.steps
    return privacy.subsampled_mu(mu, n, recipe.n_records, steps, order=order)


def _statistic(
    rng: np.random.Generator, draws: int, d: int, k: float, n: int, n_e: float, inside: bool
) -> np.ndarray:
    """U = |y - (n_e/n - 1) delta|^2 of whitened draws y of the published mean less the record."""
    if inside:
        centre, variance = -math.sqrt(k) * (n - 1) / n, (n_e - 1) / n**2
    else:
        centre, variance = -math.sqrt(k), n_e / n**2
    shift = (n_e / n - 1) * math.sqrt(k)
    first = centre + math.sqrt(variance) * rng.standard_normal(draws) - shift
    return first**2 + variance * rng.chisquare(d - 1, draws)
