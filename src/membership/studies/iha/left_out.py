"""The evidence of the leave-one-out experiments: what retrained models answer, and their forms.

The records asked about are those left out of D, `inside`, and all records outside D: models trained
on D about every one, those trained without or with z about z alone. Forms are taken over D,
whatever a model was trained on: of models trained on D, and of half of those trained on D + z.
"""

from typing import Any

import numpy as np
import torch
import xarray as xr

from membership import evidence
from membership.attacks.forms import TERMS
from membership.studies.iha import white_box
from membership.studies.iha.loo import LeaveOneOut, retrain
from membership.studies.iha.tasks import about_task

__all__ = ["forms", "outputs", "retrain"]


def outputs(experiment: LeaveOneOut) -> xr.Dataset:
    """Evidence of the kind outputs."""
    asked = _asked(experiment)
    pool, answered = experiment.task.pool, _answered(experiment, asked)
    answers = experiment.answers(pool.x[asked], pool.y[asked])
    return evidence.dataset(
        "outputs",
        {
            "log_odds": np.where(answered, answers, np.nan),
            "asked": answered,
            "member": experiment.ensemble.membership[:, asked],
        },
        {"model": np.arange(len(experiment.ensemble)), "record": asked},
        **_about(experiment),
    )


def forms(experiment: LeaveOneOut, settings: Any) -> xr.Dataset:
    """Evidence of the kind white_box; NaN where a model was not asked."""
    asked, inverses = _asked(experiment), white_box.main(settings.damping)
    models, rows = _models(experiment, settings, asked)
    found = [
        _of_model(experiment, m, asked, r, settings) for m, r in zip(models, rows, strict=True)
    ]
    return evidence.dataset(
        "white_box",
        {
            "member": experiment.ensemble.membership[np.ix_(models, asked)],
            **{name: [each[name] for each in found] for name in ("form", "damping", "norm")},
        },
        {
            "target": models,
            "query": asked,
            "term": list(TERMS),
            "inverse": [one.label for one in inverses],
            "vector": list(white_box.VECTORS),
        },
        inverses=white_box.described(inverses),
        **_about(experiment),
    )


def _asked(experiment: LeaveOneOut) -> np.ndarray:
    outside = np.arange(len(experiment.base), len(experiment.task.pool))
    return np.concatenate([experiment.inside, outside])


def _answered(experiment: LeaveOneOut, asked: np.ndarray) -> np.ndarray:
    """Which models are asked which records: one trained with or without z, about z alone."""
    found = np.ones((len(experiment.ensemble), len(asked)), bool)
    for group, records in (("without", experiment.inside), ("with", experiment.outside)):
        for models, z in zip(experiment.groups[group], records, strict=True):
            found[models] = asked == z
    return found


def _models(
    experiment: LeaveOneOut, settings: Any, asked: np.ndarray
) -> tuple[np.ndarray, list[np.ndarray]]:
    """The models whose gradients are read, and the places among the records asked of each."""
    half = experiment.groups["with"].shape[1] // 2
    shared = experiment.groups["targets"][: max(half, settings.n_targets)]
    played = experiment.groups["with"][:, half : 2 * half]
    own = [np.flatnonzero(asked == z) for z in experiment.outside]
    rows = [np.arange(len(asked))] * len(shared)
    rows += [z for z, models in zip(own, played, strict=True) for _ in models]
    return np.concatenate([shared, played.ravel()]), rows


def _of_model(
    experiment: LeaveOneOut, model: int, asked: np.ndarray, rows: np.ndarray, settings: Any
) -> dict[str, Any]:
    """Forms (inverse, term, queries) of one model, with D as the training set whatever it was."""
    task, inverses = experiment.task, white_box.main(settings.damping)

    def records(chosen: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.tensor(task.pool.x[chosen]), torch.tensor(task.pool.y[chosen])

    how = white_box.opened(experiment.ensemble.module(model), task.config, records(experiment.base))
    raised = white_box.enough(how.spectrum.values, settings.damping)
    form = white_box.empty(inverses, len(asked))
    for view, part in how.views(records(asked[rows])):
        for place, one in enumerate(inverses):
            white_box.fill(form, rows[part], one, place, how.forms(view, one, raised))
    return {"form": form, "damping": [raised, raised, 0.0], "norm": how.norms(view)}


def _about(experiment: LeaveOneOut) -> dict[str, Any]:
    groups = {name: rows.tolist() for name, rows in experiment.groups.items()}
    said = about_task(experiment.task)
    return {
        **said,
        "recipe": {**said["recipe"], "members": len(experiment.base)},
        "setup": experiment.setup,
        "targets": groups["targets"],
        "groups": groups,
        "inside": experiment.inside.tolist(),
        "outside": experiment.outside.tolist(),
        "device": str(experiment.ensemble.device),
    }
