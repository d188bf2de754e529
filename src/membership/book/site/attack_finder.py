"""Which attack for which case: the registered ones by what they need, and what they reached."""

from dataclasses import dataclass

from membership.attacks import Attack, registry
from membership.attacks.registry import BOTH
from membership.book import published
from membership.book.exhibits import files
from membership.metrics.rate_names import tpr_column

# Who holds the one can work out the others.
IMPLIED = {
    "weights": ("logits", "losses", "outputs"),
    "logits": ("losses", "outputs"),
    "losses": ("outputs",),
    "all other records": ("training records",),
}
NONE, WITHOUT, HALVES, EACH = (
    "none",
    "once, without the records",
    "once, with and without them",
    "anew for each record",
)
COSTS = {
    NONE: "no reference model",
    WITHOUT: "the same reference models serve all records, each asked of records it has not seen",
    HALVES: "the same again, of which half were trained with the record",
    EACH: "models with and without each record that is asked",
}
BENCH = "comparison"
"""The chapter in which attacks meet."""
TABLES = ("comparison-tab-1", "comparison-tab-2")
"""What it lists them in: an adversary that knows all other records has the second to itself."""


@dataclass(frozen=True)
class Reached:
    """What an attack reached on average over some cells of the bench."""

    exhibit: str
    cells: str
    auc: float
    tpr: float


@dataclass(frozen=True)
class Case:
    """One attack, what it costs, and what it reached where the bench measured it."""

    attack: Attack
    reached: Reached | None

    @property
    def models(self) -> str:
        """How often its reference models are trained."""
        if self.attack.references == "none":
            return NONE
        if self.attack.leave_one_out:
            return EACH
        return HALVES if self.attack.references == BOTH else WITHOUT

    @property
    def chapter(self) -> str:
        """The chapter about its paper, or else the bench where it is measured there."""
        of_paper = {paper.key: chapter for chapter, paper in published.papers.items()}
        return of_paper.get(self.attack.paper, BENCH if self.reached else "")


def cases() -> list[Case]:
    """Every registered attack, in the order of the registry."""
    reached: dict[str, Reached] = {}
    for exhibit in TABLES:
        table = files.load(exhibit)[0]
        for (attack, cells), rows in table.groupby(["attack", "cells"]):
            value = rows.set_index("metric")["value"]
            found = Reached(exhibit, cells, value["AUC"], value[tpr_column(0.01)])
            reached.setdefault(attack, found)
    return [Case(attack, reached.get(attack.display)) for attack in registry(others=False).values()]
