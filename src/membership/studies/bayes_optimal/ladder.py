"""Table 1 on features of rising quality: pixels, gradients, a weaker network's, its own network's.

They separate what the attacks gain from what the model's own gap between training and validation
gives them.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from membership import evidence, limits, metrics, processes
from membership.studies.bayes_optimal import gather, logistic
from membership.studies.bayes_optimal.features import standardised, trained, two_classes
from membership.studies.bayes_optimal.logistic_model import LogisticModel, fit
from membership.studies.bayes_optimal.names import TABLE_1, WEAKER
from membership.studies.bayes_optimal.requirements import pair

SPLITS, SPLITS_FOR_PENALTY = 20, 2
PENALTIES = np.logspace(-4, 1, 11)
# Above so many features the Hessian of the second-order term is left out.
MOST_FOR_HESSIAN = 1000
RAW, PIXEL, GRADIENTS = "raw", "pixels", "gradient histogram"
CELLS, ORIENTATIONS = 8, 9
# Table 1's network with the stem for ImageNet, which sees a small image as one pixel at its end.
WEAKER_NETWORK = "resnet18"
# Pixels a side that the lowest kind of features has at most, for its time.
PIXELS = 16


@dataclass(frozen=True)
class Rung:
    """The records of the two classes under one kind of features."""

    name: str
    x: np.ndarray
    y: np.ndarray


def measured(settings: Any) -> xr.Dataset:
    """Accuracies and attacks of every rung, size and split; see `_one_split` for the numbers."""
    rungs, told = _rungs(settings)
    splits = min(SPLITS, settings.n_repeats)
    workers = processes.workers(limits.cores(settings.n_jobs))
    found, chosen, fixed = [], [], []
    with threadpool_limits(limits=1, user_api="blas"):
        for rung in rungs:
            each = [_penalty(rung, n, settings.seed, workers) for n in settings.n_records]
            # One penalty at all sizes, for the slope of the second-order term: the middle size's.
            one = each[len(each) // 2]
            chosen.append(each)
            fixed.append(one)
            for n, penalty in zip(settings.n_records, each, strict=True):
                found += workers(
                    delayed(_one_split)(rung, n, r, penalty, one, settings.seed)
                    for r in range(splits)
                )
    shape = (len(rungs), len(settings.n_records), splits)
    dims = ("rung", "size", "split")
    both = rungs[0]
    return evidence.dataset(
        "measured",
        {
            **{k: (dims, np.reshape([one[k] for one in found], shape)) for k in found[0]},
            "inverse_penalty": (dims[:2], np.array(chosen)),
            "fixed_inverse_penalty": (dims[:1], np.array(fixed)),
        },
        {"rung": [one.name for one in rungs], "size": list(settings.n_records)},
        recipe={"rungs": told},
        seed=settings.seed,
        records=len(both.y),
        device="cpu",
        **_origin(settings),
    )


def _origin(settings: Any) -> dict[str, Any]:
    features = two_classes(settings)
    return {
        "set": features.setup["data"],
        "data": features.digests,
        "deviations": [
            "features of other models than the paper's",
            f"{min(SPLITS, settings.n_repeats)} random splits (the paper: 100)",
        ],
    }


def _rungs(settings: Any) -> tuple[list[Rung], dict[str, str]]:
    """The features that the data allow, lowest first, and what is to be said of each."""
    _, both = pair(settings)
    if both.x.ndim != 4 or both.x.shape[2] % CELLS or both.x.shape[3] % CELLS:
        found = {RAW: (both.x.reshape(len(both), -1), "the records as they are")}
    else:
        side = max(1, both.x.shape[2] // PIXELS)
        said = f"{CELLS} x {CELLS} cells, {ORIENTATIONS} orientations"
        found = {
            PIXEL: (_averaged(both.x, side), f"averaged {side} x {side}"),
            GRADIENTS: (gradient_histogram(both.x), f"{said}, no training"),
        }
    network = settings.feature_network
    if network.startswith(f"{WEAKER_NETWORK}-"):
        learnt = trained(WEAKER_NETWORK, settings.feature_epochs, both.x, settings)
        found[WEAKER] = (learnt.x, learnt.told)
    if network != "raw":
        found[TABLE_1] = (two_classes(settings).x, f"{network}, as in Table 1")
    rungs = [
        Rung(name, standardised(x.reshape(len(both), -1).astype(float)), both.y)
        for name, (x, _) in found.items()
    ]
    return rungs, {name: said for name, (_, said) in found.items()}


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


def _penalty(rung: Rung, n: int, seed: int, workers: Parallel) -> float:
    """C by the loss on records outside the splits, up the grid until it rises twice."""
    losses: list[float] = []
    for penalty in PENALTIES:
        each = workers(
            delayed(_loss_outside)(rung, n, repeat, seed, penalty)
            for repeat in range(SPLITS_FOR_PENALTY)
        )
        losses.append(float(np.sum(each)))
        if len(losses) > int(np.argmin(losses)) + 2:
            break
    return float(PENALTIES[int(np.argmin(losses))])


def _loss_outside(rung: Rung, n: int, repeat: int, seed: int, penalty: float) -> float:
    _, _, reserve, others = gather.split(len(rung.y), n, repeat, seed)
    model = fit(rung.x[reserve], rung.y[reserve], penalty)
    return float(model.loss(rung.x[others], rung.y[others]).mean())


def _one_split(
    rung: Rung, n: int, repeat: int, penalty: float, fixed: float, seed: int
) -> dict[str, float]:
    """Accuracies in percent, and the spread of MATT's second term over its first at one penalty.

    ``malt_reference`` takes the threshold that is best for the reference model, whose members and
    non-members the adversary knows; ``malt``, ``matt`` the best one for the records counted. Names
    with ``fixed`` are of models with the one penalty.
    """
    members, outside, reserve, others = gather.split(len(rung.y), n, repeat, seed)
    x, y = rung.x, rung.y
    target, theta0 = fit(x[members], y[members], penalty), fit(x[reserve], y[reserve], penalty)
    queried = np.concatenate([members, outside])
    seen = _observed(target, theta0, x, y, queried, None)
    scores, _ = logistic.attack_scores(seen)
    member, correct = np.arange(n) < n // 2, seen["log_odds"].values > 0
    threshold = _reference_threshold(theta0, x, y, reserve, others)
    target, theta0 = (fit(x[rows], y[rows], fixed) for rows in (members, reserve))
    small = x.shape[1] <= MOST_FOR_HESSIAN
    leverage = gather.leverages(theta0, x[queried], x[reserve]) if small else None
    again, ratio = logistic.attack_scores(_observed(target, theta0, x, y, queried, leverage))
    found = {
        "train": correct[member].mean(),
        "validation": correct[~member].mean(),
        "zero_one": metrics.balanced_accuracy(scores["0-1"], member, threshold=0.5),
        "malt_reference": metrics.balanced_accuracy(scores["MALT"], member, threshold=threshold),
        **_by_attack(scores, member, ""),
        **_by_attack(again, member, "fixed_"),
    }
    return {**{k: 100 * float(v) for k, v in found.items()}, "fixed_ratio": ratio}


def _by_attack(scores: dict[str, np.ndarray], member: np.ndarray, prefix: str) -> dict[str, float]:
    """Best accuracy and AUC of MALT and MATT."""
    found = {}
    for name in ("MALT", logistic.MATT):
        found[f"{prefix}{name.lower()}"] = metrics.balanced_accuracy(scores[name], member)
        found[f"{prefix}{name.lower()}_auc"] = metrics.auc(scores[name], member)
    return found


def _observed(
    target: LogisticModel,
    theta0: LogisticModel,
    x: np.ndarray,
    y: np.ndarray,
    queried: np.ndarray,
    leverage: np.ndarray | None,
) -> xr.Dataset:
    """What `logistic.attack_scores` reads; without leverages the second term is not asked for."""
    none = np.full(len(queried), np.nan)
    names = {
        "log_odds": target.log_odds(x[queried], y[queried]),
        "reference_log_odds": theta0.log_odds(x[queried], y[queried]),
        "leverage": none if leverage is None else leverage,
    }
    return xr.Dataset({name: ("query", values) for name, values in names.items()})


def _reference_threshold(
    theta0: LogisticModel, x: np.ndarray, y: np.ndarray, reserve: np.ndarray, others: np.ndarray
) -> float:
    """MALT's best threshold for the reference model: its own members against all other records."""
    asked = np.concatenate([reserve, others])
    score = -theta0.loss(x[asked], y[asked])
    return metrics.best_threshold(score, np.arange(len(asked)) < len(reserve))
