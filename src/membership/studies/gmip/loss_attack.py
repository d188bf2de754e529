"""Loss-based likelihood-ratio attacks on the models that GLiR audits: Figure 6."""

from typing import Any

import numpy as np
import pandas as pd
import torch
from scipy.stats import norm

from membership import data
from membership.errors import InputError
from membership.metrics.arrays import FloatArray
from membership.studies.gmip import curves
from membership.studies.gmip.gradients import Audits, split
from membership.studies.gmip.tasks import Task, attrs
from membership.training.private import initial_weight, residual, with_constant

LEAST_SHADOWS = 4


def figure_6(audits: Audits, settings: Any) -> pd.DataFrame:
    """GLiR and the loss-based attack after a few steps, and the latter after many (Figure 6).

    Carlini et al.'s attack fits a normal law to each record's log-odds under shadow models with
    the record and another under those without, of one variance for all records, and scores their
    ratio. Target and shadow models are trained on random halves of the same records, all at
    once, on the whole half at every step.

    Parameters
    ----------
    audits : list
        From `gradients.audit`, for GLiR's curves.
    settings : Settings
        Uses ``n_reference`` (shadow models), ``audit_models`` (targets) and ``audit_steps``.

    Returns
    -------
    DataFrame
        Columns panel, dataset, series, fpr, tpr, low, high, n_repeats.

    Raises
    ------
    InputError
        Fewer than four shadow models.
    """
    if settings.n_reference < LEAST_SHADOWS:
        raise InputError(
            f"n_reference = {settings.n_reference}: give at least {LEAST_SHADOWS} shadow models"
        )
    parts = []
    for task, models in audits:
        n = models[0].score.shape[1] // 2
        panel = f"{task.name}: {settings.audit_steps} steps"
        gradient = [model.score.sum(axis=0) for model in models]
        key = {"panel": panel, "dataset": task.name}
        member = np.arange(2 * n) < n
        parts.append(curves.measured({**key, "series": "GLiR"}, gradient, member))
        for steps in (settings.audit_steps, task.steps):
            scores, truth = _loss_scores(task, settings, steps)
            key = {"panel": f"{task.name}: {steps} steps", "dataset": task.name}
            parts.append(curves.measured({**key, "series": "loss (LiRA)"}, scores, truth))
    table = pd.concat(parts, ignore_index=True)
    table.attrs = attrs([task for task, _ in audits])
    return table


def _loss_scores(task: Task, settings: Any, steps: int) -> tuple[list[FloatArray], np.ndarray]:
    """LiRA's scores of each target model, members first."""
    s = split(task, settings, 0)
    pool = np.concatenate([s.members, s.others])
    n_models = settings.audit_models + settings.n_reference
    mask = data.random_halves(n_models, len(pool), settings.seed)
    odds = _train(task, pool, mask, steps, settings.seed)
    shadow, inside = odds[settings.audit_models :], mask[settings.audit_models :]
    scores = []
    for target, member in zip(odds, mask[: settings.audit_models], strict=False):
        score = _likelihood_ratio(target, shadow, inside)
        scores.append(np.concatenate([score[member], score[~member]]))
    return scores, np.arange(len(pool)) < len(pool) // 2


def _likelihood_ratio(target: FloatArray, shadow: FloatArray, inside: np.ndarray) -> FloatArray:
    """Online LiRA with one variance for all records (Carlini et al. 2022, Section VI)."""
    # A record that all shadow models hold, or none, has no second mean; halves make that rare.
    known = inside.any(axis=0) & ~inside.all(axis=0)
    means = {}
    residuals = []
    for side in (True, False):
        chosen = inside == side
        count = np.maximum(chosen.sum(axis=0), 1)
        means[side] = np.where(chosen, shadow, 0).sum(axis=0) / count
        residuals.append((shadow - means[side])[chosen])
    spread = np.concatenate(residuals).std()
    ratio = norm.logpdf(target, means[True], spread) - norm.logpdf(target, means[False], spread)
    return np.where(known, ratio, 0.0)


def _train(task: Task, pool: np.ndarray, mask: np.ndarray, steps: int, seed: int) -> FloatArray:
    """Train on each row of the mask, its whole batch at every step; log-odds (models, records)."""
    x = with_constant(task.features[pool])
    y = torch.tensor(task.y[pool])
    generator = torch.Generator().manual_seed(seed)
    start = initial_weight(task.recipe.classes, x.shape[1], generator)
    weight = start.repeat(len(mask), 1, 1)
    share = torch.tensor(mask.T / mask.sum(axis=1), dtype=torch.float32)[..., None]
    optimiser = torch.optim.Adam([weight], lr=task.recipe.learning_rate)
    for _ in range(steps):
        r = residual(weight, x, y) * share
        weight.grad = (r.flatten(1).T @ x).view(weight.shape)
        optimiser.step()
    logits = torch.einsum("np,rcp->rnc", x.double(), weight.double())
    index = y[None, :, None].expand(len(mask), -1, 1)
    others = logits.scatter(2, index, -torch.inf).logsumexp(dim=2)
    return (logits.gather(2, index)[..., 0] - others).numpy()
