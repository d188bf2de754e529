"""What retrained networks answer, what is estimated of them, and the seconds that all takes."""

import resource
import tempfile
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
import xarray as xr
from torch import nn

from membership import data, evidence, lood
from membership.arrays import FloatArray
from membership.studies.experiment import timed
from membership.studies.lood.evidence import at_paper_size, influence, of_networks, of_records
from membership.studies.lood.evidence.records import directly
from membership.studies.lood.experiment import (
    OFFSETS,
    Records,
    every_record,
    kernel_of,
    lines,
    load,
    square,
)
from membership.studies.lood.networks import (
    NETWORK_W_STD,
    Retrained,
    factory,
    recipe,
    retrain,
    span,
)
from membership.studies.lood.one_inverse import BATCH, LAYERS, README_RECORDS, WIDTH
from membership.studies.lood.settings import Settings

N_TIMED = 3
EVERY = 5
"""Networks are asked at every fifth step of a line."""


def pairs(activation: str, settings: Settings) -> xr.Dataset:
    """Logits with and without each left-out record: at itself and, for ReLU, along a line."""
    retrained = retrain(load(settings), settings, activation)
    queries, offsets = retrained.own_queries, [0]
    if activation == "relu":
        x = queries[:, 0].astype(np.float64)
        away = (OFFSETS % EVERY == 0) & (OFFSETS != 0)
        offsets += OFFSETS[away].tolist()
        queries = np.concatenate([x[:, None], lines(x, settings)[:, away]], axis=1)
    answer = np.stack(retrained.logits(queries), axis=1)
    return evidence.dataset(
        "pairs",
        {
            "answer": answer,
            "accuracy": accuracy(retrained, settings, activation),
        },
        {"record": retrained.left_out, "asked": list(ASKED)},
        **_origin(retrained.records, settings, activation),
        offsets=offsets,
        labels=retrained.records.dataset.y[retrained.left_out].tolist(),
    )


def influences(settings: Settings) -> xr.Dataset:
    """Estimates of each left-out record's influence on itself, and the process's numbers."""
    retrained = retrain(load(settings), settings)
    process, chosen = every_record(retrained.records, settings), retrained.left_out
    estimates = influence.estimates(retrained, settings)
    return evidence.dataset(
        "process",
        {
            "estimate": (("estimator", "record"), np.stack(list(estimates.values()))),
            "variance": ("record", process.variance[chosen]),
            "square": ("record", square(process)[chosen]),
        },
        {"estimator": list(estimates), "record": chosen},
        **_origin(retrained.records, settings),
    )


def _origin(records: Records, settings: Settings, activation: str = "relu") -> dict[str, Any]:
    config = recipe(records, settings, activation)
    stated = of_records(
        records,
        settings,
        *of_networks(settings),
        records_left_out=settings.n_retrained,
        networks_a_side=settings.n_networks,
    )
    trained = {
        "epochs": config.epochs,
        "batch_size": config.batch_size,
        "learning_rate": config.learning_rate,
        "momentum": config.momentum,
        "width": settings.network_width,
    }
    return stated | {"recipe": stated["recipe"] | trained}


def times(settings: Settings) -> xr.Dataset:
    """Seconds in this run, on one core where the libraries allow.

    One by one means a kernel matrix and two linear systems for each record, as the released code
    does. Retraining means the networks of both sides for one record, in one batch.
    """
    own = load(settings)
    kernel, n = kernel_of(settings), len(own)
    matrix, of_kernel = timed(lambda: kernel(own.inputs()))
    _, of_all = timed(lambda: lood.leave_one_out(matrix, own.targets, settings.noise))
    rows = range(min(N_TIMED, n))
    _, of_some = timed(
        lambda: [directly(kernel(own.inputs()), own.targets, i, settings.noise) for i in rows]
    )
    seconds = {
        "kernel": of_kernel,
        "all": of_all,
        "one": of_some / len(rows),
        "retraining": _retraining(own, settings),
    }
    large = {"records_at_most": n}
    if at_paper_size(settings):
        more, large = _of_many(settings)
        seconds |= more
    return evidence.dataset(
        "measured",
        {"seconds": ("task", list(seconds.values()))},
        {"task": list(seconds)},
        **of_records(own, settings, *of_networks(settings)),
        networks=2 * settings.n_networks,
        records=n,
        **large,
        setup=_setup(own, settings),
    )


def _of_many(settings: Settings) -> tuple[dict[str, float], dict[str, float]]:
    """The same for as many records as the released code has, and this process's largest memory."""
    own = load(settings.model_copy(update={"n_records": README_RECORDS}))
    matrix, of_kernel = timed(lambda: kernel_of(settings)(own.inputs()))
    _, of_all = timed(lambda: lood.leave_one_out(matrix, own.targets, settings.noise))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    seconds = {"kernel of many": of_kernel, "all of many": of_all}
    return seconds, {"records_at_most": len(own), "peak_gib": peak}


def _setup(own: Records, settings: Settings) -> dict[str, Any]:
    config = recipe(own, settings)
    return {
        "members": settings.network_records,
        "architecture": f"{settings.depth + 1} linear layers of {settings.network_width}",
        "networks": settings.n_networks,
        "recipe": {"epochs": config.epochs, "batch_size": config.batch_size},
    }


def _retraining(own: Records, settings: Settings) -> float:
    """Seconds to train both sides for one record from nothing."""
    from membership import training

    few = own.first(settings.network_records)
    masks = data.leave_one_out(len(few), [0]).repeat(settings.n_networks, axis=0)
    seeds = list(range(len(masks)))
    with tempfile.TemporaryDirectory() as folder:
        run = {"cache_folder": Path(folder), "progress": False, "n_jobs": 1}
        config, place = recipe(few, settings), {"device": settings.device}

        def both_sides() -> None:
            space = span(few, [0], settings)
            make = factory(few, settings, "relu", space.dimensions)
            training.train(make, space.seen(few), masks, config, seeds, **place, **run)

        return timed(both_sides)[1]


REPEATS, TIMED = 5, 20
"""Timings of each, and batches of one timing of the training: early and late ones cost the same."""


def cost(settings: Settings) -> xr.Dataset:
    """Processor seconds of a batch of the paper's networks, and of LOOD with its kernel."""
    own = load(settings.model_copy(update={"n_records": README_RECORDS}))
    x = torch.tensor(own.dataset.x[: BATCH * TIMED].reshape(BATCH * TIMED, -1)).float()
    y = torch.tensor(own.dataset.y[: BATCH * TIMED]).long()

    def of_one() -> None:
        lood.leave_one_out(kernel_of(settings)(own.inputs()), own.targets, settings.noise)

    return evidence.dataset(
        "measured",
        {
            "batch": (
                "repeat",
                [timed(_training(x, y), time.process_time)[1] / TIMED for _ in range(REPEATS)],
            ),
            "lood": ("repeat", [timed(of_one, time.process_time)[1] for _ in range(REPEATS)]),
        },
        {"repeat": np.arange(REPEATS)},
        **of_records(own, settings),
    )


def _training(x: torch.Tensor, y: torch.Tensor) -> Callable[[], None]:
    widths = [x.shape[1], *[WIDTH] * LAYERS]
    hidden = [
        layer for pair in pairwise(widths) for layer in (nn.Linear(*pair, bias=False), nn.ReLU())
    ]
    network = nn.Sequential(*hidden, nn.Linear(WIDTH, 2, bias=False))
    descent = torch.optim.SGD(network.parameters(), lr=1e-3)

    def train() -> None:
        for batch in range(TIMED):
            rows = slice(BATCH * batch, BATCH * (batch + 1))
            descent.zero_grad()
            nn.functional.cross_entropy(network(x[rows]), y[rows]).backward()
            descent.step()

    return train


ASKED = ("their records", "other records")


def accuracy(retrained: Retrained, settings: Settings, activation: str) -> FloatArray:
    """Percent of records that each network with all of its own is right on, (2, networks).

    Of its own, and of the run's further ones; NaN where the networks have all of the run's.
    """
    own, whole = retrained.records, load(settings)
    sets = [own.dataset]
    if len(whole) > len(own):
        sets.append(whole.dataset.select(np.arange(len(own), len(whole))))
    module = factory(own, settings, activation)()
    first = next(iter(module.state_dict()))
    deviation = NETWORK_W_STD[activation] / np.sqrt(np.prod(own.shape))
    percent = np.full((2, len(retrained.inside)), np.nan)
    for network, seed in enumerate(retrained.inside.seeds):
        state = {name: value[network] for name, value in retrained.inside.parameters.items()}
        weights = retrained.space.expanded(state[first].double().numpy(), deviation, seed)
        module.load_state_dict(state | {first: torch.tensor(weights, dtype=torch.float32)})
        for place, dataset in enumerate(sets):
            with torch.no_grad():
                answers = module(torch.tensor(dataset.x)).argmax(1).numpy()
            percent[place, network] = 100 * np.mean(answers == dataset.y)
    return percent
