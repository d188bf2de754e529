"""Loss-based likelihood-ratio attacks on models like those that GLiR audits: Figure 6."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import xarray as xr
from scipy.stats import norm

from membership import metrics
from membership.arrays import BoolArray, FloatArray
from membership.exhibits.tidy import tidy
from membership.studies.gmip import curves, gradients
from membership.studies.gmip.origin import observed

RATES = (0.01, 0.1)


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
        each = gradients.scores(audit)
        key = {"panel": f"{name}: {each.shape[1]} steps", "dataset": name}
        found = list(each.sum(axis=1))
        parts.append(curves.measured({**key, "series": "GLiR"}, found, gradients.members(audit)))
        for one in (one for one in outputs if one.attrs["set"] == name):
            key = {"panel": f"{name}: {one.attrs['steps']} steps", "dataset": name}
            parts.append(curves.measured({**key, "series": "loss (LiRA)"}, *loss_scores(one)))
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
