"""Table 1 from the attacks themselves: what their arguments ask an adversary to have."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from membership import attacks


@dataclass(frozen=True)
class Attack:
    """One attack of the chapter.

    Attributes
    ----------
    name, function : str, callable
        What the paper calls it, and what computes it here.
    references : str
        What its reference models were trained on: "", "random halves" or "all other records".
        The signature says whether there are any, not what they have seen.
    """

    name: str
    function: Callable
    references: str = ""

    @property
    def arguments(self) -> list[str]:
        """What an adversary must have: the arguments without a default, and reference models."""
        parameters = inspect.signature(self.function).parameters.values()
        return [
            p.name
            for p in parameters
            if p.default is p.empty or (self.references and p.name.startswith("reference"))
        ]

    @property
    def white_box(self) -> bool:
        """Whether it takes the model itself."""
        return "model" in self.arguments

    @property
    def uses_references(self) -> bool:
        """Whether it takes signals of reference models."""
        return any(name.startswith("reference") for name in self.arguments)

    @property
    def needs_training_records(self) -> bool:
        """Whether the other training records are needed, for gradients or to train references."""
        return "train" in self.arguments or self.references == "all other records"

    @property
    def leave_one_out(self) -> bool:
        """Whether it is told or can tell which training records are not the queried one."""
        return "query_member" in self.arguments or self.references == "all other records"


ATTACKS = (
    Attack("LOSS", attacks.malt),
    Attack("LiRA", attacks.lira, "random halves"),
    Attack("SIF", attacks.sif),
    Attack("L", attacks.attack_r, "all other records"),
    Attack("LiRA-L", attacks.lira, "all other records"),
    Attack("IHA", attacks.iha),
    Attack("IHA*", attacks.iha),
    Attack("residual test", attacks.residual),
)


def table_1(settings: Any) -> pd.DataFrame:
    """What each attack may know (Table 1), read off its signature.

    Returns
    -------
    DataFrame
        Columns attack, model access, reference models, training records, leave-one-out knowledge,
        arguments. The paper's table has no column for the training records.
    """
    table = pd.DataFrame(
        [
            {
                "attack": one.name,
                "model access": "white-box" if one.white_box else "black-box",
                "reference models": one.references or "none",
                "training records": _yes(one.needs_training_records),
                "leave-one-out knowledge": _yes(one.leave_one_out),
                "arguments": ", ".join(one.arguments),
            }
            for one in ATTACKS
        ]
    )
    table.attrs = {
        "data": {},
        "deviations": [],
        "comparable": True,
        "device": "cpu",
        "note": "IHA* and the residual test are not in the paper.",
    }
    return table


def _yes(value: bool) -> str:
    return "yes" if value else "no"
