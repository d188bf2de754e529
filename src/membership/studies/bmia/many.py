"""What is gathered of the last data set only, beyond what `gather` does for all."""

import functools
import json
from typing import Any

import xarray as xr

from membership import evidence, signals
from membership.studies.bmia.gather import about
from membership.studies.bmia.settings import Settings
from membership.studies.bmia.trained import Trained, train
from membership.studies.bmia.worlds import world


def population(name: str, settings: Any) -> xr.Dataset:
    """What references answer for records that some of them were trained on."""
    trained = _own(name, _key(settings))
    rows, models = trained.world.population, list(trained.references)
    logits = trained.ensemble.logits(trained.world.dataset.x[rows])[models]
    label = trained.world.dataset.y[rows]
    return evidence.dataset(
        "outputs",
        {
            "log_odds": signals.scaled_logit(logits, None, label),
            "member": trained.ensemble.membership[models][:, rows],
            "label": label,
        },
        {"model": models, "record": rows},
        **{**about(trained), "targets": []},
    )


def _key(settings: Any) -> str:
    given = dict(settings.parameters(), data_root=settings.data_root, n_jobs=settings.n_jobs)
    return json.dumps(given, sort_keys=True)


@functools.lru_cache(maxsize=1)
def _own(name: str, key: str) -> Trained:
    return train(world(name, Settings.from_values(json.loads(key))))
