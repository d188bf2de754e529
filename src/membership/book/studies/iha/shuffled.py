r"""Shuffled epochs in the place of batches drawn anew: the weights' law, and the score it asks for.

Theorems 2.2, 3.1 and 3.2 take the noise of SGD's steps to be independent, as that of batches drawn
anew is. The released code and the networks of this book shuffle: each record is in one batch of
each epoch, and the noise of an epoch is nearly gone at its end along flat directions
(`membership.curvature.epochs_variance`). iha-ctl-22 retrains the linear regressions of iha-ctl-9 by
both samplers. iha-ctl-23 sets the spread of logistic regressions on one D' beside three laws.

**The score.** Let :math:`\Sigma` be the covariance of the weights with the record and without it,
r the others' gradient at the weights, weight decay in it, and g the record's. On a quadratic of
curvature :math:`K = H + \alpha` the minima lie at :math:`w - K^{-1} r` and, where the record adds
:math:`g / n`, at :math:`w - K^{-1} (r + g / n)`. The log-likelihood ratio of two normal laws around
them is

.. math:: -\tfrac1n\, g^\top M r - \tfrac{1}{2 n^2}\, g^\top M g, \qquad
   M = K^{-1} \Sigma^{-1} K^{-1}.

With Equation 4 for :math:`\Sigma` that is IHA* without the loss, to first order in the rate; with
the spread of shuffled epochs it is the score that shuffled SGD asks for.
"""

import functools
import itertools
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch
import xarray as xr
from scipy.stats import multivariate_normal

from membership import evidence, metrics, plots, training
from membership.arrays import FloatArray
from membership.book.exhibits.rows import of_each
from membership.book.exhibits.tidy import tidy
from membership.book.studies.iha import neighbours, subjects, theory
from membership.book.studies.iha.neighbours import Game, Logistic
from membership.book.studies.iha.settings import Settings
from membership.book.studies.iha.subjects import Subject
from membership.curvature import epochs_variance
from membership.curvature.noise import Sgd
from membership.plots import look

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The smaller one divides the 50 records of a linear regression, though not the 49 without one.
BATCH, EPOCHS = 10, 30
SAMPLERS = {"anew": "batches drawn anew", "shuffled": "shuffled epochs"}
SHUFFLED = SAMPLERS["shuffled"]
SCORE, AHEAD = "AUC of the score by the sampler's law", "AUC, that score less IHA"
OWN, OWN_GAIN = "log-density, the sampler's law", "log-density, the sampler's law less Theorem 3.1"


def control_22(settings: Settings) -> pd.DataFrame:
    """iha-ctl-22: iha-ctl-9's numbers by sampler, and those of the law that each sampler gives."""
    count, rows = theory.RETRAININGS[settings.profile], []
    for sampler, name in SAMPLERS.items():
        for case, sgd in theory.RECIPES.items():
            rng = np.random.default_rng([settings.seed, 43])
            one = functools.partial(_one_record, rng, sgd, sampler == "shuffled", count)
            played = pd.DataFrame([one() for _ in range(theory.RETRAINED_RECORDS)])
            values = {metric: played[metric].to_numpy() for metric in played}
            rows += of_each({"sampler": name, "case": case}, "metric", values)
    note = (
        f"{theory.RETRAINED_RECORDS} records, each with {theory.N_TRAIN - 1} others of its own; "
        f"{len(theory.EIGENVALUES)} parameters, batches of {BATCH}, {EPOCHS} epochs from the "
        f"minimum, {2 * count:,} retrainings a record."
    )
    return tidy(rows, {"note": note})


def _one_record(rng: np.random.Generator, sgd: Sgd, shuffled: bool, count: int) -> dict[str, float]:
    x, y = theory.problem(rng)
    worlds = [(x[:-1], y[:-1]), (x, y)]
    weights = [trained(rng, sgd, *world, count, shuffled=shuffled) for world in worlds]
    numbers = theory.crossed(sgd, x, y, weights, BATCH)
    centre, _, _ = theory.minimum(sgd, *worlds[0])
    hessian = x[:-1].T @ x[:-1] / len(x)
    law = spread(sgd, hessian, _noise(centre, *worlds[0]), len(x) - 1, shuffled=shuffled)
    member = np.repeat([False, True], count)
    score = by_law(sgd, law, hessian, x, y, np.concatenate(weights))
    numbers[SCORE] = metrics.auc(score, member)
    numbers[AHEAD] = numbers[SCORE] - numbers[theory.SCORES["IHA"]]
    numbers[OWN] = _density(sgd, worlds, weights, shuffled)
    numbers[OWN_GAIN] = numbers[OWN] - numbers[theory.LAWS["theorem"]]
    return numbers


def trained(
    rng: np.random.Generator,
    sgd: Sgd,
    x: FloatArray,
    y: FloatArray,
    count: int,
    *,
    shuffled: bool,
) -> FloatArray:
    """Final parameters (count, p) of independent runs of SGD from the minimum, by sampler."""
    w = np.tile(theory.minimum(sgd, x, y)[0], (count, 1))
    velocity, n = np.zeros_like(w), len(x)
    for _ in range(EPOCHS):
        order = rng.random((count, n)).argsort(1) if shuffled else rng.integers(n, size=(count, n))
        for first in range(0, n, BATCH):
            drawn = order[:, first : first + BATCH]
            batch = x.take(drawn, axis=0)
            error = np.einsum("csp,cp->cs", batch, w) - y.take(drawn)
            gradient = np.einsum("cs,csp->cp", error, batch) / drawn.shape[1]
            velocity = sgd.momentum * velocity + gradient + sgd.weight_decay * w
            w = w - sgd.learning_rate * velocity
    return w


def _noise(w: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """The covariance (p, p) between records of their gradients at weights (p,)."""
    return np.cov(((x @ w - y)[:, None] * x).T, bias=True)


def spread(
    sgd: Sgd, hessian: FloatArray, noise: FloatArray, count: int, *, shuffled: bool
) -> FloatArray:
    """The covariance (p, p) of the weights after `EPOCHS`, noise taken along the eigenvectors."""
    values, vectors = np.linalg.eigh(sgd.total(hessian))
    along = np.einsum("pi,pq,qi->i", vectors, noise, vectors)
    rates, sizes = [sgd.learning_rate] * EPOCHS, batches(count, BATCH)
    variance = epochs_variance(values, along, sgd.momentum, rates, sizes, shuffled=shuffled)
    return (vectors * variance) @ vectors.T


def batches(count: int, size: int) -> list[int]:
    """Records in each batch of an epoch; the last may be smaller."""
    return [min(size, count - first) for first in range(0, count, size)]


def by_law(
    sgd: Sgd, law: FloatArray, hessian: FloatArray, x: FloatArray, y: FloatArray, w: FloatArray
) -> FloatArray:
    """The score of the last record under a law (p, p), at weights (m, p); see the module.

    What it knows, and how it counts the others, is as for IHA in iha-ctl-9.
    """
    total, n = sgd.total(hessian), len(x)
    own = (w @ x[-1] - y[-1])[:, None] * x[-1]
    rest = (w @ x[:-1].T - y[:-1]) @ x[:-1] / n + sgd.weight_decay * w
    inverse = np.linalg.inv(total)
    weighed = own @ inverse @ np.linalg.solve(law, inverse)
    return -(weighed * rest).sum(1) / n - (weighed * own).sum(1) / (2 * n**2)


def _density(sgd: Sgd, worlds: list, weights: list, shuffled: bool) -> float:
    """Mean log-density of both worlds' weights under the law of their sampler."""
    parts = []
    for (x, y), w in zip(worlds, weights, strict=True):
        centre, hessian, _ = theory.minimum(sgd, x, y)
        law = spread(sgd, hessian, _noise(centre, x, y), len(x), shuffled=shuffled)
        parts.append(np.mean(multivariate_normal(centre, law).logpdf(w)))
    return float(np.mean(parts))


# Each paired difference in words.
LEADS = {
    theory.LEAD: "AUC: IHA minus the best use of the loss",
    AHEAD: "AUC: the score of the sampler's law minus IHA",
    theory.GAIN: "log-density: Theorem 3.1 minus Boltzmann's law",
    OWN_GAIN: "log-density: the sampler's law minus Theorem 3.1",
}


def control_22_drawn(table: pd.DataFrame) -> "Figure":
    """Control 22: paired differences by recipe, a colour a sampler."""
    shown = table[table["metric"].isin(LEADS)]
    return plots.dots_by_row(
        shown.assign(metric=shown["metric"].map(LEADS), series=shown["sampler"]),
        "case",
        by="series",
        panel="metric",
        baseline=0.0,
        label="paired difference",
        told="+.2f",
    )


# Models of each sampler and schedule.
MODELS = {"tiny": 6, "quick": 12, "paper": 32}
# Curvature, weight decay not in it: below the first the start is not forgotten.
BANDS = (1e-3, 3e-3, 1e-2, 3e-2, 1e-1, np.inf)
LAWS = ("Equation 4", "Theorem 2.2", "law of shuffled epochs")


def gathered(subject: Subject, settings: Settings) -> xr.Dataset:
    """The evidence: where models of one start end along the eigenvectors, by schedule and sampler.

    Models of a sampler and schedule differ in their batches alone.
    """
    games = {
        schedule: neighbours.set_up(subject.name, settings, schedule)
        for schedule in subjects.SCHEDULES
    }
    game, count = games[subjects.SCHEDULES[0]], MODELS[settings.profile]
    items = [[s, how, i] for s in subjects.SCHEDULES for how in SAMPLERS for i in range(count)]
    determined = [asdict(g.task.config) for g in games.values()]
    determined += [settings.seed, settings.device, game.task.pool.x[game.base[0]]]
    determined += [game.task.pool.y[game.base[0]]]
    look = functools.partial(_final, games, settings.seed, settings.device)
    parts = evidence.in_parts(look, items, *determined)
    weight = np.stack([part["weight"][0] for part in parts]).astype(float)
    of_case = [_measured(game, some) for some in weight.reshape(-1, count, weight.shape[-1])]
    # Flatter directions are no exhibit's, and most of all.
    kept = max(int((part["eigenvalue"] > BANDS[0]).sum()) for part in of_case)
    of_case = [
        {name: values[..., -kept:] if values.ndim else values for name, values in part.items()}
        for part in of_case
    ]
    cases = [f"{s}, {how}" for s in subjects.SCHEDULES for how in SAMPLERS]
    dims = {"eigenvalue": 2, "noise": 2, "along": 3, "loss": 1}
    names = ("case", "model", "direction")
    taken = {1: names[:1], 2: names[::2], 3: names}
    return evidence.dataset(
        "measured",
        {name: (taken[n], np.stack([part[name] for part in of_case])) for name, n in dims.items()},
        {"case": cases, "model": np.arange(count), "direction": np.arange(kept)},
        **neighbours.about(game, settings),
    )


def _final(games: dict[str, Game], seed: int, device: str, item: list) -> dict[str, np.ndarray]:
    """One model on D', all from one start."""
    schedule, sampler, number = item
    game, where = games[schedule], training.device_of(device)
    x, y = (part.to(where) for part in game.records(game.base[0]))
    order = seed * 1_000_000 + 700_000 + number
    weight = training.train_neighbours(
        x, y, None, game.task.config, order, [10_000_000 + seed], sampler
    )
    return {"weight": weight}


def _measured(game: Game, weight: FloatArray) -> dict[str, FloatArray]:
    """In the eigenbasis of the Hessian at the mean weights (models, p): places, noise, loss."""
    base = Logistic.of(*game.records(game.base[0], torch.float64))
    centre = torch.tensor(weight.mean(0))
    values, basis = torch.linalg.eigh(base.hessian(centre))
    gradients = base.gradients(centre[None])[0] @ basis
    chance = torch.sigmoid(base.x @ centre)
    return {
        "eigenvalue": values.numpy(),
        "noise": gradients.var(0, correction=0).numpy(),
        "along": ((torch.tensor(weight) - centre) @ basis).numpy().astype(np.float32),
        "loss": ((chance - base.y) ** 2).mean().numpy(),
    }


def control_23(games: Sequence[xr.Dataset]) -> pd.DataFrame:
    """iha-ctl-23: found variance over that of each law, by band of curvature; units are models."""
    rows: list[dict[str, Any]] = []
    for game in games:
        for place, case in enumerate(game["case"].values.tolist()):
            schedule, sampler = case.split(", ")
            key = {"dataset": game.attrs["set"], "schedule": schedule, "sampler": SAMPLERS[sampler]}
            rows += _bands(key, game.isel(case=place), schedule)
    note = (
        "Variance over models of one start on one D', along the Hessian's eigenvectors, over what "
        "a law says of them: means over the directions of a band. Equation 4 supposes a constant "
        "rate and noise 2 L H / S; the other two have the noise measured and the rates as they are."
    )
    return tidy(rows, {**_about(games), "note": note})


def _about(games: Sequence[xr.Dataset]) -> dict[str, Any]:
    sizes = {
        game.attrs["set"]: f"{game.attrs['recipe']['members']:,} training records, one set D', "
        f"{game.sizes['model']} models of each sampler and schedule"
        for game in games
    }
    return {
        "data": {name: digest for game in games for name, digest in game.attrs["data"].items()},
        "deviations": [f"{name}: {text}" for name, text in sizes.items()],
        "sizes": sizes,
        "device": games[0].attrs["device"],
    }


def _bands(key: dict[str, str], case: xr.Dataset, schedule: str) -> list[dict[str, Any]]:
    values, away = (case[name].values.astype(float) for name in ("eigenvalue", "along"))
    squares, laws = away**2 * len(away) / (len(away) - 1), _laws(case, schedule)
    rows = []
    for low, high in itertools.pairwise(BANDS):
        here = (values > low) & (values <= high)
        if not here.any():
            continue
        middle = float(np.exp(np.log(values[here]).mean()))
        band = {**key, "eigenvalues": _between(low, high), "eigenvalue": middle}
        ratios = {name: (squares[:, here] / law[here]).mean(1) for name, law in laws.items()}
        rows += of_each(band | {"directions": int(here.sum())}, "over", ratios, lowest=0.0)
    return rows


def _between(low: float, high: float) -> str:
    return f"above {low:g}" if np.isinf(high) else f"{low:g} to {high:g}"


def _laws(case: xr.Dataset, schedule: str) -> dict[str, FloatArray]:
    """The variance along each eigenvector under each of `LAWS`, nan where it is not defined."""
    recipe = case.attrs["recipe"]
    sgd = Sgd(recipe["learning_rate"], recipe["momentum"], recipe["weight_decay"])
    values, noise = (case[name].values.astype(float) for name in ("eigenvalue", "noise"))
    supposed = 2 * float(case["loss"]) * np.abs(values) / recipe["batch_size"]
    scaled = sgd.learning_rate * (values + sgd.weight_decay) / (1 + sgd.momentum)
    four = supposed * sgd.learning_rate**2 / (1 - sgd.momentum**2) / (scaled * (2 - scaled))
    config = training.TrainingConfig(
        recipe["epochs"], recipe["batch_size"], sgd.learning_rate, schedule=schedule
    )
    rates = [config.learning_rate_at(epoch) for epoch in range(config.epochs)]
    sizes = batches(recipe["members"], recipe["batch_size"])
    exact = [
        epochs_variance(
            values + sgd.weight_decay, noise, sgd.momentum, rates, sizes, shuffled=shuffled
        )
        for shuffled in (False, True)
    ]
    return dict(zip(LAWS, (four, *exact), strict=True))


def control_23_drawn(table: pd.DataFrame) -> "Figure":
    """Control 23: the ratio by curvature, a line a law, a panel a sampler and schedule."""
    shown = table.rename(columns={"over": "series"})
    rate = shown["schedule"].map({"cosine": "falling rate", "constant": "constant rate"})
    figure = plots.lines_with_intervals(
        shown.assign(panel=shown["sampler"] + ", " + rate),
        "eigenvalue",
        by="series",
        panel="panel",
        log_x=True,
        same_scale=True,
        x_label="curvature",
    )
    for axis in figure.axes:
        axis.set_yscale("log")
        axis.set_ylim(shown["value"].min() / 2, 2 * shown["value"].max())
        look.plain(axis.yaxis)
        axis.axhline(1.0, color=look.GREY, linewidth=0.8, zorder=0)
    return figure
