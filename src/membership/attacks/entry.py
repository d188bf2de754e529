"""What a registered attack says of itself."""

from collections.abc import Callable
from dataclasses import dataclass

import xarray as xr

from membership.arrays import FloatArray
from membership.attacks.observed import Observed, observe
from membership.errors import InputError

KNOWLEDGE = {
    "outputs": "the class that the target answers",
    "losses": "the target's loss, or log-odds, of the record's label",
    "logits": "all logits of the target",
    "population records": "records that the target was not trained on, and its signals on them",
    "reference models": "models trained by the adversary on data of the same kind",
    "weights": "the target's parameters",
    "recipe": "learning rate, momentum and weight decay of the target's training",
    "training records": "the training set, of which only the Hessian enters",
    "all other records": "every training record but the one in question",
    "step gradients": "the mean gradient of training steps",
}
"""What an adversary may know."""


@dataclass(frozen=True)
class Attack:
    """One attack: what it is called, what it takes, what it knows and where it is from.

    Attributes
    ----------
    name : str
        Its key, letters, digits and hyphens.
    display : str
        As tables call it.
    function : callable
        The public function of `membership.attacks` that computes it.
    needs : tuple of str
        Names of what it reads of `Observed.arrays`; "a|b" where either will do.
    knowledge : tuple of str
        Words of `KNOWLEDGE`.
    references : str
        What its reference models were trained on; "none" where it has none.
    paper : str
        Citation key of ``published/references.bib``.
    equation : str
        Where in the paper.
    score : callable
        From `Observed` to scores of shape (records,), higher for members.
    term : str
        Its entry in the glossary; `display` if empty.

    Raises
    ------
    ValueError
        A word of `knowledge` is not in the vocabulary.
    """

    name: str
    display: str
    function: Callable
    needs: tuple[str, ...]
    knowledge: tuple[str, ...]
    references: str
    paper: str
    equation: str
    score: Callable[[Observed], FloatArray]
    term: str = ""

    def __post_init__(self) -> None:
        unknown = [word for word in self.knowledge if word not in KNOWLEDGE]
        if unknown:
            raise ValueError(
                f"attack {self.name}: {unknown[0]!r} is none of {', '.join(KNOWLEDGE)}"
            )

    @property
    def white_box(self) -> bool:
        """Whether its adversary sees parameters or gradients."""
        return bool({"weights", "step gradients"} & set(self.knowledge))

    @property
    def leave_one_out(self) -> bool:
        """Whether its adversary knows every other training record."""
        return "all other records" in self.knowledge

    @property
    def training_records(self) -> bool:
        """Whether its adversary has the training records, or all of them but one."""
        return self.leave_one_out or "training records" in self.knowledge

    def of(self, seen: Observed) -> FloatArray:
        """Scores of the records observed.

        Raises
        ------
        InputError
            The evidence lacks something, which is named, or does not fit the attack.
        """
        lacking = seen.lacking(self.needs)
        if lacking:
            raise InputError(f"{self.display} needs {', '.join(lacking)}; the evidence lacks it")
        return self.score(seen)

    def on(
        self, *evidence: xr.Dataset, target: int = 0, references: int | None = None
    ) -> FloatArray:
        """Scores of one target's records, from evidence as `observe` takes it; errors as there."""
        return self.of(observe(*evidence, target=target, references=references))
