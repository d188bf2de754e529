"""Evidence of one's own model: what it and reference models, trained like it, answer."""

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import xarray as xr
from torch import nn
from tqdm import tqdm

from membership import data, evidence, networks, signals
from membership.arrays import BoolArray, FloatArray, as_bool, as_real, whole
from membership.audit import warnings
from membership.audit.reading import LEAST_RECORDS
from membership.errors import InputError

Train = Callable[[np.ndarray, np.ndarray, int], Any]

MOST_CLASSES = 10**6
SURE = 1e-9
"""A forest answers probabilities of 0 and 1, whose log-odds are infinite; they stop here."""


def gather(
    x: Any,
    y: Any,
    train: Train,
    *,
    model: Any = None,
    member: Any = None,
    held: tuple[Any, Any] | None = None,
    n_reference: int = 16,
    n_targets: int = 4,
    seed: int = 0,
    name: str = "my model",
) -> xr.Dataset:
    """Observe one's own model beside reference models that are trained like it.

    Reference models are trained on random halves of the records and their complements in turn, so
    that every record is in half of them.

    Parameters
    ----------
    x : array_like of shape (records, ...)
        Members and non-members of the model, in the form that models take; whole numbers stay whole
        for a module that reads them.
    y : array_like of int, shape (records,)
        Labels, 0 to classes - 1.
    train : callable
        ``train(x, y, seed)`` returns a trained model: a `torch.nn.Module` that answers logits, a
        scikit-learn classifier with ``predict_proba``, or a function from records to logits.
    model : optional
        The model to audit, of the same kinds. None: `n_targets` models are trained and audited in
        its place, which says more of the training than of one model.
    member : array_like of bool, shape (records,)
        Which records `model` was trained on; needed with `model`.
    held : (x, y), optional
        Records that no model has seen; attacks that compare with a population need them.
    n_reference : int
        Reference models, 2 or more.
    n_targets : int
        Targets where no model is given, 1 or more.
    seed : int
        Of the halves; training i gets ``seed + i``.
    name : str
        What is audited, for the report.

    Returns
    -------
    xarray.Dataset
        Evidence of kind "outputs", for `compare` and `membership.evidence.save`. Its attribute
        ``warnings`` says what about the data bends an audit.

    Raises
    ------
    InputError
        Arrays do not fit, `member` is missing, a model answers probabilities where logits are
        asked or fewer classes than there are, or `train` trains one model further at each call.

    Notes
    -----
    The last reference model is trained twice with one seed first. How far the two answer apart is
    a warning where it is more than rounding, and the first of them is kept; how long they took is
    said before the other trainings begin.
    """
    parts = _parts(x, y, held)
    x, y = parts[0]
    if model is None and member is not None:
        raise InputError("member is given without model; give the model that was trained on them")
    own = None if model is None else _truth(member, len(y))
    counts = {"n_reference": (n_reference, 2), "n_targets": (n_targets, 1), "seed": (seed, 0)}
    for what, (number, least) in counts.items():
        whole(what, number, least)
    targets = data.random_halves(n_targets, len(y), seed + 1) if own is None else own[None]
    masks = np.concatenate([targets, _references(n_reference, len(y), seed)])
    answers, apart = _answers(train, parts, masks, [] if model is None else [model], seed)
    labels = {"label": y} if held is None else {"label": y, "held_label": parts[1][1]}
    accuracy = _accuracy(answers["correct"], masks)
    return evidence.dataset(
        "outputs",
        {**answers, **labels, "member": masks, "train_accuracy": accuracy},
        {"record": np.arange(len(y))},
        set=name,
        data={name: data.record_digest(x, y)},
        recipe={"train": getattr(train, "__qualname__", type(train).__name__)},
        targets=list(range(len(targets))),
        references=list(range(len(targets), len(masks))),
        seed=seed,
        warnings=[*_warnings(parts, own, answers["log_odds"]), *apart],
    )


def _parts(x: Any, y: Any, held: tuple[Any, Any] | None) -> list[tuple[np.ndarray, np.ndarray]]:
    """The records with their labels and, where there are some, those that no model has seen."""
    parts = [_records("x, y", x, y)]
    if held is not None:
        if not isinstance(held, tuple | list) or len(held) != 2:
            raise InputError(f"held is a {type(held).__name__}; give the pair (x, y) or None")
        parts.append(_records("held", *held))
        shape, asked = parts[1][0].shape[1:], parts[0][0].shape[1:]
        if shape != asked:
            raise InputError(f"held: records of shape {shape}; those of x are {asked}")
    return parts


def _answers(
    train: Train,
    parts: list[tuple[np.ndarray, np.ndarray]],
    masks: BoolArray,
    given: list[Any],
    seed: int,
) -> tuple[dict[str, FloatArray], list[str]]:
    """What each mask's model answers, the given ones first; and how far one seed's are apart."""
    models = [_seen(model, parts) for model in given]
    began = time.monotonic()
    last, apart = _twice(train, parts, masks[-1], seed + len(masks) - 1)
    _announce(len(masks) - len(models) - 1, (time.monotonic() - began) / 2, masks.nbytes)
    (x, y), further = parts[0], range(len(models), len(masks) - 1)
    for at in tqdm(further, desc="training", unit="model"):
        models.append(_seen(train(x[masks[at]], y[masks[at]], seed + at), parts))
    models.append(last)
    return {key: np.stack([one[key] for one in models]) for key in last}, apart


def _announce(trainings: int, seconds: float, answers: int) -> None:
    """What the other trainings will cost, by the two that were measured."""
    size = answers * 17 / 1e6  # Two numbers and a truth of each record and model.
    tqdm.write(
        f"{trainings} more trainings, about {trainings * seconds / 60:.1f} minutes by the first "
        f"two, and {size:.1f} MB of answers",
        file=sys.stderr,
    )


def _warnings(
    parts: list[tuple[np.ndarray, np.ndarray]], own: BoolArray | None, log_odds: FloatArray
) -> list[str]:
    """What about the data, and about models that all answer alike, bends an audit."""
    listed = warnings.of_records(*parts[0], own, parts[1] if len(parts) > 1 else None)
    if np.ptp(log_odds, axis=0).max() == 0:
        listed.append(
            "All models answer the same, whatever they were trained on: does `train` start a new "
            "model and train it on the records that it is given?"
        )
    return listed


def _references(n_models: int, n_records: int, seed: int) -> BoolArray:
    """Halves and their complements in turn."""
    halves = data.random_halves((n_models + 1) // 2, n_records, seed)
    return np.stack([halves, ~halves], axis=1).reshape(-1, n_records)[:n_models]


def _records(what: str, x: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    x, y = as_real(f"{what}: the records", x), _labels(what, y)
    if y.ndim == 2:
        form = "ravel()" if y.shape[1] == 1 else "argmax(axis=1)"
        raise InputError(f"{what}: labels of shape {y.shape}; give one a record, as y.{form} has")
    if x.ndim < 2 or y.shape != x.shape[:1] or len(y) < LEAST_RECORDS:
        raise InputError(
            f"{what} have shapes {x.shape} and {y.shape}; give at least {LEAST_RECORDS} records of "
            "shape (records, ...) with one label each"
        )
    if not np.isfinite(x).all():
        raise InputError(f"{what}: records of type {x.dtype}; give finite numbers")
    if not ((y >= 0) & (y == np.floor(y))).all() or y.max() > MOST_CLASSES:
        raise InputError(
            f"{what}: labels {y.min()} to {y.max()}; give whole ones, 0 to classes - 1"
        )
    return x, y.astype(np.int64)


def _labels(what: str, y: Any) -> np.ndarray:
    """Labels as numbers; words are refused with what makes numbers of them."""
    try:
        return as_real(f"{what}: the labels", y)
    except InputError as error:
        raise InputError(
            f"{error}; numpy.unique(y, return_inverse=True)[1] numbers classes from 0"
        ) from None


def _truth(member: Any, n: int) -> BoolArray:
    if member is None:
        raise InputError("member is None; with a model, say which records it was trained on")
    found = as_bool("member", member, (n,))
    if min(found.sum(), (~found).sum()) < 2:
        raise InputError(f"member: {found.sum()} of {n} are members; give at least 2 of each")
    return found


def _seen(model: Any, parts: list[tuple[np.ndarray, np.ndarray]]) -> dict[str, FloatArray]:
    """What a model shows of the records, and of those that nobody has seen."""
    found = {}
    for prefix, (x, y) in zip(("", "held_"), parts, strict=False):
        answers = _logits(model, x, int(y.max()) + 1)
        for name in ("log_odds", "hinge", "correct"):
            signal = signals.scaled_logit if name == "log_odds" else getattr(signals, name)
            found[prefix + name] = signal(answers, None, y)[0]
    found["correct"] = found["correct"].astype(bool)
    if len(parts) > 1:
        found["held_correct"] = found["held_correct"].astype(bool)
    return found


def _logits(model: Any, x: np.ndarray, n_classes: int) -> FloatArray:
    """Logits of the records; of a scikit-learn classifier, the logs of its probabilities."""
    if hasattr(model, "predict_proba"):
        return _of_classifier(model, x, n_classes)
    if isinstance(model, nn.Module):
        answers = signals.answers(model, x).numpy()
    elif callable(model):
        answers = as_real("model: what it answers", model(x.copy())).astype(np.float64)
    else:
        raise InputError(
            f"model is of type {type(model).__name__}; give a torch.nn.Module, a classifier with "
            "predict_proba, or a function from records to logits"
        )
    if answers.shape[:1] != x.shape[:1] or answers.ndim != 2:
        raise InputError(
            f"model answers {answers.shape} for {len(x)} records; give (records, classes), and "
            "(records, 1) where there is one logit"
        )
    if not np.isfinite(answers).all():
        raise InputError("model answers numbers that are not finite; has its training diverged?")
    networks.require_logits(answers)
    return answers


def _of_classifier(model: Any, x: np.ndarray, n_classes: int) -> FloatArray:
    classes = np.asarray(model.classes_)
    if (
        classes.ndim != 1
        or classes.dtype.kind not in "iuf"
        or (classes != classes.astype(int)).any()
    ):
        raise InputError(
            f"model: its classes are {str(classes[:3].tolist())[1:-1]}; train it on the labels "
            "that it is given, whole numbers from 0"
        )
    probability = np.full((len(x), max(n_classes, int(max(classes)) + 1)), SURE)
    probability[:, classes.astype(int)] = model.predict_proba(x)
    return np.log(np.clip(probability, SURE, 1 - SURE))


def _twice(
    train: Train, parts: list[tuple[np.ndarray, np.ndarray]], mask: BoolArray, seed: int
) -> tuple[dict[str, FloatArray], list[str]]:
    """What a model shows; and in a sentence how far its like with one seed answers apart, if so."""
    x, y = (part[mask] for part in parts[0])
    classes = int(y.max()) + 1
    first = train(x, y, seed)
    # Before the second training, which may be of the same object.
    seen, one = _seen(first, parts), _logits(first, x, classes)
    second = train(x, y, seed)
    two = _logits(second, x, classes)
    apart = float(np.abs(one - two).max())
    if apart <= 1e-3 * max(1.0, float(np.abs(one).max())):
        return seen, []
    if first is second:
        raise InputError("train: it trained one model further; start a new one at each call")
    return seen, [
        f"Two trainings with seed = {seed} answer up to {apart:.2g} apart. The numbers hold where "
        "`train` starts a new model each time, since each is one draw of the training; another "
        "gathering gives others, and only the saved evidence gives these numbers again."
    ]


def _accuracy(correct: BoolArray, member: BoolArray) -> FloatArray:
    return 100 * (correct & member).sum(axis=1) / member.sum(axis=1)
