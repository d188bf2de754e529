"""The tests of what gradient and loss attacks find beside a promise, from GMIP's Control 20."""

from collections.abc import Callable, Sequence

import pandas as pd

from membership.exhibits.source import Source
from membership.metrics.rate_names import tpr_label
from membership.published import Contrast, Outcome
from membership.published.claim_rules import bound, much_better
from membership.published.contrasts import Share
from membership.published.outcomes import CONTRADICTED, SUPPORTED, UNDECIDED, every, overall
from membership.published.rows import number, row_at
from membership.studies.loss_enough.claim_tests import paper

EXHIBIT, SIMULATED = "gmip-ctl-20", ("Purchase-like",)
PAPER = ("Adult",)
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
    table = paper(source, EXHIBIT)

    def test(name: str) -> Outcome:
        parts = [
            (attack, rate, stated) for attack in IN_ONE_STEP for rate in RATES for stated in BOUNDS
        ]
        return _below([_at(table, name, *part) for part in parts])

    return _over(table, test)


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
    table = paper(source, EXHIBIT)

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

    return _over(table, test)


def gradient_before_loss(source: Source) -> Outcome:
    """c09: GLiR's rates less those of the loss ratio with 16 shadow models, at three lengths."""
    table = paper(source, EXHIBIT)
    pair = "GLiR less LiRA, one variance, at most 16 shadow models"

    def test(name: str) -> Outcome:
        # All epochs are asked for where there are no rows of them, too.
        lengths = list(dict.fromkeys([*table.loc[table["data"] == name, "steps"], ALL]))
        parts = [(steps, rate) for steps in lengths for rate in RATES[:2]]
        leads = []
        for steps, rate in parts:
            label = f"{rate}, GLiR less the loss ratio, {steps}, {name}"
            where = {"data": name, "steps": steps, "attack": pair, "quantity": rate}
            leads.append(much_better(number(table, label, **where), 0.0, parts=len(parts)))
        return every(leads)

    return _over(table, test)


def _over(table: pd.DataFrame, test: Callable[[str], Outcome]) -> Outcome:
    names = dict.fromkeys(table["data"])
    sizes = "; ".join(f"{key.lower()}: {size}" for key, size in table.attrs["sizes"].items())
    outcomes = {name: test(name).on(f"{name}, {sizes}") for name in names}
    return overall(outcomes, PAPER, simulated=SIMULATED)
