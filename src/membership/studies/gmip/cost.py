"""What GLiR and the loss attack with its shadow models cost in time (Control 19)."""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import xarray as xr

from membership import data, metrics
from membership.arrays import FloatArray
from membership.attacks.glir import glir_from_distance
from membership.curvature import gradient_moments, whitening
from membership.exhibits.tidy import tidy
from membership.studies.gmip import loss_attack, observations
from membership.studies.gmip.origin import observed
from membership.studies.gmip.tasks import Task
from membership.training.private import record_gradients

ATTACKS = ("GLiR", "loss (LiRA)", "loss (LiRA), {:,} shadow models")
FOR_AS_LONG = 40
"""How many times the shadow models of Figure 6 take about as long as GLiR."""
RATIO, MORE = "GLiR over the loss attack", "AUC, GLiR less the loss attack for as long (points)"


def outcomes(task: Task, settings: Any, model: int) -> dict[str, FloatArray]:
    """Processor time of each attack on one target after the few steps, and its AUC in percent."""
    s = observations.split(task, settings, model)
    member = np.arange(len(s.queries)) < len(s.members)
    steps, seed = settings.audit_steps, settings.seed + model
    before = observations.trajectory(task, s.members, steps, seed)

    def glir() -> FloatArray:
        found = np.zeros(len(s.queries))
        for weight in before:
            back, asked = (
                record_gradients(weight, task.features[rows], task.y[rows])
                for rows in (s.background, s.queries)
            )
            moments = gradient_moments(back)
            root = whitening(moments.covariance)
            x = (asked - moments.mean) @ root
            distance = np.square(x - x[: len(s.members)].mean(axis=0)).sum(axis=1)
            k = np.square(x).sum(axis=1)
            found += glir_from_distance(distance, k, len(s.members), root.shape[1])
        return found

    def losses(count: int) -> FloatArray:
        shadows = data.random_halves(count + 1, len(s.queries), seed)
        shadows[0] = member
        odds = observations.log_odds(task, s.queries, shadows, steps, seed)
        return loss_attack.likelihood_ratio(odds[0], odds[1:], shadows[1:])

    few, many = (partial(losses, each * settings.n_reference) for each in (1, FOR_AS_LONG))
    played = [_timed(attack) for attack in (glir, few, many)]
    return {
        "seconds": np.array([seconds for seconds, _ in played]),
        "auc": 100 * np.array([metrics.auc(score, member) for _, score in played]),
    }


def _timed(attack: Callable[[], FloatArray]) -> tuple[float, FloatArray]:
    start = time.process_time()
    score = attack()
    return time.process_time() - start, score


def table(some: Sequence[xr.Dataset]) -> Any:
    """Seconds and AUC of each attack, and both beside those of GLiR."""
    rows = []
    for one in some:
        key, spent, area = {"data": one.attrs["set"]}, one["seconds"].values, one["auc"].values
        for attack, seconds, found in zip(one["attack"].values, spent, area, strict=True):
            rows += [
                {**key, "quantity": f"{attack} (s)", **metrics.summary(seconds, lowest=0.0)},
                {**key, "quantity": f"{attack}, AUC (%)", **metrics.summary(found)},
            ]
        rows.append({**key, "quantity": RATIO, **metrics.summary(spent[0] / spent[1])})
        rows.append({**key, "quantity": MORE, **metrics.summary(area[0] - area[2])})
    note = "Processor time of one core, after the few steps; a second run gives others."
    return tidy(rows, observed(some, note=note, timing=True))
