"""What GLiR and the loss attack with its shadow models cost in time (Control 19)."""

import time
from collections.abc import Callable, Sequence
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

ATTACKS = ("GLiR", "loss (LiRA)")
TIMINGS = 3
RATIO = "GLiR over the loss attack"


def seconds(task: Task, settings: Any) -> FloatArray:
    """Processor time of either attack on one target after the few steps, (attack, timing)."""
    s = observations.split(task, settings, 0)
    before = observations.trajectory(task, s.members, settings.audit_steps, settings.seed)
    shadows = data.random_halves(settings.n_reference + 1, len(s.queries), settings.seed)

    def glir() -> None:
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
            glir_from_distance(distance, k, len(s.members), root.shape[1])

    def losses() -> None:
        steps = settings.audit_steps
        odds = observations.log_odds(task, s.queries, shadows, steps, settings.seed)
        loss_attack.likelihood_ratio(odds[0], odds[1:], shadows[1:])

    # In turn, so that a busy spell of the machine falls on both.
    pairs = [[_timed(attack) for attack in (glir, losses)] for _ in range(TIMINGS)]
    return np.array(pairs).T


def _timed(attack: Callable[[], None]) -> float:
    start = time.process_time()
    attack()
    return time.process_time() - start


def table(some: Sequence[xr.Dataset]) -> Any:
    """Seconds of either attack, and their ratio."""
    rows = []
    for one in some:
        spent = one["seconds"].values
        key = {"data": one.attrs["set"]}
        rows += [
            {**key, "quantity": f"{attack} (s)", **metrics.summary(each, lowest=0.0)}
            for attack, each in zip(ATTACKS, spent, strict=True)
        ]
        rows.append({**key, "quantity": RATIO, **metrics.summary(spent[0] / spent[1])})
    note = "Processor time of one core, after the few steps; a second run gives others."
    return tidy(rows, observed(some, note=note, timing=True))
