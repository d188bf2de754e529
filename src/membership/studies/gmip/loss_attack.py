"""Loss-based likelihood-ratio attacks beside GLiR: Figure 6, a shared start, and processor time."""

import time
from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd
import xarray as xr
from scipy.stats import norm

from membership import data, metrics
from membership.arrays import BoolArray, FloatArray
from membership.attacks.glir import glir_from_distance
from membership.curvature import gradient_moments, whitening
from membership.exhibits.tidy import tidy
from membership.studies.experiment import timed
from membership.studies.gmip import experiment
from membership.studies.gmip.audit import ALL, FEW, glir_scores, measured_curve, members
from membership.studies.gmip.experiment import Task
from membership.studies.gmip.settings import Settings
from membership.studies.gmip.setups import observed
from membership.training.private import record_gradients

RATES = (0.01, 0.1)
ATTACKS = ("GLiR", "loss (LiRA)", "loss (LiRA), {:,} shadow models")
FOR_AS_LONG = 40
"""How many times the shadow models of Figure 6 take about as long as GLiR."""
RATIO, MORE = "GLiR over the loss attack", "AUC, GLiR less the loss attack for as long (points)"


def figure_6(audits: Sequence[xr.Dataset], outputs: Sequence[xr.Dataset]) -> pd.DataFrame:
    """GLiR and the loss-based attack after a few steps, and the latter after many (Figure 6).

    Carlini et al.'s attack fits a normal law to each record's log-odds under shadow models with
    the record and another under those without, of one variance for all records, and scores their
    ratio. Target and shadow models are trained on random halves of the same records, all at
    once, on the whole half at every step.
    """
    parts = []
    for audit in audits:
        name = audit.attrs["set"]
        each = glir_scores(audit)
        few = each.shape[1]
        attacks = [("GLiR", few, list(each.sum(axis=1)), members(audit))]
        attacks += [
            ("loss (LiRA)", trained.attrs["steps"], *loss_scores(trained))
            for trained in outputs
            if trained.attrs["set"] == name
        ]
        for series, steps, scores, member in attacks:
            key = {"panel": f"{name}: {steps} steps", "dataset": name}
            key |= {"steps": FEW if steps == few else ALL, "series": series}
            parts.append(measured_curve(key, scores, member))
    return tidy(parts, observed([*audits, *outputs]))


def outcomes(outputs: xr.Dataset) -> dict[str, FloatArray]:
    """AUC of each target and its TPR at `RATES`, in percent."""
    scores, member = loss_scores(outputs)
    return {
        "auc": 100 * np.array([metrics.auc(score, member) for score in scores]),
        "tpr": 100
        * np.array([[metrics.tpr_at_fpr(one, member, rate) for rate in RATES] for one in scores]),
    }


def by_start(some: Sequence[xr.Dataset]) -> pd.DataFrame:
    """The loss attack after the few steps, with and without shared initial weights."""
    rows = []
    for one in some:
        for i, quantity in enumerate(("AUC (%)", *(f"TPR at {100 * r:g}% FPR (%)" for r in RATES))):
            key = {"data": one.attrs["set"], "steps": one.attrs["steps"], "quantity": quantity}
            found = one["auc"] if i == 0 else one["tpr"].isel(rate=i - 1)
            each = {start: found.sel(start=start).values for start in ("shared", "own")}
            for start, values in each.items():
                numbers = metrics.summary(values, lowest=0.0, highest=100.0)
                rows.append({**key, "start": start, **numbers})
            less = metrics.summary(each["shared"] - each["own"])
            rows.append({**key, "start": "shared less own", **less})
    return tidy(rows, observed(some, note="Differences are paired by target."))


def loss_scores(outputs: xr.Dataset) -> tuple[list[FloatArray], BoolArray]:
    """LiRA's scores of each target model, members first."""
    odds, mask = outputs["log_odds"].values.astype(np.float64), outputs["member"].values
    shadow = outputs.attrs["references"]
    found = []
    for target in outputs.attrs["targets"]:
        score, member = likelihood_ratio(odds[target], odds[shadow], mask[shadow]), mask[target]
        found.append(np.concatenate([score[member], score[~member]]))
    return found, np.arange(odds.shape[1]) < odds.shape[1] // 2


def likelihood_ratio(target: FloatArray, shadow: FloatArray, inside: BoolArray) -> FloatArray:
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


def timed_outcomes(task: Task, settings: Settings, model: int) -> dict[str, FloatArray]:
    """Processor time of each attack on one target after the few steps, and its AUC in percent."""
    s = experiment.split(task, settings, model)
    member = np.arange(len(s.queries)) < len(s.members)
    steps, seed = settings.audit_steps, settings.seed + model
    before = experiment.trajectory(task, s.members, steps, seed)

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
        odds = experiment.log_odds(task, s.queries, shadows, steps, seed)
        return likelihood_ratio(odds[0], odds[1:], shadows[1:])

    few, many = (partial(losses, each * settings.n_reference) for each in (1, FOR_AS_LONG))
    played = [timed(attack, time.process_time) for attack in (glir, few, many)]
    return {
        "seconds": np.array([seconds for _, seconds in played]),
        "auc": 100 * np.array([metrics.auc(score, member) for score, _ in played]),
    }


def times(some: Sequence[xr.Dataset]) -> pd.DataFrame:
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
