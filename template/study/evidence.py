"""What the networks answer for every record: the chapter's one experiment, a file a width."""

from collections.abc import Callable
from functools import partial

import numpy as np
import xarray as xr

from membership import data, evidence, models, signals, training
from membership.book.studies.my_paper.settings import Settings

WIDTHS = (2, 8, 32, 128)


def sources(settings: Settings) -> dict[str, Callable[[], xr.Dataset]]:
    """What gathers each of the chapter's evidence files, by name."""
    return {f"outputs-{width}": partial(gather, width, settings) for width in WIDTHS}


def names(settings: Settings) -> list[str]:
    """The files of all widths."""
    return list(sources(settings))


@evidence.version(1)
def gather(width: int, settings: Settings) -> xr.Dataset:
    """Train networks of one width on random halves of the records, and ask them about all."""
    dataset = data.load(settings.dataset, root=settings.data_root or None)
    member = data.random_halves(settings.n_models, len(dataset.y), settings.seed)
    config = training.TrainingConfig(
        settings.epochs, batch_size=64, learning_rate=0.1, momentum=0.9
    )
    features = int(np.prod(dataset.x.shape[1:]))
    ensemble = training.train(
        partial(models.mlp, features, (width,), dataset.n_classes),
        dataset,
        member,
        config,
        range(settings.seed, settings.seed + settings.n_models),
        device=settings.device,
        n_jobs=settings.n_jobs,
    )
    logits = ensemble.logits(dataset.x)
    return evidence.dataset(
        "outputs",
        {
            "log_odds": signals.scaled_logit(logits, None, dataset.y),
            "correct": signals.hinge(logits, None, dataset.y) > 0,
            "member": member,
        },
        {"record": np.arange(len(dataset.y))},
        set=dataset.name,
        data={dataset.name: dataset.digest},
        recipe={"epochs": settings.epochs, "batch_size": 64, "learning_rate": 0.1},
        deviations=["networks with one hidden layer in the place of convolutional ones"],
        setup={
            "data": dataset.name,
            "members": int(member[0].sum()),
            "architecture": "one hidden layer",
        },
        sizes={"Networks of each width": str(settings.n_models)},
        device=ensemble.device.type,
        targets=list(range(settings.n_models)),
        width=width,
    )
