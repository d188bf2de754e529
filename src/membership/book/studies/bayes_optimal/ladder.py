"""Table 1 on features of rising quality, and on its own ones at penalties from strong to weak.

Features: pixels, gradients, a weaker network's, Table 1's network's. Both ladders move the model's
own gap between training and validation, and so separate it from what the attacks gain.
"""

from typing import NamedTuple

import numpy as np
import xarray as xr
from joblib import delayed
from threadpoolctl import threadpool_limits

from membership import evidence, limits, metrics, processes
from membership.arrays import FloatArray
from membership.book.studies.bayes_optimal import regressions
from membership.book.studies.bayes_optimal.names import TABLE_1, WEAKER, of_splits
from membership.book.studies.bayes_optimal.regressions import (
    LogisticModel,
    Records,
    fit,
    trained,
    two_classes,
    with_unit_variance,
)
from membership.book.studies.bayes_optimal.settings import Settings
from membership.book.studies.bayes_optimal.splits import MATT, attack_scores

SPLITS, SPLITS_FOR_PENALTY = 20, 2
PENALTIES = np.logspace(-4, 1, 11)
# From strong to weak, of the ladder of penalties.
WEAKER_PENALTIES = np.logspace(-3.5, 0, 8)
# Above so many features the Hessian of the second-order term is left out.
MOST_FOR_HESSIAN = 1000
RAW, PIXEL, GRADIENTS = "raw", "pixels", "gradient histogram"
CELLS, ORIENTATIONS = 8, 9
# Table 1's network with the stem for ImageNet, which sees a small image as one pixel at its end.
WEAKER_NETWORK = "resnet18"
# Pixels a side that the lowest kind of features has at most, for its time.
PIXELS = 16


def by_features(settings: Settings) -> xr.Dataset:
    """Accuracies and attacks of every rung, size and split; see `_at_features` for the numbers."""
    features = two_classes(settings)
    rungs, words = _rungs(settings)
    splits = min(SPLITS, settings.n_repeats)
    workers = processes.workers(limits.cores(settings.n_jobs))
    measured, chosen, fixed = [], [], []
    with threadpool_limits(limits=1, user_api="blas"):
        for rung in rungs.values():
            penalties = [_penalty(rung, n, settings.seed, workers) for n in settings.n_records]
            # One penalty at all sizes, for the slope of the second-order term: the middle size's.
            same = penalties[len(penalties) // 2]
            chosen.append(penalties)
            fixed.append(same)
            for n, penalty in zip(settings.n_records, penalties, strict=True):
                measured += workers(
                    delayed(_at_features)(rung, n, r, penalty, same, settings.seed)
                    for r in range(splits)
                )
    shape = (len(rungs), len(settings.n_records), splits)
    dims = ("rung", "size", "split")
    return evidence.dataset(
        "measured",
        {
            **{k: (dims, np.reshape([split[k] for split in measured], shape)) for k in measured[0]},
            "inverse_penalty": (dims[:2], np.array(chosen)),
            "fixed_inverse_penalty": (dims[:1], np.array(fixed)),
        },
        {"rung": list(rungs), "size": list(settings.n_records)},
        recipe={"rungs": words},
        seed=settings.seed,
        records=len(next(iter(rungs.values())).y),
        device="cpu",
        set=features.setup["data"],
        data=features.digests,
        deviations=["features of other models than the paper's", of_splits(splits)],
    )


def _rungs(settings: Settings) -> tuple[dict[str, Records], dict[str, str]]:
    """The features that the data allow, lowest first, and what is to be said of each."""
    _, two = settings.pair()
    if two.x.ndim != 4 or two.x.shape[2] % CELLS or two.x.shape[3] % CELLS:
        features = {RAW: (two.x.reshape(len(two), -1), "the records as they are")}
    else:
        side = max(1, two.x.shape[2] // PIXELS)
        cells = f"{CELLS} x {CELLS} cells, {ORIENTATIONS} orientations"
        features = {
            PIXEL: (_averaged(two.x, side), f"averaged {side} x {side}"),
            GRADIENTS: (gradient_histogram(two.x), f"{cells}, no training"),
        }
    network = settings.feature_network
    if network.startswith(f"{WEAKER_NETWORK}-"):
        learnt = trained(WEAKER_NETWORK, settings.feature_epochs, two.x, settings)
        features[WEAKER] = (learnt.x, learnt.words)
    if network != "raw":
        features[TABLE_1] = (two_classes(settings).x, f"{network}, as in Table 1")
    rungs = {
        name: Records(with_unit_variance(x.reshape(len(two), -1).astype(float)), two.y)
        for name, (x, _) in features.items()
    }
    return rungs, {name: words for name, (_, words) in features.items()}


def _averaged(x: np.ndarray, side: int) -> np.ndarray:
    """Images whose squares of so many pixels a side have become one."""
    n, channels, height, width = x.shape
    parts = x.reshape(n, channels, height // side, side, width // side, side)
    return parts.mean(axis=(3, 5))


def gradient_histogram(x: np.ndarray) -> np.ndarray:
    """Lengths of grey gradients by cell and orientation, of unit length a cell's neighbourhood."""
    grey = x.mean(axis=1)
    down, across = np.gradient(grey, axis=(1, 2))
    size = np.hypot(down, across)
    turn = np.floor(np.arctan2(down, across) % np.pi / np.pi * ORIENTATIONS).astype(int)
    by_turn = size[..., None] * (
        turn.clip(max=ORIENTATIONS - 1)[..., None] == np.arange(ORIENTATIONS)
    )
    n, height, width, _ = by_turn.shape
    cells = by_turn.reshape(n, CELLS, height // CELLS, CELLS, width // CELLS, ORIENTATIONS)
    cells = cells.sum(axis=(2, 4))
    padded = np.pad((cells**2).sum(axis=-1), ((0, 0), (1, 1), (1, 1)))
    around = sum(padded[:, i : i + CELLS, j : j + CELLS] for i in range(3) for j in range(3))
    return (cells / np.sqrt(around + 1e-6)[..., None]).reshape(n, -1)


def _penalty(rung: Records, n: int, seed: int, workers: processes.Workers) -> float:
    """C by the loss on records outside the splits, up the grid until it rises twice."""
    losses: list[float] = []
    for penalty in PENALTIES:
        split_losses = workers(
            delayed(regressions.loss_outside)(rung, n, repeat, seed, penalty)
            for repeat in range(SPLITS_FOR_PENALTY)
        )
        losses.append(float(np.sum(split_losses)))
        if len(losses) > int(np.argmin(losses)) + 2:
            break
    return float(PENALTIES[int(np.argmin(losses))])


def by_penalty(settings: Settings) -> xr.Dataset:
    """Accuracies and attacks by size, penalty and split; see `_at_penalty` for the numbers."""
    features = two_classes(settings)
    records = Records(features.x, features.y)
    splits = min(SPLITS, settings.n_repeats)
    shape = (len(settings.n_records), len(WEAKER_PENALTIES), splits)
    workers = processes.workers(limits.cores(settings.n_jobs))
    with threadpool_limits(limits=1, user_api="blas"):
        measured = workers(
            delayed(_at_penalty)(records, n, repeat, c, settings.seed)
            for n in settings.n_records
            for c in WEAKER_PENALTIES
            for repeat in range(splits)
        )
    dims = ("size", "inverse_penalty", "split")
    return evidence.dataset(
        "measured",
        {
            name: (dims, np.reshape([split[name] for split in measured], shape))
            for name in measured[0]
        },
        {"size": list(settings.n_records), "inverse_penalty": WEAKER_PENALTIES},
        set=features.setup["data"],
        data=features.digests,
        recipe=features.setup.get("recipe", {}),
        deviations=[*features.deviations, of_splits(splits)],
        seed=settings.seed,
        device=features.device,
    )


class Answers(NamedTuple):
    """One split's models: their log-odds on its members and then its non-members, in (n,) each."""

    target: FloatArray
    reference: FloatArray
    leverage: FloatArray | None
    model: LogisticModel


def _answers(
    records: Records, n: int, repeat: int, penalty: float, seed: int, leverages: bool = False
) -> Answers:
    """What the target and the reference answer; with the leverages at the reference if asked."""
    x, y = records
    members, outside, reserve, _ = regressions.split(len(y), n, repeat, seed)
    target, theta0 = (fit(x[rows], y[rows], penalty) for rows in (members, reserve))
    queried = np.concatenate([members, outside])
    odds, start = (model.log_odds(x[queried], y[queried]) for model in (target, theta0))
    leverage = regressions.leverages(theta0, x[queried], x[reserve]) if leverages else None
    return Answers(odds, start, leverage, theta0)


def _at_features(
    rung: Records, n: int, repeat: int, penalty: float, fixed: float, seed: int
) -> dict[str, float]:
    """Accuracies in percent, and the spread of MATT's second term over its first at one penalty.

    ``malt_reference`` takes the threshold that is best for the reference model, whose members and
    non-members the adversary knows; ``malt``, ``matt`` the best one for the records counted. Names
    with ``fixed`` are of models with the one penalty.
    """
    chosen = _answers(rung, n, repeat, penalty, seed)
    small = rung.x.shape[1] <= MOST_FOR_HESSIAN
    same = _answers(rung, n, repeat, fixed, seed, leverages=small)
    scores, _ = attack_scores(chosen.target, chosen.reference)
    again, ratio = attack_scores(same.target, same.reference, same.leverage)
    member = np.arange(n) < n // 2
    _, _, reserve, rest = regressions.split(len(rung.y), n, repeat, seed)
    threshold = _reference_threshold(chosen.model, rung, reserve, rest)
    numbers = {
        **_of_model(chosen.target, scores, member),
        "malt_reference": metrics.balanced_accuracy(scores["MALT"], member, threshold=threshold),
        **_by_attack(again, member, "fixed_"),
    }
    return {**{k: 100 * float(v) for k, v in numbers.items()}, "fixed_ratio": ratio}


def _at_penalty(
    records: Records, n: int, repeat: int, penalty: float, seed: int
) -> dict[str, float]:
    """Accuracies, at the best threshold of either attack, and AUCs; all in percent."""
    odds, start, *_ = _answers(records, n, repeat, penalty, seed)
    scores, _ = attack_scores(odds, start)
    numbers = _of_model(odds, scores, np.arange(n) < n // 2)
    return {name: 100 * float(value) for name, value in numbers.items()}


def _of_model(
    odds: FloatArray, scores: dict[str, FloatArray], member: np.ndarray
) -> dict[str, float]:
    """Accuracies of one model and of the attacks on it."""
    correct = odds > 0
    return {
        "train": correct[member].mean(),
        "validation": correct[~member].mean(),
        "zero_one": metrics.balanced_accuracy(scores["0-1"], member, threshold=0.5),
        **_by_attack(scores, member, ""),
    }


def _by_attack(scores: dict[str, np.ndarray], member: np.ndarray, prefix: str) -> dict[str, float]:
    """Best accuracy and AUC of MALT and MATT."""
    return {
        f"{prefix}{name.lower()}{end}": metric(scores[name], member)
        for name in ("MALT", MATT)
        for end, metric in (("", metrics.balanced_accuracy), ("_auc", metrics.auc))
    }


def _reference_threshold(
    theta0: LogisticModel, records: Records, reserve: np.ndarray, rest: np.ndarray
) -> float:
    """MALT's best threshold for the reference model: its own members against all other records."""
    queried = np.concatenate([reserve, rest])
    score = -theta0.loss(records.x[queried], records.y[queried])
    return metrics.best_threshold(score, np.arange(len(queried)) < len(reserve))
