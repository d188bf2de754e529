"""Audits on real gradients: Figures 2b and 2c, and what those gradients are like.

Every model is a softmax layer trained on one batch: its n members, all at every step (Table 3).
The attacker sees each step's mean gradient, knows the parameters before it, and has other records
of the same kind to estimate the gradients' moments on.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import torch

from membership import privacy
from membership.attacks.glir import glir, glir_whitened, gradient_moments, whitening
from membership.errors import InputError
from membership.metrics.arrays import FloatArray
from membership.studies.gmip import curves
from membership.studies.gmip.simulated import figure_2a
from membership.studies.gmip.tasks import Task, attrs
from membership.training.private import initial_weight, record_gradients

QUANTILES = (0.01, 0.5, 0.99, 1.0)
NOMINAL = (0.05, 0.01, 0.001)


@dataclass(frozen=True)
class Split:
    """One audited model's records, as positions: its members, as many others, the background."""

    members: np.ndarray
    others: np.ndarray
    background: np.ndarray


@dataclass(frozen=True)
class Audit:
    """One audited model.

    Attributes
    ----------
    score : numpy.ndarray, shape (steps, 2 n)
        GLiR's -log p at each step; members first.
    authors : numpy.ndarray, shape (2 n,)
        The same at the first step, as the released code computes it.
    susceptibility : numpy.ndarray, shape (n,)
        K of the others at the first step.
    eigenvalues : numpy.ndarray, shape (rank,)
        Of the gradients' covariance at the first step, above 0.
    largest : float
        The largest norm of a background gradient at the first step.
    """

    score: FloatArray
    authors: FloatArray
    susceptibility: FloatArray
    eigenvalues: FloatArray
    largest: float


Audits = list[tuple[Task, list[Audit]]]


def audit(some: list[Task], settings: Any) -> Audits:
    """Train and attack ``audit_models`` models on each data set.

    Parameters
    ----------
    some : list of Task
        From `tasks`.
    settings : Settings
        Uses ``audit_models``, ``audit_steps``, ``n_background`` and ``seed``.

    Raises
    ------
    InputError
        Fewer than two models, or too few records.
    """
    if settings.audit_models < 2:
        raise InputError(f"audit_models = {settings.audit_models}: an interval needs at least 2")
    found = []
    for task in some:
        splits = [split(task, settings, model) for model in range(settings.audit_models)]
        found.append((task, [_attack(task, s, settings, i) for i, s in enumerate(splits)]))
    return found


def split(task: Task, settings: Any, model: int) -> Split:
    """Members and background from the training records, others from the test records."""
    rng = np.random.default_rng([settings.seed, 9, model])
    n = min(task.recipe.audit_batch, task.n_test)
    train = task.n_test + rng.permutation(task.recipe.n_records)
    left = train[n:]
    size = min(settings.n_background, len(left))
    return Split(train[:n], rng.choice(task.n_test, n, replace=False), left[:size])


def trajectory(task: Task, members: np.ndarray, steps: int, seed: int) -> list[FloatArray]:
    """Weights of shape (classes, width + 1) before each of several steps of Adam on one batch."""
    generator = torch.Generator().manual_seed(seed)
    weight = initial_weight(task.recipe.classes, task.recipe.width + 1, generator).double()
    optimiser = torch.optim.Adam([weight], lr=task.recipe.learning_rate)
    before = []
    for _ in range(steps):
        before.append(weight.numpy().copy())
        gradient = record_gradients(before[-1], task.features[members], task.y[members])
        weight.grad = torch.as_tensor(gradient.mean(axis=0)).view(weight.shape)
        optimiser.step()
    return before


def figure_2(audits: Audits, settings: Any) -> pd.DataFrame:
    """ROC curves of GLiR after one and after several steps (Figures 2b, 2c and 5).

    Parameters
    ----------
    audits : list
        From `audit`.
    settings : Settings
        Uses ``audit_steps``.

    Returns
    -------
    DataFrame
        Columns panel, dataset, series, fpr, tpr, low, high, n_repeats. The paper's bound takes
        the number of parameters for d; the other the rank of the gradients' covariance.
    """
    parts = []
    for task, models in audits:
        n, member = _batch(models[0]), _member(models[0])
        rank = len(models[0].eigenvalues)
        for steps, text in ((1, "one step"), (settings.audit_steps, "steps, sum of log p")):
            text = text if steps == 1 else f"{steps} {text}"
            key = {"panel": f"{task.name}: {text}", "dataset": task.name}
            scores = [model.score[:steps].sum(axis=0) for model in models]
            parts.append(curves.measured({**key, "series": "GLiR"}, scores, member))
            for d, series in ((task.dimension, "bound, d"), (rank, "bound, rank for d")):
                mu = privacy.composed_mu(privacy.mip_mu_step(d, n, d), steps)
                parts.append(curves.gaussian({**key, "series": series}, mu))
    table = pd.concat(parts, ignore_index=True)
    table.attrs = _origin(audits)
    return table


def figure_2_all(audits: Audits, settings: Any) -> pd.DataFrame:
    """Figures 2a, 2b and 2c as one table: simulated gradients, then real ones."""
    simulated_part, real = figure_2a(settings), figure_2(audits, settings)
    table = pd.concat([simulated_part, real], ignore_index=True)
    table.attrs = real.attrs | {"note": simulated_part.attrs["note"]}
    return table


def rank_table(audits: Audits) -> pd.DataFrame:
    """The rank of the gradients' covariance, and the level that follows (Control 2).

    Returns
    -------
    DataFrame
        Columns dataset, metric, value, low, high, n_repeats. AUCs in percent.
    """
    rows = []
    for task, models in audits:
        n, member, d = _batch(models[0]), _member(models[0]), task.dimension
        ranks = {len(model.eigenvalues) for model in models}
        r = min(ranks)
        by_d, by_rank = privacy.mip_mu_step(d, n, d), privacy.mip_mu_step(r, n, r)
        exact = {
            "parameters d": d,
            "batch size n": n,
            "rank, least of all models": r,
            "rank, greatest of all models": max(ranks),
            "mu with d": by_d,
            "mu with the rank": by_rank,
            "AUC expected with d (%)": 100 * privacy.gaussian_auc(by_d),
            "AUC expected with the rank (%)": 100 * privacy.gaussian_auc(by_rank),
        }
        key = {"dataset": task.name}
        rows += [{**key, "metric": m, **curves.exactly(v)} for m, v in exact.items()]
        for name, scores in (
            ("AUC of GLiR, one step (%)", [model.score[0] for model in models]),
            ("AUC of GLiR, all steps (%)", [model.score.sum(axis=0) for model in models]),
            ("AUC of the released code, one step (%)", [model.authors for model in models]),
        ):
            rows.append({**curves.area(key, scores, member), "metric": name})
    table = pd.DataFrame(rows)
    table.attrs = _origin(audits)
    return table


def real_calibration(audits: Audits) -> pd.DataFrame:
    """FPR at nominal rates with moments estimated on real gradients (part of Control 3).

    Returns
    -------
    DataFrame
        Columns dataset, convention, nominal (in %), metric ("FPR(%)"), value, low, high,
        n_repeats.
    """
    rows = []
    for task, models in audits:
        others = ~_member(models[0])
        for convention in ("paper", "authors"):
            scores = [m.score[0] if convention == "paper" else m.authors for m in models]
            for nominal in NOMINAL:
                rates = [100 * (np.exp(-score[others]) < nominal).mean() for score in scores]
                key = {
                    "dataset": task.name,
                    "convention": convention,
                    "nominal": round(100 * nominal, 6),
                }
                rows.append({**key, "metric": "FPR(%)", **curves.spread(rates)})
    table = pd.DataFrame(rows)
    table.attrs = _origin(audits)
    return table


def susceptibility(audits: Audits) -> pd.DataFrame:
    """K of real gradients over their rank, against the chi-squared law (Control 7).

    Returns
    -------
    DataFrame
        Columns dataset, quantile, metric ("K / rank"), value, low, high, n_repeats, chi2: what it
        would be if K followed the chi-squared law (empty for the maximum).
    """
    from scipy import stats

    rows = []
    for task, models in audits:
        rank = len(models[0].eigenvalues)
        for q in QUANTILES:
            found = [np.quantile(m.susceptibility, q) / len(m.eigenvalues) for m in models]
            law = stats.chi2.ppf(q, rank) / rank if q < 1 else np.nan
            key = {"dataset": task.name, "quantile": q, "metric": "K / rank"}
            rows.append({**key, **curves.spread(found), "chi2": law})
    table = pd.DataFrame(rows)
    table.attrs = _origin(audits)
    return table


def spectrum(audits: Audits) -> pd.DataFrame:
    """How far the largest eigenvalue lies from the bound C^2 that the paper puts on it.

    Returns
    -------
    DataFrame
        Columns dataset, metric, value, low, high, n_repeats (part of Control 5). C is taken as the
        largest norm of a gradient. The last metric is the level of one step with the noise that
        makes it 0.1-GDP, by the eigenvalues measured.
    """
    rows = []
    for task, models in audits:
        n = _batch(models[0])
        noise = [_gdp_noise(n, model.largest) for model in models]
        pairs = list(zip(models, noise, strict=True))
        values = {
            "largest eigenvalue / C^2": [m.eigenvalues.max() / m.largest**2 for m in models],
            "median eigenvalue / C^2": [np.median(m.eigenvalues) / m.largest**2 for m in models],
            "mu by the paper's bound": [
                privacy.mip_mu_step(len(m.eigenvalues), n, len(m.eigenvalues), tau, m.largest)
                for m, tau in pairs
            ],
            "mu by the eigenvalues": [
                privacy.mip_mu_spectrum(m.eigenvalues, n, tau) for m, tau in pairs
            ],
        }
        for metric, each in values.items():
            rows.append({"dataset": task.name, "metric": metric, **curves.spread(each)})
    table = pd.DataFrame(rows)
    table.attrs = _origin(audits) | {"note": "Noise for 0.1-GDP in one step; C the largest norm."}
    return table


def _attack(task: Task, s: Split, settings: Any, model: int) -> Audit:
    n = len(s.members)
    queries = np.concatenate([s.members, s.others])
    weights = trajectory(task, s.members, settings.audit_steps, settings.seed + model)
    scores = []
    for step, weight in enumerate(weights):
        back = record_gradients(weight, task.features[s.background], task.y[s.background])
        x = record_gradients(weight, task.features[queries], task.y[queries])
        moments = gradient_moments(back)
        root = whitening(moments.covariance)
        # Members come first among the queries: their mean is what the step publishes.
        published, rotated = x[:n].mean(axis=0), (x - moments.mean) @ root
        scores.append(glir_whitened(rotated[:n].mean(axis=0), rotated, n))
        if step == 0:
            authors = glir(published, x, *moments, n, convention="authors")
            k = np.square(rotated[n:]).sum(axis=1)
            eigenvalues = 1 / np.square(root).sum(axis=0)
            largest = np.linalg.norm(back, axis=1).max()
    return Audit(np.array(scores), authors, k, eigenvalues, float(largest))


def _batch(model: Audit) -> int:
    return model.score.shape[1] // 2


def _member(model: Audit) -> np.ndarray:
    return np.arange(model.score.shape[1]) < _batch(model)


def _origin(audits: Audits) -> dict[str, Any]:
    return attrs([task for task, _ in audits])


def _gdp_noise(n: int, clip: float) -> float:
    """The noise that makes one step 0.1-GDP: 2 C / (0.1 n)."""
    return 20 * clip / n
