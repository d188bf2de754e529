"""How the chapter's evidence is gathered: training, answers, posteriors, gradients, seconds.

The names of the files are `<kind>-<cell>`: outputs and posterior of every cell, white-box of
models small enough, times (what training, asking and scoring took); of one cell a data set lood,
of one cell with pictures these; and untrained (the answers of models that were never trained, for
the null rows). To gather something else, add its function here and its name in `sources`.
"""

import functools
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
import xarray as xr

from membership import attacks, curvature, evidence, lood, nngp, signals, training
from membership.attacks.forms import TERMS, quadratic_forms
from membership.book.studies import hinge_laws
from membership.book.studies.comparison import experiment, names, outside
from membership.book.studies.comparison.experiment import World, about, private_layer, train, world
from membership.book.studies.comparison.names import Cell
from membership.book.studies.comparison.settings import Settings
from membership.book.studies.experiment import timed
from membership.book.studies.hinge_laws import with_label
from membership.curvature.eigen import spectrum_of
from membership.curvature.gradients import views, with_rows
from membership.curvature.inverse import enough
from membership.curvature.objective import objective

Gather = Callable[[], xr.Dataset]
VARIANTS = ("closed form", "qmia")
# References whose posteriors the mixture takes.
MIXED = 8
UNTRAINED_REFERENCES = 8
# Hidden layers of the Gaussian process, and the variance of its labels' noise.
DEPTH, NOISE = 1, 0.1
# Pixels a side.
LARGEST_PICTURE = 32
DAMPING = 0.2
INVERSES: tuple[dict[str, Any], ...] = tuple(
    {"label": label, "conditioning": kind, "amount": amount, "stationarity": stationarity}
    for label, kind, amount, stationarity in (
        ("published", "damping", DAMPING, "published"),
        ("regularised", "damping", DAMPING, "regularised"),
        ("identity", "identity", 0.0, "published"),
    )
)
# The forms that registered attacks read; the others are not kept.
KEPT = {
    "published": ("own1", "own2", "own3", "mean2", "mean3"),
    "regularised": ("own2", "own3", "rest2", "rest3"),
    "identity": ("own2", "rest2"),
}
# Models that are trained again, apart from the cache, to see how long one takes.
TIMED = 8


def sources(settings: Settings) -> dict[str, Gather]:
    """What gathers each of the chapter's evidence files, by name."""
    kinds = (
        ("outputs", outputs, names.cells),
        ("posterior", posterior, names.cells),
        ("times", times, names.cells),
        ("white-box", white_box, names.opened),
        ("lood", leave_one_out, names.typical),
        ("pictures", pictures, names.pictured),
        ("outside", outside.gathered, names.outside),
    )
    gatherers = {
        f"{kind}-{cell.word}": functools.partial(function, cell, settings)
        for kind, function, cells in kinds
        for cell in cells(settings)
    }
    first = names.cells(settings)[0]
    return {**gatherers, names.UNTRAINED: functools.partial(untrained, first, settings)}


@evidence.version(2)
def outputs(cell: Cell, settings: Settings) -> xr.Dataset:
    """What every model answers for the pool and for records that no model has seen."""
    game, ensemble = _trained(cell, settings)
    return answers(game, ensemble)


@evidence.version(2)
def untrained(cell: Cell, settings: Settings) -> xr.Dataset:
    """The same of models at their random start, with fewer references."""
    few = {"n_reference": min(UNTRAINED_REFERENCES, settings.n_reference)}
    game = world(cell, settings.model_copy(update=few))
    return answers(game, experiment.untrained(game))


def answers(game: World, ensemble: training.Ensemble) -> xr.Dataset:
    """Log-odds, decisions and, of many classes, hinges and log-odds of halved logits."""
    logits = ensemble.logits(game.pool.x)
    held_out = ensemble.logits(game.held_out.x)
    correct = signals.correct(logits, None, game.pool.y).astype(bool)
    useful = signals.correct(held_out, None, game.held_out.y)
    member, counted = game.membership, game.settings.n_counted
    variables = {
        "log_odds": signals.scaled_logit(logits, None, game.pool.y),
        "held_log_odds": signals.scaled_logit(held_out, None, game.held_out.y)[:, :counted],
        "correct": correct,
        "canary": game.canary,
        "label": game.pool.y,
        "member": member,
        "test_accuracy": 100 * useful.mean(axis=1),
        "train_accuracy": 100 * (correct & member).sum(axis=1) / member.sum(axis=1),
    }
    if game.pool.n_classes > 2:
        # Of two classes both follow from the log-odds; who reads the file puts them there.
        variables["hinge"] = signals.hinge(logits, None, game.pool.y)
        variables["halved_log_odds"] = signals.scaled_logit(logits / 2, None, game.pool.y)
    labels = {"model": np.arange(len(ensemble)), "record": game.record}
    # The first of each pair of complements first: each target's attacker begins with another pair.
    order = [*game.references[::2], *game.references[1::2]]
    return evidence.dataset("outputs", variables, labels, references=order, **about(game))


@evidence.version(2)
def posterior(cell: Cell, settings: Settings) -> xr.Dataset:
    """What some references predict in closed form of each record's hinge, and QMIA of targets.

    A reference stands for its pair of complements: of each record that one of the two is asked
    which was trained without it.
    """
    return _laws(cell, settings)


# Their times are measured on them, too.
@functools.lru_cache(maxsize=1)
def _laws(cell: Cell, settings: Settings) -> xr.Dataset:
    game, ensemble = _trained(cell, settings)
    firsts = game.references[: 2 * max(MIXED, len(game.targets)) : 2]
    fitted = cell.dataset not in game.settings.without_qmia
    rows, variants = [*game.targets, *firsts], VARIANTS if fitted else VARIANTS[:1]
    rows = rows if fitted else list(firsts)
    shape = (len(rows), len(variants), len(game.pool))
    mean, sd = np.full(shape, np.nan), np.full(shape, np.nan)
    for place, model in enumerate(rows):
        variant = int(model in game.targets)
        of = (closed_form, regressed)[variant]
        mean[place, variant], sd[place, variant] = of(game, ensemble, model)
    labels = {"reference": rows, "variant": list(variants), "record": game.record}
    return evidence.dataset("posterior", {"mean": mean, "sd": sd}, labels, **about(game))


def closed_form(game: World, ensemble: training.Ensemble, first: int) -> tuple:
    """Mean and standard deviation of each record's hinge under the last-layer posterior of a pair.

    Of each record that of the one model of the two that was trained without it.
    """
    law, complement = (_closed_form(game, ensemble, model) for model in (first, first + 1))
    inside = game.membership[first]
    return tuple(np.where(inside, b, a) for a, b in zip(law, complement, strict=True))


def _closed_form(game: World, ensemble: training.Ensemble, model: int) -> tuple:
    member, module = game.membership[model], ensemble.module(model)
    x, label = np.array(game.pool.x), game.pool.y
    law = hinge_laws.posterior_of(curvature.last_layer(module, x[member]), label[member])
    return hinge_laws.closed_form(law, curvature.last_layer(module, x), label)


def regressed(game: World, ensemble: training.Ensemble, target: int) -> tuple:
    """What a Gaussian regression on held records predicts of one target's hinges."""
    held_out, pool = (
        with_label(records.x, records.y, records.n_classes)
        for records in (game.held_out, game.pool)
    )
    score = signals.hinge(ensemble.module(target), np.array(game.held_out.x), game.held_out.y)[0]
    return training.fit_qmia(held_out, score, seed=game.settings.seed).predict(pool)


def white_box(cell: Cell, settings: Settings) -> xr.Dataset:
    """Quadratic forms of the targets' gradients, and of linear models the step from a reference."""
    game, ensemble = _trained(cell, settings)
    forms = [observe(game, ensemble, target) for target in game.targets]
    arrays = {name: np.stack([form[name] for form in forms]) for name in forms[0]}
    member = game.membership[list(game.targets)]
    labels = {
        "target": list(game.targets),
        "query": game.record,
        "term": list(TERMS),
        "inverse": [inverse["label"] for inverse in INVERSES],
    }
    inverses = [{k: v for k, v in inverse.items() if k != "label"} for inverse in INVERSES]
    return evidence.dataset(
        "white_box", {**arrays, "member": member}, labels, inverses=inverses, **about(game)
    )


@evidence.version(2)
def times(cell: Cell, settings: Settings) -> xr.Dataset:
    """Seconds that the parts of every attack took on this machine."""
    game, ensemble = _trained(cell, settings)
    parts = [names.with_hinge(outputs(cell, settings)), posterior(cell, settings)]
    opened = cell in names.opened(game.settings)
    parts += [white_box(cell, settings)] if opened else []
    seconds = measured_seconds(game, ensemble, parts, opened)
    case = (("case",), np.array(list(seconds)))
    value = (("case",), np.array(list(seconds.values()), dtype=np.float64))
    return evidence.dataset("measured", {"part": case, "seconds": value}, **about(game))


def leave_one_out(cell: Cell, settings: Settings) -> xr.Dataset:
    """LOOD of every record of the pool, by the Gaussian process of an infinitely wide network."""
    game = world(cell, settings)
    x = game.pool.x.reshape(len(game.pool), -1).astype(np.float64)
    y = np.eye(game.pool.n_classes)[game.pool.y] - 1 / game.pool.n_classes
    process = lood.leave_one_out(nngp.fully_connected(DEPTH)(x), y, NOISE)
    scores = {"kl": process.kl, "variance": process.variance}
    variables = {
        name: (("record",), np.asarray(values, np.float64)) for name, values in scores.items()
    }
    recipe = {"depth": DEPTH, "activation": "relu", "noise": NOISE}
    attributes = {**about(game), "recipe": recipe}
    return evidence.dataset("process", variables, {"record": game.record}, **attributes)


def pictures(cell: Cell, settings: Settings) -> xr.Dataset:
    """Every record of the pool as a small picture, for who has no data."""
    game = world(cell, settings)
    apart = -(-max(game.pool.x.shape[2:]) // LARGEST_PICTURE)
    level = np.rint(255 * np.clip(game.pool.x[:, :, ::apart, ::apart], 0, 1)).astype(np.uint8)
    variables = {"level": (("record", "channel", "height", "width"), level)}
    return evidence.dataset("process", variables, {"record": game.record}, **about(game))


# Several files are made from one cell's models; they are dropped for the next cell's.
@functools.lru_cache(maxsize=1)
def _trained(cell: Cell, settings: Settings) -> tuple[World, training.Ensemble]:
    game = world(cell, settings)
    return game, train(game)


def observe(game: World, ensemble: training.Ensemble, target: int) -> dict[str, np.ndarray]:
    """One target's ``form`` (inverse, term, records); of linear models also ``step_product``."""
    module, config = ensemble.module(target), game.config
    inside = game.membership[target]
    train = torch.tensor(game.pool.x[inside]), torch.tensor(game.pool.y[inside])
    query = torch.tensor(game.pool.x), torch.tensor(game.pool.y)
    goal = objective(module, config.loss_of, *train)
    spectrum = spectrum_of(goal, *goal.records(*train))
    damping = enough(spectrum.values, DAMPING)
    form = np.full((len(INVERSES), len(TERMS), len(game.pool)), np.nan)
    for view, rows in with_rows(views(goal, train, query, spectrum)):
        for place, inverse in enumerate(INVERSES):
            how = (inverse["conditioning"], damping, inverse["stationarity"])
            forms = quadratic_forms(view, spectrum.values, config.weight_decay, *how)
            for term in KEPT[inverse["label"]]:
                form[place, TERMS.index(term), rows] = forms[term]
    arrays = {"form": form}
    if game.cell.kind == "logistic":
        arrays["step_product"] = _step(game, ensemble, target)
    return arrays


def _step(game: World, ensemble: training.Ensemble, target: int) -> np.ndarray:
    """MATT, from the one of two complementary references that was trained without the record."""
    theta, pair = _vector(ensemble.module(target)), game.pair(target)
    query = torch.tensor(game.pool.x), torch.tensor(game.pool.y)
    steps = []
    for reference in map(ensemble.module, pair):
        gradient = curvature.per_record_gradients(reference, game.config.loss_of, *query)
        steps.append(attacks.matt(theta, _vector(reference), gradient))
    return np.where(game.membership[pair[0]], steps[1], steps[0])


def _vector(module: torch.nn.Module) -> np.ndarray:
    return np.concatenate(
        [parameter.detach().double().numpy().ravel() for parameter in module.parameters()]
    )


def measured_seconds(
    game: World,
    ensemble: training.Ensemble,
    parts: list[xr.Dataset],
    opened: bool,
) -> dict[str, float]:
    """Processor seconds by part: of one model, of one target, or of one attack's score.

    ``train`` and ``ask`` are of one reference model, among as many at once as `TIMED`; ``open`` of
    one target's Hessian and gradients, ``posterior`` of one reference, ``regression`` of one
    target, ``score: <attack>`` of the statistic alone.
    """
    first, reference = game.targets[0], game.references[0]
    models = range(len(game.targets), len(game.targets) + TIMED)
    seconds = {
        "train": _trained_again(game, list(models)) / len(models),
        "ask": _timed(lambda: ensemble.logits(game.pool.x)) / len(ensemble),
        "posterior": _timed(lambda: closed_form(game, ensemble, reference)),
    }
    if game.cell.dataset not in game.settings.without_qmia:
        seconds["regression"] = _timed(lambda: regressed(game, ensemble, first))
    if opened:
        seconds["open"] = _timed(lambda: observe(game, ensemble, first))
    observed = attacks.observe(*parts, target=first)
    for name, attack in attacks.registry().items():
        if not observed.lacking(attack.needs):
            seconds[f"score: {name}"] = _timed(lambda attack=attack: attack.score(observed))
    return seconds


def _trained_again(game: World, models: list[int]) -> float:
    models = [model % len(game.membership) for model in models]
    if game.cell.kind == "private":
        return _timed(lambda: [private_layer(game, model) for model in models])
    with TemporaryDirectory() as folder:
        fresh = {"n_jobs": 1, "cache_folder": Path(folder), "progress": False}
        return _timed(lambda: train(game, models, **fresh))


def _timed(work: Callable[[], Any]) -> float:
    # Time on a wall would count what else the machine does.
    return timed(work, time.process_time)[1]
