"""Several models of one training, such as checkpoints: read as a list, and asked about together."""

from typing import Any

import numpy as np

from membership.arrays import one_of
from membership.audit.streams import Records
from membership.audit.tasks import Arrays, Task, answers_of
from membership.errors import InputError

ANY, ADDED = "any", "added"
QUESTIONS = (ANY, ADDED)


class Sequences:
    """How many models each training gives: one, or as many as the first list that was seen."""

    def __init__(self, question: str, model: Any = None) -> None:
        one_of("question", question, QUESTIONS)
        self.question, self.length = question, 0
        if model is not None:
            self.of("model", model)

    def of(self, role: str, given: Any) -> list[Any]:
        """The models, in their order."""
        is_list = isinstance(given, list | tuple)
        models = [*given] if is_list else [given]
        if is_list and len(models) < 2:
            raise InputError(
                f"{role} is a list of {len(models)} models; give two or more, or the model itself"
            )
        if len({id(one) for one in models}) < len(models):
            raise InputError(
                f"{role} holds one object more than once among its {len(models)} models; keep a "
                "copy of each checkpoint, as copy.deepcopy makes it"
            )
        if not is_list and self.question == ADDED:
            raise InputError(
                f"question = 'added': {role} is one model; give a list, of which the first is the "
                "model before the update"
            )
        self.length = self.length or len(models)
        if len(models) != self.length:
            raise InputError(
                f"{role} gives {len(models)} models where others of this audit give {self.length}; "
                "give as many of each training"
            )
        return models

    @property
    def told(self) -> dict[str, Any]:
        """What evidence says of them; nothing where trainings give one model each."""
        return {"models": self.length, "question": self.question} if self.length > 1 else {}


def last(given: Any) -> Any:
    """The model that a training ends with."""
    return given[-1] if isinstance(given, list | tuple) else given


def share(one: Any, other: Any) -> bool:
    """Whether two trainings returned a model that is one and the same object."""
    first, second = (
        {id(model) for model in (given if isinstance(given, list | tuple) else [given])}
        for given in (one, other)
    )
    return bool(first & second)


def signals_of(task: Task, models: list[Any], part: Records) -> Arrays:
    """What the last model shows of records, and the log-odds of each where there are several."""
    x, y = part
    answers = [answers_of(task, model, x, y) for model in models]
    for number, one in enumerate(answers[:-1]):
        if one.shape != answers[-1].shape:
            raise InputError(
                f"model {number} of {len(models)} answers {one.shape} and the last "
                f"{answers[-1].shape}; give models of the same classes"
            )
    each = [task.signals(one, y) for one in answers]
    if len(models) == 1:
        return each[0]
    return {**each[-1], "sequence_log_odds": np.stack([one["log_odds"] for one in each])}
