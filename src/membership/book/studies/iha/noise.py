"""What the theorems of Suri et al. (2024) suppose of SGD, measured on trained networks.

Theorem 2.3: mini-batch noise of covariance 2 L H / S. Assumption 3: a record changes
neither the loss at the minimum nor the Hessian: what that leaves out, for the score as the theorem
has it along the leading directions, and for the attacks with damping along all.
"""

import functools
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch
import xarray as xr

from membership import evidence, metrics, plots, training
from membership.arrays import FloatArray
from membership.book.exhibits.tidy import origin, tidy
from membership.book.studies.iha.experiment import Task, Trained, about_task, train
from membership.book.studies.iha.experiment import task as make_task
from membership.book.studies.iha.scores import LEARNT_BY
from membership.book.studies.iha.settings import Settings
from membership.book.studies.iha.subjects import Subject
from membership.curvature.noise import gradients_along, leading_directions, power_law
from membership.curvature.objective import Objective, objective
from membership.plots import look

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Directions whose curvature is at least twice the weight decay: H, not alpha, holds the weights.
TIMES_DECAY = 2.0
EXPONENT, SCALE, DIAGONAL = "exponent of the noise", "noise over 2 L H / S", "diagonal share"
DROPPED = "what Assumption 3 drops, over what the score keeps"
LOSS_CHANGE = "change of the loss at the minimum (%)"
NOISE, SUPPOSED = "noise variance", "2 L H / S"
NOTE = "Directions whose eigenvalue is above twice the weight decay."


def train_targets(task: Task, settings: Settings) -> Trained:
    """One target of each complementary pair, trained as among all models."""
    rows = task.targets[::2]
    chosen = replace(task, membership=task.membership[list(rows)], targets=rows)
    return train(chosen, settings, rows)


def gathered(subject: Subject, settings: Settings) -> xr.Dataset:
    """The evidence: noise by direction of each target of each pair, and records' log-ratios."""
    task = make_task(subject, settings)
    trained = train_targets(task, settings)
    look = functools.partial(observe, trained)
    determined = (asdict(task.config), task.pool.x, task.pool.y, trained.task.membership)
    places = list(range(len(trained.targets)))
    parts = evidence.in_parts(
        look,
        places,
        TIMES_DECAY,
        *determined,
        *trained.ensemble.parameters.values(),
    )
    width = max(len(part["eigenvalue"]) for part in parts)
    along = {
        name: (("target", "direction"), [_padded(part[name], width) for part in parts])
        for name in ("eigenvalue", "noise")
    }
    plain = {
        name: (("target",), [float(part[name]) for part in parts]) for name in ("loss", "diagonal")
    }
    of_records = {
        name: (("target", "query"), [part[name].astype(np.float32) for part in parts])
        for name in ("dropped", "kept", "change")
    }
    found = {**along, **plain, **of_records}
    return _measured(trained, found, {"direction": np.arange(width)})


def _measured(trained: Trained, found: dict[str, Any], axes: dict[str, Any]) -> xr.Dataset:
    """Evidence by target, with what says of which task and models it is."""
    return evidence.dataset(
        "measured",
        found,
        {"target": trained.targets, **axes},
        **about_task(trained.task),
        targets=trained.targets,
        n_models=len(trained.targets),
        seed=trained.seed,
        device=trained.device,
    )


def _members(trained: Trained, place: int) -> tuple[Objective, tuple[torch.Tensor, torch.Tensor]]:
    """A target's training loss, and its records as the loss takes them."""
    task, rows = trained.task, np.flatnonzero(trained.task.membership[place])
    x, y = (torch.tensor(values[rows]) for values in (task.pool.x, task.pool.y))
    goal = objective(trained.ensemble.module(place), task.config.loss_of, x, y)
    return goal, goal.records(x, y)


def observe(trained: Trained, place: int) -> dict[str, np.ndarray]:
    """Everything that is measured at one target."""
    goal, records = _members(trained, place)
    config = trained.task.config
    directions = leading_directions(goal, *records, TIMES_DECAY * config.weight_decay)
    along, losses = gradients_along(goal, *records, directions.vectors)
    covariance = np.cov(along.T, bias=True) / config.batch_size
    weight = (goal.vector() @ directions.vectors).cpu().numpy()
    queried = queried_of(trained, place, len(losses))
    of_records = log_ratios(
        directions.values, along[queried], along.mean(0), losses[queried], losses.mean(), weight,
        len(losses), config,
    )  # fmt: skip
    return {
        "eigenvalue": directions.values,
        "noise": np.diag(covariance).copy(),
        "loss": np.array(losses.mean()),
        "diagonal": np.array((np.diag(covariance) ** 2).sum() / (covariance**2).sum()),
        **of_records,
    }


def queried_of(trained: Trained, place: int, count: int) -> np.ndarray:
    """Which of so many members of a target are asked."""
    return np.sort(np.random.default_rng([trained.seed, 41, place]).permutation(count)[:500])


def log_ratios(
    values: FloatArray,
    gradient: FloatArray,
    mean: FloatArray,
    loss: FloatArray,
    total: float,
    weight: FloatArray,
    n: int,
    config: training.TrainingConfig,
    stationarity: str = "published",
) -> dict[str, FloatArray]:
    """A member's log-ratio as Theorem 3.2 has it, and what equal losses at the minima drop.

    All along the kept directions (k,), records (m, k). The loss at the minimum changes by
    (l + alpha w' K^-1 g) / n to first order; Equation 15 differentiated by L* says what that does.
    """
    rate, mu, alpha = config.learning_rate, config.momentum, config.weight_decay
    first, second = 1 - rate * alpha / (1 + mu), 2 - rate * alpha / (1 + mu)
    held, others = values, mean - gradient / n
    if stationarity == "regularised":
        first, held, others = second / 2, values + alpha, others + alpha * weight
    own, rest = gradient / held, others / held
    terms = first * ((own**2).sum(1) / n + 2 * (rest * own).sum(1))
    terms += alpha * second * ((own**2 / values).sum(1) / (2 * n) + (rest * own / values).sum(1))
    factor = config.batch_size * (1 - mu) / (2 * total)
    change = (loss + alpha * (gradient / (values + alpha)) @ weight) / (n * total)
    away = (mean + alpha * weight) / (values + alpha)
    shape = (2 - rate * (values + alpha) / (1 + mu)) * (values + alpha) / values
    exponent = factor / (2 * rate) * (away**2 * shape).sum()
    counted = len(values) / 2 + config.batch_size * (1 - mu) / (2 * (1 + mu))
    return {
        "kept": factor / n * (loss / (1 + mu) - terms / rate),
        "dropped": (exponent - counted) * change,
        "change": change,
    }


def control_18(measurements: Sequence[xr.Dataset]) -> pd.DataFrame:
    """iha-ctl-18: the assumptions by quantity, and noise by eigenvalue."""
    rows: list[dict[str, Any]] = []
    for measurement in measurements:
        numbers: dict[tuple[str, float], list[float]] = {}
        for target in range(measurement.sizes["target"]):
            for key, value in _of_target(
                measurement.isel(target=target), measurement.attrs
            ).items():
                numbers.setdefault(key, []).append(value)
        for (quantity, eigenvalue), values in numbers.items():
            key = {
                "dataset": measurement.attrs["set"],
                "quantity": quantity,
                "eigenvalue": eigenvalue,
            }
            rows.append(key | _summed(quantity, np.array(values)))
    return tidy(rows, origin(measurements, note=NOTE))


def control_18_drawn(table: pd.DataFrame) -> "Figure":
    """Control 18: noise against eigenvalue, with the theorem's line."""
    shown = table.dropna(subset="eigenvalue").rename(columns={"quantity": "series"})
    labels = {name: ("eigenvalue", "variance") for name in shown["dataset"]}
    figure = plots.line_panels(shown, panel="dataset", x="eigenvalue", labels=labels, log_x=True)
    for axis in figure.axes:
        axis.set_yscale("log")
        look.plain(axis.yaxis)
    return figure


def _summed(quantity: str, values: FloatArray) -> dict[str, float]:
    """Mean over networks; of variances, which span decades, the geometric mean."""
    if quantity not in (NOISE, SUPPOSED):
        lowest = -np.inf if quantity == EXPONENT else 0.0
        return metrics.summary(values, lowest=lowest)
    summary = metrics.summary(np.log(values))
    summary |= {name: float(np.exp(summary[name])) for name in ("value", "low", "high")}
    return summary | {"standard_error": summary["value"] * summary["standard_error"]}


def _of_target(measurement: xr.Dataset, attrs: dict[str, Any]) -> dict[tuple[str, float], float]:
    recipe, eigenvalues = attrs["recipe"], measurement["eigenvalue"].values.astype(float)
    seen = np.isfinite(eigenvalues)
    values, noise = eigenvalues[seen], measurement["noise"].values.astype(float)[seen]
    supposed = 2 * float(measurement["loss"]) * values / recipe["batch_size"]
    numbers = {
        (EXPONENT, np.nan): power_law(values, noise),
        (SCALE, np.nan): float(np.median(noise / supposed)),
        (DIAGONAL, np.nan): float(measurement["diagonal"]),
        (DROPPED, np.nan): float(measurement["dropped"].std() / measurement["kept"].std()),
        (LOSS_CHANGE, np.nan): 100 * float(np.abs(measurement["change"]).mean()),
    }
    places = np.round(4 * np.log10(values)) / 4
    for place in np.unique(places):
        here, at = places == place, float(10.0**place)
        numbers[NOISE, at] = float(np.exp(np.log(noise[here]).mean()))
        numbers[SUPPOSED, at] = float(np.exp(np.log(supposed[here]).mean()))
    return numbers


def _padded(values: np.ndarray, width: int) -> np.ndarray:
    return np.pad(values, (0, width - len(values)), constant_values=np.nan).astype(np.float32)


# Of the attacks, along all directions.
DAMPINGS = (0.001, 0.01, 0.1, 0.2)


def gathered_damped(subject: Subject, settings: Settings) -> xr.Dataset:
    """The evidence: what is dropped over what is kept, by target of each pair, attack, damping."""
    task = make_task(subject, settings)
    trained = train_targets(task, settings)
    look = functools.partial(observe_damped, trained)
    determined = (asdict(task.config), task.pool.x, task.pool.y, trained.task.membership, DAMPINGS)
    places = list(range(len(trained.targets)))
    parts = evidence.in_parts(look, places, *determined, *trained.ensemble.parameters.values())
    found = {"ratio": (("target", "attack", "damping"), [part["ratio"] for part in parts])}
    return _measured(trained, found, {"attack": list(LEARNT_BY), "damping": list(DAMPINGS)})


def observe_damped(trained: Trained, place: int) -> dict[str, np.ndarray]:
    """Ratios (attacks, dampings) of standard deviations over the members that `observe` asks."""
    goal, records = _members(trained, place)
    config = trained.task.config
    every = leading_directions(goal, *records, -np.inf)
    along, losses = gradients_along(goal, *records, every.vectors)
    weight = (goal.vector() @ every.vectors).cpu().numpy()
    queried = queried_of(trained, place, len(losses))
    asked = along[queried], along.mean(0), losses[queried], losses.mean()
    vectors = *asked, weight, len(losses), config
    ratios = []
    for stationarity in LEARNT_BY.values():
        parts = [log_ratios(every.values + d, *vectors, stationarity) for d in DAMPINGS]
        ratios.append([part["dropped"].std() / part["kept"].std() for part in parts])
    return {"ratio": np.array(ratios)}


def control_28(measurements: Sequence[xr.Dataset]) -> pd.DataFrame:
    """iha-ctl-28: the ratio by attack and damping, means over networks."""
    rows: list[dict[str, Any]] = []
    for measurement in measurements:
        key = {"dataset": measurement.attrs["set"], "metric": DROPPED}
        for attack in measurement["attack"].values.tolist():
            for damping in measurement["damping"].values.tolist():
                ratio = measurement["ratio"].sel(attack=attack, damping=damping).values
                of = {**key, "attack": attack, "damping": damping}
                rows.append(of | metrics.summary(ratio, lowest=0.0))
    return tidy(rows, origin(measurements, note="The damped Hessian stands for the Hessian."))
