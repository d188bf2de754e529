"""How much noise a level takes by the spectrum of the gradients, not by C^2 (Control 21).

The paper's Theorem 5.1 takes every eigenvalue of the covariance to be as large as C^2 may be. With
the covariance S = Sigma / n + tau^2 I of what is published, a record whose gradient lies delta from
the mean has the level mu^2 = delta' S^-1 delta / n^2: by Neyman and Pearson where means are normal
and what one record changes in S, a share of 1 / n, is left aside. S exceeds tau^2 I and, with
eigenvalues of at most C^2, (1 / n + tau^2 / C^2) Sigma: the level is at most that of differential
privacy, 2 C / (n tau) or |delta| / (n tau), and mu^2 is at most K / n_e, the paper's.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from scipy.optimize import brentq

from membership import evidence, metrics, plots, privacy
from membership.arrays import FloatArray
from membership.book.exhibits.rows import of_each
from membership.book.exhibits.tidy import tidy
from membership.book.studies.gmip import experiment
from membership.book.studies.gmip.experiment import Task, audited, origin, task_of
from membership.book.studies.gmip.noise import clipped, turned
from membership.book.studies.gmip.settings import Settings
from membership.book.studies.gmip.setups import observed
from membership.metrics.rate_names import tpr_label

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEVELS = (0.1, 0.4)
QUANTILES = {"median record": 0.5, "99% of records": 0.99, "every record asked": 1.0}
NORMS = ("largest norm", "median norm")
"""What C is: no gradient is clipped, or half of them are."""
GDP, PAPER, NORM, SPECTRUM = (
    "differential privacy",
    "eigenvalues at most C^2",
    "the record's norm alone",
    "eigenvalues measured",
)
OVER_GDP = "tau over that of differential privacy"
METHODS = (GDP, PAPER, NORM, SPECTRUM)
PROTECTED = "99% of records"
GROUPS = {"records about the median": (0.49, 0.51), "records of the largest 1%": (0.99, 1.0)}
ATTACKED = ("AUC (%)", tpr_label(0.01))
_LAW, _ASKED, _AT_ONCE, _OF_SPECTRUM = 10_000, 5000, 500, 22


class Gradients(NamedTuple):
    """In the eigenvectors of the covariance, mean 0: of the law's records and of the queries."""

    law: FloatArray
    queries: FloatArray
    square: FloatArray
    variance: FloatArray
    clip: float


def gradients(task: Task, settings: Settings, model: int, norm: str) -> Gradients:
    """The gradients before the first step, clipped at the largest norm or at the median one."""
    parts = experiment.split(task, settings, model)
    weight = experiment.trajectory(task, parts.members, 1, settings.seed + model)[0]
    rng = np.random.default_rng([settings.seed, _OF_SPECTRUM, model])
    order = rng.permutation(len(task.y))
    rows = np.split(order, [min(_LAW, 2 * len(order) // 3)])
    of_law, queries = (
        experiment.gradients(task, weight, part) for part in (rows[0], rows[1][:_ASKED])
    )
    lengths = np.linalg.norm(np.concatenate([of_law, queries]), axis=1)
    clip = float(lengths.max() if norm == NORMS[0] else np.median(lengths))
    of_law, queries = clipped(of_law, clip), clipped(queries, clip)
    variance, (law, queries) = turned(of_law, of_law, queries)
    return Gradients(law, queries, np.square(queries), variance, clip)


def record_levels(square: FloatArray, variance: FloatArray, n: int, tau: float) -> FloatArray:
    """mu of each record in one step, from squares of its entries along the eigenvectors."""
    return np.sqrt(square @ (1 / (n * variance + (n * tau) ** 2)))


def needed(g: Gradients, n: int, mu: float, share: float, method: str) -> float:
    """The noise at which a share of the records asked has at most a level."""
    if method == GDP:
        return 2 * g.clip / (n * mu)
    if method == NORM:
        return float(np.quantile(np.sqrt(g.square.sum(axis=1)), share)) / (n * mu)
    rank = len(g.variance)
    k = float(np.quantile(record_levels(g.square, g.variance, n, 0.0), share)) ** 2 * n

    def excess(tau: float) -> float:
        if method == PAPER:
            return privacy.mip_mu_step(rank, n, k, tau, g.clip) - mu
        return float(np.quantile(record_levels(g.square, g.variance, n, tau), share)) - mu

    if excess(0.0) <= 0:
        return 0.0
    return float(brentq(excess, 0.0, 1e3 * g.clip / mu, xtol=1e-12, rtol=1e-9))


def attacked(
    g: Gradients, n: int, tau: float, rng: np.random.Generator, batches: int
) -> tuple[FloatArray, FloatArray]:
    """What the best test of each record finds in batches of real gradients, and what is promised.

    Each batch is drawn from the law's records; a member takes the place of one of them. Rows are
    `GROUPS`, columns `ATTACKED`, in percent.
    """
    level = record_levels(g.square, g.variance, n, tau)
    weight = g.queries / (n * g.variance + (n * tau) ** 2) * n
    weight /= np.sqrt(np.square(weight) @ (g.variance / n + tau**2))[:, None]
    groups = [
        np.flatnonzero((level >= np.quantile(level, low)) & (level <= np.quantile(level, high)))
        for low, high in GROUPS.values()
    ]
    chosen = np.concatenate(groups)
    of = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    delta, weight, level = g.queries[chosen], weight[chosen], level[chosen]
    sides: list[FloatArray] = []
    for inside in (False, True):
        sums = _batch_sums(g.law @ weight.T, n - inside, batches, rng) / n
        own = (delta * weight).sum(axis=1) / n if inside else 0.0
        sides.append(sums + tau * rng.standard_normal((batches, len(g.variance))) @ weight.T + own)
    member = np.arange(2 * batches) >= batches
    measured, promised = [], []
    for group in range(len(groups)):
        score = np.concatenate(sides)[:, of == group].ravel()
        truth = np.repeat(member, (of == group).sum())
        measured.append([metrics.auc(score, truth), metrics.tpr_at_fpr(score, truth, 0.01)])
        mus = level[of == group]
        promised.append(
            np.mean([[privacy.gaussian_auc(mu), privacy.gaussian_tpr(0.01, mu)] for mu in mus], 0)
        )
    return 100 * np.array(measured), 100 * np.array(promised)


def _batch_sums(
    values: FloatArray, size: int, batches: int, rng: np.random.Generator
) -> FloatArray:
    """Sums over batches of rows, each batch drawn without replacement: (batches, columns)."""
    parts = []
    for start in range(0, batches, _AT_ONCE):
        chosen = np.zeros((min(_AT_ONCE, batches - start), len(values)))
        for of_batch in chosen:
            of_batch[rng.choice(len(values), size, replace=False)] = 1
        parts.append(chosen @ values)
    return np.concatenate(parts)


@evidence.version(2)
def spectral(name: str, settings: Settings) -> xr.Dataset:
    """Evidence: noise by model, norm, level, quantile and method; the attack at that for 99%."""
    task = task_of(name, settings)
    models = range(settings.audit_models)
    parts = [[_at_norm(task, settings, model, norm) for norm in NORMS] for model in models]
    first = ("model", "norm")
    dims = {
        "tau": (*first, "level", "share", "bound"),
        "found": (*first, "level", "group", "attack"),
        "promised": (*first, "level", "group", "attack"),
        "clip": first,
    }
    return evidence.dataset(
        "measured",
        {
            key: (dim, np.array([[part[key] for part in of_model] for of_model in parts]))
            for key, dim in dims.items()
        },
        {
            "norm": list(NORMS),
            "level": list(LEVELS),
            "share": list(QUANTILES),
            "bound": list(METHODS),
            "group": list(GROUPS),
            "attack": list(ATTACKED),
        },
        **origin(task, settings, steps=1),
        sizes=audited(settings)
        | {"Batch": f"{task.batch:,}", "Batches a side": f"{settings.spectral_batches:,}"},
    )


def _at_norm(task: Task, settings: Settings, model: int, norm: str) -> dict[str, Any]:
    g, n = gradients(task, settings, model, norm), task.batch
    rng = np.random.default_rng([settings.seed, _OF_SPECTRUM, model, NORMS.index(norm)])
    shares = QUANTILES.values()
    taus = [needed(g, n, mu, QUANTILES[PROTECTED], SPECTRUM) for mu in LEVELS]
    outcomes = [attacked(g, n, tau, rng, settings.spectral_batches) for tau in taus]
    return {
        "tau": [[[needed(g, n, mu, q, m) for m in METHODS] for q in shares] for mu in LEVELS],
        "found": [rates for rates, _ in outcomes],
        "promised": [rates for _, rates in outcomes],
        "clip": g.clip,
    }


def by_spectrum(measured: Sequence[xr.Dataset]) -> pd.DataFrame:
    """Noise by each bound, over that of differential privacy too; and the attack under it."""
    rows: list[dict[str, Any]] = []
    for audit in measured:
        for norm in NORMS:
            at = audit.sel(norm=norm)
            key = {"data": audit.attrs["set"], "C": norm}
            clip = metrics.summary(at["clip"].values)
            rows.append({**key, "mu": 0.0, "record": "all", "method": "", "quantity": "C", **clip})
            for mu in LEVELS:
                rows += [{**key, "mu": mu, **row} for row in _noises(at.sel(level=mu))]
                rows += [{**key, "mu": mu, **row} for row in _outcomes(at.sel(level=mu))]
    note = "Levels of one step at the first weights; without noise mu of a record is sqrt(K / n)."
    return tidy(rows, observed(measured, note=note))


def by_spectrum_drawn(table: pd.DataFrame) -> "Figure":
    """Control 21: the noise that the larger level takes by each bound, for shares of records."""
    shown = table[table["quantity"] == OVER_GDP]
    shown = shown[shown["mu"] == shown["mu"].max()]
    return plots.dots_by_row(
        shown.assign(panel="C = " + shown["C"]),
        "record",
        by="method",
        panel="panel",
        label=f"noise over that of differential privacy, mu = {shown['mu'].iloc[0]:g}",
        baseline=1.0,
        baseline_label="differential privacy",
        log_x=True,
    )


def _noises(at: xr.Dataset) -> list[dict[str, Any]]:
    rows = []
    for record in QUANTILES:
        tau = at["tau"].sel(share=record)
        base = tau.sel(bound=GDP).values
        for method in METHODS:
            values, key = tau.sel(bound=method).values, {"record": record, "method": method}
            rows.append({**key, "quantity": "tau", **metrics.summary(values, lowest=0.0)})
            if method != GDP:
                ratio = metrics.summary(values / base, lowest=0.0)
                rows.append({**key, "quantity": OVER_GDP, **ratio})
    return rows


def _outcomes(at: xr.Dataset) -> list[dict[str, Any]]:
    rows = []
    for group in GROUPS:
        for quantity in ATTACKED:
            measured, promised = (
                at[name].sel(group=group, attack=quantity).values for name in ("found", "promised")
            )
            key = {"record": group, "quantity": quantity}
            values = {"found": measured, "promised": promised}
            values["found less promised"] = measured - promised
            rows += of_each(key, "method", values)
    return rows
