"""The numbers that the claims are tested on: contrasts of two attacks on one data set of a run."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from membership import metrics
from membership.errors import InputError
from membership.exhibits import Source
from membership.published import Contrast, Outcome
from membership.published.outcomes import NOT_TESTED, every, overall, untested
from membership.studies.iha import audit, subjects

# Members a model on the paper's data; fewer are no test of a sentence about them.
IMAGES = {"MNIST-Odd": 30_000, "FashionMNIST": 30_000}
LARGE, SMALL = {"Purchase-100": 80_000}, {"Purchase-100(S)": 25_000}
DEEP = {"Purchase-100(S), MLP-4": 25_000}
LEAST_TARGETS, LEAST_REFERENCES = 5, 32
RESAMPLES = 200
MAIN = {"IHA (Exact)": "IHA", "LiRA": "LiRA", "LOSS": "LOSS", "SIF": "SIF"}


@dataclass(frozen=True)
class Rows:
    """The rows of one data set in one exhibit, and the run that they are of."""

    source: Source
    table: pd.DataFrame
    label: str

    def one(self, metric: str = "AUC", **where: Any) -> Contrast:
        """One number of the data set, its error as stated or taken back from its interval."""
        rows = self.table[self.table["dataset"] == self.label]
        if "metric" in rows:
            rows = rows[rows["metric"] == metric]
        for column, wanted in where.items():
            rows = rows[rows[column] == wanted]
        if len(rows) != 1:
            raise InputError(f"{self.label}: {len(rows)} rows of {metric} with {where}")
        row = rows.iloc[0].to_dict()
        if np.isnan(row.get("standard_error", np.nan)):
            raise InputError(f"{self.label}, {where}: its {metric} has no standard error")
        error, degrees = row["standard_error"], row["degrees_of_freedom"]
        return Contrast(f"{metric}, {self.label}", row["value"], error, degrees, row["n_repeats"])

    def lead(
        self,
        first: str,
        second: str,
        scores: dict[str, str] | None = None,
        metric: str = "AUC",
        swept: str = "",
    ) -> Contrast:
        """One attack less another: paired where there is evidence, else errors added.

        Two standard errors added are at least that of the difference, however the two are paired.
        """
        label = f"{metric} of {first} less {second}, {self.label}"
        if scores and metric == "AUC" and _has_evidence(self.source, swept):
            names = scores[first], scores[second]
            return paired(self.source, self.label, *names, label, swept)
        weights = {first: 1.0, second: -1.0}
        return self.combined(weights, label, metric)

    def combined(self, weights: dict[str, float], label: str, metric: str = "AUC") -> Contrast:
        """Several attacks' numbers with weights, their standard errors added."""
        parts = {name: self.one(metric, attack=name) for name in weights}
        return summed(label, *((weight, parts[name]) for name, weight in weights.items()))


def summed(label: str, *parts: tuple[float, Contrast]) -> Contrast:
    """Numbers with weights, their standard errors added, for they are not independent."""
    numbers = [one for _, one in parts]
    return Contrast(
        label,
        sum(weight * one.difference for weight, one in parts),
        sum(abs(weight) * one.standard_error for weight, one in parts),
        min(one.degrees_of_freedom for one in numbers),
        min(one.units for one in numbers),
    )


Judge = Callable[[Rows, int], Outcome]
Test = Callable[[Source], Outcome]


def paired(
    source: Source, label: str, first: str, second: str, said: str, swept: str = ""
) -> Contrast:
    """The difference in AUC of two attacks on the same targets and records, from evidence.

    `swept`: "" for the main attacks; over the dampings, "all" records where there are numbers over
    all, or the "few" that have scores.
    """
    some = {"": audit.compared_audits, "all": audit.damped_audits, "few": audit.swept_audits}
    audits = some[swept](source)
    (one,) = (found for found in audits if found.label == label)
    if one.is_whole:
        apart = metrics.summary(one.numbers(first) - one.numbers(second), one.units)
        return Contrast.of(pd.Series(apart), said)
    scores = [np.stack(one.scores(name)) for name in (first, second)]
    found = metrics.paired_interval(
        "auc",
        *scores,
        np.stack(one.member),
        units=one.units,
        asked_share=len(one.member[0]) / one.attrs["pool"],
        resamples=RESAMPLES,
    )
    return Contrast.of(found, said)


def over(exhibit: str, wanted: dict[str, int], parts: int = 1) -> Callable[[Judge], Test]:
    """The test of a claim out of what judges one of the data sets that it is about."""

    def of(judge: Judge) -> Test:
        def test(source: Source) -> Outcome:
            return on(source, exhibit, wanted, judge, parts)

        functools.update_wrapper(test, judge)
        # It takes a source, and is to be seen as what it takes.
        del test.__wrapped__
        return test

    return of


def on(
    source: Source, exhibit: str, wanted: dict[str, int], judge: Judge, parts: int = 1
) -> Outcome:
    """A claim on the data that it is about, each of them judged; see `over`."""
    count = parts * len(wanted)
    each = [_on_one(source, exhibit, *one, judge, count) for one in wanted.items()]
    found, tested = every(each), [one for one in each if one.word != NOT_TESTED]
    if found.word != NOT_TESTED or not tested:
        return found
    words = ", ".join(one.word for one in tested)
    said = f"{len(tested)} of {len(each)} data sets tested ({words}): {found.reason}"
    return replace(found, reason=said)


def _on_one(
    source: Source, exhibit: str, name: str, members: int, judge: Judge, parts: int
) -> Outcome:
    table = source.table(exhibit)
    setup = table.attrs.get("setup") or source.table("iha-tab-2").attrs.get("setup", {})
    labels = [label for label, facts in setup.items() if facts.get("published") == name]
    if not labels:
        return untested(
            f"asks for {name}, {members:,} records a model, {LEAST_TARGETS} targets and "
            f"{LEAST_REFERENCES} reference models or more: it is not among this run's data"
        )
    rows, facts = Rows(source, table, labels[0]), setup[labels[0]]
    lacking = _lacking(table, labels[0], facts, members)
    if lacking:
        stands = labels[0] if labels[0] == name else f"{labels[0]} stands in for {name}"
        return untested(f"{stands}: {lacking}")
    return decided(judge(rows, parts).on(_described(table, labels[0], facts)), {labels[0]: name})


def decided(outcome: Outcome, stands_for: dict[str, str]) -> Outcome:
    """An outcome as it is, or where simulated records stand for the paper's: they decide nothing.

    `stands_for` has the paper's name of each data set of the run by its own.
    """
    own = " and ".join(stands_for)
    real = all(label == name for label, name in stands_for.items())
    return outcome if real else overall({own: outcome}, [], simulated=[own])


def _lacking(table: pd.DataFrame, label: str, facts: dict[str, Any], members: int) -> str:
    """Where a run is too small for a test; "" where it is not."""
    targets, references = _targets(table, label), facts["reference_models"]
    said = []
    if facts["members"] < members:
        said.append(f"{facts['members']:,} records a model (the test asks for {members:,})")
    if targets < LEAST_TARGETS:
        said.append(f"{targets} targets, complements not counted (at least {LEAST_TARGETS})")
    if references < LEAST_REFERENCES:
        said.append(f"{references} reference models (at least {LEAST_REFERENCES})")
    return ", ".join(said)


def _described(table: pd.DataFrame, label: str, facts: dict[str, Any]) -> str:
    asked = facts.get("queried_members", 0) + facts.get("queried_non_members", 0)
    pool = 2 * facts["members"]
    size = f"{asked:,} of {pool:,} records asked" + (": reduced" if asked < pool else "")
    return f"{label} ({_targets(table, label)} targets, {size})"


def _targets(table: pd.DataFrame, label: str) -> int:
    rows = table[table["dataset"] == label]
    if "attack" in rows:
        rows = rows[rows["attack"] != "(model)"]
    return int(rows["n_repeats"].max()) if len(rows) else 0


def _has_evidence(source: Source, swept: str) -> bool:
    needed = subjects.files(subjects.MAIN, subjects.compared(source.settings))
    if swept:
        needed = subjects.files(subjects.SWEPT, subjects.decomposed(source.settings))
        needed += subjects.files(subjects.WHOLE, subjects.whole(source.settings))
    return all(source.has(name) for name in needed)


def beside(outcome: Outcome, more: Sequence[Contrast]) -> Outcome:
    """An outcome with contrasts that were looked at and decide nothing."""
    return replace(outcome, numbers=(*outcome.numbers, *more))
