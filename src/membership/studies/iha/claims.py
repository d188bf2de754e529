"""What the paper says, and what this chapter found, each with the test that decides it.

Tests that one table's rows decide on any data stand with their sentences in ``iha_claims.toml``.
Those below ask for the paper's data at its size.
"""

import functools
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from membership.errors import InputError
from membership.exhibits import Source
from membership.metrics.rate_names import tpr_column
from membership.published import Contrast, Outcome, claims
from membership.published.claim_rules import about, better, chance, exists, much_better
from membership.published.outcomes import (
    CONTRADICTED,
    NOT_TESTED,
    SUPPORTED,
    UNDECIDED,
    every,
    overall,
    untested,
)
from membership.published.rows import number, rows_at
from membership.studies.iha import evaluation, inversion, subjects, theory
from membership.studies.iha.forms import N_SWEPT
from membership.studies.iha.scores import PAIRED

# Members a model on the paper's data; fewer are no test of a sentence about them.
IMAGES = {"MNIST-Odd": 30_000, "FashionMNIST": 30_000}
LARGE, SMALL = {"Purchase-100": 80_000}, {"Purchase-100(S)": 25_000}
DEEP = {"Purchase-100(S), MLP-4": 25_000}
LEAST_TARGETS, LEAST_REFERENCES = 5, 32
LEAST_RETRAININGS, MOST_SOLVED = 2000, 10_000
TIMED_MEMBERS, MODELS, LEAST_TIMINGS = 80_000, 128, 3
NETWORK = "600-32-100"
AT_1, AT_01 = tpr_column(0.01, " (%)"), tpr_column(0.001, " (%)")
EXACT = "IHA (Exact)"
RECORDS = ("all", "members", "others")
OTHERS = [name for name in inversion.CONDITIONINGS if name != inversion.BEST]
EVERYONE = "IHA, gradient over D for everyone"
AMONG = "LiRA, target among its references"


@dataclass(frozen=True)
class Rows:
    """The rows of one data set in one exhibit, and the run that they are of."""

    source: Source
    table: pd.DataFrame
    label: str

    def number(self, label: str = "", metric: str = "AUC", **where: Any) -> Contrast:
        """One row's number with its error."""
        where |= {"metric": metric} if "metric" in self.table else {}
        rows = rows_at(self.table, dataset=self.label, **where)
        if len(rows) != 1:
            raise InputError(f"{self.label}: {len(rows)} rows with {where}")
        return Contrast.of(rows.iloc[0], f"{label or metric}, {self.label}")

    def lead(self, first: str, second: str) -> Contrast:
        """One attack's AUC less another's: the paired row where the table has it, else summed."""
        name, label = f"{first} less {second}", f"AUC of {first} less {second}"
        if (self.table["attack"] == name).any():
            return self.number(label, PAIRED, attack=name)
        return self.combined({first: 1.0, second: -1.0}, label)

    def combined(self, weights: dict[str, float], label: str, metric: str = "AUC") -> Contrast:
        """Several attacks' numbers with weights.

        Their standard errors are added, for they are not independent: that is at least the error
        of the sum, however the attacks are paired.
        """
        numbers = {name: self.number(metric=metric, attack=name) for name in weights}
        parts = [(weight, numbers[name]) for name, weight in weights.items()]
        return summed(f"{label}, {self.label}", *parts)

    def ratio(self, first: str, second: str, factor: float, metric: str) -> Contrast:
        """One rate less a factor times another: above 0 where their ratio is above the factor."""
        label = f"{metric} of {first} less {factor:g} times {second}"
        return self.combined({first: 1.0, second: -factor}, label, metric)


def summed(label: str, *parts: tuple[float, Contrast]) -> Contrast:
    """Numbers with weights, their standard errors added."""
    numbers = [contrast for _, contrast in parts]
    return Contrast(
        label,
        sum(weight * contrast.difference for weight, contrast in parts),
        sum(abs(weight) * contrast.standard_error for weight, contrast in parts),
        min(contrast.degrees_of_freedom for contrast in numbers),
        min((contrast.units for contrast in numbers if contrast.units is not None), default=None),
    )


Judge = Callable[[Rows, int], Outcome]
Test = Callable[[Source], Outcome]


def over(exhibit: str, datasets: dict[str, int], parts: int = 1) -> Callable[[Judge], Test]:
    """The test of a claim out of what judges one of the data sets that it is about."""

    def of(judge: Judge) -> Test:
        def test(source: Source) -> Outcome:
            return on(source, exhibit, datasets, judge, parts)

        functools.update_wrapper(test, judge)
        # It takes a source, and is to be seen as what it takes.
        del test.__wrapped__
        return test

    return of


def on(
    source: Source, exhibit: str, datasets: dict[str, int], judge: Judge, parts: int = 1
) -> Outcome:
    """A claim on the data that it is about, each of them judged; see `over`."""
    count = parts * len(datasets)
    outcomes = [_on_one(source, exhibit, *names, judge, count) for names in datasets.items()]
    outcome, tested = every(outcomes), [part for part in outcomes if part.word != NOT_TESTED]
    if outcome.word != NOT_TESTED or not tested:
        return outcome
    words = ", ".join(part.word for part in tested)
    reason = f"{len(tested)} of {len(outcomes)} data sets tested ({words}): {outcome.reason}"
    return replace(outcome, reason=reason)


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
    shortfalls = []
    if facts["members"] < members:
        shortfalls.append(f"{facts['members']:,} records a model (the test asks for {members:,})")
    if targets < LEAST_TARGETS:
        shortfalls.append(f"{targets} targets, complements not counted (at least {LEAST_TARGETS})")
    if references < LEAST_REFERENCES:
        shortfalls.append(f"{references} reference models (at least {LEAST_REFERENCES})")
    return ", ".join(shortfalls)


def _described(table: pd.DataFrame, label: str, facts: dict[str, Any]) -> str:
    queries = facts.get("queried_members", 0) + facts.get("queried_non_members", 0)
    pool = 2 * facts["members"]
    size = f"{queries:,} of {pool:,} records asked" + (": reduced" if queries < pool else "")
    return f"{label} ({_targets(table, label)} targets, {size})"


def _targets(table: pd.DataFrame, label: str) -> int:
    rows = table[table["dataset"] == label]
    if "attack" in rows:
        rows = rows[rows["attack"] != "(model)"]
    return int(rows["n_repeats"].max()) if len(rows) else 0


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


@over("iha-tab-2", LARGE, parts=3)
def much_ahead_of_lira(rows: Rows, parts: int) -> Outcome:
    """iha-c03."""
    outcomes = [much_better(rows.lead(EXACT, "LiRA"), 0.01, parts=parts)]
    for metric in (AT_1, AT_01):
        outcomes.append(much_better(rows.ratio(EXACT, "LiRA", 1.25, metric), 0.0, parts=parts))
    return every(outcomes)


@over("iha-tab-2", IMAGES)
def competitive(rows: Rows, parts: int) -> Outcome:
    """iha-c04."""
    return much_better(rows.lead(EXACT, "LiRA"), -0.03, parts=parts)


@over("iha-tab-2", IMAGES | LARGE)
def ahead_of_sif(rows: Rows, parts: int) -> Outcome:
    """iha-c05."""
    outcome = much_better(rows.lead(EXACT, "SIF"), 0.0, parts=parts)
    return beside(outcome, [rows.lead(EXACT, "LOSS")])


@over("iha-ctl-1", IMAGES)
def mostly_parameters(rows: Rows, parts: int) -> Outcome:
    """iha-c07: part b on the images; both parts ask for Purchase-100(S) besides."""
    weights = {EVERYONE: 1.0, "LOSS": -0.5, "IHA": -0.5}
    label = "AUC with one gradient for everyone, less half of IHA's margin"
    # Contradicted only where both parts are: one alone leaves the claim open.
    outcome = much_better(rows.combined(weights, label), 0.0, parts=parts)
    lacking = (
        "both parts ask for Purchase-100(S), 25,000 records a model, and (a) for 500 of them left "
        "out with 100 models each, 50,100 trainings"
    )
    return beside(untested(lacking), outcome.numbers)


def solvers_alike(source: Source) -> Outcome:
    """iha-c09; where it is not tested, with the records that conjugate gradients were asked for."""
    outcome = _alike(source)
    queries = list(source.table("iha-tab-3").attrs.get("asked", {}).values())
    if outcome.word != NOT_TESTED or not queries or min(queries) >= MOST_SOLVED:
        return outcome
    more = f"{min(queries):,} records a target (the test asks for {MOST_SOLVED:,})"
    return replace(outcome, reason=f"{outcome.reason}, {more}")


@over("iha-tab-3", IMAGES | LARGE, parts=2)
def _alike(rows: Rows, parts: int) -> Outcome:
    rate = rows.ratio("IHA (CG)", EXACT, 0.75, AT_1)
    alike = about(rows.lead("IHA (CG)", EXACT), 0.01, parts=parts)
    return every([alike, much_better(rate, 0.0, parts=parts)])


@over("iha-tab-4", SMALL, parts=3)
def small_terms(rows: Rows, parts: int) -> Outcome:
    """iha-c10."""
    few, whole = "IHA[loss,I1,I2]", "IHA[All]"
    rates = [
        rows.ratio(few, whole, 0.75, AT_01),
        rows.combined({few: -1.0, whole: 1.25}, "1.25 times all terms less without", AT_01),
    ]
    alike = about(rows.lead(few, whole), 0.01, parts=parts)
    return every([alike, *(much_better(rate, 0.0, parts=parts) for rate in rates)])


@over("iha-tab-4", SMALL, parts=2)
def two_terms(rows: Rows, parts: int) -> Outcome:
    """iha-c11."""
    gain = rows.combined({"IHA[I1,I2]": 1.0, "IHA[All]": -0.5}, "share")
    share = gain.minus(0.25, f"AUC of I1 and I2 less half of all terms' gain, {rows.label}")
    leads = [share, rows.lead("IHA[I2]", "IHA[I1]")]
    return every([much_better(lead, 0.0, parts=parts) for lead in leads])


@over("iha-tab-9", SMALL, parts=2)
def all_records(rows: Rows, parts: int) -> Outcome:
    """iha-c12."""
    whole = "as the appendix describes"
    auc = {f: rows.number(attack=whole, fraction=f) for f in (1.0, 0.9, 0.2)}
    outcomes = []
    for more, fewer in ((1.0, 0.9), (0.9, 0.2)):
        label = f"AUC with {more:.0%} known less {fewer:.0%}, {rows.label}"
        gap = summed(label, (1.0, auc[more]), (-1.0, auc[fewer]))
        outcomes.append(much_better(gap, 0.01, parts=parts))
    return every(outcomes)


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


@over("iha-tab-8", IMAGES, parts=len(OTHERS))
def best_damping(rows: Rows, parts: int) -> Outcome:
    """iha-c15."""
    return _ahead([rows.lead(inversion.BEST, name) for name in OTHERS], parts)


@over("iha-tab-8", IMAGES, parts=len(OTHERS))
def _on_few(rows: Rows, parts: int) -> Outcome:
    swept = evaluation.read(rows.source, subjects.SWEPT, subjects.decomposed)
    (few,) = (part for part in swept if part.label == rows.label)
    paired = [few.less(inversion.BEST, name, inversion.CONDITIONINGS) for name in OTHERS]
    beside_best = replace(rows, table=pd.DataFrame(paired))
    return _ahead([beside_best.lead(inversion.BEST, name) for name in OTHERS], parts)


def _ahead(leads: Sequence[Contrast], parts: int) -> Outcome:
    return every([much_better(lead, 0.0, parts=parts) for lead in leads])


def best_damping_on_few(source: Source) -> Outcome:
    """iha-c15 on the few records that were asked at first."""
    return _on_few(source).on(*(f"{name}, {N_SWEPT} records" for name in IMAGES))


@over("iha-tab-7", DEEP, parts=2)
def deeper_damping(rows: Rows, parts: int) -> Outcome:
    """iha-c16."""
    more, less = "IHA (CG) eps=5e-1", "IHA (CG) eps=2e-1"
    ahead = much_better(rows.lead(more, less), 0.01, parts=parts)
    return every([ahead, much_better(rows.ratio(more, "LiRA", 1.0, AT_01), 0.0, parts=parts)])


def more_data(source: Source) -> Outcome:
    """iha-c17."""
    attacks = ("LOSS", "LiRA", "IHA (Ours)")
    kept: dict[str, list[Contrast]] = {}

    def keep(rows: Rows, parts: int) -> Outcome:
        kept[rows.label] = [rows.number(attack=name) for name in attacks]
        return Outcome(SUPPORTED)

    datasets = LARGE | SMALL
    whole = on(source, "iha-tab-7", datasets, keep)
    if len(kept) < len(datasets):
        return whole
    gaps = [
        fewer.less(more, f"AUC of {name}, fewer less more records")
        for name, more, fewer in zip(attacks, *kept.values(), strict=True)
    ]
    outcome = every([much_better(gap, 0.01, parts=3) for gap in gaps]).on(*whole.datasets)
    return decided(outcome, dict(zip(kept, datasets, strict=True)))


@over("iha-tab-4", SMALL)
def loss_term(rows: Rows, parts: int) -> Outcome:
    """iha-c18: within (0, .02), that is within .01 of .01."""
    gain = rows.lead("IHA[loss,I1,I2]", "IHA[I1,I2]")
    return about(gain.minus(0.01, f"{gain.label}, less 0.01"), 0.01, parts=parts)


def _with_loss(rows: Rows, attack: str, records: str) -> Contrast:
    """Minus a rank correlation with the loss, as the paper has its sign."""
    whose = rows.number(metric=subjects.RANKS, attack=attack, records=records)
    label = f"minus the rank correlation of {attack} with the loss, {records}, {rows.label}"
    return whose.scaled(-1.0, label)


@over("iha-ctl-21", IMAGES, parts=3)
def falls_with_the_loss(rows: Rows, parts: int) -> Outcome:
    """iha-c19: the four terms, signed as in the score, fall with the loss in each group."""
    against = [_with_loss(rows, "IHA[I1,I2,I3,I4]", name) for name in RECORDS]
    return every([much_better(contrast, 0.0, parts=parts) for contrast in against])


@over("iha-ctl-21", IMAGES)
def positive_factor(rows: Rows, parts: int) -> Outcome:
    """iha-c20: the score is below 0 for most records."""
    label = "records whose score is below 0 (%)"
    share = rows.number(label, subjects.BELOW, attack="IHA[All]", records="all")
    return much_better(share, 50.0, parts=parts)


@over("iha-ctl-1", IMAGES)
def knowledge(rows: Rows, parts: int) -> Outcome:
    """With one gradient for members and others IHA gains nothing over LOSS."""
    return chance(rows.lead(EVERYONE, "LOSS"), 0.01, parts=parts)


@over("iha-ctl-3", IMAGES)
def own_reference(rows: Rows, parts: int) -> Outcome:
    """The target among its references raises LiRA."""
    return much_better(rows.lead(AMONG, "LiRA"), 0.01, parts=parts)


@over("iha-tab-2", IMAGES)
def ahead_without(rows: Rows, parts: int) -> Outcome:
    """Without the target among LiRA's references, IHA is ahead of it."""
    return better(rows.lead(EXACT, "LiRA"), 0.01, parts=parts)


@over("iha-tab-2", IMAGES, parts=2)
def ahead_on_images(rows: Rows, parts: int) -> Outcome:
    """IHA is ahead of LOSS and of SIF."""
    leads = [rows.lead(EXACT, name) for name in ("LOSS", "SIF")]
    return every([better(lead, 0.01, parts=parts) for lead in leads])


@over("iha-ctl-4", IMAGES)
def weight_decay(rows: Rows, parts: int) -> Outcome:
    """IHA* is ahead of IHA, paired by target."""
    gain = rows.number("AUC of IHA* less IHA", quantity="AUC, IHA* less IHA")
    return much_better(gain, 0.01, parts=parts)


@over("iha-tab-4", IMAGES)
def small_terms_on_images(rows: Rows, parts: int) -> Outcome:
    """I3 and I4 may be dropped on the images too."""
    return about(rows.lead("IHA[loss,I1,I2]", "IHA[All]"), 0.01, parts=parts)


CLAIMS = claims.read("iha", sys.modules[__name__])
