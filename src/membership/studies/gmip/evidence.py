"""The chapter's evidence: what audited models show, and what noise costs, a data set at a time."""

from collections.abc import Callable
from dataclasses import asdict
from functools import lru_cache, partial
from typing import Any

import numpy as np
import xarray as xr

from membership import data, evidence
from membership.studies.gmip import (
    all_epochs,
    audit,
    experiment,
    forensics,
    loss_attack,
    noised,
    rivals,
    several_steps,
    spectral,
    utility,
)
from membership.studies.gmip import training_promise as promise
from membership.studies.gmip.experiment import Task
from membership.studies.gmip.settings import Settings
from membership.studies.gmip.theory import levels, needed_noise
from membership.training.ensemble import device_of

NOTIONS = ["mip", "gdp"]
NOISES = ["independent", "shared"]
OPTIMISERS = ["adam", "sgd"]
STARTS = ["shared", "own"]
STRONG = 0.4
"""The level whose noise Control 9 takes."""


def sources(settings: Settings) -> dict[str, Callable[[], xr.Dataset]]:
    """The evidence of a run, by name, each with the function that gathers it."""
    of_each = {
        "steps-{}": _steps,
        "outputs-{}-few": partial(_outputs, length="few"),
        "outputs-{}-many": partial(_outputs, length="many"),
        "starts-{}": _starts,
        "measured-{}": _measured,
        "clipped-{}": _clipped,
    }
    of_first = {
        "joint-{}": _joint,
        "noised-{}": _noised,
        "times-{}": _times,
        "released-{}": _released,
        "spectral-{}": _spectral,
        "rivals-{}-one": partial(_rivals, steps=1),
        "rivals-{}-few": partial(_rivals, steps=settings.audit_steps),
    }
    kinds = (
        (settings.words, of_each),
        (settings.small_words, {"composed-{}": _composed}),
        (settings.first_word, of_first),
        (settings.first_small_word, {"rivals-{}-all": _rivals_all}),
    )
    gatherers = {
        kind.format(word): partial(function, name, settings)
        for words, functions in kinds
        for name, word in words.items()
        for kind, function in functions.items()
    }
    return {"simulated-panels": partial(audit.simulated_panels, settings), **gatherers}


def _steps(name: str, settings: Settings) -> xr.Dataset:
    """GLiR's numbers at every step of ``audit_models`` models, each with its own records."""
    task = _task(name, settings)
    splits = [experiment.split(task, settings, model) for model in range(settings.audit_models)]
    of_models = [experiment.steps_of(task, s, settings, model) for model, s in enumerate(splits)]
    n = task.batch
    return evidence.dataset(
        "steps",
        {
            **{key: np.stack([of_model[key] for of_model in of_models]) for key in of_models[0]},
            "row": np.stack([s.queries for s in splits]),
            "member": np.tile(np.arange(2 * n) < n, (len(splits), 1)),
        },
        **_origin(task, settings, "cpu", settings.audit_steps),
        batch_size=n,
        n_background=len(splits[0].background),
        rank=max(int((of_model["eigenvalue"] > 0).sum(axis=1).max()) for of_model in of_models),
        sizes={
            "Audited models": f"{settings.audit_models} (paper: 5)",
            "Members of each": f"{n:,}",
            "Background records": f"{len(splits[0].background):,} (paper: 10,000)",
            "Steps": f"{settings.audit_steps} (paper: 5)",
        },
    )


def _starts(name: str, settings: Settings) -> xr.Dataset:
    """The loss attack's outcomes after the few steps, by whether models share their start."""
    of_starts = [loss_attack.outcomes(_outputs(name, settings, "few", start)) for start in STARTS]
    task = _task(name, settings)
    return evidence.dataset(
        "measured",
        {
            key: (dims, np.stack([of_start[key] for of_start in of_starts]))
            for key, dims in (("auc", ("start", "target")), ("tpr", ("start", "target", "rate")))
        },
        {"start": STARTS},
        **_origin(task, settings, "cpu", settings.audit_steps),
        steps=settings.audit_steps,
        sizes={"Shadow models": str(settings.n_reference), "Targets": str(settings.audit_models)},
    )


def _outputs(name: str, settings: Settings, length: str, start: str = "shared") -> xr.Dataset:
    """Log-odds under targets and shadow models, all of random halves of the same records."""
    task = _task(name, settings)
    pool = experiment.split(task, settings, 0).queries
    targets, models = settings.audit_models, settings.audit_models + settings.n_reference
    mask = data.random_halves(models, len(pool), settings.seed)
    steps = settings.audit_steps if length == "few" else task.steps
    return evidence.dataset(
        "outputs",
        {
            "log_odds": experiment.log_odds(task, pool, mask, steps, settings.seed, start),
            "member": mask,
        },
        {"record": pool},
        **_origin(task, settings, "cpu", steps),
        targets=list(range(targets)),
        references=list(range(targets, models)),
        steps=steps,
        sizes={"Shadow models": str(settings.n_reference), "Target models": str(targets)},
    )


def _measured(name: str, settings: Settings) -> xr.Dataset:
    """Test accuracies: by notion and level with either noise, and by optimiser at one level."""
    task = _task(name, settings)
    mus = levels(settings.n_levels)
    tau = np.array([[needed_noise(task.recipe, mu, notion) for mu in mus] for notion in NOTIONS])
    distinct, place = np.unique(tau, return_inverse=True)
    of_noises = [experiment.accuracies(task, distinct.tolist(), settings, kind) for kind in NOISES]
    strong = needed_noise(task.recipe, STRONG, "gdp")
    ends = np.array(
        [
            [experiment.accuracies(task, [0.0, strong], settings, kind, how) for kind in NOISES]
            for how in OPTIMISERS
        ]
    )
    return evidence.dataset(
        "measured",
        {
            "tau": (("notion", "level"), tau),
            "accuracy": (
                ("noise", "notion", "level", "repeat"),
                np.stack([of_kind[place.reshape(tau.shape)] for of_kind in of_noises]),
            ),
            "accuracy_without": (("optimiser", "repeat"), ends[:, 0, 0]),
            "accuracy_strong": (("optimiser", "noise", "repeat"), ends[:, :, 1]),
        },
        {"notion": NOTIONS, "noise": NOISES, "optimiser": OPTIMISERS, "level": mus},
        **_origin(task, settings, str(device_of(settings.device))),
        sizes={
            "Seeds": f"{settings.utility_seeds} (paper: 5)",
            "Training records": f"{task.recipe.n_records:,}",
            "Test records": f"{task.n_test:,}",
            "Steps": f"{task.steps:,}",
        },
    )


def _clipped(name: str, settings: Settings) -> xr.Dataset:
    """Test accuracies with C at the median norm of the gradients."""
    task = _task(name, settings)
    measured = utility.clipped_accuracies(task, settings)
    arrays = {key: array for key, array in measured.items() if isinstance(array, tuple)}
    return evidence.dataset(
        "measured",
        arrays,
        {"level": measured["level"], "norm": list(utility.NORMS)},
        **_origin(task, settings, str(device_of(settings.device))),
        clip=measured["clip"],
        free=measured["free"],
        sizes={"Seeds": f"{settings.utility_seeds} (paper: 5)", "Steps": f"{task.steps:,}"},
    )


def _composed(name: str, settings: Settings) -> xr.Dataset:
    """The attack on models of Figure 3 without noise, all of whose steps are seen."""
    task = _task(name, settings)
    runs = min(settings.audit_models, promise.RUNS)
    played = [
        [promise.outcomes(promise.attacked(task, run, o, settings.seed)) for run in range(runs)]
        for o in promise.OTHERS
    ]
    players = promise.cast(task, 0, settings.seed)
    return evidence.dataset(
        "measured",
        {
            key: (dims, np.array([[outcome[key] for outcome in of_kind] for of_kind in played]))
            for key, dims in (
                ("tpr", ("others", "run", "group", "rate")),
                ("auc", ("others", "run", "group")),
            )
        },
        {"others": list(promise.OTHERS), "group": list(promise.GROUPS)},
        **_origin(task, settings, "cpu"),
        sizes={
            "Attacked runs": str(runs),
            "Training records": f"{task.recipe.n_records:,}",
            "Steps": f"{task.steps:,}",
            "Members asked": f"{len(players.members):,}",
            "Strangers asked": f"{len(players.strangers):,}",
        },
    )


def _joint(name: str, settings: Settings) -> xr.Dataset:
    """The AUC of several steps' joint test on real gradients, by background."""
    task = _task(name, settings)
    of_models = [
        several_steps.outcomes(task, settings, model) for model in range(settings.audit_models)
    ]
    areas = np.array([areas for areas, _ in of_models])
    return evidence.dataset(
        "measured",
        {"auc": (("model", "background", "steps", "attack"), areas)},
        {"steps": list(several_steps.STEPS), "attack": list(several_steps.ATTACKS)},
        **_origin(task, settings, "cpu", max(several_steps.STEPS)),
        backgrounds=of_models[0][1],
        sizes={"Audited models": f"{settings.audit_models} (paper: 5)"},
    )


def _noised(name: str, settings: Settings) -> xr.Dataset:
    """The AUC of the best attack on one step, without noise and with that of half the level."""
    task, clip = _task(name, settings), noised.clip_of_table_3()
    tau = noised.halving_noise(task.dimension, task.batch, clip)
    models = range(settings.audit_models)
    of_models = [noised.areas(task, settings, model, clip, tau) for model in models]
    return evidence.dataset(
        "measured",
        {"auc": (("model", "noise"), np.array(of_models))},
        **_origin(task, settings, "cpu", 1),
        tau=tau,
        clip=clip,
        sizes={"Audited models": f"{settings.audit_models} (paper: 5)"},
    )


@evidence.version(2)
def _times(name: str, settings: Settings) -> xr.Dataset:
    """Processor time and AUC of GLiR and of the loss attack after the few steps."""
    task = _task(name, settings)
    of_models = [
        loss_attack.timed_outcomes(task, settings, model) for model in range(settings.audit_models)
    ]
    n_shadows = loss_attack.FOR_AS_LONG * settings.n_reference
    return evidence.dataset(
        "measured",
        {
            key: (("attack", "model"), np.stack([of_model[key] for of_model in of_models], axis=1))
            for key in ("seconds", "auc")
        },
        {"attack": [attack.format(n_shadows) for attack in loss_attack.ATTACKS]},
        **_origin(task, settings, "cpu", settings.audit_steps),
        sizes={
            "Shadow models": f"{settings.n_reference} and {n_shadows:,}",
            "Audited models": str(settings.audit_models),
        },
    )


def _released(name: str, settings: Settings) -> xr.Dataset:
    """What the released code's inverse finds after all steps."""
    task = _task(name, settings)
    return evidence.dataset(
        "measured",
        {"found": (("model", "quantity"), forensics.released_steps(task, settings))},
        {"quantity": list(forensics.QUANTITIES)},
        **_origin(task, settings, "cpu", settings.audit_steps),
        sizes={"Audited models": f"{settings.audit_models} (paper: 5)"},
    )


def _spectral(name: str, settings: Settings) -> xr.Dataset:
    """The noise that a level takes by three bounds, and the attack under the least."""
    task = _task(name, settings)
    return evidence.dataset(
        "measured",
        spectral.measure(task, settings),
        {
            "norm": list(spectral.NORMS),
            "level": list(spectral.LEVELS),
            "share": list(spectral.QUANTILES),
            "bound": list(spectral.METHODS),
            "group": list(spectral.GROUPS),
            "attack": list(spectral.ATTACKED),
        },
        **_origin(task, settings, "cpu", 1),
        sizes={"Audited models": f"{settings.audit_models} (paper: 5)", "Batch": f"{task.batch:,}"},
    )


def _rivals(name: str, settings: Settings, steps: int) -> xr.Dataset:
    """Counts of gradient and loss attacks on the same models, after one step or a few."""
    task = _task(name, settings)
    scored, shares = rivals.few_games(task, settings, steps)
    arrays = {side: (_COUNTS, counts) for side, counts in rivals.counted(scored, 1).items()}
    if steps == 1:
        middle = (np.arange(_SHARES) + 0.5) / _SHARES
        arrays["share"] = (("quantile",), np.quantile(shares, middle))
    return evidence.dataset(
        "measured",
        arrays,
        {"attack": list(scored.scores)},
        **_origin(task, settings, "cpu", steps),
        steps=steps,
        sizes={
            f"Targets after {steps} step{'s' * (steps > 1)}": str(len(scored.member)),
            "Members of each": f"{task.batch:,}",
            "Shadow models of each": str(settings.n_reference),
        },
    )


def _rivals_all(name: str, settings: Settings) -> xr.Dataset:
    """The same after Table 4's whole training, on targets that share their records."""
    task = _task(name, settings)
    scored, n_records = all_epochs.played(task, settings)
    targets, asked = scored.member.shape
    counts = rivals.counted(scored, all_epochs.BLOCKS)
    return evidence.dataset(
        "measured",
        {side: (_COUNTS, of_side) for side, of_side in counts.items()},
        {"attack": list(scored.scores)},
        **_origin(task, settings, "cpu"),
        trained_on=n_records,
        steps=task.steps,
        sizes={
            "Targets after all epochs": str(targets),
            "Members of each after all epochs": f"{n_records:,}, {asked // 2:,} asked",
            "Steps of all epochs": f"{task.steps:,}",
            "Shadow models of each": str(settings.n_reference),
        },
    )


_COUNTS = ("attack", "target", "block", "threshold")
_SHARES = 400


# A data set with its features is made once for the files of it.
_task = lru_cache(maxsize=4)(experiment.task)


def _origin(task: Task, settings: Settings, device: str, steps: int = 0) -> dict[str, Any]:
    """What every file says of its data set and network; audits take all members at every step."""
    audited = {"batch_size": task.batch, "n_records": task.batch, "epochs": steps}
    return {
        "set": task.name,
        "data": task.digests,
        "recipe": asdict(task.recipe) | (audited if steps else {}),
        "published": task.published,
        "deviations": list(task.deviations),
        "device": device,
        "seed": settings.seed,
    }
