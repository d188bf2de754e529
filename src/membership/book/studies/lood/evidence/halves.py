"""Networks of the paper's size: one ensemble, each audited record in a random half of it.

Retraining without each record would take 200 networks a record; here 128 serve all. They are
trained and asked some at a time, and what they answered is kept, which is small.
"""

import functools
from dataclasses import asdict

import numpy as np
import xarray as xr

from membership import data, evidence, training
from membership.book.settings import INCIDENTAL
from membership.book.studies.lood.evidence import of_networks, of_records
from membership.book.studies.lood.evidence.networks import EVERY
from membership.book.studies.lood.experiment import OFFSETS, Records, lines, load
from membership.book.studies.lood.networks import factory, left_out_of, recipe
from membership.book.studies.lood.one_inverse import (
    BATCH,
    ENSEMBLE,
    EPOCHS,
    LAYERS,
    README_RECORDS,
    WIDTH,
)
from membership.book.studies.lood.settings import Settings
from membership.evidence.gathering import Arrays, Parts

AUDITED = 500
LEARNING_RATE = 1e-3
SMALL = 8
"""Networks of the other profiles."""


def sized(settings: Settings) -> tuple[Settings, int, int]:
    """The run's settings, networks, and networks at a time."""
    if settings.profile != "paper":
        return settings, SMALL, SMALL // 2
    sizes = {"n_records": README_RECORDS, "network_records": README_RECORDS}
    shape = {"depth": LAYERS, "network_width": WIDTH, "n_retrained": AUDITED}
    return settings.model_copy(update={**sizes, **shape}), ENSEMBLE, ENSEMBLE // 8


@functools.lru_cache(maxsize=1)
def _split(settings: Settings) -> tuple[Records, np.ndarray, np.ndarray]:
    """Records, the rows that are audited, and which networks are trained on those."""
    settings, networks, _ = sized(settings)
    records = load(settings).first(settings.network_records)
    audited = left_out_of(records, settings)
    return records, audited, data.balanced_membership(networks, len(audited), settings.seed)


def _recipe(records: Records, settings: Settings, activation: str) -> training.TrainingConfig:
    """The paper's training at its size; the chapter's bound on the rate is far below it there."""
    if settings.profile != "paper":
        return recipe(records, settings, activation)
    return training.TrainingConfig(epochs=EPOCHS, batch_size=BATCH, learning_rate=LEARNING_RATE)


def train(activation: str, settings: Settings, first: int) -> training.Ensemble:
    """The networks of one part, from row `first` of the split on, as many as are trained at once.

    Each is trained on all records but those audited ones that its row leaves out, half of them.
    Raises `membership.training.deadline.Stopped` where the time is over, with a checkpoint kept.
    """
    records, audited, inside = _split(settings)
    own, _, at_once = sized(settings)
    rows = range(first, first + at_once)
    masks = np.ones((at_once, len(records)), dtype=bool)
    masks[:, audited] = inside[rows]
    return training.train(
        factory(records, own, activation),
        records.dataset,
        masks,
        _recipe(records, own, activation),
        [own.seed * 1_000_003 + row for row in rows],
        device=own.device,
        n_jobs=own.n_jobs,
    )


def offsets(activation: str) -> list[int]:
    """Where each audited record's line is asked: at itself first, and for GeLU nowhere else."""
    away = OFFSETS[(OFFSETS % EVERY == 0) & (OFFSETS != 0)].tolist()
    return [0, *away] if activation == "relu" else [0]


def look(activation: str, settings: Settings, first: int) -> Arrays:
    """What one part's networks answer, (networks, records, queries, logits)."""
    records, audited, _ = _split(settings)
    x = records.dataset.x[audited]
    along = lines(x.astype(np.float64), settings)[:, np.searchsorted(OFFSETS, offsets(activation))]
    along[:, 0] = x
    flat = along.astype(np.float32).reshape(-1, *x.shape[1:])
    answers = train(activation, settings, first).logits(flat).numpy()
    return {"answer": answers.reshape(len(answers), *along.shape[:2], -1)}


def parts(activation: str, settings: Settings) -> Parts:
    """The networks, so many at a time, named by the first of them."""
    own, networks, at_once = sized(settings)
    ours = {k: v for k, v in own.parameters().items() if k not in INCIDENTAL}
    records, device = _split(settings)[0], str(training.device_of(own.device))
    config = asdict(_recipe(records, own, activation))
    determined = [activation, ours, records.dataset.digest, config, networks, at_once, device]
    look_at = functools.partial(look, activation, settings)
    return Parts(look_at, range(0, networks, at_once), determined)


def pairs(activation: str, settings: Settings) -> xr.Dataset:
    """Logits of the networks with and without each audited record."""
    records, audited, inside = _split(settings)
    answer = np.concatenate([part["answer"] for part in parts(activation, settings).found()])
    sides = [
        [answer[mask == side, place] for place, mask in enumerate(inside.T)]
        for side in (True, False)
    ]
    own, networks, _ = sized(settings)
    sizes = {"records_audited": len(audited), "networks": networks}
    stated = of_records(records, own, *of_networks(own), **sizes)
    config = _recipe(records, own, activation)
    trained = {"epochs": config.epochs, "learning_rate": config.learning_rate}
    stated["recipe"] |= trained | {"width": own.network_width}
    stated["device"] = str(training.device_of(own.device))
    return evidence.dataset(
        "pairs",
        {"answer": np.array(sides).swapaxes(0, 1)},
        {"record": audited},
        **stated,
        offsets=offsets(activation),
        labels=records.dataset.y[audited].tolist(),
    )
