"""How the chapter's evidence is gathered: training, outputs, quadratic forms, seconds.

The names of the files are `<kind>-<data set>`: outputs, white-box, sweep (over dampings and ranks),
known (fractions of the other records), whole (numbers over every record of the pool), solvers
(Table 3), costs (Table 6), and for models with one record more or less outputs-left-out and
white-box-left-out; those at scale are in pairs-game. What
the theorems suppose of SGD is in noise.
"""

import functools
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import xarray as xr

from membership import evidence
from membership.attacks.forms import TERMS
from membership.studies.iha import cost, left_out, neighbours, noise, subjects
from membership.studies.iha import forms as white_box
from membership.studies.iha.experiment import (
    Task,
    Trained,
    about_task,
    scaled_logits,
    task,
    train,
    utility,
)
from membership.studies.iha.scores import METRICS
from membership.studies.iha.settings import Settings
from membership.studies.iha.subjects import Subject, games, timed, variants

Gather = Callable[[], xr.Dataset]


def sources(settings: Settings) -> dict[str, Gather]:
    """What gathers each of the chapter's evidence files, by name."""
    every = {"outputs": outputs, "white-box": forms}
    full = {**every, "known": known}
    plain = {**full, "sweep": sweep, "solvers": solvers}
    found: dict[str, Gather] = {}

    def enter(kinds: dict[str, Callable], one: Subject) -> None:
        for kind, function in kinds.items():
            found[f"{kind}-{one.slug}"] = functools.partial(function, one, settings)

    for one in subjects.subjects(settings):
        enter(full if one.full else plain, one)
    for one in subjects.first(settings):
        enter({"noise": noise_of_batches}, one)
    for one in subjects.whole(settings):
        enter({"whole": every_record}, one)
    for one in variants(settings):
        enter({**every, "sweep": sweep} if one.deep else every, one)
    for one in subjects.left_out(settings):
        enter({"outputs-left-out": left_out_outputs, "white-box-left-out": left_out_forms}, one)
    for one in games(settings):
        enter({"pairs-game": game_pairs}, one)
    for one in timed(settings):
        enter({"costs": costs}, one)
    return found


def outputs(one: Subject, settings: Settings) -> xr.Dataset:
    """What every model answers for the records that the targets are asked about."""
    trained = _trained(one, settings)
    pool, asked = trained.task.pool, trained.queries
    useful = utility(trained)
    return evidence.dataset(
        "outputs",
        {
            "log_odds": scaled_logits(trained.ensemble, pool.x[asked], pool.y[asked]),
            "member": trained.task.membership[:, asked],
            "test_accuracy": useful["test accuracy (%)"],
            "test_loss": useful["test loss"],
        },
        {"model": np.arange(len(trained.ensemble)), "record": asked},
        **about(trained),
    )


def forms(one: Subject, settings: Settings) -> xr.Dataset:
    """Quadratic forms at the chapter's damping, and lengths, of every target."""
    trained, found = _trained(one, settings), _observed(one, settings)
    kept = {"damping": "amount", "eigenvalue": "eigenvalue", "norm": "norm"}
    return evidence.dataset(
        "white_box",
        {
            "member": _members(trained, trained.queries),
            "form": _short(one, [each["main"] for each in found]),
            **{v: [each[k] for each in found] for v, k in kept.items() if k in found[0]},
        },
        {
            **_labels(trained, trained.queries),
            **_inverses(white_box.main(settings.damping)),
            "vector": list(white_box.VECTORS),
        },
        inverses=white_box.described(white_box.main(settings.damping)),
        **about(trained),
    )


def sweep(one: Subject, settings: Settings) -> xr.Dataset:
    """The same for every damping and rank, or of the deep network for two, on fewer records."""
    trained, found = _trained(one, settings), _observed(one, settings)
    asked = trained.asked(white_box.N_SWEPT)
    every = white_box.sweep()
    wanted = {white_box.Inverse("damping", amount) for amount in subjects.DEEP_DAMPINGS.values()}
    kept = [place for place, each in enumerate(every) if not one.deep or each in wanted]
    inverses = tuple(every[place] for place in kept)
    return evidence.dataset(
        "white_box",
        {"member": _members(trained, asked), "form": [each["sweep"][kept] for each in found]},
        {**_labels(trained, asked), **_inverses(inverses)},
        inverses=white_box.described(inverses),
        **about(trained),
    )


def known(one: Subject, settings: Settings) -> xr.Dataset:
    """The forms of the gradient over some of the training records, on fewer queried records."""
    trained, found = _trained(one, settings), _observed(one, settings)
    asked = trained.asked(white_box.N_KNOWN)
    labels = _labels(trained, asked)
    return evidence.dataset(
        "white_box",
        {
            "member": _members(trained, asked),
            "known": [each["known"] for each in found],
            "n_known": [each["n_known"] for each in found],
            "known_mean2": _short(one, [each["mean2"] for each in found]),
            "known_mean3": _short(one, [each["mean3"] for each in found]),
        },
        {name: labels[name] for name in ("target", "query")}
        | {"fraction": list(white_box.FRACTIONS)},
        inverses=white_box.described(white_box.main(settings.damping)[:1]),
        **about(trained),
    )


def every_record(one: Subject, settings: Settings) -> xr.Dataset:
    """Numbers of the attacks over all records of the pool: the targets alone are trained."""
    task = _task(one, settings)
    count = max(task.targets) // 2 * 2 + 2
    trained = train(replace(task, membership=task.membership[:count]), settings)
    look = functools.partial(white_box.observe_all, trained, damping=settings.damping)
    asked = [task.pool.x, task.pool.y, trained.task.membership]
    asked += [task.test.x, task.test.y] if task.test else []
    determined = (settings.damping, asdict(task.config), *asked)
    found = evidence.in_parts(
        look, trained.targets, *determined, *trained.ensemble.parameters.values()
    )
    return evidence.dataset(
        "measured",
        {"value": (("target", "attack", "metric"), [each["value"] for each in found])},
        {
            "target": trained.targets,
            "attack": white_box.whole_attacks(trained),
            "metric": list(METRICS),
        },
        **about(replace(trained, task=task)) | {"n_models": len(task.membership)},
    )


def noise_of_batches(one: Subject, settings: Settings) -> xr.Dataset:
    """What the theorems suppose of SGD, measured at one target of each pair."""
    return noise.gathered(_task(one, settings), settings)


def solvers(one: Subject, settings: Settings) -> xr.Dataset:
    """What conjugate gradients change, which is no function of the forms."""
    trained, found = _trained(one, settings), _observed(one, settings)
    solved = cost.by_cg(trained, found, settings)
    return evidence.dataset("measured", solved, **about(trained))


def costs(one: Subject, settings: Settings) -> xr.Dataset:
    """Seconds that the attacks took on this machine, and what memory."""
    trained = _trained(one, settings)
    found = cost.measured(trained, settings)
    return evidence.dataset("measured", found, **about(trained))


def left_out_outputs(one: Subject, settings: Settings) -> xr.Dataset:
    """What every retrained model answers for the records of the leave-one-out experiments."""
    return left_out.outputs(left_out.retrain(one.name, settings))


def left_out_forms(one: Subject, settings: Settings) -> xr.Dataset:
    """Quadratic forms of the retrained models, over the records that all of them share."""
    return left_out.forms(left_out.retrain(one.name, settings), settings)


def game_pairs(one: Subject, settings: Settings) -> xr.Dataset:
    """The clean game at scale: models with and without each record, asked about it."""
    return neighbours.pairs(one.name, settings)


def about(trained: Trained) -> dict[str, Any]:
    """The attributes of evidence gathered from an ensemble."""
    return {
        **about_task(trained.task),
        "targets": trained.targets,
        "complements": [target ^ 1 for target in trained.targets],
        "n_models": len(trained.ensemble),
        "seed": trained.seed,
        "device": trained.device,
    }


def _task(one: Subject, settings: Settings) -> Task:
    return task(
        one.name,
        settings,
        deep=one.deep,
        large=one.large,
        full=one.full,
        n_models=one.n_models,
        most_parameters=one.most_parameters,
    )


# The pool of a data set may be large: only the last one is kept in memory.
@functools.lru_cache(maxsize=1)
def _trained(one: Subject, settings: Settings) -> Trained:
    return train(_task(one, settings), settings)


@functools.lru_cache(maxsize=16)
def _observed(one: Subject, settings: Settings) -> list[dict[str, np.ndarray]]:
    """Three files are made from one look at the gradients."""
    trained = _trained(one, settings)
    task, weights = trained.task, trained.ensemble.parameters
    asked = [task.pool.x, task.pool.y, task.membership, trained.queries, trained.seed]
    damping = settings.damping
    observe = white_box.observe_factored if one.full else white_box.observe
    look = functools.partial(observe, trained, damping=damping)
    determined = (damping, asdict(task.config), *asked, *weights.values())
    return evidence.in_parts(look, trained.targets, *determined)


def _labels(trained: Trained, asked: np.ndarray) -> dict[str, Any]:
    return {"target": trained.targets, "query": asked, "term": list(TERMS)}


def _inverses(some: tuple[white_box.Inverse, ...]) -> dict[str, list[str]]:
    return {"inverse": [one.label for one in some]}


def _members(trained: Trained, asked: np.ndarray) -> np.ndarray:
    return trained.task.membership[np.ix_(trained.targets, asked)]


def _short(one: Subject, values: list[np.ndarray]) -> Any:
    """Of the full-size network as few digits as the larger files have."""
    return evidence.rounded(values) if one.full else values
