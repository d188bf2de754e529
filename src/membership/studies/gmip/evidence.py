"""The chapter's evidence: what audited models show, and what noise costs, a data set at a time."""

import functools
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np
import xarray as xr

from membership import data, evidence
from membership.studies.gmip import (
    audit,
    experiment,
    loss_attack,
    noised,
    several_steps,
    utility,
)
from membership.studies.gmip import training_promise as promise
from membership.studies.gmip.experiment import Task, load_task
from membership.studies.gmip.recipes import LENGTHS
from membership.studies.gmip.settings import Settings
from membership.studies.gmip.theory import levels, needed_noise
from membership.training.ensemble import device_of

NOTIONS = ("mip", "gdp")
NOISES = ("independent", "shared")
OPTIMISERS = ("adam", "sgd")
STARTS = ("shared", "own")
STRONG = 0.4
"""The level whose noise Control 9 takes."""


def sources(settings: Settings) -> dict[str, Callable[[], xr.Dataset]]:
    """The evidence of a run, by name, each with the function that gathers it."""
    found: dict[str, Callable[[], xr.Dataset]] = {
        "simulated-panels": functools.partial(audit.simulated_panels, settings)
    }
    for name, word in settings.words.items():
        found[f"steps-{word}"] = functools.partial(_steps, name, settings)
        for length in LENGTHS:
            found[f"outputs-{word}-{length}"] = functools.partial(_outputs, name, length, settings)
        found[f"starts-{word}"] = functools.partial(_starts, name, settings)
        found[f"measured-{word}"] = functools.partial(_measured, name, settings)
        found[f"clipped-{word}"] = functools.partial(_clipped, name, settings)
    for name, word in settings.small_words.items():
        found[f"composed-{word}"] = functools.partial(_composed, name, settings)
    for name, word in settings.first_word.items():
        found[f"joint-{word}"] = functools.partial(_joint, name, settings)
        found[f"noised-{word}"] = functools.partial(_noised, name, settings)
        found[f"times-{word}"] = functools.partial(_times, name, settings)
    return found


def _steps(name: str, settings: Settings) -> xr.Dataset:
    """GLiR's numbers at every step of ``audit_models`` models, each with its own records."""
    it = _task(name, settings)
    splits = [experiment.split(it, settings, model) for model in range(settings.audit_models)]
    each = [experiment.steps_of(it, s, settings, model) for model, s in enumerate(splits)]
    n = it.batch
    return evidence.dataset(
        "steps",
        {
            **{key: np.stack([one[key] for one in each]) for key in each[0]},
            "row": np.stack([s.queries for s in splits]),
            "member": np.tile(np.arange(2 * n) < n, (len(splits), 1)),
        },
        **_origin(it, settings, "cpu", settings.audit_steps),
        batch_size=n,
        rank=max(int((one["eigenvalue"] > 0).sum(axis=1).max()) for one in each),
        sizes={
            "Audited models": f"{settings.audit_models} (paper: 5)",
            "Members of each": f"{n:,}",
            "Background records": f"{len(splits[0].background):,} (paper: 10,000)",
            "Steps": f"{settings.audit_steps} (paper: 5)",
        },
    )


def _starts(name: str, settings: Settings) -> xr.Dataset:
    """The loss attack's outcomes after the few steps, by whether models share their start."""
    each = [loss_attack.outcomes(_outputs(name, "few", settings, start)) for start in STARTS]
    it = _task(name, settings)
    return evidence.dataset(
        "measured",
        {
            key: (dims, np.stack([one[key] for one in each]))
            for key, dims in (("auc", ("start", "target")), ("tpr", ("start", "target", "rate")))
        },
        {"start": list(STARTS)},
        **_origin(it, settings, "cpu", settings.audit_steps),
        steps=settings.audit_steps,
        sizes={"Shadow models": str(settings.n_reference), "Targets": str(settings.audit_models)},
    )


def _outputs(name: str, length: str, settings: Settings, start: str = "shared") -> xr.Dataset:
    """Log-odds under targets and shadow models, all of random halves of the same records."""
    it = _task(name, settings)
    pool = experiment.split(it, settings, 0).queries
    targets, models = settings.audit_models, settings.audit_models + settings.n_reference
    mask = data.random_halves(models, len(pool), settings.seed)
    steps = settings.audit_steps if length == "few" else it.steps
    return evidence.dataset(
        "outputs",
        {
            "log_odds": experiment.log_odds(it, pool, mask, steps, settings.seed, start),
            "member": mask,
        },
        {"record": pool},
        **_origin(it, settings, "cpu", steps),
        targets=list(range(targets)),
        references=list(range(targets, models)),
        steps=steps,
        sizes={"Shadow models": str(settings.n_reference), "Target models": str(targets)},
    )


def _measured(name: str, settings: Settings) -> xr.Dataset:
    """Test accuracies: by notion and level with either noise, and by optimiser at one level."""
    it = _task(name, settings)
    mus = levels(settings.n_levels)
    tau = np.array([[needed_noise(it.recipe, mu, notion) for mu in mus] for notion in NOTIONS])
    distinct, place = np.unique(tau, return_inverse=True)
    both = [experiment.accuracies(it, distinct.tolist(), settings, kind) for kind in NOISES]
    strong = needed_noise(it.recipe, STRONG, "gdp")
    ends = [
        [experiment.accuracies(it, [0.0, strong], settings, kind, how) for kind in NOISES]
        for how in OPTIMISERS
    ]
    return evidence.dataset(
        "measured",
        {
            "tau": (("notion", "level"), tau),
            "accuracy": (
                ("noise", "notion", "level", "repeat"),
                np.stack([one[place.reshape(tau.shape)] for one in both]),
            ),
            "accuracy_without": (("optimiser", "repeat"), np.stack([one[0][0] for one in ends])),
            "accuracy_strong": (
                ("optimiser", "noise", "repeat"),
                np.stack([[kind[1] for kind in one] for one in ends]),
            ),
        },
        {
            "notion": list(NOTIONS),
            "noise": list(NOISES),
            "optimiser": list(OPTIMISERS),
            "level": mus,
        },
        **_origin(it, settings, str(device_of(settings.device))),
        sizes={
            "Seeds": f"{settings.utility_seeds} (paper: 5)",
            "Training records": f"{it.recipe.n_records:,}",
            "Test records": f"{it.n_test:,}",
            "Steps": f"{it.steps:,}",
        },
    )


def _clipped(name: str, settings: Settings) -> xr.Dataset:
    """Test accuracies with C at the median norm of the gradients."""
    it = _task(name, settings)
    found = utility.clipped_accuracies(it, settings)
    arrays = {key: one for key, one in found.items() if isinstance(one, tuple)}
    return evidence.dataset(
        "measured",
        arrays,
        {"level": found["level"], "norm": list(utility.NORMS)},
        **_origin(it, settings, str(device_of(settings.device))),
        clip=found["clip"],
        free=found["free"],
        sizes={"Seeds": f"{settings.utility_seeds} (paper: 5)", "Steps": f"{it.steps:,}"},
    )


def _composed(name: str, settings: Settings) -> xr.Dataset:
    """The attack on models of Figure 3 without noise, all of whose steps are seen."""
    it = _task(name, settings)
    runs = min(settings.audit_models, promise.RUNS)
    found = [
        [promise.outcomes(promise.attacked(it, run, o, settings.seed)) for run in range(runs)]
        for o in promise.OTHERS
    ]
    who = promise.cast(it, 0, settings.seed)
    return evidence.dataset(
        "measured",
        {
            "tpr": (
                ("others", "run", "group", "rate"),
                np.array([[one["tpr"] for one in each] for each in found]),
            ),
            "auc": (
                ("others", "run", "group"),
                np.array([[one["auc"] for one in each] for each in found]),
            ),
        },
        {"others": list(promise.OTHERS), "group": list(promise.GROUPS)},
        **_origin(it, settings, "cpu"),
        sizes={
            "Attacked runs": str(runs),
            "Training records": f"{it.recipe.n_records:,}",
            "Steps": f"{it.steps:,}",
            "Members asked": f"{len(who.members):,}",
            "Strangers asked": f"{len(who.strangers):,}",
        },
    )


def _joint(name: str, settings: Settings) -> xr.Dataset:
    """The AUC of several steps' joint test on real gradients, by background."""
    it = _task(name, settings)
    each = [several_steps.outcomes(it, settings, model) for model in range(settings.audit_models)]
    return evidence.dataset(
        "measured",
        {"auc": (("model", "background", "steps", "attack"), np.array([one for one, _ in each]))},
        {"steps": list(several_steps.STEPS), "attack": list(several_steps.ATTACKS)},
        **_origin(it, settings, "cpu", max(several_steps.STEPS)),
        backgrounds=each[0][1],
        sizes={"Audited models": f"{settings.audit_models} (paper: 5)"},
    )


def _noised(name: str, settings: Settings) -> xr.Dataset:
    """The AUC of the best attack on one step, without noise and with that of half the level."""
    it, clip = _task(name, settings), noised.clip_of_table_3()
    tau = noised.halving_noise(it.dimension, it.batch, clip)
    models = range(settings.audit_models)
    each = [noised.areas(it, settings, model, clip, tau) for model in models]
    return evidence.dataset(
        "measured",
        {"auc": (("model", "noise"), np.array(each))},
        **_origin(it, settings, "cpu", 1),
        tau=tau,
        clip=clip,
        sizes={"Audited models": f"{settings.audit_models} (paper: 5)"},
    )


@evidence.version(2)
def _times(name: str, settings: Settings) -> xr.Dataset:
    """Processor time and AUC of GLiR and of the loss attack after the few steps."""
    it = _task(name, settings)
    each = [
        loss_attack.timed_outcomes(it, settings, model) for model in range(settings.audit_models)
    ]
    many = loss_attack.FOR_AS_LONG * settings.n_reference
    return evidence.dataset(
        "measured",
        {
            key: (("attack", "model"), np.stack([one[key] for one in each], axis=1))
            for key in ("seconds", "auc")
        },
        {"attack": [attack.format(many) for attack in loss_attack.ATTACKS]},
        **_origin(it, settings, "cpu", settings.audit_steps),
        sizes={
            "Shadow models": f"{settings.n_reference} and {many:,}",
            "Audited models": str(settings.audit_models),
        },
    )


def _task(name: str, settings: Settings) -> Task:
    """A data set with its features, made once for the three kinds of evidence."""
    return _made(name, settings.data_root, settings.pretrain_epochs, settings.seed, settings.device)


_made = functools.lru_cache(maxsize=4)(load_task)


def _origin(it: Task, settings: Settings, device: str, steps: int = 0) -> dict[str, Any]:
    """What every file says of its data set and network; audits take all members at every step."""
    audited = {"batch_size": it.batch, "n_records": it.batch, "epochs": steps}
    return {
        "set": it.name,
        "data": it.digests,
        "recipe": asdict(it.recipe) | (audited if steps else {}),
        "published": it.published,
        "deviations": list(it.deviations),
        "device": device,
        "seed": settings.seed,
    }
