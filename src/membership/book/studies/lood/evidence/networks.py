"""What retrained networks answer, what is estimated of them, and the seconds that all takes."""

import resource
import tempfile
import time
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
import xarray as xr
from torch import nn

from membership import data, evidence, lood
from membership.arrays import FloatArray
from membership.book.studies.experiment import timed
from membership.book.studies.lood.evidence import at_paper_size, of_networks, of_records
from membership.book.studies.lood.evidence.records import directly
from membership.book.studies.lood.experiment import (
    OFFSETS,
    Records,
    every_record,
    kernel_of,
    lines,
    load,
    square,
)
from membership.book.studies.lood.networks import (
    NETWORK_W_STD,
    Retrained,
    factory,
    recipe,
    retrain,
    span,
)
from membership.book.studies.lood.one_inverse import BATCH, LAYERS, README_RECORDS, WIDTH
from membership.book.studies.lood.settings import Settings

N_TIMED = 3
EVERY = 5
"""Networks are asked at every fifth step of a line."""


DAMPING = 0.01
# The released call of LiSSA: 50 steps, scale 500, damping 0.01, no restarts.
RELEASED_STEPS, RELEASED_SCALE = 50, 500.0
MODELS = 3
CHECKPOINTS = 3


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
    estimates = influence(retrained, settings)
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


def influence(retrained: Retrained, settings: Settings) -> dict[str, FloatArray]:
    """Estimates of each left-out record's influence on itself, from networks that have it."""
    models = range(min(MODELS, len(retrained.inside)))
    solved = [_of_model(retrained, retrained.inside.module(model)) for model in models]
    traced = [_tracin(retrained, settings, model) for model in models]
    names = ("influence function", "LiSSA as released")
    by_name = {name: np.mean([pair[i] for pair in solved], axis=0) for i, name in enumerate(names)}
    return {**by_name, "TracIn": np.mean(traced, axis=0)}


def tangent_kernel(module: torch.nn.Module, x: np.ndarray) -> FloatArray:
    """Products of the gradients of log-odds in the parameters, (records, records).

    The module goes to two logits; its parameters are weights of linear layers, each applied once a
    record. With a the inputs of a layer and d the gradients of the log-odds in what it returns, the
    product is the sum over layers of (d d') (a a'): no Jacobian is held.
    """
    layers = [layer for layer in module.modules() if isinstance(layer, torch.nn.Linear)]
    seen: list[tuple[torch.Tensor, torch.Tensor]] = []
    hooks = [
        layer.register_forward_hook(lambda _, inputs, output: seen.append((inputs[0], output)))
        for layer in layers
    ]
    outputs = module(torch.tensor(np.asarray(x), dtype=torch.float32))
    for hook in hooks:
        hook.remove()
    slopes = torch.autograd.grad((outputs[:, 1] - outputs[:, 0]).sum(), [out for _, out in seen])
    parts = [
        (slope @ slope.T) * (rows.detach() @ rows.detach().T)
        for (rows, _), slope in zip(seen, slopes, strict=True)
    ]
    return sum(part.double() for part in parts).numpy()


def _of_model(retrained: Retrained, module: torch.nn.Module) -> tuple[FloatArray, FloatArray]:
    """Influence functions and LiSSA in the space that the records' gradients span.

    With J the Jacobian of the log-odds and b = p (1 - p), the Hessian is J' diag(b) J / n; the
    inverse of H + damping and LiSSA's polynomial are functions of b^(1/2) J J' b^(1/2) / n alone.
    """
    seen, chosen = retrained.space.seen(retrained.records), retrained.left_out
    x, y = seen.x, seen.y
    with torch.no_grad():
        p = module(torch.tensor(x)).double().softmax(-1).numpy()[:, 1]
    kernel, root = tangent_kernel(module, x), np.sqrt(p * (1 - p))
    values, vectors = np.linalg.eigh(root[:, None] * kernel * root / len(x))
    values = np.maximum(values, 0)
    # J'r of a record, seen along the eigenvectors; what is left of it no record's curvature sees.
    residual = (p - y)[chosen]
    square = residual**2 * np.diag(kernel)[chosen]
    along = (residual[:, None] * (kernel[chosen] * root) @ vectors) ** 2 / len(x)
    influences = []
    for function in (lambda h: 1 / (h + DAMPING), _lissa):
        # f(H) = f(0) I + J'b^(1/2) V (f(values) - f(0)) / values V' b^(1/2) J / n
        slope = (function(values) - function(0.0)) / np.where(values > 1e-12, values, np.inf)
        influences.append(function(0.0) * square + along @ slope)
    return influences[0], influences[1]


def _lissa(h: Any) -> Any:
    """The recursion v <- g + (1 - damping) v - h v / scale, after its steps, over the scale."""
    ratio = 1 - DAMPING - h / RELEASED_SCALE
    return (1 - ratio ** (RELEASED_STEPS + 1)) / (1 - ratio) / RELEASED_SCALE


def _tracin(retrained: Retrained, settings: Settings, model: int) -> FloatArray:
    """Sum of learning rate times the squared gradient over states of one network's training."""
    from membership import training

    inside, seen = retrained.inside, retrained.space.seen(retrained.records)
    epochs = inside.config.epochs
    marks = sorted({max(1, round(epochs * (i + 1) / CHECKPOINTS)) for i in range(CHECKPOINTS)})
    states = partial(
        training.train,
        inside.factory,
        seen,
        inside.membership[model][None],
        seeds=[inside.seeds[model]],
        device=settings.device,
        n_jobs=1,
        progress=False,
    )
    chosen = retrained.left_out
    x, y = seen.x[chosen], seen.y[chosen]
    total = np.zeros(len(chosen))
    for mark in marks:
        config = recipe(retrained.records, settings, epochs=mark)
        module = states(config=config).module(0)
        total += config.learning_rate_at(mark - 1) * _squared_gradient(module, x, y)
    return total


def _squared_gradient(module: torch.nn.Module, x: np.ndarray, y: np.ndarray) -> FloatArray:
    """|g|^2 of each record's cross-entropy."""
    parameters = {name: value.detach() for name, value in module.named_parameters()}

    def loss(state: dict, record: torch.Tensor, label: torch.Tensor) -> torch.Tensor:
        logits = torch.func.functional_call(module, state, (record[None],))
        return torch.nn.functional.cross_entropy(logits, label[None])

    gradient = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0), chunk_size=16)
    gradients = gradient(parameters, torch.tensor(x), torch.tensor(y))
    return sum(part.flatten(1).double().square().sum(1) for part in gradients.values()).numpy()


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
