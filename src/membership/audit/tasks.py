"""Records, in an array or read a part at a time, and what a model of each task answers for them."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import special
from torch import nn

from membership import networks, signals
from membership.arrays import BoolArray, FloatArray, as_real, one_of
from membership.audit.reading import LEAST_RECORDS
from membership.audit.streams import Records, in_parts, is_stream, read_stream
from membership.data.dataset import record_hashes
from membership.errors import InputError
from membership.networks import SURE

Arrays = dict[str, np.ndarray]

MOST_CLASSES = 10**6


@dataclass(frozen=True)
class _OfClasses:
    """Models that answer logits, or probabilities where `outputs` says so."""

    outputs: str | None = None
    apart = False
    """Whether each answer is for a label of its own."""

    def as_logits(self, model: Any, answers: FloatArray) -> FloatArray:
        """All that a model answered, judged at once: a few of many logits may lie from 0 to 1."""
        if hasattr(model, "predict_proba"):  # The logits of these were made here.
            return answers
        return networks.as_logits(answers, self.outputs, apart=self.apart)

    def settled(self, answers: FloatArray) -> Any:
        """The task for further models of a training of which one has answered this."""
        within = answers.min() >= 0 and answers.max() <= 1
        return self if self.outputs or within else replace(self, outputs="logits")


class Classification(_OfClasses):
    """Labels 0 to classes - 1, and models that answer logits or probabilities."""

    def labels(self, role: str, y: Any) -> np.ndarray:
        """Labels as whole numbers; words are refused with what makes numbers of them."""
        try:
            y = as_real(f"{role}: the labels", y)
        except InputError as error:
            raise InputError(
                f"{error}; numpy.unique(y, return_inverse=True)[1] numbers classes from 0"
            ) from None
        if y.ndim == 2:
            form = "ravel()" if y.shape[1] == 1 else "argmax(axis=1)"
            several = bool(np.isin(y, (0, 1)).all() and (y.sum(axis=1) != 1).any())
            alternative = ', or task="multi-label"' if several and y.shape[1] > 1 else ""
            raise InputError(
                f"{role}: labels of shape {y.shape}; give one a record, as y.{form} has"
                f"{alternative}"
            )
        is_class = (y >= 0) & (y == np.floor(y)) & (y <= MOST_CLASSES)
        if y.ndim == 1 and not is_class.all():
            raise InputError(
                f"{role}: labels {y.min()} to {y.max()}; give whole ones, 0 to classes - 1, or "
                'task="regression"'
            )
        return y.astype(np.int64)

    def width(self, y: np.ndarray) -> int:
        return int(y.max()) + 1

    def answers(self, model: Any, x: np.ndarray, width: int) -> FloatArray:
        """What is answered; of a scikit-learn classifier, the logs of its probabilities."""
        if hasattr(model, "predict_proba"):
            return _of_classifier(model, x, width)
        answers = _asked(model, x, "a classifier with predict_proba", "logits")
        if answers.shape == x.shape[:1] and width <= 2:  # A head that squeezes its one logit.
            return answers[:, None]
        if answers.shape[:1] != x.shape[:1] or answers.ndim != 2:
            raise InputError(
                f"model answers {answers.shape} for {len(x)} records; give (records, classes), and "
                "(records, 1) where there is one logit"
            )
        return answers

    def signals(self, answers: FloatArray, y: np.ndarray) -> Arrays:
        return {
            "log_odds": signals.scaled_logit(answers, None, y, outputs="logits")[0],
            "halved_log_odds": signals.scaled_logit(answers / 2, None, y, outputs="logits")[0],
            "hinge": signals.hinge(answers, None, y, outputs="logits")[0],
            "correct": signals.correct(answers, None, y, outputs="logits")[0].astype(bool),
        }

    def observed(
        self, answers: Arrays, masks: BoolArray, references: list[int], parts: list[Records]
    ) -> Arrays:
        """Variables of evidence, from the signals of all models."""
        correct = answers["correct"]
        further = {"label": parts[0][1]}
        if len(parts) > 1:
            further["held_label"] = parts[1][1]
        accuracy = 100 * (correct & masks).sum(axis=1) / masks.sum(axis=1)
        return answers | further | {"train_accuracy": accuracy}

    def hashed(self, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Records and whole labels that are equal where the records are."""
        return x, y


class _Columns:
    """What is told of a record is a row of numbers."""

    def width(self, y: np.ndarray) -> int:
        return y.shape[1]

    def hashed(self, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.c_[x.reshape(len(x), -1), y], np.zeros(len(x), dtype=np.int64)


class Regression(_Columns):
    """Numbers to predict, and models that answer as many; the squared error is the loss.

    A record's error e, summed over outputs, is stored as the log-odds of the likelihood
    exp(-e / (2 s)) of a Gaussian noise of variance s, of which the cross-entropy is e / (2 s). So
    attacks that rank losses rank errors, and likelihood ratios are those of that noise; s is the
    mean error of an output of reference models on records that they were not trained on.
    """

    def labels(self, role: str, y: Any) -> np.ndarray:
        y = as_real(f"{role}: what is predicted", y).astype(np.float64)
        if y.ndim not in (1, 2) or not np.isfinite(y).all():
            raise InputError(
                f"{role}: what is predicted has shape {y.shape}; give finite numbers, (records,) "
                "or (records, outputs)"
            )
        return y.reshape(len(y), -1)

    def answers(self, model: Any, x: np.ndarray, width: int) -> FloatArray:
        predict = model if isinstance(model, nn.Module) else getattr(model, "predict", model)
        answers = _asked(predict, x, "a regression with predict", "numbers")
        wanted = (len(x), width)
        if answers.shape != wanted and answers.shape != (len(x),) * (width == 1):
            raise InputError(
                f"model answers {answers.shape} for {len(x)} records; give {wanted}, a number "
                "for each that is predicted"
            )
        return answers.reshape(wanted)

    def as_logits(self, model: Any, answers: FloatArray) -> FloatArray:
        """Numbers are what they are."""
        return answers

    def settled(self, answers: FloatArray) -> "Regression":
        return self

    def signals(self, answers: FloatArray, y: np.ndarray) -> Arrays:
        return {"log_odds": ((answers - y) ** 2).sum(axis=1)}

    def observed(
        self, answers: Arrays, masks: BoolArray, references: list[int], parts: list[Records]
    ) -> Arrays:
        """The errors, of which `signals` speaks so far, as log-odds."""
        errors = answers["log_odds"]
        unseen = errors[references][~masks[references]] if references else errors
        scale = 2 * float(unseen.mean()) / self.width(parts[0][1])
        if scale == 0:
            raise InputError("model: every record is answered exactly; nothing to rank")
        return {name: _odds(np.maximum(error / scale, SURE)) for name, error in answers.items()}


class MultiLabel(_Columns, _OfClasses):
    """Several labels a record, 0 or 1 each, and models that answer one logit for each.

    The binary cross-entropies of a record's labels are summed, which is the loss of all of them
    together. The sum is stored as the log-odds of its likelihood.
    """

    apart = True

    def labels(self, role: str, y: Any) -> np.ndarray:
        y = as_real(f"{role}: the labels", y)
        if y.ndim != 2 or not np.isin(y, (0, 1)).all():
            raise InputError(
                f"{role}: labels of shape {y.shape}; a multi-label task has 0 or 1 for each label, "
                "(records, labels)"
            )
        return y.astype(np.float64)

    def answers(self, model: Any, x: np.ndarray, width: int) -> FloatArray:
        if hasattr(model, "predict_proba"):
            answers = special.logit(np.clip(_of_labels(model, x), SURE, 1 - SURE))
        else:
            answers = _asked(model, x, "a classifier with predict_proba", "logits")
        if answers.shape != (len(x), width):
            raise InputError(
                f"model answers {answers.shape} for {len(x)} records; give {(len(x), width)}, a "
                "logit for each label"
            )
        return answers

    def signals(self, answers: FloatArray, y: np.ndarray) -> Arrays:
        loss = np.logaddexp(0.0, (1 - 2 * y) * answers).sum(axis=1)
        return {"log_odds": _odds(np.maximum(loss, np.finfo(np.float64).tiny))}

    def observed(
        self, answers: Arrays, masks: BoolArray, references: list[int], parts: list[Records]
    ) -> Arrays:
        return answers


Task = Classification | Regression | MultiLabel
TASKS: dict[str, type[Task]] = {
    "classification": Classification,
    "regression": Regression,
    "multi-label": MultiLabel,
}


def _odds(loss: FloatArray) -> FloatArray:
    """The log-odds of a likelihood exp(-loss); far out, where expm1 overflows, they are -loss."""
    return -(loss + np.log(-np.expm1(-loss)))


def _of_labels(model: Any, x: np.ndarray) -> FloatArray:
    """The probability of each label: some classifiers answer (records, classes) for each."""
    answers = called(model.predict_proba, x)
    if not isinstance(answers, list):
        return as_real("model: what it answers", answers).astype(np.float64)
    # A label that a half of the records has not, or all of them have, has one class.
    return np.stack(
        [
            sum((probabilities[:, i] for i, c in enumerate(classes) if c == 1), np.zeros(len(x)))
            for probabilities, classes in zip(answers, model.classes_, strict=True)
        ],
        axis=1,
    )


def _are_labels(classes: np.ndarray, shape: tuple[int, ...], n_classes: int) -> bool:
    """Whether the classes of a classifier may be labels 0 to n_classes - 1, some or more."""
    if classes.shape != shape or classes.dtype.kind not in "biuf":
        return False
    if (classes != classes.astype(int)).any() or classes.min() < 0:
        return False
    # A model that lacks one of these and has one beyond them counts them otherwise, as from 1.
    return classes.max() < n_classes or set(range(n_classes)) <= set(classes.tolist())


def task_of(name: str, outputs: str | None = None) -> Task:
    one_of("task", name, TASKS)
    if outputs is None:
        return TASKS[name]()
    one_of("outputs", outputs, networks.OUTPUTS)
    if name == "regression":
        raise InputError(f"outputs = {outputs!r}: a regression answers numbers; leave it out")
    return TASKS[name](outputs)


def records_of(role: str, x: Any, y: Any, task: Task) -> Records:
    """Records and what is told of them, checked."""
    if is_stream(x):
        x, y = read_stream(x, y)
        y = task.labels(role, y)
    else:
        x, y = _numbers(role, x), task.labels(role, y)
    if len(x.shape) < 2 or len(x) != len(y) or len(y) < LEAST_RECORDS:
        raise InputError(
            f"{role} have shapes {x.shape} and {y.shape}; give at least {LEAST_RECORDS} records of "
            "shape (records, ...) with one label each"
        )
    if isinstance(x, np.ndarray) and not np.isfinite(x).all():
        raise InputError(f"{role}: records of type {x.dtype}; give finite numbers")
    return x, y


def answers_of(task: Task, model: Any, x: Any, y: np.ndarray) -> FloatArray:
    """What a model answers for each record."""
    width = task.width(y)
    parts = in_parts(x, y)
    answers = np.concatenate([task.answers(model, records, width) for records, _ in parts])
    if not np.isfinite(answers).all():
        raise InputError("model answers numbers that are not finite; has its training diverged?")
    return task.as_logits(model, answers)


def _numbers(role: str, x: Any) -> np.ndarray:
    try:
        return as_real(f"{role}: the records", x)
    except InputError as error:
        if not hasattr(x, "columns"):
            raise
        raise InputError(
            f"{error}; number the words of a data frame, as pandas.factorize does, and let train "
            "and model put them back"
        ) from None


def notes_of_answers(task: Task, model: Any, x: Any, y: np.ndarray) -> list[str]:
    """What is said of a model whose answer for a record is no function of that record."""
    first, _ = next(in_parts(x[np.arange(min(len(y), 16))], y))
    moved = networks.unsteady(lambda part: task.answers(model, part, task.width(y)), first)
    return [f"A model {networks.UNSTEADY}."] if moved > networks.STEADY else []


def hashes_of(task: Task, part: Records) -> np.ndarray:
    """A hash of each record with what is told of it."""
    parts = in_parts(*part)
    return np.concatenate([record_hashes(*task.hashed(*records)) for records in parts])


def _asked(model: Any, x: np.ndarray, other: str, answered: str) -> FloatArray:
    """What a module or a function answers; `other` is what would do, too."""
    if isinstance(model, nn.Module):
        return signals.answers(model, x).numpy()
    if callable(model):
        return as_real("model: what it answers", called(model, x.copy())).astype(np.float64)
    function = ", as its decision_function is" * hasattr(model, "decision_function")
    raise InputError(
        f"model is of type {type(model).__name__}; give a torch.nn.Module, {other}, or a function "
        f"from records to {answered}{function}"
    )


def called(function: Any, x: np.ndarray) -> Any:
    """What somebody's function answers; of what it raises itself, the first line and a way on."""
    try:
        return function(x)
    except networks.FAILURES as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"model: it fails on the records, an array of shape {x.shape}: {networks.line(error)}; "
            "give a function that makes of the array what the model reads, such as a data frame "
            "with names of columns, and asks it"
        ) from error


def _of_classifier(model: Any, x: np.ndarray, n_classes: int) -> FloatArray:
    p = as_real("model: what it answers", called(model.predict_proba, x)).astype(np.float64)
    if p.size == len(x) and n_classes <= 2 and not hasattr(model, "classes_"):
        p = np.stack([1 - p.ravel(), p.ravel()], axis=1)  # Of class 1 alone.
    if p.ndim != 2 or len(p) != len(x):
        raise InputError(f"model answers {p.shape} for {len(x)} records; give (records, classes)")
    classes = np.asarray(getattr(model, "classes_", range(p.shape[1])))
    if not _are_labels(classes, p.shape[1:], n_classes):
        raise InputError(
            f"model: its classes are {str(classes[:3].tolist())[1:-1]} and labels are 0 to "
            f"{n_classes - 1}; train it on these, or, where column i of its predict_proba is label "
            'i, give the function model.predict_proba with outputs="probabilities"'
        )
    classes = classes.astype(int)
    probability = np.full((len(x), max(n_classes, int(max(classes)) + 1)), SURE)
    probability[:, classes] = p
    return np.log(np.clip(probability, SURE, 1 - SURE))
