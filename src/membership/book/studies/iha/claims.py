"""What the paper says, and what this chapter found, each with the test that decides it.

Tests stand with their sentences in ``iha_claims.toml``: those on the paper's data at its size
``by`` `at_paper_size`, or by a function that asks for more. A few are no declaration's.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from membership.book.exhibits import Source
from membership.book.published import Contrast, Outcome, claims
from membership.book.published.claim_rules import exists, much_better
from membership.book.published.contrasts import Dependent
from membership.book.published.declared_tests import Test
from membership.book.published.outcomes import (
    CONTRADICTED,
    NOT_TESTED,
    SUPPORTED,
    UNDECIDED,
    every,
    overall,
    untested,
)
from membership.book.published.rows import number, row_at
from membership.book.studies.iha import evaluation, inversion, subjects, theory
from membership.book.studies.iha.forms import N_SWEPT
from membership.book.studies.iha.scores import PAIRED
from membership.errors import InputError

# Members a model on the paper's data; fewer are no test of a sentence about them.
MEMBERS = {
    "MNIST-Odd": 30_000,
    "FashionMNIST": 30_000,
    "Purchase-100": 80_000,
    "Purchase-100(S)": 25_000,
    "Purchase-100(S), MLP-4": 25_000,
}
LEAST_TARGETS, LEAST_REFERENCES = 5, 32
LEAST_RETRAININGS, MOST_SOLVED = 2000, 10_000
TIMED_MEMBERS, MODELS, LEAST_TIMINGS = 80_000, 128, 3
NETWORK = "600-32-100"
EXACT = "IHA (Exact)"


def at_paper_size(test: Test, source: Source) -> Outcome:
    """A declared test on each of the paper's data sets that its rows are of."""
    names, outcomes = _names(test), []
    for name in names:
        label, lacking = found(source, test.table, name)
        if lacking:
            outcomes.append(untested(lacking))
            continue
        outcome = test.judged(source, len(names), dataset=label)
        outcome = outcome.on(_described(*_of_run(source, test.table), label))
        outcomes.append(decided(outcome, {label: name}))
    outcome, tested = every(outcomes), [part for part in outcomes if part.word != NOT_TESTED]
    if outcome.word != NOT_TESTED or not tested:
        return outcome
    words = ", ".join(part.word for part in tested)
    reason = f"{len(tested)} of {len(outcomes)} data sets tested ({words}): {outcome.reason}"
    return replace(outcome, reason=reason)


def _names(test: Test) -> list[str]:
    """The paper's data sets that a test is about."""
    listed = test.where["dataset"]
    return [str(name) for name in listed] if isinstance(listed, list) else [str(listed)]


def _of_run(source: Source, exhibit: str) -> tuple[pd.DataFrame, dict[str, dict[str, Any]]]:
    """The table of an exhibit, and how the models of each of its data sets were trained."""
    table = source.table(exhibit)
    return table, table.attrs.get("setup") or source.table("iha-tab-2").attrs.get("setup", {})


def found(source: Source, exhibit: str, name: str) -> tuple[str, str]:
    """What a run calls one of the paper's data sets, and what it lacks to test a claim on it."""
    (table, setup), members = _of_run(source, exhibit), MEMBERS[name]
    labels = [label for label, facts in setup.items() if facts.get("published") == name]
    if not labels:
        return "", (
            f"asks for {name}, {members:,} records a model, {LEAST_TARGETS} targets and "
            f"{LEAST_REFERENCES} reference models or more: it is not among this run's data"
        )
    label = labels[0]
    lacking = _lacking(table, label, setup[label], members)
    stands = label if label == name else f"{label} stands in for {name}"
    return label, f"{stands}: {lacking}" if lacking else ""


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
    shortfalls = []
    if facts["members"] < members:
        shortfalls.append(f"{facts['members']:,} records a model (the test asks for {members:,})")
    if targets < LEAST_TARGETS:
        shortfalls.append(f"{targets} targets, complements not counted (at least {LEAST_TARGETS})")
    if references < LEAST_REFERENCES:
        shortfalls.append(f"{references} reference models (at least {LEAST_REFERENCES})")
    return ", ".join(shortfalls)


def _described(table: pd.DataFrame, setup: dict[str, dict[str, Any]], label: str) -> str:
    facts = setup[label]
    queries = facts.get("queried_members", 0) + facts.get("queried_non_members", 0)
    pool = 2 * facts["members"]
    size = f"{queries:,} of {pool:,} records asked" + (": reduced" if queries < pool else "")
    return f"{label} ({_targets(table, label)} targets, {size})"


def _targets(table: pd.DataFrame, label: str) -> int:
    rows = table[table["dataset"] == label]
    if "attack" in rows:
        rows = rows[rows["attack"] != "(model)"]
    return int(rows["n_repeats"].min()) if len(rows) else 0


def beside(outcome: Outcome, more: Sequence[Contrast]) -> Outcome:
    """An outcome with contrasts that were looked at and decide nothing."""
    return replace(outcome, numbers=(*outcome.numbers, *more))


def more_than_the_loss(source: Source) -> Outcome:
    """iha-c01: above .01 in some setting; contradicted below 0 in every one."""
    leads, data = _retrained(source, theory.LEAD)
    above, below = exists(None, leads, 0.01), exists(None, leads, 0.0)
    if above.word != SUPPORTED:
        between = replace(above, word=UNDECIDED, reason="neither above 0.01 nor everywhere below 0")
        above = below if below.word == CONTRADICTED else between
    return above.on(data)


def another_law(source: Source) -> Outcome:
    """iha-c02."""
    gains, data = _retrained(source, theory.GAIN)
    return every([much_better(gain, 0.0, parts=len(gains)) for gain in gains]).on(data)


def _retrained(source: Source, metric: str) -> tuple[list[Contrast], str]:
    """One contrast over records a setting, and what they were played on."""
    table = source.table("iha-ctl-9")
    fewest = int(table["retrainings"].min())
    if fewest < LEAST_RETRAININGS:
        raise InputError(f"asks for {LEAST_RETRAININGS:,} retrainings a record; here {fewest:,}")
    contrasts = [
        number(table, f"{metric}, {case}", case=case, metric=metric)
        for case in table["case"].unique()
    ]
    size = f"{contrasts[0].units} simulated records, {fewest:,} retrainings of each"
    return contrasts, f"linear regression ({size})"


def beside_loss(test: Test, source: Source) -> Outcome:
    """iha-c05 as declared; beside it, deciding nothing, the lead over LOSS."""
    outcome = at_paper_size(test, source)
    places = [found(source, test.table, name) for name in _names(test)]
    name, table = f"{EXACT} less LOSS", source.table(test.table)
    leads = [
        Dependent.of(
            row_at(table, dataset=label, attack=name, metric=PAIRED), f"AUC of {name}, {label}"
        )
        for label, lacking in places
        if not lacking
    ]
    return beside(outcome, leads)


def shown_alone(test: Test, source: Source) -> Outcome:
    """iha-c07: part b on the images; both parts ask for Purchase-100(S) besides."""
    # Contradicted only where both parts are: one alone leaves the claim open.
    outcome = at_paper_size(test, source)
    if not outcome.numbers:
        return outcome
    lacking = (
        "both parts ask for Purchase-100(S), 25,000 records a model, and (a) for 500 of them left "
        "out with 100 models each, 50,100 trainings"
    )
    return beside(untested(lacking).on(*outcome.datasets), outcome.numbers)


def solvers_alike(test: Test, source: Source) -> Outcome:
    """iha-c09; where it is not tested, with the records that conjugate gradients were asked for."""
    outcome = at_paper_size(test, source)
    queries = list(source.table(test.table).attrs.get("asked", {}).values())
    if outcome.word != NOT_TESTED or not queries or min(queries) >= MOST_SOLVED:
        return outcome
    more = f"{min(queries):,} records a target (the test asks for {MOST_SOLVED:,})"
    return replace(outcome, reason=f"{outcome.reason}, {more}")


@dataclass(frozen=True)
class FewRecords:
    """A run whose Table 8 has paired differences on the few records that were asked at first."""

    source: Source

    def table(self, exhibit: str) -> pd.DataFrame:
        """As in the run, but for these rows."""
        swept = evaluation.read(self.source, subjects.SWEPT, subjects.decomposed)
        rows = [
            part.less(inversion.BEST, other, inversion.CONDITIONINGS)
            for part in swept
            for other, name in inversion.CONDITIONINGS.items()
            if other != inversion.BEST and part.has(name)
        ]
        table = pd.DataFrame(rows)
        table.attrs = self.source.table(exhibit).attrs
        return table


def on_few_records(test: Test, source: Source) -> Outcome:
    """iha-c15 as it was fixed."""
    data = (f"{name}, {N_SWEPT} records" for name in _names(test))
    return at_paper_size(test, FewRecords(source)).on(*data)


def cheaper(source: Source) -> Outcome:
    """iha-c14: at the paper's sizes the records' values do not matter."""
    table = source.table("iha-tab-6")
    ((label, facts),) = table.attrs["setup"].items()
    required = {"members": TIMED_MEMBERS, "reference_models": MODELS, "architecture": NETWORK}
    if any(facts.get(name) != value for name, value in required.items()):
        here = f"{facts['members']:,}, {facts['reference_models']} and {facts['architecture']}"
        requirement = f"{TIMED_MEMBERS:,} members, {MODELS} models and the network {NETWORK}"
        return untested(f"asks for {requirement}; here {here}")
    single, many = (
        number(table, f"time of {name} over that of IHA", attack=name, metric=subjects.RATIO)
        for name in ("LiRA", "LiRA, side by side")
    )
    if single.units < LEAST_TIMINGS:
        return untested(f"asks for {LEAST_TIMINGS} timings; here {single.units}")
    return beside(much_better(single, 1.0), [many]).on(f"{label}, {single.units} timings")


def more_data(source: Source) -> Outcome:
    """iha-c17."""
    names = ("Purchase-100", "Purchase-100(S)")
    places = [found(source, "iha-tab-7", name) for name in names]
    for _, lacking in places:
        if lacking:
            return untested(lacking)
    table, setup = _of_run(source, "iha-tab-7")
    labels = [label for label, _ in places]
    gaps = []
    for attack in ("LOSS", "LiRA", "IHA (Ours)"):
        more, fewer = (
            Contrast.of(row_at(table, dataset=label, attack=attack, metric="AUC"), label)
            for label in labels
        )
        gap = fewer.less(more, f"AUC of {attack}, fewer less more records")
        gaps.append(much_better(gap, 0.01, parts=3))
    outcome = every(gaps).on(*(_described(table, setup, label) for label in labels))
    return decided(outcome, dict(zip(labels, names, strict=True)))


CLAIMS = claims.read("iha", sys.modules[__name__])
