"""What retrained networks answer, what is estimated of them, and the seconds that all takes."""

import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from membership import data, evidence, lood
from membership.studies.lood import influence
from membership.studies.lood.accuracy import ASKED, accuracy
from membership.studies.lood.gather import at_paper_size
from membership.studies.lood.kernels import every_record, kernel_of, square
from membership.studies.lood.networks import factory, recipe, retrain
from membership.studies.lood.observed_records import directly
from membership.studies.lood.origin import of_networks, of_records
from membership.studies.lood.records import OFFSETS, Records, lines, load
from membership.studies.lood.sizes import README_RECORDS
from membership.studies.lood.span import span

N_TIMED = 3
EVERY = 5
"""Networks are asked at every fifth step of a line."""


def pairs(activation: str, settings: Any) -> xr.Dataset:
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


def influences(settings: Any) -> xr.Dataset:
    """Estimates of each left-out record's influence on itself, and the process's numbers."""
    retrained = retrain(load(settings), settings)
    process, chosen = every_record(retrained.records, settings), retrained.left_out
    found = influence.estimates(retrained, settings)
    return evidence.dataset(
        "process",
        {
            "estimate": (("estimator", "record"), np.stack(list(found.values()))),
            "variance": ("record", process.variance[chosen]),
            "square": ("record", square(process)[chosen]),
        },
        {"estimator": list(found), "record": chosen},
        **_origin(retrained.records, settings),
    )


def _origin(records: Records, settings: Any, activation: str = "relu") -> dict[str, Any]:
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


def times(settings: Any) -> xr.Dataset:
    """Seconds in this run, on one core where the libraries allow.

    One by one means a kernel matrix and two linear systems for each record, as the released code
    does. Retraining means the networks of both sides for one record, in one batch.
    """
    own = load(settings)
    kernel, n = kernel_of(settings), len(own)
    matrix, of_kernel = _timed(lambda: kernel(own.inputs()))
    _, of_all = _timed(lambda: lood.leave_one_out(matrix, own.targets, settings.noise))
    some = range(min(N_TIMED, n))
    _, of_some = _timed(lambda: [_by_itself(own, kernel, i, settings) for i in some])
    seconds = {
        "kernel": of_kernel,
        "all": of_all,
        "one": of_some / len(some),
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


def _of_many(settings: Any) -> tuple[dict[str, float], dict[str, float]]:
    """The same for as many records as the released code has, and this process's largest memory."""
    own = load(settings.model_copy(update={"n_records": README_RECORDS}))
    matrix, of_kernel = _timed(lambda: kernel_of(settings)(own.inputs()))
    _, of_all = _timed(lambda: lood.leave_one_out(matrix, own.targets, settings.noise))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    seconds = {"kernel of many": of_kernel, "all of many": of_all}
    return seconds, {"records_at_most": len(own), "peak_gib": peak}


def _setup(own: Records, settings: Any) -> dict[str, Any]:
    config = recipe(own, settings)
    return {
        "members": settings.network_records,
        "architecture": f"{settings.depth + 1} linear layers of {settings.network_width}",
        "networks": settings.n_networks,
        "recipe": {"epochs": config.epochs, "batch_size": config.batch_size},
    }


def _by_itself(own: Records, kernel: Any, row: int, settings: Any) -> None:
    directly(kernel(own.inputs()), own.targets, row, settings.noise)


def _retraining(own: Records, settings: Any) -> float:
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

        return _timed(both_sides)[1]


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    return work(), time.perf_counter() - start
