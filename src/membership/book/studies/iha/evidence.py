"""How the chapter's evidence is gathered: training, outputs, quadratic forms, seconds.

The names of the files are `<kind>-<data set>`: outputs, white-box, sweep (over dampings and ranks),
known (fractions of the other records), whole (numbers over every record of the pool), solvers
(Table 3), costs (Table 6), and for models with one record more or less outputs-left-out and
white-box-left-out; those at scale are in pairs-game, those
at the paper's size in pairs-cosine and pairs-constant. What the theorems suppose of SGD is in
noise, and scores by what stands for the curvature are in matrices.
"""

import functools
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import xarray as xr

from membership import evidence
from membership.attacks.forms import TERMS
from membership.book.studies.iha import costs as timings
from membership.book.studies.iha import (
    damped,
    inversion,
    left_out,
    matrices,
    neighbours,
    noise,
    shuffled,
    subjects,
)
from membership.book.studies.iha import forms as white_box
from membership.book.studies.iha.experiment import (
    Trained,
    about_task,
    scaled_logits,
    train,
    utility,
)
from membership.book.studies.iha.experiment import task as make_task
from membership.book.studies.iha.scores import METRICS
from membership.book.studies.iha.settings import Settings
from membership.book.studies.iha.subjects import Subject

Gather = Callable[[], xr.Dataset]


def sources(settings: Settings) -> dict[str, Gather]:
    """What gathers each of the chapter's evidence files, by name."""
    common = {"outputs": outputs, "white-box": forms}
    full = {**common, "known": known}
    plain = {**full, "sweep": sweep, "solvers": solvers}
    every = subjects.subjects(settings)
    gatherers: dict[str, Gather] = {}

    def enter(kinds: dict[str, Callable], chosen: list[Subject]) -> None:
        for subject in chosen:
            for kind, function in kinds.items():
                gatherers[f"{kind}-{subject.slug}"] = functools.partial(function, subject, settings)

    enter(plain, subjects.decomposed(settings))
    enter(full, [subject for subject in every if subject.full])
    enter({"noise": noise.gathered, "dropped": noise.gathered_damped}, subjects.first(settings))
    enter({"whole": every_record}, subjects.whole(settings))
    enter(common, subjects.variants(settings))
    enter({"sweep": sweep}, subjects.deep(settings))
    of_left_out = {"outputs-left-out": left_out.outputs, "white-box-left-out": left_out.forms}
    enter(of_left_out, subjects.left_out(settings))
    enter({"pairs-game": neighbours.pairs}, subjects.games(settings))
    for schedule in subjects.SCHEDULES:
        played = functools.partial(neighbours.pairs, schedule=schedule)
        enter({f"pairs-{schedule}": played}, subjects.whole_games(settings))
    enter({"damped": damped.gathered}, subjects.whole_games(settings))
    enter({"spread": shuffled.gathered}, subjects.whole_games(settings))
    enter({"matrices": matrices.of_table_2}, subjects.decomposed(settings))
    enter({"matrices": matrices.of_residual}, subjects.residual(settings))
    enter({"costs": costs}, subjects.timed(settings))
    return gatherers


def outputs(subject: Subject, settings: Settings) -> xr.Dataset:
    """What every model answers for the records that the targets are asked about."""
    trained = _trained(subject, settings)
    pool, queries = trained.task.pool, trained.queries
    useful = utility(trained)
    return evidence.dataset(
        "outputs",
        {
            "log_odds": scaled_logits(trained.ensemble, pool.x[queries], pool.y[queries]),
            "member": trained.task.membership[:, queries],
            "test_accuracy": useful["test accuracy (%)"],
            "test_loss": useful["test loss"],
        },
        {"model": np.arange(len(trained.ensemble)), "record": queries},
        **about(trained),
    )


def forms(subject: Subject, settings: Settings) -> xr.Dataset:
    """Quadratic forms at the chapter's damping, and lengths, of every target."""
    trained, observed = _trained(subject, settings), _observed(subject, settings)
    kept = {"damping": "amount", "eigenvalue": "eigenvalue", "norm": "norm"}
    return evidence.dataset(
        "white_box",
        {
            "member": _members(trained, trained.queries),
            "form": _short(subject, [part["main"] for part in observed]),
            **{v: [part[k] for part in observed] for v, k in kept.items() if k in observed[0]},
        },
        {
            **_labels(trained, trained.queries),
            **_inverses(white_box.main(settings.damping)),
            "vector": list(white_box.VECTORS),
        },
        inverses=white_box.described(white_box.main(settings.damping)),
        **about(trained),
    )


def sweep(subject: Subject, settings: Settings) -> xr.Dataset:
    """The same for every damping and rank, or of the deep network for two, on fewer records."""
    trained, observed = _trained(subject, settings), _observed(subject, settings)
    queries = trained.sample_queries(white_box.N_SWEPT)
    swept = white_box.sweep()
    deep_dampings = {
        white_box.Inverse("damping", amount) for amount in subjects.DEEP_DAMPINGS.values()
    }
    kept = [
        place for place, inverse in enumerate(swept) if not subject.deep or inverse in deep_dampings
    ]
    inverses = tuple(swept[place] for place in kept)
    return evidence.dataset(
        "white_box",
        {
            "member": _members(trained, queries),
            "form": [_swept(p["sweep"][kept]) for p in observed],
        },
        {**_labels(trained, queries), **_inverses(inverses)},
        inverses=white_box.described(inverses),
        **about(trained),
    )


def _swept(form: np.ndarray) -> np.ndarray:
    """Forms (inverse, term, query) without self-influence, which no exhibit asks by damping."""
    without = form.copy()
    without[:, TERMS.index("own1")] = np.nan
    return without


def known(subject: Subject, settings: Settings) -> xr.Dataset:
    """The forms of the gradient over some of the training records, on fewer queried records."""
    trained, observed = _trained(subject, settings), _observed(subject, settings)
    queries = trained.sample_queries(white_box.N_KNOWN)
    labels = _labels(trained, queries)
    return evidence.dataset(
        "white_box",
        {
            "member": _members(trained, queries),
            "known": [part["known"] for part in observed],
            "n_known": [part["n_known"] for part in observed],
            "known_mean2": _short(subject, [part["mean2"] for part in observed]),
            "known_mean3": _short(subject, [part["mean3"] for part in observed]),
        },
        {name: labels[name] for name in ("target", "query")}
        | {"fraction": list(white_box.FRACTIONS)},
        inverses=white_box.described(white_box.main(settings.damping)[:1]),
        **about(trained),
    )


@evidence.version(2)
def every_record(subject: Subject, settings: Settings) -> xr.Dataset:
    """Numbers of the attacks over all records of the pool: the targets alone are trained."""
    task = make_task(subject, settings)
    targets = tuple(range(settings.whole_targets))
    count = max(targets) // 2 * 2 + 2
    task = replace(task, targets=targets)
    trained = train(replace(task, membership=task.membership[:count]), settings)
    look = functools.partial(white_box.observe_all, trained, damping=settings.damping)
    inputs = [task.pool.x, task.pool.y, trained.task.membership]
    inputs += [task.test.x, task.test.y] if task.test else []
    determined = (settings.damping, asdict(task.config), *inputs)
    parts = evidence.in_parts(
        look, trained.targets, *determined, *trained.ensemble.parameters.values()
    )
    return evidence.dataset(
        "measured",
        {"value": (("target", "attack", "metric"), [part["value"] for part in parts])},
        {
            "target": trained.targets,
            "attack": white_box.whole_attacks(trained),
            "metric": list(METRICS),
        },
        **about(replace(trained, task=task)) | {"n_models": len(task.membership)},
    )


def solvers(subject: Subject, settings: Settings) -> xr.Dataset:
    """What conjugate gradients change, which is no function of the forms."""
    trained, observed = _trained(subject, settings), _observed(subject, settings)
    solved = inversion.by_cg(trained, observed, settings)
    return evidence.dataset("measured", solved, **about(trained))


def costs(subject: Subject, settings: Settings) -> xr.Dataset:
    """Seconds that the attacks took on this machine, and what memory."""
    trained = _trained(subject, settings)
    measured = timings.measured(trained, settings)
    return evidence.dataset("measured", measured, **about(trained))


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


# The pool of a data set may be large: only the last one is kept in memory.
@functools.lru_cache(maxsize=1)
def _trained(subject: Subject, settings: Settings) -> Trained:
    return train(make_task(subject, settings), settings)


@functools.lru_cache(maxsize=16)
def _observed(subject: Subject, settings: Settings) -> list[dict[str, np.ndarray]]:
    """Three files are made from one look at the gradients."""
    trained = _trained(subject, settings)
    task, weights = trained.task, trained.ensemble.parameters
    inputs = [task.pool.x, task.pool.y, task.membership, trained.queries, trained.seed]
    damping = settings.damping
    observe = white_box.observe_factored if subject.full else white_box.observe
    look = functools.partial(observe, trained, damping=damping)
    determined = (damping, asdict(task.config), *inputs, *weights.values())
    return evidence.in_parts(look, trained.targets, *determined)


def _labels(trained: Trained, queries: np.ndarray) -> dict[str, Any]:
    return {"target": trained.targets, "query": queries, "term": list(TERMS)}


def _inverses(inverses: tuple[white_box.Inverse, ...]) -> dict[str, list[str]]:
    return {"inverse": [inverse.label for inverse in inverses]}


def _members(trained: Trained, queries: np.ndarray) -> np.ndarray:
    return trained.task.membership[np.ix_(trained.targets, queries)]


def _short(subject: Subject, values: list[np.ndarray]) -> Any:
    """Of the full-size network as few digits as the larger files have."""
    return evidence.rounded(values) if subject.full else values
