"""What the papers say of each other, and what the games show: the tests that no list declares.

Most read other chapters' committed tables. A run of this chapter makes none of these: a reader's
own run tests none of them.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from membership.book import exhibits
from membership.book.exhibits.source import Source
from membership.book.published import Contrast, Outcome, claims
from membership.book.published.claim_rules import bound, exists, much_better
from membership.book.published.contrasts import Share
from membership.book.published.declared_tests import Terms, Test
from membership.book.published.outcomes import (
    CONTRADICTED,
    SUPPORTED,
    UNDECIDED,
    every,
    overall,
    untested,
)
from membership.book.published.rows import number, row_at, rows_at
from membership.book.studies.loss_enough import games
from membership.book.studies.loss_enough.names import RIDGE, SGD, STEP
from membership.errors import InputError
from membership.metrics.rate_names import tpr_label

IMAGES, SIMULATED = ("CIFAR-10", "CIFAR-100"), ("Purchase-like (simulated)", "Purchase-like")
COMMON = ("MNIST-Odd", "Fashion-MNIST", "Purchase-100")
# A rank correlation, and a reliability.
PREDICTS, RELIABLE = 0.3, 0.5


def paper(source: Source, exhibit_id: str) -> pd.DataFrame:
    """The paper-size table of an exhibit of another chapter, to a run of that size only."""
    if source.settings.profile != "paper":
        raise InputError(f"it reads {exhibit_id} at paper size, which no run of this chapter makes")
    return committed(exhibit_id)


def committed(exhibit_id: str) -> pd.DataFrame:
    """The paper-size table of an exhibit of another chapter."""
    product = exhibits.load(exhibit_id, "paper")
    if product is None:
        raise InputError(f"it takes the full run of {exhibit_id}")
    return product[0]


@dataclass(frozen=True)
class PaperTables:
    """The paper-size tables of other chapters, as a declared test asks for them."""

    source: Source

    def table(self, exhibit_id: str) -> pd.DataFrame:
        """See `paper`."""
        return paper(self.source, exhibit_id)


def on_images(test: Test, source: Source) -> Outcome:
    """An outcome on BMIA's data sets, none of which is CIFAR's own."""
    return _declared(test, source, IMAGES)


def on_common(test: Test, source: Source) -> Outcome:
    """One on the bench's."""
    return _declared(test, source, COMMON)


def on_purchase(test: Test, source: Source) -> Outcome:
    """One where the sentence is about Purchase-100(S) alone: other data decide nothing."""
    return _declared(test, source, COMMON[-1:])


def on_promises(test: Test, source: Source) -> Outcome:
    """One where a promise was made, with the sizes of its table."""
    return _declared(test, source, OF_PROMISES, f"{{over}}{_sizes(paper(source, test.table))}")


def _declared(test: Test, source: Source, paper_datasets: Sequence[str], *on: str) -> Outcome:
    terms = Terms(paper=tuple(paper_datasets), simulated=SIMULATED, on=on)
    outcome = test.model_copy(update={"terms": terms}).outcome(PaperTables(source))
    return outcome if test.over else overall({", ".join(test.on): outcome}, paper_datasets)


def _over(
    table: pd.DataFrame,
    test: Callable[[str], Outcome],
    paper_datasets: Sequence[str],
    column: str = "dataset",
    size: str = "",
) -> Outcome:
    """One outcome from those on each data set of a table, which it names with their size."""
    outcomes = {name: test(name).on(f"{name}{size}") for name in table[column].unique()}
    return overall(outcomes, paper_datasets, simulated=SIMULATED)


RATIO, ON_PARAMETERS = "loss ratio", ("IHA", "IHA*", "residual norm", "projection")


def parameters_or_loss(source: Source) -> Outcome:
    """c01: attacks on parameters less the likelihood ratio of the loss, in the clean game.

    At the paper's size where it was played at that, with fewer records and retrainings on others.
    An author would object that optimal inference may retrain too: the projection does.
    """
    outcomes: dict[str, Outcome] = {}
    for exhibit_id, game in (("iha-ctl-20", ""), ("iha-ctl-14", ", clean game")):
        table = paper(source, exhibit_id)
        for name in [name for name in table["dataset"].unique() if name not in outcomes]:
            leads = [_ahead_of_the_loss(table, attack, name) for attack in ON_PARAMETERS]
            sizes = f"{name}, {table.attrs['sizes'][name]}"
            outcomes[f"{name}{game}"] = exists(None, leads, 0.01).on(sizes)
    return overall(outcomes, COMMON)


def _ahead_of_the_loss(table: pd.DataFrame, attack: str, name: str) -> Contrast:
    """An attack's AUC less the likelihood ratio's; a table may have it the other way round."""
    rows = rows_at(table, dataset=name, metric="AUC, paired difference, pooled")
    if "schedule" in rows:
        rows = rows_at(rows, schedule="falling rate (the paper's)")
    label, lead = f"AUC of {attack} less {RATIO}, {name}", f"{attack} less {RATIO}"
    if (rows["attack"] == lead).any():
        return number(rows, label, attack=lead)
    return number(rows, attack=f"{RATIO} less {attack}").scaled(-1.0, label)


def parameters_or_all_losses(source: Source) -> Outcome:
    """c01 as it was fixed, which no attack could have passed."""
    return untested(
        "it takes 64 retrainings an arm; and losses on D' + z, which it allows, are the parameters"
    )


def leave_one_out_predicts(source: Source) -> Outcome:
    """c10: the corrected rank correlation of LOOD with the risk; its lead stands beside."""

    def judged(own: Contrast, lead: Contrast) -> Outcome:
        # The lead has an outcome of its own: it stands among the numbers.
        outcome, apart = much_better(own, PREDICTS), much_better(lead, 0.0)
        return replace(outcome, numbers=(*outcome.numbers, *apart.numbers))

    return _predicts(source, judged)


def leave_one_out_predicts_best(source: Source) -> Outcome:
    """c10 as it was: the correlation, and its lead over the best cheap predictor."""

    def judged(own: Contrast, lead: Contrast) -> Outcome:
        return every([much_better(own, PREDICTS, parts=2), much_better(lead, 0.0, parts=2)])

    return _predicts(source, judged)


def _predicts(source: Source, judged: Callable[[Contrast, Contrast], Outcome]) -> Outcome:
    table = paper(source, "comparison-fig-4")
    corrected = "rank correlation over the root of the reliability"

    def test(name: str) -> Outcome:
        reliable = number(table, dataset=name, metric="reliability of the risk").difference
        if reliable < RELIABLE:
            return untested(f"the risk's reliability on {name} is below one half")
        rows = rows_at(table, dataset=name, metric=corrected)
        rivals = rows[~rows["predictor"].str.startswith("LOOD")]
        cheap = rivals.loc[rivals["value"].idxmax(), "predictor"]
        at = {"dataset": name, "metric": corrected}
        label = f"rank correlation over root of reliability, LOOD, {name}"
        own = number(table, label, predictor="LOOD, KL at the record", **at)
        other = number(table, predictor=cheap, **at)
        return judged(own, own.less(other, f"the same, LOOD less {cheap}, {name}"))

    return _over(table, test, COMMON)


def distance_caps_attacks(source: Source) -> Outcome:
    """c11: the exact AUC at each record of a Gaussian process against the cap from KL."""
    rows = rows_at(paper(source, "lood-fig-1"), panel="LOOD and the attack", series="process")
    distance = np.sqrt(-np.expm1(-rows["x"].to_numpy()))
    excess = rows["y"].to_numpy() - (0.5 + distance - distance**2 / 2)
    excesses = [
        Contrast(f"AUC less its cap, record {record}", float(above))
        for record, above in enumerate(excess)
    ]
    # Nothing is to lie above the cap: no margin.
    return bound(excesses, 0.0).on(f"draws of the process, {len(excess)} records, exact AUC")


def beside_larger_steps(test: Test, source: Source) -> Outcome:
    """o05 as declared; beside it, deciding nothing, larger steps at an ill-conditioned Hessian."""
    rows, outcome = rows_at(source.table("loss-enough-fig-7"), **test.where), test.outcome(source)
    larger = [
        number(rows, f"AUC (points), {RIDGE}, {SGD}, {STEP} {rate:g}", **{STEP: rate})
        for rate in games.RATES
    ]
    return replace(outcome, numbers=(*outcome.numbers, *larger))


# What gradient and loss attacks find beside a promise.
PROMISED, OF_PROMISES = "gmip-ctl-20", ("Adult",)
RATES = tuple(map(tpr_label, (0.001, 0.01, 0.1)))
ONE, ALL = "one step", "all epochs"
IN_ONE_STEP = (
    "GLiR",
    "GLiR, moments of up to 20,000 records",
    "likelihood ratio, moments of up to 20,000 records",
    "LiRA",
)
BOUNDS = ("promised, K = d", "promised, K measured")
DECIDING = ("LOSS", "LiRA", "RMIA", "BMIA")
MORE = 1.25
"""What a rate may be of its bound where the claim is to be supported."""


def attacks_below_the_curve(source: Source) -> Outcome:
    """c07: the members that each attack finds after one step, against both bounds."""
    table = paper(source, PROMISED)

    def test(name: str) -> Outcome:
        parts = [
            (attack, rate, stated) for attack in IN_ONE_STEP for rate in RATES for stated in BOUNDS
        ]
        return _below([_at(table, name, *part) for part in parts])

    return _over(table, test, OF_PROMISES, "data", _sizes(table))


Part = tuple[Share, Contrast, float]


def _at(table: pd.DataFrame, name: str, attack: str, rate: str, stated: str) -> Part:
    """The share of members found, with exact limits; the rate over targets; and the bound."""
    where = {"data": name, "steps": ONE, "quantity": rate}
    row, limit = (row_at(table, attack=key, **where) for key in (attack, stated))
    label = (
        f"{rate.removesuffix(' (%)')}, {attack}, over {stated.removeprefix('promised, ')}, {name}"
    )
    found = Share.count(int(row["found"]), int(row["asked"]), label)
    return found, number(table, attack=attack, **where).scaled(0.01, label), limit["value"] / 100


def _below(parts: Sequence[Part]) -> Outcome:
    """Supported by all upper limits, contradicted by one lower limit that targets confirm."""
    level = 1 - 0.05 / len(parts)
    above = [
        found.minus(limit)
        for found, over_targets, limit in parts
        if min(found.interval(level)[0], over_targets.interval(level)[0]) > limit
    ]
    if above:
        worst = max(above, key=lambda excess: excess.difference)
        reason = f"above at {len(above)} of {len(parts)}"
        return Outcome(CONTRADICTED, (), (worst,), reason, parts=len(parts))
    nearest = max(parts, key=lambda part: part[0].interval(level)[1] / part[2])
    number_shown = (nearest[0].minus(nearest[2]),)
    if all(found.interval(level)[1] < MORE * limit for found, _, limit in parts):
        return Outcome(SUPPORTED, (), number_shown, f"at {len(parts)} points")
    return Outcome(UNDECIDED, (), number_shown, "the interval is too wide")


def losses_below_equation_10(source: Source) -> Outcome:
    """c08: what the loss attacks find after all epochs less what Equation 10 allows."""
    table = paper(source, PROMISED)

    def test(name: str) -> Outcome:
        where = {"data": name, "steps": ALL}
        excesses = []
        for rate in RATES:
            limit = row_at(table, attack="promised, Equation 10", quantity=rate, **where)["value"]
            for attack in DECIDING:
                label = f"{rate}, {attack} less the level, {name}"
                found = number(table, label, attack=attack, quantity=rate, **where)
                excesses.append(found.minus(limit))
        return bound(excesses, 0.0)

    return _over(table, test, OF_PROMISES, "data", _sizes(table))


def _sizes(table: pd.DataFrame) -> str:
    return ", " + "; ".join(f"{key.lower()}: {size}" for key, size in table.attrs["sizes"].items())


CLAIMS = claims.read("loss_enough", sys.modules[__name__])
