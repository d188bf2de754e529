"""The tests of what this chapter says of its bench."""

from typing import Any

import pandas as pd

from membership.published import Contrast, Outcome, claim_rules
from membership.published.contrasts import Share
from membership.published.outcomes import every, untested
from membership.published.rows import number, rows_at

BOUNDS, NULLS, RECORDS = "comparison-tab-5", "comparison-ctl-4", "comparison-ctl-3"
THRESHOLDS, DISCOVERIES = "comparison-tab-3", "comparison-tab-6"
LEVEL, MOST = 0.05, 0.10
# Points.
MARGIN, DISCOVERED = 2.0, 10.0
ABOVE, PAIR = "records with an FPR above 20% (%)", "LOSS - LiRA offline"
CALIBRATED = ("LiRA", "LiRA offline", "Attack-R")


def bounds_hold(source: Any) -> Outcome:
    """o01."""
    table = source.table(BOUNDS)
    stated = table[table["metric"] == "stated mu (differential privacy)"]
    if stated.empty:
        return untested("it takes a private target")
    excesses, on = [], []
    for one in stated.itertuples():
        where = {"dataset": one.dataset, "target": one.target}
        bound = number(table, metric="lower bound on mu", **where)
        on.append(f"{one.dataset}, {one.target}")
        excesses.append(
            Contrast(f"bound on mu less stated mu, {on[-1]}", bound.difference - one.value)
        )
    return claim_rules.bound(excesses, 0.0).on(*on)


def nulls_hold(source: Any) -> Outcome:
    """o02."""
    rows = rows_at(source.table(NULLS), null="membership permuted")
    label = "share of intervals without one half, less 5%, {}"
    found = [
        Share.count(
            round(one.value / 100 * one.n_repeats), one.n_repeats, label.format(one.attack), LEVEL
        )
        for one in rows.itertuples()
    ]
    return claim_rules.bound(found, MOST - LEVEL).on("all cells that were taken")


def thresholds_are_unequal(source: Any) -> Outcome:
    """o03: both attacks are asked the same records."""
    table = source.table(RECORDS)
    label, sets = "points of records above 20%, LOSS - offline LiRA, {}", _sets(table)
    found = [
        claim_rules.better(
            number(table, label.format(name), dataset=name, attack=PAIR, metric=ABOVE),
            MARGIN,
            parts=len(sets),
        )
        for name in sets
    ]
    return every(found).on(*sets)


def thresholds_are_unequal_unpaired(source: Any) -> Outcome:
    """o03 as it was: as if the two attacks were asked different records."""
    table = source.table(RECORDS)
    sets = _sets(table)
    found = []
    for name in sets:
        loss, own = (
            number(table, dataset=name, attack=one, metric=ABOVE)
            for one in ("LOSS", "LiRA offline")
        )
        lead = loss.less(own, f"points of records above 20%, LOSS - offline LiRA, {name}")
        found.append(claim_rules.better(lead, MARGIN, parts=len(sets)))
    return every(found).on(*sets)


def thresholds_keep(source: Any) -> Outcome:
    """o04."""
    table, found = source.table(THRESHOLDS), []
    levels = {"1%": 1.0, "5%": 5.0}
    for word, nominal in levels.items():
        for attack in CALIBRATED:
            label = f"realised FPR less {word} (points), {attack}"
            where = {"nominal FPR": word, "attack": attack, "metric": "realised FPR (%)"}
            one = number(table, label, **where).minus(nominal, label)
            parts = len(levels) * len(CALIBRATED)
            found.append(claim_rules.about(one, nominal / 4, parts=parts))
    return every(found).on("averaged over one cell of each data set")


def discoveries_hold(source: Any) -> Outcome:
    """o05."""
    table = source.table(DISCOVERIES)
    name = "LiRA offline, conformal by references"
    rows = table[(table["p-values"] == name) & (table["metric"] == "false discoveries (%)")]
    sets, found = _sets(rows), []
    for one in sets:
        label = f"false discoveries (%), {one}"
        share = number(rows, label, dataset=one)
        found.append(claim_rules.chance(share, DISCOVERED, parts=len(sets)))
    return every(found).on(*sets)


def _sets(table: pd.DataFrame) -> list[str]:
    return list(dict.fromkeys(table["dataset"]))
