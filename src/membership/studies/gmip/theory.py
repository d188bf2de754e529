"""What follows from the formulas alone: Figure 1, Table 5, and how loose the bounds are."""

import math
from typing import Any

import numpy as np
import pandas as pd

from membership import privacy, published
from membership.errors import InputError
from membership.studies.gmip import curves
from membership.studies.gmip.tasks import RECIPES

FIGURE_1 = ((13, 10), (65, 50), (650, 500))
MONTE_CARLO = ((10, 20, 0.0), (50, 20, 0.0), (650, 500, 0.0), (20, 60, 0.1), (100, 100, 0.5))
RATES = (0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
DATASETS = ("cifar10", "purchase_like", "adult")


def levels(count: int = 20) -> np.ndarray:
    """The privacy levels of Table 5: evenly spaced in logarithms from 0.4 to 50."""
    return np.exp(np.linspace(math.log(0.4), math.log(50), count))


def formula_attrs(**more: Any) -> dict[str, Any]:
    """The origin of a table that needed no data."""
    return {"data": {}, "deviations": [], "comparable": True, "device": "cpu", **more}


def figure_1(settings: Any) -> pd.DataFrame:
    """Trade-off curves of Theorem 5.1 and their Gaussian limits for growing d and n (Figure 1).

    Parameters
    ----------
    settings : Settings
        Not used; every exhibit takes it.

    Returns
    -------
    DataFrame
        Columns panel, series, fpr, fnr.
    """
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
    table = pd.concat(parts, ignore_index=True)
    table.attrs = formula_attrs(note="Dimensions are chosen here; the paper's are not recorded.")
    return table


def table_5(settings: Any) -> pd.DataFrame:
    """The noise that each privacy level needs, under both notions (Table 5).

    Returns
    -------
    DataFrame
        Columns mu (as printed, two decimals), metric (the paper's row, such as "CIFAR-10 (MIP)"),
        value (tau), low, high.
    """
    rows = [
        {"mu": round(mu, 2), "metric": f"{RECIPES[name].label} ({method})"}
        | curves.exactly(_noise(name, mu, notion))
        for name in DATASETS
        for method, notion in (("MIP", "mip"), ("DP", "gdp"))
        for mu in levels()
    ]
    table = pd.DataFrame(rows).drop(columns="n_repeats")
    table.attrs = formula_attrs()
    return table


def table_5_comparison(table: pd.DataFrame) -> pd.DataFrame:
    """Each entry of `table_5` beside the printed one, which has two decimals."""
    printed = published.table("gmip_table5").rename(columns={"tau": "value"})
    printed["metric"] = printed["dataset"] + " (" + printed["method"] + ")"
    return published.compare(table, printed, ["mu", "metric"], tolerance=0.005)


def table_5_finding(settings: Any) -> pd.DataFrame:
    """How often membership inference privacy asked for noise of its own in Table 5.

    Returns
    -------
    DataFrame
        One row a data set. Columns: how many noise levels are above 0 under MIP, and how many of
        those are the DP entry; the least and greatest ratio of the noise that Corollary 5.1 asks
        for to the DP noise at those levels; mu without noise with d for the number of parameters,
        as computed here and as the authors' notebook prints it, and with d for the rank of the
        gradients' covariance.
    """
    printed = published.table("gmip_text").set_index("quantity")["value"]
    rows = []
    for name in DATASETS:
        recipe = RECIPES[name]
        mip, dp, alone = (
            np.array([_noise(name, mu, notion) for mu in levels()])
            for notion in ("mip", "gdp", "mip-alone")
        )
        noisy = mip > 0
        ratio = alone[noisy] / dp[noisy]
        rank, n = (recipe.classes - 1) * (recipe.width + 1), recipe.batch_size
        free, at_rank = (
            privacy.subsampled_mu(privacy.mip_mu_step(*sizes), *_schedule(recipe))
            for sizes in (_typical(recipe), (rank, n, rank))
        )
        rows.append(
            {
                "dataset": recipe.label,
                "levels with noise": int(noisy.sum()),
                "equal to DP": int((mip == dp)[noisy].sum()),
                "Corollary 5.1 / DP, least": ratio.min(),
                "greatest": ratio.max(),
                "mu without noise": free,
                "the authors' output": float(printed[f"mu without noise {recipe.label}"]),
                "rank": rank,
                "mu without noise at the rank": at_rank,
            }
        )
    return pd.DataFrame(rows).set_index("dataset")


def monte_carlo(settings: Any) -> pd.DataFrame:
    """Theorem 5.1 against simulated tests (Control 1).

    The published mean is drawn under both hypotheses and the likelihood-ratio statistic U is
    compared with the theorem's threshold. In coordinates where the record lies on the first axis,
    the other d - 1 enter through a chi-squared draw.

    Parameters
    ----------
    settings : Settings
        Uses ``monte_carlo`` (draws under each hypothesis) and ``seed``.

    Returns
    -------
    DataFrame
        Columns d, n, tau, alpha, metric ("FPR" or "FNR"), value, low, high (value plus and minus
        1.96 standard errors), exact, deviation.
    """
    if settings.monte_carlo < 1000:
        raise InputError(f"monte_carlo = {settings.monte_carlo}: give at least 1,000 draws")
    rng = np.random.default_rng([settings.seed, 2])
    alpha = np.array(RATES)
    rows = []
    for d, n, tau in MONTE_CARLO:
        k, n_e = float(d), privacy.effective_batch_size(n, tau, 1.0)
        log_alpha = np.log(alpha)
        threshold = privacy.chi2.quantile(log_alpha, d, n_e * k) * n_e / n**2
        out = _statistic(rng, settings.monte_carlo, d, k, n, n_e, inside=False)
        inside = _statistic(rng, settings.monte_carlo, d, k, n, n_e, inside=True)
        exact = privacy.mip_tradeoff(alpha, d, n, k, tau, 1.0)
        for i, a in enumerate(alpha):
            for metric, rate, truth in (
                ("FPR", (out <= threshold[i]).mean(), a),
                ("FNR", (inside > threshold[i]).mean(), exact[i]),
            ):
                error = 1.96 * math.sqrt(max(truth * (1 - truth), 0) / settings.monte_carlo)
                key = {"d": d, "n": n, "tau": tau, "alpha": a, "metric": metric}
                found = {"value": rate, "low": rate - error, "high": rate + error}
                rows.append({**key, **found, "exact": truth, "deviation": abs(rate - truth)})
    table = pd.DataFrame(rows)
    table.attrs = formula_attrs(
        note=f"Greatest deviation {table['deviation'].max():.2g} in {settings.monte_carlo:,} draws."
    )
    return table


def control_1(draws: pd.DataFrame) -> pd.DataFrame:
    """The greatest deviations of `monte_carlo` over the ten levels, setting by setting.

    Returns
    -------
    DataFrame
        Columns d, n, tau, metric, value.
    """
    keys = ["d", "n", "tau", "metric"]
    table = draws.groupby(keys, sort=False)["deviation"].max().rename("value").reset_index()
    table["metric"] = "greatest deviation of the " + table["metric"]
    table.attrs = draws.attrs
    return table


def looseness(settings: Any) -> pd.DataFrame:
    """How much the composition and the noise bound give away (Control 5).

    Returns
    -------
    DataFrame
        Columns dataset, quantity, method, value, low, high. Quantities: "mu", "TPR at 1% FPR" (in
        %) after all steps without noise, by Equation 10, by its one-sided counterpart, and
        numerically (an enclosure); and "tau for mu = 0.4" by DP, by the paper's bound on the
        covariance, and for a flat spectrum of the same total C^2.
    """
    rows = []
    for name in DATASETS:
        recipe = RECIPES[name]
        n, n_records, steps = _schedule(recipe)
        step = privacy.mip_mu_step(*_typical(recipe))

        def add(quantity, method, value, low=None, high=None, label=recipe.label):
            key = {"dataset": label, "quantity": quantity, "method": method}
            low, high = (value if v is None else v for v in (low, high))
            rows.append({**key, "value": value, "low": low, "high": high})

        for method, order in (("Equation 10", "either"), ("one-sided", "fixed")):
            mu = privacy.subsampled_mu(step, n, n_records, steps, order=order)
            add("mu", method, mu)
            add("TPR at 1% FPR (%)", method, 100 * float(privacy.gaussian_tpr(0.01, mu)))
        enclosure = privacy.numerical_tradeoff(0.01, step, n, n_records, steps)
        best, worst = (100 * (1 - float(fnr)) for fnr in enclosure)
        add("TPR at 1% FPR (%)", "numerical", (best + worst) / 2, worst, best)
        add("tau for mu = 0.4", "DP", _noise(name, 0.4, "gdp"))
        add("tau for mu = 0.4", "eigenvalues at most C^2", _noise(name, 0.4, "mip-alone"))
        flat = recipe.clip / math.sqrt(recipe.classes * (recipe.width + 1))
        add("tau for mu = 0.4", "eigenvalues all C^2 / d", _noise(name, 0.4, "mip-alone", flat))
    table = pd.DataFrame(rows)
    table.attrs = formula_attrs(
        note="The last row of each data set holds for typical records, not as a guarantee."
    )
    return table


def _typical(recipe: Any) -> tuple[int, int, int]:
    d = recipe.classes * (recipe.width + 1)
    return d, recipe.batch_size, d


def _schedule(recipe: Any) -> tuple[int, int, int]:
    steps = math.ceil(recipe.n_records * recipe.epochs / recipe.batch_size)
    return recipe.batch_size, recipe.n_records, steps


def _noise(name: str, mu: float, notion: str, clip: float | None = None) -> float:
    recipe = RECIPES[name]
    d, n, k = _typical(recipe)
    _, n_records, steps = _schedule(recipe)
    return privacy.required_noise(mu, notion, d, n, k, clip or recipe.clip, n_records, steps)


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
