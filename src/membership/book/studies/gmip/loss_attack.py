"""Loss-based likelihood-ratio attacks beside GLiR: Figure 6, a shared start, and processor time."""

import time
from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd
import xarray as xr
from scipy.stats import norm

from membership import data, evidence, metrics
from membership.arrays import BoolArray, FloatArray
from membership.attacks.glir import glir_from_distance
from membership.book.exhibits.rows import of_each
from membership.book.exhibits.sentences import each
from membership.book.exhibits.tidy import tidy
from membership.book.studies.experiment import timed
from membership.book.studies.gmip import experiment
from membership.book.studies.gmip.audit import (
    areas,
    by_condition,
    glir_scores,
    measured_curve,
    members,
)
from membership.book.studies.gmip.experiment import Task, origin, task_of
from membership.book.studies.gmip.settings import Settings
from membership.book.studies.gmip.setups import ALL, FEW, observed
from membership.curvature import gradient_moments, whitening
from membership.metrics.rate_names import tpr_label

RATES = (0.01, 0.1)
STARTS = ("shared", "own")
ATTACKS = ("GLiR", "loss (LiRA)", "loss (LiRA), {:,} shadow models")
SECONDS = " (s)"
"""How a quantity ends that is an attack's time."""
APART = 1_000_003
"""Between the seeds of two sets of models."""
FOR_AS_LONG = 40
"""How many times the shadow models of Figure 6 take about as long as GLiR."""
RATIO, MORE = "GLiR over the loss attack", "AUC, GLiR less the loss attack for as long (points)"


def outputs(
    name: str, settings: Settings, length: str, start: str = "shared", place: int = 0
) -> xr.Dataset:
    """Evidence: log-odds under targets and shadow models, of random halves of the same records.

    The models of another place have other records, halves and starts.
    """
    task = task_of(name, settings)
    pool, seed = experiment.split(task, settings, place).queries, settings.seed + APART * place
    targets, models = settings.audit_models, settings.audit_models + settings.n_reference
    mask = data.random_halves(models, len(pool), seed)
    steps = settings.audit_steps if length == "few" else task.steps
    return evidence.dataset(
        "outputs",
        {
            "log_odds": experiment.log_odds(task, pool, mask, steps, seed, start),
            "member": mask,
        },
        {"record": pool},
        **origin(task, settings, steps),
        targets=list(range(targets)),
        references=list(range(targets, models)),
        steps=steps,
        sizes={"Shadow models": str(settings.n_reference), "Target models": str(targets)},
    )


def starts(name: str, settings: Settings) -> xr.Dataset:
    """Evidence: the attack's outcomes after the few steps, by whether models share their start."""
    of_starts = [outcomes(outputs(name, settings, "few", start)) for start in STARTS]
    return _of_starts(name, settings, of_starts, str(settings.audit_models))


def sets(name: str, settings: Settings) -> xr.Dataset:
    """Evidence: the same of many sets of models, each of which counts once, with its mean."""
    places, of_starts = range(settings.start_sets), []
    for start in STARTS:
        found = [outcomes(outputs(name, settings, "few", start, place)) for place in places]
        means = {key: np.stack([of[key].mean(axis=0) for of in found]) for key in found[0]}
        of_starts.append(means)
    return _of_starts(name, settings, of_starts, f"{len(places)} sets of {settings.audit_models}")


def _of_starts(
    name: str, settings: Settings, of_starts: list[dict[str, FloatArray]], targets: str
) -> xr.Dataset:
    dims = {"auc": ("start", "target"), "tpr": ("start", "target", "rate")}
    return evidence.dataset(
        "measured",
        {key: (dim, np.stack([of[key] for of in of_starts])) for key, dim in dims.items()},
        {"start": list(STARTS)},
        **origin(task_of(name, settings), settings, settings.audit_steps),
        steps=settings.audit_steps,
        sizes={"Shadow models": str(settings.n_reference), "Targets": targets},
    )


@evidence.version(2)
def timed_attacks(name: str, settings: Settings) -> xr.Dataset:
    """Evidence: processor time and AUC of GLiR and of the loss attack after the few steps."""
    task, models = task_of(name, settings), range(settings.audit_models)
    of_models = [timed_outcomes(task, settings, model) for model in models]
    n_shadows = FOR_AS_LONG * settings.n_reference
    return evidence.dataset(
        "measured",
        {
            key: (("attack", "model"), np.stack([of_model[key] for of_model in of_models], axis=1))
            for key in ("seconds", "auc")
        },
        {"attack": [attack.format(n_shadows) for attack in ATTACKS]},
        **origin(task, settings, settings.audit_steps),
        sizes={
            "Shadow models": f"{settings.n_reference} and {n_shadows:,}",
            "Audited models": str(settings.audit_models),
        },
    )


def figure_6(audits: Sequence[xr.Dataset], answers: Sequence[xr.Dataset]) -> pd.DataFrame:
    """GLiR and the loss-based attack after a few steps, and the latter after many (Figure 6).

    Carlini et al.'s attack fits a normal law to each record's log-odds under shadow models with
    the record and another under those without, of one variance for all records, and scores their
    ratio. Target and shadow models are trained on random halves of the same records, all at
    once, on the whole half at every step.
    """
    parts = []
    for audit in audits:
        name = audit.attrs["set"]
        of_steps = glir_scores(audit)
        n_few = of_steps.shape[1]
        attacks = [("GLiR", n_few, list(of_steps.sum(axis=1)), members(audit))]
        attacks += [
            ("loss (LiRA)", trained.attrs["steps"], *loss_scores(trained))
            for trained in answers
            if trained.attrs["set"] == name
        ]
        for series, steps, scores, member in attacks:
            key = {"panel": f"{name}: {steps} steps", "dataset": name}
            key |= {"steps": FEW if steps == n_few else ALL, "series": series}
            parts.append(measured_curve(key, scores, member))
    table = by_condition(pd.concat(parts))
    return tidy([table], observed([*audits, *answers]))


def figure_6_said(table: pd.DataFrame) -> str:
    """Both attacks after the few steps, at 1% false positives."""
    shown = table[table["panel"].isin(table.loc[table["series"] == "GLiR", "panel"])]
    return each(
        shown.assign(tpr=100 * shown["tpr"]),
        "dataset",
        "{dataset} {glir:.1f} and {loss:.1f}%",
        "Members found at 1% FPR after few steps, by GLiR and loss: {}.",
        glir={"fpr": 0.01, "series": "GLiR"},
        loss={"fpr": 0.01, "series": "loss (LiRA)"},
    )


def outcomes(answers: xr.Dataset) -> dict[str, FloatArray]:
    """AUC of each target and its TPR at `RATES`, in percent."""
    scores, member = loss_scores(answers)
    tpr = [[metrics.tpr_at_fpr(score, member, rate) for rate in RATES] for score in scores]
    return {"auc": 100 * areas(scores, member), "tpr": 100 * np.array(tpr)}


def by_start(starts: Sequence[xr.Dataset], sets: Sequence[xr.Dataset] = ()) -> pd.DataFrame:
    """The loss attack after the few steps, with and without shared initial weights.

    By sets of targets where there are some.
    """
    rows, by_set = [], {dataset.attrs["set"]: dataset for dataset in sets}
    found = [by_set.get(dataset.attrs["set"], dataset) for dataset in starts]
    for dataset in found:
        for i, quantity in enumerate(("AUC (%)", *map(tpr_label, RATES))):
            about = {"data": dataset.attrs["set"], "steps": dataset.attrs["steps"]}
            key = about | {"quantity": quantity}
            outcome = dataset["auc"] if i == 0 else dataset["tpr"].isel(rate=i - 1)
            pair = {start: outcome.sel(start=start).values for start in STARTS}
            rows += of_each(key, "start", pair, lowest=0.0, highest=100.0)
            rows += of_each(key, "start", {"shared less own": pair["shared"] - pair["own"]})
    return tidy(rows, observed(found, note="Differences are paired by target or set."))


def loss_scores(answers: xr.Dataset) -> tuple[list[FloatArray], BoolArray]:
    """LiRA's scores of each target model, members first."""
    odds, mask = answers["log_odds"].values.astype(np.float64), answers["member"].values
    shadow = answers.attrs["references"]
    scores = []
    for target in answers.attrs["targets"]:
        score, member = likelihood_ratio(odds[target], odds[shadow], mask[shadow]), mask[target]
        scores.append(np.concatenate([score[member], score[~member]]))
    return scores, np.arange(odds.shape[1]) < odds.shape[1] // 2


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
        total = np.zeros(len(s.queries))
        for weight in before:
            back, queries = (
                experiment.gradients(task, weight, rows) for rows in (s.background, s.queries)
            )
            moments = gradient_moments(back)
            root = whitening(moments.covariance)
            numbers = experiment.two_numbers((queries - moments.mean) @ root, len(s.members))
            total += glir_from_distance(*numbers, len(s.members), root.shape[1])
        return total

    def losses(count: int) -> FloatArray:
        shadows = data.random_halves(count + 1, len(s.queries), seed)
        shadows[0] = member
        odds = experiment.log_odds(task, s.queries, shadows, steps, seed)
        return likelihood_ratio(odds[0], odds[1:], shadows[1:])

    with_few, with_many = (
        partial(losses, factor * settings.n_reference) for factor in (1, FOR_AS_LONG)
    )
    played = [timed(attack, time.process_time) for attack in (glir, with_few, with_many)]
    return {
        "seconds": np.array([seconds for _, seconds in played]),
        "auc": 100 * np.array([metrics.auc(score, member) for score, _ in played]),
    }


def times(timings: Sequence[xr.Dataset]) -> pd.DataFrame:
    """Seconds and AUC of each attack, and both beside those of GLiR."""
    rows = []
    for timing in timings:
        key = {"data": timing.attrs["set"]}
        spent, area = (timing[name].values for name in ("seconds", "auc"))
        for attack, seconds, auc in zip(timing["attack"].values, spent, area, strict=True):
            rows += of_each(key, "quantity", {f"{attack}{SECONDS}": seconds}, lowest=0.0)
            rows += of_each(key, "quantity", {f"{attack}, AUC (%)": auc})
        ratios = {RATIO: spent[0] / spent[1], MORE: area[0] - area[2]}
        rows += of_each(key, "quantity", ratios)
    note = "Processor time of one core, after the few steps; a second run gives others."
    return tidy(rows, observed(timings, note=note, timing=True))


def times_said(table: pd.DataFrame) -> str:
    """The time of either attack and their ratio."""
    parts = []
    for name, part in table.groupby("data", sort=False):
        value = part.set_index("quantity")["value"]
        attacks = [
            f"{attack} {value[f'{attack}, AUC (%)']:.1f}% in {value[attack + SECONDS]:.2g} s"
            for attack in (
                quantity.removesuffix(SECONDS)
                for quantity in value.index
                if quantity.endswith(SECONDS)
            )
        ]
        parts.append(f"{name}: {'; '.join(attacks)}")
    return f"AUC and processor time. {'. '.join(parts)}."
