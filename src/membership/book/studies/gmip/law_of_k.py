"""Levels of single records: the law of K on real gradients, and an attack that heeds it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy import stats

from membership import metrics, plots, privacy
from membership.arrays import BoolArray, FloatArray
from membership.attacks.glir import glir_log_ratio
from membership.book.exhibits.rows import of_each
from membership.book.exhibits.tidy import tidy
from membership.book.studies.gmip.audit import (
    SIZES,
    SUMMARY_RATES,
    Audits,
    glir_scores,
    members,
    ranks,
)
from membership.book.studies.gmip.settings import RECIPES, Recipe, Settings
from membership.book.studies.gmip.setups import SIMULATED, observed, recipe_of
from membership.metrics.rate_names import tpr_label

if TYPE_CHECKING:
    from matplotlib.figure import Figure

QUANTILES = {0.01: "1% of records", 0.5: "median", 0.99: "99% of records", 1.0: "largest"}
RECORDS = {"1% quantile": 0.01, "median": 0.5, "99% quantile": 0.99, "largest K": 1.0}
"""The records whose levels are told, by the quantile of their K."""
_MOST_LEVELS = 50
ONE_STEP = "mu of one step"
TOP = "upper twentieth of K"
RATES = (0.01, 0.1)
TRAINED_RATES = (0.001, 0.01)
_QUANTITIES = ("AUC (%)", *map(tpr_label, RATES))
_NOTE = (
    "K is scaled to its mean, the rank. One step with the audit's batch; all steps with the "
    "batches of Table 4, at the K of the first step."
)


def k_over_rank(audit: xr.Dataset) -> FloatArray:
    """K over the rank at the first step, of the records that are no members, (models, n).

    Scaled so that every model's mean is 1, as it is with exact moments: those of a background make
    K larger, by a share rank over records where gradients are normal, else by more.
    """
    k = audit["susceptibility"].values[:, 0, ~members(audit)].astype(np.float64)
    return k / k.mean(axis=1, keepdims=True)


def control_6(audits: Audits, settings: Settings) -> pd.DataFrame:
    """K of real gradients, and what records with a large K lose."""
    return tidy([*quantiles(audits), *susceptible_records(settings)], observed(audits))


def control_6_drawn(table: pd.DataFrame) -> "Figure":
    """Control 6: the records' K as a strip from the lowest to the largest, beside the law's."""
    words = {k_at(quantile): word for quantile, word in QUANTILES.items()}
    shown = table[table["quantity"].isin(words)]
    row = shown["data"].where(shown["method"] == "measured", shown["data"] + ", if normal")
    shown = shown.assign(row=row, at=shown["quantity"].map(words)).sort_values(
        "data", key=lambda data: data.map(list(data.unique()).index), kind="stable"
    )
    return plots.dots_by_row(
        shown,
        "row",
        by="at",
        label="K over the rank (the average record has 1)",
        baseline=1.0,
        log_x=True,
        joined=True,
    )


def quantiles(audits: Audits) -> list[dict[str, Any]]:
    """K of real gradients over their rank, then by the chi-squared law, which has no largest K."""
    measured, by_law = [], []
    for audit in audits:
        rank, k = int(ranks(audit)[0, 0]), k_over_rank(audit)
        for q in QUANTILES:
            key = {"data": audit.attrs["set"], "quantity": k_at(q)}
            shares = metrics.summary(np.quantile(k, q, axis=1), lowest=0.0)
            measured.append({**key, "method": "measured", **shares})
            if q < 1:
                law = metrics.exactly(stats.chi2.ppf(q, rank) / rank)
                by_law.append({**key, "method": "chi-squared law", **law})
    return measured + by_law


def k_at(quantile: float) -> str:
    """The quantity of Control 6 that is K over the rank at a quantile."""
    return f"K / rank, quantile {quantile:g}"


def levels(audits: Sequence[xr.Dataset]) -> pd.DataFrame:
    """What single records are promised: one step, and all steps of Table 4 without noise.

    The last two rows of a data set are the paper's, at K = d for all records, and the best attack
    on records of which each has its own K.
    """
    rows = []
    for audit in audits:
        key, k_of_models = {"data": audit.attrs["set"]}, k_over_rank(audit)
        r = _of_table_4(audit)
        for record, q in RECORDS.items():
            of_record = np.quantile(k_of_models, q, axis=1)
            step = [_step(audit, audit.attrs["batch_size"], share) for share in of_record]
            values = {"K / rank": of_record, ONE_STEP: step}
            rows += of_each({**key, "record": record}, "quantity", values)
            if r:
                rows += _rates(key, record, [_composed(audit, r, share) for share in of_record])
        if r:
            every = [_mixture(audit, r, shares) for shares in k_of_models]
            rows += _rates(key, "all, each with its own K", every)
        rows += _at_mean(key, audit, r)
    return tidy(rows, observed(audits, note=_NOTE))


def _at_mean(key: dict[str, str], audit: xr.Dataset, r: Recipe | None) -> list[dict[str, Any]]:
    """The paper's level, at K = d parameters."""
    key = {**key, "record": "K = d (Equation 10)"}
    d = recipe_of(audit).dimension
    step = privacy.mip_mu_step(d, audit.attrs["batch_size"], d)
    rows = [{**key, "quantity": ONE_STEP, **metrics.exactly(step)}]
    if r:
        step = privacy.mip_mu_step(d, r.batch_size, d)
        whole = privacy.subsampled_mu(step, r.batch_size, r.n_records, r.steps)
        tpr = 100 * privacy.gaussian_tpr(np.array(TRAINED_RATES), whole)
        rows += [
            {**key, "quantity": _quantity(rate), **metrics.exactly(float(value))}
            for rate, value in zip(TRAINED_RATES, tpr, strict=True)
        ]
    return rows


def _quantity(rate: float) -> str:
    return f"TPR at {100 * rate:g}% FPR after training (%)"


def _rates(key: dict[str, str], record: str, rates: list[FloatArray]) -> list[dict[str, Any]]:
    values = dict(zip(map(_quantity, TRAINED_RATES), 100 * np.array(rates).T, strict=True))
    return of_each({**key, "record": record}, "quantity", values, lowest=0.0, highest=100.0)


def _of_table_4(audit: xr.Dataset) -> Recipe | None:
    """The sizes of the paper's training on this data set; audits take all members at every step."""
    recipes = [recipe for recipe in RECIPES.values() if recipe.label == audit.attrs["published"]]
    return recipes[0] if recipes else None


def _step(audit: xr.Dataset, n: int, share: float) -> float:
    """mu of one step on a batch of n, at a K of this share of the rank."""
    rank = int(ranks(audit)[0, 0])
    return privacy.mip_mu_step(rank, n, share * rank)


def _composed(audit: xr.Dataset, r: Recipe, share: float) -> FloatArray:
    mu = min(_step(audit, r.batch_size, share), privacy.MOST_NUMERICAL_MU)
    tradeoff = privacy.numerical_tradeoff(
        TRAINED_RATES, mu, r.batch_size, r.n_records, r.steps, grid=14
    )
    return 1 - tradeoff.low


def _mixture(audit: xr.Dataset, r: Recipe, shares: FloatArray) -> FloatArray:
    """The best attack's rates, the records' K at evenly spaced quantiles."""
    middle = (np.arange(_MOST_LEVELS) + 0.5) / _MOST_LEVELS
    mu = np.array([_step(audit, r.batch_size, k) for k in np.quantile(shares, middle)])
    mu = np.minimum(mu, privacy.MOST_NUMERICAL_MU)
    schedule = (r.batch_size, r.n_records, r.steps)
    return 1 - privacy.composed_mixture_tradeoff(TRAINED_RATES, mu, *schedule)


def likelihood_ratio(audits: Sequence[xr.Dataset]) -> pd.DataFrame:
    """One threshold on the likelihood ratio of all records against GLiR's on p-values.

    Of the records with the largest K alone the AUC is told: they are too few for a low rate.
    """
    rows = []
    for audit in audits:
        scores = {"GLiR": glir_scores(audit)[:, 0], "likelihood ratio": log_ratios(audit)}
        for group, share, quantities in (
            ("all records", 1.0, _QUANTITIES),
            (TOP, 0.05, _QUANTITIES[:1]),
        ):
            in_group, member = _largest(audit, share), members(audit)
            if not all((in_group & side).any(axis=1).all() for side in (member, ~member)):
                continue  # so few records that those with the largest K are all on one side
            numbers = {name: _numbers(audit, score, in_group) for name, score in scores.items()}
            for i, quantity in enumerate(quantities):
                key = {"data": audit.attrs["set"], "asked": group, "quantity": quantity}
                values = {name: of_attack[:, i] for name, of_attack in numbers.items()}
                rows += of_each(key, "attack", values, lowest=0.0, highest=100.0)
                gain = values["likelihood ratio"] - values["GLiR"]
                rows += of_each(key, "attack", {"likelihood ratio less GLiR": gain})
    return tidy(rows, observed(audits, note="Differences are paired by model."))


def log_ratios(audit: xr.Dataset) -> FloatArray:
    """The log-likelihood ratio of every record after one step, (models, records)."""
    n = audit.attrs["batch_size"]
    numbers = audit["distance"].values[:, 0], audit["susceptibility"].values[:, 0]
    triples = zip(*numbers, ranks(audit)[:, 0], strict=True)
    return np.array([glir_log_ratio(*pair, n, rank) for *pair, rank in triples])


def _largest(audit: xr.Dataset, share: float) -> BoolArray:
    """The records with the largest K at the first step, (models, records)."""
    k = audit["susceptibility"].values[:, 0]
    return k >= np.quantile(k, 1 - share, axis=1, keepdims=True)


def _numbers(audit: xr.Dataset, score: FloatArray, in_group: BoolArray) -> FloatArray:
    """AUC and rates in percent of every model, of some records."""
    member = members(audit)
    numbers = []
    for of_model, chosen in zip(score, in_group, strict=True):
        pair = of_model[chosen], member[chosen]
        numbers.append([metrics.auc(*pair), *(metrics.tpr_at_fpr(*pair, rate) for rate in RATES)])
    return 100 * np.array(numbers)


def susceptible_records(settings: Settings) -> list[dict[str, Any]]:
    """What records with a large K lose, and the attack that targets them."""
    d, n = SIZES["CIFAR-10"]
    spread = np.sqrt(np.log(2.0))
    rng = np.random.default_rng([settings.seed, 8])
    k = d * np.exp(spread * rng.standard_normal(4000) - spread**2 / 2)
    levels = np.array([privacy.mip_mu_step(d, n, value) for value in k])
    rows = []
    for fpr in SUMMARY_RATES:
        key = {"data": f"{SIMULATED}, lognormal K", "quantity": f"TPR (%) at FPR {fpr:g}"}
        for attack, tpr in (
            ("all records at K = d", privacy.gaussian_tpr(fpr, privacy.mip_mu_step(d, n, d))),
            ("one FPR for all (GLiR)", 1 - privacy.constant_rate_tradeoff(fpr, levels)),
            ("optimal composition", 1 - privacy.gaussian_mixture_tradeoff(fpr, levels)),
        ):
            rows.append({**key, "method": attack, **metrics.exactly(100 * float(tpr))})
    return rows
