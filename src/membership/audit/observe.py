"""Evidence of one's own model: what it and reference models, trained like it, answer."""

import warnings
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from torch import nn

from membership import curvature, evidence, training
from membership.arrays import BoolArray, FloatArray, as_bool, whole
from membership.attacks.bmia import runner_up
from membership.audit import drawing, sentences
from membership.audit.labels import Labels, Perturbation, notes_of_ties
from membership.audit.sequences import ANY, Sequences, signals_of
from membership.audit.streams import Records, Streamed, in_parts, is_stream, joined
from membership.audit.tasks import (
    Arrays,
    Task,
    answers_of,
    hashes_of,
    notes_of_answers,
    records_of,
    task_of,
)
from membership.audit.trainings import Kept, Train, Trainings, announce_answers
from membership.data.dataset import combine
from membership.errors import InputError


def gather(
    x: Any,
    y: Any,
    train: Train | None,
    *,
    model: Any = None,
    member: Any = None,
    held: Any = None,
    n_reference: int = 16,
    n_targets: int = 4,
    seed: int = 0,
    name: str = "my model",
    task: str = "classification",
    outputs: str | None = None,
    keep: Path | str | None = None,
    names: Sequence[str] | None = None,
    units: Any = None,
    draw: str = drawing.COINS,
    question: str = ANY,
    perturb: Perturbation | None = None,
) -> xr.Dataset:
    """Observe one's own model beside reference models that are trained like it.

    Reference models are trained on random halves of the records and their complements in turn, so
    that every record is in half of them.

    Parameters
    ----------
    x : array_like of shape (records, ...), Dataset or DataLoader
        Members and non-members of the model, in the form that models take; whole numbers stay whole
        for a module that reads them. Or a torch Dataset of pairs (record, label) with a length,
        which is read a part at a time and in its own order; of a DataLoader its Dataset is taken,
        and how it collates. ``train`` is then given a `torch.utils.data.Subset` for x.
    y : array_like of int, shape (records,)
        Labels, 0 to classes - 1. Of a regression what is predicted, also (records, outputs);
        None where `x` is a Dataset. Or a second Dataset or DataLoader: `x` then holds the members
        of `model`, and `y` others, and `member` follows.
    train : callable
        ``train(x, y, seed)`` returns a trained model: a `torch.nn.Module` that answers logits, a
        scikit-learn classifier with ``predict_proba``, or a function from records to logits. Of a
        regression they answer the prediction, by ``predict`` if they have it. A list has several
        models of the training in their order: checkpoints, or those before and after an update.
        Attacks on one model are given the last. None where the model cannot be trained again:
        attacks that need reference models are left out.
    model : optional
        The model to audit, of the same kinds. None: `n_targets` models are trained and audited in
        its place, which says more of the training than of one model.
    member : array_like of bool, shape (records,)
        Which records `model` was trained on, or an update added; needed with `model`, unless two
        Datasets say it.
    held : (x, y) or Dataset, optional
        Records that no model has seen; attacks that compare with a population need them.
    n_reference : int
        Reference models, 2 or more.
    n_targets : int
        Targets where no model is given, 1 or more.
    seed : int
        Of coins and halves; training i gets ``seed + i``.
    name : str
        What is audited, for the report.
    task : {"classification", "regression", "multi-label"}
        A regression is scored by its squared error, and a model of several labels, 0 or 1 each,
        (records, labels), by the sum of their binary cross-entropies; attacks that ask for one
        class are left out.
    outputs : {"logits", "probabilities"}, optional
        What modules and functions answer. Where nothing is said, answers that all lie from 0 to 1
        are refused, as they may be either. Probabilities become logits and stop at one in a billion
        from 0 and 1; where they round to 0 or 1, records tie.
    keep : pathlib.Path or str, optional
        A folder in which what each training showed is kept as soon as it is there. A gathering that
        was ended goes on from it when it is called again with the same records, seeds and counts;
        what was taken up is said. One training is repeated then, and where it answers otherwise
        than what was kept, `train` has changed and the folder is refused.
    names : sequence of str, optional
        Of the classes, by label: what the report calls its groups.
    units : array_like of shape (records,), optional
        Whose each record is, such as a patient of several visits. Halves are then drawn by unit,
        each in or out whole, and `compare` judges units. `member` has to be whole as well.
    draw : {"coins", "halves"}
        Who the members of targets are that are trained here: a fair coin for each record (or
        unit), on which bounds rest that suppose nothing else, or exactly half of them. Reference
        models have halves.
    question : {"any", "added"}
        Of lists of models, as `train` and `model` may be: who was given to the training, whichever
        of its models saw the record first; or who was added by an update. Then the first model of
        each list has seen none of these records, and `train` brings what it was trained on.
    perturb : Noise or Moves, optional
        Where a service answers a class and nothing else. All models are then asked for classes
        alone, of each record as it is and perturbed, and the log-odds are those of the share of
        answers that are its label. How many answers that takes is said before any is asked for.

    Returns
    -------
    xarray.Dataset
        Evidence of kind "outputs", for `compare` and `membership.evidence.save`. Its attribute
        ``warnings`` says what about the data bends an audit.

    Raises
    ------
    InputError
        Arrays do not fit, `member` is missing, a model answers probabilities where logits are
        asked or fewer classes than there are, a unit holds members and others, `train` trains one
        model further at each call, or what is kept is of another `train`. What comes up in a
        training names its number and seed.

    Notes
    -----
    A module is asked on the device that it is on, and records are brought there a part at a time.

    With `held`, a regression of each target's hinge on those records is fitted, for QMIA; of
    references that end in a linear layer with nothing put on it, what Laplace's posterior of it
    predicts is kept, for BMIA (closed form). Neither is gathered of records in a Dataset.

    The last reference model is trained twice with one seed first. How far the two answer apart is
    a warning where it is more than rounding, and the first of them is kept; how long they took is
    said before the other trainings begin.
    """
    task_kind = task_of(task, outputs) if perturb is None else _labels(task, outputs, perturb)
    x, y, member = _pair(x, y, model, member)
    parts = _parts(x, y, held, task_kind)
    if perturb is not None:
        next(perturb.of(next(in_parts(*parts[0]))[0][:1]))  # Refused before any training.
    y = parts[0][1]
    classes = {} if names is None else {"classes": _classes(names, y, task)}
    _require_models(train, model, member)
    own_mask = None if model is None else _truth(member, len(y))
    sequences = Sequences(question, model)
    counts = {"n_reference": n_reference, "n_targets": n_targets, "seed": seed}
    for parameter, least in {"n_reference": 2, "n_targets": 1, "seed": 0}.items():
        whole(parameter, counts[parameter], least)
    counts |= {"n_reference": 0} if train is None else {}
    drawn = drawing.draw(len(y), own_mask, units, counts, draw)
    masks, n_targets = drawn.masks, len(drawn.targets)
    hashes = [hashes_of(task_kind, part) for part in parts]
    asked = {} if perturb is None else {"each": perturb.queries, "how": str(perturb)}
    determined = [*hashes, masks, n_targets, seed, task, outputs == "probabilities"]
    kept = Kept(keep, *determined, *asked.values())
    sizes = [len(part[1]) for part in parts]
    announce_answers(len(masks), sequences.length, sizes, asked.get("each", 1), own_mask is None)
    signals, repeat_notes = _gather_signals(
        train, parts, masks, model, drawn.references, seed, task_kind, kept, sequences
    )
    observed = task_kind.observed(signals, masks, drawn.references, parts)
    observed |= by_regression(parts, observed, n_targets, seed)
    return evidence.dataset(
        "outputs",
        {**observed, "member": masks, **({} if drawn.unit is None else {"unit": drawn.unit})},
        {"record": np.arange(len(y))},
        set=name,
        data={name: combine(hashes[0])},
        recipe={"train": _name_of(train)},
        task=task,
        targets=drawn.targets,
        references=drawn.references,
        drawn=drawn.told,
        **({"sequence": sequences.told} if sequences.told else {}),
        **({"queries": asked} if asked else {}),
        seed=seed,
        copies=sentences.copies_of(hashes[0]),
        **classes,
        warnings=[
            *_warnings(parts, hashes, own_mask, observed["log_odds"]),
            *(notes_of_ties(observed["log_odds"][drawn.targets]) if asked else []),
            *repeat_notes,
        ],
    )


def _labels(task: str, outputs: str | None, perturb: Any) -> Labels:
    """Of models that answer classes alone."""
    if task != "classification" or outputs is not None:
        wrong = f"outputs = {outputs!r}" if task == "classification" else f"task = {task!r}"
        raise InputError(f"{wrong} beside perturb, which asks for classes alone; leave one out")
    return Labels(perturb=perturb)


def _pair(x: Any, y: Any, model: Any, member: Any) -> tuple[Any, Any, Any]:
    """Records, labels and members, of which two Datasets say the last."""
    if not is_stream(y):
        return x, y, member
    if member is not None:
        raise InputError("member is given beside two Datasets, which say it; leave it out")
    x, said = joined(x, y)
    return x, None, None if model is None else said


def _require_models(train: Train | None, model: Any, member: Any) -> None:
    """Raise an InputError where nothing can be asked, or of one model too much is said."""
    if model is None and member is not None:
        raise InputError("member is given without model; give the model that was trained on them")
    if model is None and train is None:
        raise InputError("train is None and so is model; give one of them, or both")
    if train is not None and not callable(train):
        raise InputError(f"train is of type {type(train).__name__}; give a function (x, y, seed)")


def _name_of(train: Train | None) -> str:
    return "none" if train is None else getattr(train, "__qualname__", type(train).__name__)


def _parts(x: Any, y: Any, held: Any, task: Task) -> list[Records]:
    """The records with their labels and, where there are some, those that no model has seen."""
    parts = [records_of("x, y", x, y, task)]
    if held is not None:
        held = (held, None) if is_stream(held) else held
        if not isinstance(held, tuple | list) or len(held) != 2:
            raise InputError(f"held is a {type(held).__name__}; give the pair (x, y) or None")
        parts.append(records_of("held", *held, task))
        held_shape, x_shape = parts[1][0].shape[1:], parts[0][0].shape[1:]
        if held_shape != x_shape:
            raise InputError(f"held: records of shape {held_shape}; those of x are {x_shape}")
    return parts


def _gather_signals(
    train: Train | None,
    parts: list[Records],
    masks: BoolArray,
    model: Any,
    references: list[int],
    seed: int,
    task: Task,
    kept: Kept,
    sequences: Sequences,
) -> tuple[Arrays, list[str]]:
    """What each mask's model shows, the given one first; and notes on what does not repeat."""
    own_models = [] if model is None else sequences.of("model", model)
    given = [_signals(own_models, parts, task)] if own_models else []
    notes = notes_of_answers(task, own_models[-1], *parts[0]) if own_models else []
    if train is None:
        return stacked(given), notes
    own = len(given)

    def show(task: Task, trained: Any, i: int) -> Arrays:
        inside = masks[own + i] if own + i in references else None
        return _signals(sequences.of("train", trained), parts, task, inside)

    seeds = range(seed + own, seed + len(masks))
    trained, further = Trainings(
        train, parts[0], masks[own:], seeds, task, show, kept, sequences
    ).shown()
    return stacked(given + trained), list(dict.fromkeys(notes + further))


def _warnings(
    parts: list[Records], hashes: list[np.ndarray], own_mask: BoolArray | None, log_odds: FloatArray
) -> list[str]:
    """What about the data, and about models that all answer alike, bends an audit."""
    notes = sentences.notes_of_records(parts[0], hashes[0], own_mask, *hashes[1:])
    drawn = [x for x, _ in parts if isinstance(x, Streamed) and x.draws]
    if drawn:
        asked = "all models were asked about one and the same draw of each"
        if not all(x.repeats for x in drawn):
            asked = "each model was asked about other draws, and two with one seed differ by that"
        notes.append(
            "The Dataset draws its records anew at each reading, as augmentation does: "
            f"{asked}. Give one that does not draw, and augment in `train`."
        )
    if len(log_odds) > 1 and np.ptp(log_odds, axis=0).max() == 0:
        notes.append(
            "All models answer the same, whatever they were trained on: does `train` start a new "
            "model and train it on the records that it is given?"
        )
    return notes


def _classes(names: Any, y: np.ndarray, task: str) -> list[str]:
    """The classes' names, one for each label."""
    listed = [str(name) for name in names]
    if task != "classification" or isinstance(names, str) or len(listed) <= y.max():
        wanted = (
            f"one for each of the labels 0 to {y.max()}" if task == "classification" else "none"
        )
        raise InputError(f"names: {len(listed)} given to a {task}; give {wanted}")
    return listed


def _truth(member: Any, n: int) -> BoolArray:
    if member is None:
        raise InputError("member is None; with a model, say which records it was trained on")
    truth = as_bool("member", member, (n,))
    if min(truth.sum(), (~truth).sum()) < 2:
        raise InputError(f"member: {truth.sum()} of {n} are members; give at least 2 of each")
    return truth


def _signals(
    models: list[Any], parts: list[Records], task: Task, trained_on: BoolArray | None = None
) -> Arrays:
    """What a training's models show of the records, and the last of those that nobody has seen.

    More is shown of a reference.
    """
    signals = signals_of(task, models, parts[0])
    for x, y in parts[1:]:
        held = task.signals(answers_of(task, models[-1], x, y), y)
        signals |= {f"held_{name}": values for name, values in held.items()}
    if trained_on is not None and "hinge" in signals:
        signals |= by_posterior(models[-1], parts[0], trained_on)
    return signals


def by_regression(parts: list[Records], signals: Arrays, n_targets: int, seed: int) -> Arrays:
    """Moments of each target's hinge on a non-member like the record, fitted to held records.

    Of models that are no targets they are NaN; empty where there is nothing to fit.
    """
    if len(parts) < 2 or "hinge" not in signals or any(isinstance(x, Streamed) for x, _ in parts):
        return {}
    n_classes = 1 + max(int(y.max()) for _, y in parts)
    queries, held = (_with_label(x, y, n_classes) for x, y in parts)
    mean, sd = np.full((2, *signals["hinge"].shape), np.nan)
    for target in range(n_targets):
        try:
            fitted = training.fit_qmia(held, signals["held_hinge"][target], seed=seed)
        except InputError:  # The target answers the same for every held record.
            continue
        mean[target], sd[target] = fitted.predict(queries)
    return {} if np.isnan(mean).all() else {"regressed_mean": mean, "regressed_sd": sd}


def by_posterior(model: Any, part: Records, trained_on: BoolArray) -> Arrays:
    """Moments of the hinge that Laplace's posterior of a model's last layer predicts.

    Its closed form, with the runner-up frozen. Empty where the model does not end in a linear
    layer with a logit for each class.
    """
    x, y = part
    if not isinstance(model, nn.Module) or isinstance(x, Streamed):
        return {}
    heads = [
        name
        for name, one in model.named_modules()
        if isinstance(one, nn.Linear) and one.out_features > y.max()
    ]
    # The last that is declared need not be the one that answers.
    for name in reversed(heads):
        with suppress(InputError):
            return _of_layer(curvature.last_layer(model, x, layer=name), y, trained_on)
    return {}


def _of_layer(layer: curvature.LastLayer, y: np.ndarray, trained_on: BoolArray) -> Arrays:
    fit = layer.features[trained_on], layer.logits[trained_on]
    with warnings.catch_warnings():
        # A prior precision that tuning leaves open bends the attack, not the audit.
        warnings.simplefilter("ignore")
        posterior = curvature.last_layer_laplace(
            *fit, "marginal-likelihood", weight=layer.weight, bias=layer.bias, label=y[trained_on]
        )
    rival, rows = runner_up(layer.logits, y), np.arange(len(y))
    variance = posterior.difference_variance(layer.features, y, rival)
    mean = layer.logits[rows, y] - layer.logits[rows, rival]
    return {"posterior_mean": mean, "posterior_sd": np.sqrt(variance)}


def stacked(models: list[Arrays]) -> Arrays:
    """What all models show, a row each; NaN where only others show something."""
    each = {name: values for model in models for name, values in model.items()}
    return {
        name: np.stack([model.get(name, np.full(values.shape, np.nan)) for model in models])
        for name, values in each.items()
    }


def _with_label(x: np.ndarray, y: np.ndarray, n_classes: int) -> FloatArray:
    """What a regression of the hinge is given of records: features, and the class."""
    return np.c_[x.reshape(len(x), -1).astype(np.float64), np.eye(n_classes)[y]]
