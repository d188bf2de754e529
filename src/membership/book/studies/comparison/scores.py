"""One cell's evidence as scores and truth, and numbers of attacks averaged over cells.

Cells of one data set have the same records and memberships: their attacks are averaged target by
target. Data sets share nothing, and each has the same weight however many cells it has.
"""

import contextlib
import functools
import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import xarray as xr

from membership import attacks, metrics
from membership.arrays import BoolArray, FloatArray
from membership.book.exhibits import Source
from membership.book.exhibits.rows import of_error
from membership.book.studies.comparison import names
from membership.book.studies.comparison.settings import Settings
from membership.errors import InputError

DEPARTS = (
    "RMIA's released code has a soft-margin Taylor softmax at a temperature of 2 and augmented "
    "queries; here it has the plain softmax at temperatures of 1 and 2, and one query",
    "BaVarIA: an empirical Bayes estimate of the variances, flat in the means, takes the place of "
    "the authors' prior",
    "Population records are those that the pool leaves, 10,000 at most: QMIA is fitted on them, "
    "without a search of its settings, and a share of a population has as many steps, or 1,000 "
    "where no more answers are kept",
)
"""In what the attacks of the bench are not as their authors ran them."""
CARRIED = 10
"""False positives that a rate must let one expect on each target."""


@dataclass(frozen=True)
class Table:
    """Scores of several targets on the same records.

    Attributes
    ----------
    score : dict of str to array of shape (targets, records)
        By the attack's name.
    member : bool array of shape (targets, records)
    """

    score: dict[str, FloatArray]
    member: BoolArray
    _kept: dict = field(default_factory=dict, repr=False, compare=False)

    def resampled(
        self, name: str, statistic: str, settings: Settings, **arguments: Any
    ) -> metrics.Resampled:
        """One attack's statistic under resamples of the records, computed once."""
        key = (name, statistic, settings.resamples, settings.seed, *sorted(arguments.items()))
        if key not in self._kept:
            how = {"resamples": settings.resamples, "seed": settings.seed, **arguments}
            self._kept[key] = metrics.resampled(statistic, self.score[name], self.member, **how)
        return self._kept[key]

    def on(self, records: BoolArray) -> "Table":
        """The same on some of the records."""
        score = {name: values[:, records] for name, values in self.score.items()}
        return Table(score, self.member[:, records])

    def told_apart(self) -> "Table":
        """The same of the targets that were asked at least two members and two non-members."""
        enough = (self.member.sum(axis=1) >= 2) & ((~self.member).sum(axis=1) >= 2)
        score = {name: values[enough] for name, values in self.score.items()}
        return Table(score, self.member[enough])


Tables = Sequence[tuple[str, Table]]
"""Tables and the data set of each."""


@dataclass(frozen=True, eq=False)
class CellEvidence:
    """What was gathered of one cell.

    Attributes
    ----------
    cell : Cell
    parts : tuple of Dataset
        Outputs first, then posteriors and what gradients say, where there is that.
    """

    cell: names.Cell
    parts: tuple[xr.Dataset, ...]
    _kept: dict = field(default_factory=dict, repr=False)

    @property
    def outputs(self) -> xr.Dataset:
        """What the models answer."""
        return self.parts[0]

    @property
    def set(self) -> str:
        """The data set as tables name it."""
        return self.outputs.attrs["set"]

    @property
    def target(self) -> str:
        """The kind of target as tables name it."""
        return self.outputs.attrs["recipe"]["display"]

    @property
    def key(self) -> dict[str, str]:
        """What tells its rows from other cells'."""
        return {"dataset": self.set, "target": self.target}

    @property
    def references(self) -> list[int]:
        """The reference models' numbers, a model and its complement in turn."""
        order = self.outputs.attrs["references"]
        half = len(order) // 2
        return [model for pair in zip(order[:half], order[half:], strict=True) for model in pair]

    @property
    def targets(self) -> list[int]:
        """The models that are attacked."""
        return self.outputs.attrs["targets"]

    @property
    def population(self) -> int:
        """The records that no model has seen; not all of their answers need be kept."""
        return self.outputs.attrs.get("population", self.outputs.sizes["held"])

    @functools.cached_property
    def canary(self) -> BoolArray:
        """Which records were given a wrong label."""
        return self.outputs["canary"].values.astype(bool)

    @functools.cached_property
    def record(self) -> np.ndarray:
        """The records' rows in the data set, canaries left out."""
        return self.outputs["record"].values[~self.canary]

    @functools.cached_property
    def member(self) -> BoolArray:
        """Who was trained on what, (models, records), canaries left out."""
        return self.outputs["member"].values.astype(bool)[:, ~self.canary]

    @functools.cached_property
    def everyone(self) -> Table:
        """Every registered attack that the evidence allows, on all records."""
        table = attacks.score_table(*self.parts)
        return Table(table.score, table.member)

    @functools.cached_property
    def table(self) -> Table:
        """The same without the canaries."""
        return self.everyone.on(~self.canary)

    @functools.cached_property
    def predicted(self) -> list[int]:
        """The first models of the pairs of references whose posteriors were gathered."""
        return [model for model in self.parts[1]["reference"].values if model not in self.targets]

    def fewer(self, chosen: Iterable[str], count: int) -> Table:
        """Some attacks whose adversary has so many reference models, canaries left out.

        An even number, pairs of complements, others first for each target. Attacks that they do
        not allow are left out.
        """
        chosen, known = list(chosen), attacks.registry()
        laws = [name for name in chosen if known[name].reads_posteriors]
        laws = laws if count <= 2 * len(self.predicted) else []
        without_laws = [name for name in chosen if not known[name].reads_posteriors]
        pairs = [model for first in self.predicted for model in (first, first + 1)]
        rows = [
            self.one_model(target, without_laws, _start(self.references, k, count))
            | self.one_model(target, laws, _start(pairs, k, count), self.parts[1:2])
            for k, target in enumerate(self.targets)
        ]
        shared = [name for name in rows[0] if all(name in row for row in rows)]
        score = {name: np.stack([row[name] for row in rows]) for name in shared}
        return Table(score, self.member[self.targets])

    def observed(
        self, target: int, references: list[int], beside: Iterable[xr.Dataset] = ()
    ) -> attacks.Observed:
        """What an adversary with these references sees of one model, canaries left out."""
        outputs = self.outputs.isel(model=[target, *references], record=~self.canary)
        outputs = outputs.assign_attrs(targets=[target], references=references, complements=[None])
        return attacks.observe(outputs, *beside, target=target)

    def one_model(
        self,
        target: int,
        chosen: Iterable[str],
        references: list[int],
        beside: Iterable[xr.Dataset] = (),
    ) -> dict[str, FloatArray]:
        """Scores of one model's records, by attack, for those that these references allow."""
        if not (chosen := tuple(chosen)):
            return {}
        observed = self.observed(target, references, beside)
        known, scores = attacks.registry(), {}
        for name in chosen:
            if not observed.lacking(known[name].needs):
                # Two references are too few for a variance a record.
                with contextlib.suppress(InputError):
                    scores[name] = known[name].score(observed)
        return scores

    def every_model(self, chosen: tuple[str, ...]) -> Table:
        """Every model attacked in turn, by all references but itself and its complement.

        A target does without the last pair: all have as many references.
        """
        if chosen not in self._kept:
            order, rows = self.references, []
            models = [*self.targets, *order]
            for model in models:
                pair = (order.index(model) if model in order else len(order) - 1) // 2
                references = [reference for i, reference in enumerate(order) if i // 2 != pair]
                rows.append(self.one_model(model, chosen, references))
            score = {name: np.stack([row[name] for row in rows]) for name in rows[0]}
            self._kept[chosen] = Table(score, self.member[models])
        return self._kept[chosen]


def _start(references: list[int], place: int, count: int) -> list[int]:
    """The references of the target at a place, of pairs in turn."""
    first = 2 * place % len(references)
    return (references[first:] + references[:first])[:count]


def read(source: Source) -> tuple[CellEvidence, ...]:
    """The cells of a run, each read once."""
    return source.made(_read)


def _read(source: Source) -> tuple[CellEvidence, ...]:
    opened, cells = names.opened(source.settings), []
    for cell in names.cells(source.settings):
        kinds = [*names.MAIN, *(["white-box"] if cell in opened else [])]
        parts = [source.evidence(f"{kind}-{cell.word}") for kind in kinds]
        cells.append(CellEvidence(cell, (names.with_hinge(parts[0]), *parts[1:])))
    return tuple(cells)


def origin(cells: Iterable[CellEvidence], **extra: Any) -> dict[str, Any]:
    """What a table made from these cells says about its origin."""
    cells = list(cells)
    attributes = [evidence.outputs.attrs for evidence in cells]
    by_set = {evidence.set: evidence for evidence in cells}
    sizes = {
        "Cells": str(len(cells)),
        "Target models of each": _span({len(evidence.targets) for evidence in cells}),
        "Reference models of each": str(len(cells[0].references)),
        "Members of each": _span({attrs["recipe"]["members"] for attrs in attributes}),
        "Records asked": ", ".join(
            f"{name} {int((~evidence.canary).sum()):,}" for name, evidence in by_set.items()
        ),
        "Population records": ", ".join(
            f"{name} {evidence.population:,}" for name, evidence in by_set.items()
        ),
    }
    return {
        "data": {name: digest for attrs in attributes for name, digest in attrs["data"].items()},
        "deviations": list(DEPARTS),
        "device": attributes[0]["device"],
        "sizes": sizes,
        **extra,
    }


def _span(counts: set[int]) -> str:
    return " to ".join(f"{count:,}" for count in dict.fromkeys((min(counts), max(counts))))


def carries(evidence: CellEvidence, fpr: float) -> bool:
    """Whether every target has non-members enough for a rate."""
    return fpr * int((~evidence.table.member).sum(axis=1).min()) >= CARRIED


def contrast(
    tables: Tables,
    weights: Mapping[str, float],
    statistic: str,
    settings: Settings,
    *,
    scale: float = 1.0,
    **arguments: Any,
) -> dict[str, float]:
    """A weighted sum of attacks' statistics, averaged over data sets, as columns of a tidy row.

    Weights go by the attack's name: one attack, or 1 and -1 for a difference.
    """
    by_set: dict[str, list[Table]] = {}
    for name, table in tables:
        by_set.setdefault(name, []).append(table)
    parts = []
    for group in by_set.values():
        terms = [
            table.resampled(name, statistic, settings, **arguments)
            * (weight / len(group) / len(by_set))
            for table in group
            for name, weight in weights.items()
        ]
        parts.append(functools.reduce(operator.add, terms).interval())
    return added(parts, scale)


def area(tables: Tables, weights: Mapping[str, float], settings: Settings) -> dict[str, float]:
    """`contrast` of the AUC."""
    return contrast(tables, weights, "auc", settings)


def rate(
    tables: Tables, weights: Mapping[str, float], settings: Settings, fpr: float = 0.01
) -> dict[str, float]:
    """`contrast` of the TPR at a false-positive rate, in percent."""
    return contrast(tables, weights, "tpr_at_fpr", settings, scale=100.0, fpr=fpr)


CONTRASTS = {names.AREA: area, names.RATE: rate}


def over_sets(cells: Sequence[CellEvidence], values: Sequence[float]) -> float:
    """The mean of one number a cell, each data set with the same weight."""
    by_set: dict[str, list[float]] = {}
    for evidence, value in zip(cells, values, strict=True):
        by_set.setdefault(evidence.set, []).append(value)
    return float(np.mean([np.mean(group) for group in by_set.values()]))


def of_targets(
    cells: Sequence[CellEvidence], values: Sequence[FloatArray], **limits: float
) -> dict[str, float]:
    """A number of each target, averaged over data sets, as columns of a tidy row.

    Cells of one data set are averaged target by target first. `limits` are those of
    `metrics.summary`.
    """
    by_set: dict[str, list[FloatArray]] = {}
    for evidence, value in zip(cells, values, strict=True):
        by_set.setdefault(evidence.set, []).append(value)
    means = [np.mean(group, axis=0) for group in by_set.values()]
    if len(means) == 1:
        return metrics.summary(means[0], **limits)
    parts = [metrics.summary(mean) for mean in means]
    terms = [(p["value"], p["standard_error"], p["degrees_of_freedom"]) for p in parts]
    return _welch(terms, 1 / len(parts), min(len(mean) for mean in means), **limits)


def plain(cells: Sequence[CellEvidence]) -> list[tuple[str, Table]]:
    """The scores of cells, canaries left out."""
    return [(evidence.set, evidence.table) for evidence in cells]


def mislabelled(cells: Sequence[CellEvidence]) -> list[tuple[str, Table]]:
    """The scores of the canaries alone, of targets that saw two of them and did not see two."""
    on_canaries = [evidence.everyone.on(evidence.canary).told_apart() for evidence in cells]
    tables = zip(cells, on_canaries, strict=True)
    return [(evidence.set, table) for evidence, table in tables if len(table.member)]


def per_target(
    statistic: Callable[..., float], score: Any, member: Any, **arguments: Any
) -> FloatArray:
    """A statistic of each target."""
    return np.array(
        [
            statistic(s[~np.isnan(s)], m[~np.isnan(s)], **arguments)
            for s, m in zip(score, member, strict=True)
        ]
    )


def added(parts: Sequence[metrics.PairedInterval], scale: float) -> dict[str, float]:
    """Independent intervals added."""
    terms = [(part.difference, part.standard_error, part.degrees_of_freedom) for part in parts]
    return _welch(terms, scale, min(part.units for part in parts))


def _welch(
    terms: Sequence[tuple[float, float, float]], scale: float, units: int, **limits: float
) -> dict[str, float]:
    """The sum of numbers with errors and degrees of freedom, by Welch and Satterthwaite."""
    value = sum(number for number, _, _ in terms)
    squares = np.array([error**2 for _, error, _ in terms])
    spent = sum(v**2 / degrees for v, (_, _, degrees) in zip(squares, terms, strict=True))
    degrees = float(squares.sum() ** 2 / spent) if spent > 0 else math.inf
    error = float(np.sqrt(squares.sum()))
    return of_error(scale * value, scale * error, units, degrees, **limits)


def typical(source: Source) -> list[CellEvidence]:
    """The cells that every model of is looked at."""
    chosen = names.typical(source.settings)
    return [evidence for evidence in read(source) if evidence.cell in chosen]
