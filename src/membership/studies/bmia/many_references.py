"""Models with many references, for those who ask what retrained models would say.

Of the last data set only, and of a network that trains in seconds.
"""

import functools
from typing import Any

import numpy as np
import xarray as xr

from membership import evidence, training
from membership.studies.bmia.answers import about, answered, predicted
from membership.studies.bmia.experiment import world
from membership.studies.bmia.settings import Settings
from membership.studies.bmia.trained import Trained, train

REFERENCES = {"tiny": 65, "quick": 65, "paper": 65}
"""One for BMIA and 64 that it has not seen."""
NETWORKS = {"digits": "mlp-32", "location30": "mlp-256-128"}
"""What trains in seconds; of other data there are the run's own models and no more."""
ALPHA = 0.05


def outputs(name: str, settings: Settings) -> xr.Dataset:
    """What all models answer for the queries; of held records those that thresholds take."""
    trained = _with_many(name, settings)
    whole = answered(trained, _about(trained)).drop_vars(["held_log_odds", "held_label"])
    used = whole["model"].isin([*range(trained.n_targets), *trained.firsts])
    return whole.assign(held_hinge=whole["held_hinge"].where(used))


def posterior(name: str, settings: Settings) -> xr.Dataset:
    """Moments of the hinge by draws (of first references) and of QMIA (of targets)."""
    trained = _with_many(name, settings)
    models = [*range(trained.n_targets), *trained.firsts]
    return predicted(trained, ("kron", "qmia"), _about(trained), models)


def quantiles(name: str, settings: Settings) -> xr.Dataset:
    """The 5% threshold of every query by a regression of each target's quantiles."""
    trained = _with_many(name, settings)
    held_out, queries = trained.held_with_label(), trained.with_label(trained.x, trained.y)
    thresholds = []
    for hinge in trained.held_out.hinge[: trained.n_targets]:
        seed = trained.world.settings.seed
        model = training.fit_qmia(held_out, hinge, head="pinball", seed=seed)
        thresholds.append(model.threshold(queries, ALPHA))
    threshold = np.array(thresholds, dtype=np.float32)
    return evidence.dataset(
        "measured",
        {"threshold": (("target", "record"), threshold)},
        {"record": trained.records},
        **_about(trained),
    )


def _about(trained: Trained) -> dict[str, Any]:
    """As of the run's other evidence; the set is told apart by the network where that is ours."""
    attributes, world = about(trained), trained.world
    if world.name in NETWORKS:
        attributes["set"] += f", {world.recipe.architecture}"
    return attributes


@functools.lru_cache(maxsize=1)
def _with_many(name: str, settings: Settings) -> Trained:
    network = NETWORKS.get(name.partition(":")[0])
    if network:
        n = max(settings.n_reference, REFERENCES[settings.profile])
        settings = settings.model_copy(update={"n_reference": n, "architecture": network})
    return train(world(name, settings))
