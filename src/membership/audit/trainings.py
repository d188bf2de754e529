"""The trainings of a gathering: each named where it fails, and what it showed kept as it goes."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tqdm import tqdm

from membership import paths
from membership.arrays import BoolArray, FloatArray
from membership.audit.sequences import Sequences, last, share
from membership.audit.streams import Records, for_training
from membership.audit.tasks import Arrays, Task, answers_of, notes_of_answers
from membership.errors import InputError, RunError
from membership.training.cache import Cache, digest

Train = Callable[[Any, np.ndarray, int], Any]
ANSWERS, APART = "answers to its own records", "apart"
CHECKED = 32
"""Records that the last model given is asked about once more, to see whether it draws."""
ROUNDING = 1e-3
"""How far apart two trainings with one seed may answer, for a largest answer of 1 or so."""


class Kept:
    """What the models of trainings showed, in a folder that the caller has named, or nowhere.

    The key of a training is all that gathering knows of it: records, masks, seeds and task. What
    ``train`` does is no part of it, which is why one that was kept is trained again.
    """

    def __init__(self, folder: Path | str | None, *determined_by: Any) -> None:
        self.folder = None
        if folder is not None:
            if not isinstance(folder, str | Path) or folder == "":
                raise InputError(f"keep = {folder!r}: expected the path of a folder, or None")
            self.folder = paths.own_path(str(folder))
            paths.require_writable(self.folder)
            self.cache, self.key = Cache(self.folder), digest("gather 1", *determined_by)

    def load(self, training: int) -> Arrays | None:
        found = None if self.folder is None else self.cache.load(digest(self.key, training))
        return None if found is None else {name: one.numpy() for name, one in found.items()}

    def save(self, training: int, shown: Arrays) -> None:
        if self.folder is not None:
            tensors = {name: torch.tensor(values) for name, values in shown.items()}
            self.cache.save(digest(self.key, training), tensors)

    def told(self, done: int) -> str:
        """What a training that fails leaves of others."""
        if not done:
            return ""
        if self.folder is None:
            return f" ({done} others are lost; with keep=FOLDER they would be kept)"
        return f" ({done} others are kept in {self.folder}: call again to go on from there)"


@dataclass
class Trainings:
    """Trainings of a caller's function, one a mask; training i has the i-th seed."""

    train: Train
    records: Records
    masks: BoolArray
    seeds: range
    task: Task
    show: Callable[[Task, Any, int], Arrays]
    """What is wanted of the model of a training."""
    kept: Kept
    sequences: Sequences
    done: int = 0
    """Trainings whose models have been asked."""

    def shown(self) -> tuple[list[Arrays], list[str]]:
        """What each model shows, and a note where two trainings with one seed are apart.

        The last one is trained twice, before all others. Of one that was kept this is the second,
        and tells whether `train` is as it was.
        """
        final, began = len(self.masks) - 1, time.monotonic()
        of_last = self.kept.load(final)
        is_taken = of_last is not None
        first = None if is_taken else self._model(final)
        if of_last is None:
            # Before the second training, which may be of the same object.
            with self._named(final):
                of_last = {**self._shown(first, final), ANSWERS: self._own_answers(first)}
            self.kept.save(final, of_last)
        self.task = self.task.settled(of_last[ANSWERS])
        second = self._model(final)
        with self._named(final):
            again = self._own_answers(second)
            self._require_like(of_last[ANSWERS], again, is_taken)
            notes = notes_of_answers(self.task, last(second), *self.records)
        apart = float(np.abs(of_last[ANSWERS] - again).max())
        seconds = (time.monotonic() - began) / (1 if is_taken else 2)
        rounding = ROUNDING * max(1.0, float(np.abs(of_last[ANSWERS]).max()))
        if share(first, second) and apart > rounding:
            raise InputError("train: it trained one model further; start a new one at each call")
        each = self._taken_up(apart, of_last.get(APART), rounding) if is_taken else {}
        apart = float(of_last.setdefault(APART, np.array(apart)))
        self.kept.save(final, of_last)
        self.done = 1 + len(each)
        _announce(final - len(each), seconds, self.masks.nbytes, self.sequences.length)
        for i in tqdm([i for i in range(final) if i not in each], desc="training", unit="model"):
            model = self._model(i)
            with self._named(i):
                each[i] = self._shown(model, i)
            self.kept.save(i, each[i])
            self.done += 1
        each[final] = {name: of_last[name] for name in of_last if name not in (ANSWERS, APART)}
        if apart > rounding:
            notes.append(_repeat_note(self.seeds[final], apart))
        return [each[i] for i in range(len(self.masks))], notes

    def _model(self, i: int) -> Any:
        x, y = (part[self.masks[i]] for part in self.records)
        with self._named(i):
            return self.train(for_training(x), y, self.seeds[i])

    def _shown(self, model: Any, i: int) -> Arrays:
        return self.show(self.task, model, i)

    def _own_answers(self, model: Any) -> FloatArray:
        """What the last training's models answer for the records that they were trained on."""
        own = [part[self.masks[-1]] for part in self.records]
        models = self.sequences.of("train", model)
        return np.concatenate([answers_of(self.task, one, *own) for one in models], axis=-1)

    def _require_like(self, before: FloatArray, again: FloatArray, is_taken: bool) -> None:
        """Raise an InputError where a second training answers in another form."""
        if before.shape != again.shape:
            way = "name another folder, or remove this one" if is_taken else "give one form"
            raise InputError(
                f"train with seed = {self.seeds[-1]} answers {again.shape} for its own records, "
                f"over all its models, and {before.shape} before; {way}"
            )

    @contextmanager
    def _named(self, i: int) -> Iterator[None]:
        """Say of whatever fails in which training it did."""
        where = f"training {i + 1} of {len(self.masks)} (seed = {self.seeds[i]})"
        try:
            yield
        except (InputError, RunError) as error:
            kind = InputError if isinstance(error, InputError) else RunError
            raise kind(f"{where}: {error}{self.kept.told(self.done)}") from error
        except BaseException as error:
            error.add_note(f"audit.gather: {where}{self.kept.told(self.done)}")
            raise

    def _taken_up(self, now: float, before: FloatArray | None, rounding: float) -> dict:
        """What was kept of the other trainings; said, or refused where it is of another train."""
        repeats = before is None or before <= rounding
        if before is not None and repeats and now > rounding:
            raise InputError(
                f"keep = {self.kept.folder}: train with seed = {self.seeds[-1]} answers up to "
                f"{now:.2g} apart from what was kept of it, so train or what it calls has changed; "
                "name another folder, or remove this one"
            )
        each = {i: self.kept.load(i) for i in range(len(self.masks) - 1)}
        each = {i: shown for i, shown in each.items() if shown is not None}
        checked = (
            "trained again, the last of them answers the same"
            if repeats
            else "train does not repeat itself, so nothing tells whether it has changed since"
        )
        tqdm.write(
            f"{len(each) + 1} of {len(self.masks)} trainings are taken from {self.kept.folder}; "
            f"{checked}",
            file=sys.stderr,
        )
        return each


def _repeat_note(seed: int, apart: float) -> str:
    return (
        f"Two trainings with seed = {seed} answer up to {apart:.2g} apart. The numbers hold where "
        "`train` starts a new model each time, since each is one draw of the training; another "
        "gathering gives others, and only the saved evidence gives these numbers again."
    )


def announce_answers(
    trainings: int, models: int, sizes: list[int], queries: int, trained: bool
) -> None:
    """Before any work, how many answers it takes, where that is not one a record and training.

    `sizes` are of the records, and of held ones, which the last model of a training answers alone;
    `trained` where no model is given, whose own answers may cost what others do not.
    """
    models = max(models, 1)  # Not known yet, where no model is given.
    if models * queries == 1:
        return
    several = f" of {models} models each" * (models > 1)
    often = f", {queries} times each" * (queries > 1)
    each = queries * (models * sizes[0] + sum(sizes[1:]))
    own = "" if trained else f", {each + queries * CHECKED:,} of them by what is audited"
    tqdm.write(
        f"{trainings} trainings{several} are asked about {sum(sizes)} records{often}: "
        f"{trainings * each:,} answers{own}",
        file=sys.stderr,
    )


def _announce(trainings: int, seconds: float, answers: int, models: int) -> None:
    """What the other trainings will cost, by what was measured."""
    several = models > 1
    # Two numbers and a truth of each record and training, and a number of each of its models.
    size = answers * (17 + 8 * models * several) / 1e6
    each = f" of {models} models each" * several
    tqdm.write(
        f"{trainings} more trainings{each}, about {trainings * seconds / 60:.1f} minutes by the "
        f"first two, and {size:.1f} MB of answers",
        file=sys.stderr,
    )
