"""The evidence of the clean game at scale, put together from its models D' by D'."""

import functools
from dataclasses import asdict
from typing import Any

import numpy as np
import xarray as xr

from membership import evidence, training
from membership.studies.iha import names, neighbour_forms, white_box
from membership.studies.iha.neighbours import SIDES, Game, set_up, weights
from membership.studies.iha.tasks import about_task


def pairs(name: str, settings: Any) -> xr.Dataset:
    """Evidence of the kind pairs: every model asked about the record that it is played for."""
    game = set_up(name, settings)
    found = weights(game, settings)
    look = functools.partial(neighbour_forms.look, game, settings.damping, found)
    determined = (settings.damping, asdict(game.task.config), *found.values())
    parts = evidence.in_parts(look, list(range(game.size.n_others)), *determined)
    inverses = white_box.main(settings.damping)
    log_odds = np.concatenate([part["log_odds"] for part in parts])
    return evidence.dataset(
        "pairs",
        {
            "answer": log_odds[..., None, None],
            "form": np.concatenate([part["form"] for part in parts]),
            "accuracy": np.stack([part["accuracy"] for part in parts]),
        },
        {
            "record": game.added.ravel(),
            "side": list(SIDES),
            "replicate": np.arange(game.size.n_models),
            "inverse": [*(one.label for one in inverses), names.FITTED],
            "term": list(neighbour_forms.KINDS),
        },
        inverses=white_box.described(inverses),
        damping=[float(part["damping"]) for part in parts],
        **_about(game, settings),
    )


def _about(game: Game, settings: Any) -> dict[str, Any]:
    said = about_task(game.task)
    kept = {name: said[name] for name in ("set", "published", "data", "recipe", "pool")}
    size = game.size
    return {
        **kept,
        "recipe": {**said["recipe"], "members": size.n_train},
        # Which D' each record is played for with.
        "others": np.repeat(np.arange(size.n_others), size.n_records).tolist(),
        "seed": settings.seed,
        "device": str(training.device_of(settings.device)),
    }
