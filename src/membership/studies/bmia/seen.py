"""One data set's evidence, read: scores and truth of the targets' queries, attack by attack."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import xarray as xr

from membership import attacks
from membership.arrays import FloatArray
from membership.errors import InputError
from membership.studies.bmia import names
from membership.studies.bmia.summaries import Pairs

Moments = tuple[FloatArray, FloatArray]


@dataclass(frozen=True)
class Seen:
    """Outputs of one data set's models and what their posteriors predict.

    Attributes
    ----------
    outputs, posterior : Dataset
    tables : dict
        `attacks.score_table` by the number of references.
    """

    outputs: xr.Dataset
    posterior: xr.Dataset
    tables: dict[int, attacks.ScoreTable] = field(default_factory=dict, repr=False)

    @property
    def attrs(self) -> dict[str, Any]:
        """What the evidence says of its origin."""
        return self.outputs.attrs

    @property
    def label(self) -> str:
        """The data set as the tables name it."""
        return self.outputs.attrs["set"]

    @property
    def targets(self) -> list[int]:
        """Numbers of the models attacked."""
        return self.outputs.attrs["targets"]

    @property
    def n_reference(self) -> int:
        """How many reference models there are."""
        return len(self.outputs.attrs["references"])

    @cached_property
    def hinge(self) -> FloatArray:
        """Of all models on all queries."""
        return self.outputs["hinge"].values.astype(float)

    @cached_property
    def member(self) -> np.ndarray:
        """The truth, (models, queries)."""
        return self.outputs["member"].values

    def references(self, target: int, n: int) -> list[int]:
        """The models, n of them, that the attacker of a target has for references.

        Every target is attacked with another reference first, so that the spread over the targets
        includes which reference was trained.
        """
        named = self.outputs.attrs["references"]
        return [named[(target + k) % len(named)] for k in range(n)]

    def first(self, target: int) -> int:
        """The one reference of BMIA's attacker."""
        return self.references(target, 1)[0]

    def table(self, n: int) -> attacks.ScoreTable:
        """Every registered attack with so many references, computed once."""
        if n not in self.tables:
            self.tables[n] = attacks.score_table(self.outputs, self.posterior, references=n)
        return self.tables[n]

    def attack(self, name: str, n: int = 1) -> Pairs:
        """Scores and truth of the queries that count, target by target, of a registered attack."""
        table = self.table(n)
        if name not in table.score:
            raise InputError(f"{self.label}: the evidence does not allow {name}; gather it again")
        asked = ~np.isnan(table.score[name])
        return [
            (score[one], member[one])
            for score, member, one in zip(table.score[name], table.member, asked, strict=True)
        ]

    def each(self, score: Callable[[int], FloatArray]) -> Pairs:
        """The same of a score of all queries, given for each target."""
        asked = self.outputs["asked"].values if "asked" in self.outputs else None
        found = []
        for target in self.targets:
            queries = slice(None) if asked is None else asked[target]
            found.append((score(target)[queries], self.member[target][queries]))
        return found

    def on(self, records: np.ndarray) -> "Seen":
        """The same asked about some of the records."""
        if len(records) == self.outputs.sizes["record"]:
            return self
        return Seen(self.outputs.sel(record=records), self.posterior.sel(record=records))

    def moments(self, model: int, variant: str = "kron") -> Moments:
        """What a reference predicts of every query's hinge, or of a target's own ("qmia")."""
        return moments(self.posterior, model, variant)


def moments(posterior: xr.Dataset, model: int, variant: str) -> Moments:
    """Mean and standard deviation of every query's hinge, from evidence of kind posterior."""
    row = posterior.sel(reference=model, variant=variant)
    return row["mean"].values.astype(float), row["sd"].values.astype(float)


def read(source: Any) -> list[Seen]:
    """What every attack reads, data set by data set."""
    found = [source.evidence(name) for name in names.files(names.MAIN, source.settings)]
    return pairs_of(found)


def pairs_of(found: Sequence[xr.Dataset]) -> list[Seen]:
    """Outputs and posteriors, given in turns."""
    return [Seen(*two) for two in zip(found[::2], found[1::2], strict=True)]


def further(source: Any, kind: str) -> list[xr.Dataset]:
    """One more file of each data set, in the same order."""
    return [source.evidence(name) for name in names.files((kind,), source.settings)]
