"""What the chapter says of its bench, and the tests that its list of claims does not declare."""

import sys

from membership.exhibits import Source
from membership.published import Contrast, Outcome, claim_rules, claims
from membership.published.contrasts import Share
from membership.published.outcomes import untested
from membership.published.rows import number, rows_at

LEVEL, MOST = 0.05, 0.10


def bounds_hold(source: Source) -> Outcome:
    """o01."""
    table = source.table("comparison-tab-5")
    stated = table[table["metric"] == "stated mu (differential privacy)"]
    if stated.empty:
        return untested("it takes a private target")
    excesses, on = [], []
    for row in stated.itertuples():
        where = {"dataset": row.dataset, "target": row.target}
        bound = number(table, metric="lower bound on mu", **where)
        on.append(f"{row.dataset}, {row.target}")
        label, excess = f"bound on mu less stated mu, {on[-1]}", bound.difference - row.value
        excesses.append(Contrast(label, excess, is_limit=True))
    return claim_rules.bound(excesses, 0.0).on(*on)


def nulls_hold(source: Source) -> Outcome:
    """o02."""
    rows = rows_at(source.table("comparison-ctl-4"), null="membership permuted")
    label = "share of intervals without one half, less 5%, {}"
    shares = [
        Share.count(
            round(row.value / 100 * row.n_repeats), row.n_repeats, label.format(row.attack), LEVEL
        )
        for row in rows.itertuples()
    ]
    return claim_rules.bound(shares, MOST - LEVEL).on("all cells that were taken")


CLAIMS = claims.read("comparison", sys.modules[__name__])
