"""The words in which an attack says what its adversary knows, each with what it means."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Self, TypeVar

from membership.errors import InputError, brief


class _Word(StrEnum):
    """A plain text that has an explanation beside it."""

    help: str

    def __new__(cls, word: str, told: str = "") -> Self:
        one = str.__new__(cls, word)
        one._value_, one.help = word, told
        return one


class Knowledge(_Word):
    """What an adversary may know."""

    OUTPUTS = "outputs", "the class that the target answers"
    LOSSES = "losses", "the target's loss, or log-odds, of the record's label"
    LOGITS = "logits", "all logits of the target"
    POPULATION = (
        "population records",
        "records that the target was not trained on, and its signals on them",
    )
    SEVERAL_MODELS = (
        "several models",
        "the target at several times: checkpoints, or before and after an update",
    )
    REFERENCE_MODELS = (
        "reference models",
        "models trained by the adversary on data of the same kind",
    )
    WEIGHTS = "weights", "the target's parameters"
    RECIPE = "recipe", "learning rate, momentum and weight decay of the target's training"
    TRAINING_RECORDS = "training records", "the training set, of which only the Hessian enters"
    ALL_OTHERS = "all other records", "every training record but the one in question"
    STEP_GRADIENTS = "step gradients", "the mean gradient of training steps"


class References(_Word):
    """What an attack's reference models were trained on."""

    NONE = "none", "there are none"
    OUT = "other records", "without the record that is asked about"
    BOTH = "random halves, with and without the record", "half of them with each record"
    ALL_BUT_ONE = "all other records", "on the target's own training set less the record"
    PAIRS = "all other records, with and without the record", "on it less the record, and whole"


Word = TypeVar("Word", bound=_Word)


def words(where: str, given: str | Iterable[str], known: type[Word]) -> tuple[str, ...]:
    """Texts as they stand in a vocabulary.

    Raises
    ------
    InputError
        One does not; all that do are told with their meaning.
    """
    listed = (given,) if isinstance(given, str) else tuple(given)
    told = {one.value: one.help for one in known}
    for word in listed:
        if word not in told:
            meaning = "; ".join(f"{one!r} ({help_})" for one, help_ in told.items())
            raise InputError(f"{where}: {brief(word)} is no word for it; give of {meaning}")
    return tuple(str(word) for word in listed)


KNOWLEDGE = {word.value: word.help for word in Knowledge}
"""What an adversary may know, by its word."""
