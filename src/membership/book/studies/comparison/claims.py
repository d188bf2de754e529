"""What the chapter says of its bench, and the tests that its list of claims does not declare."""

import sys

from membership.book.exhibits import Source
from membership.book.published import Contrast, Outcome, claim_rules, claims
from membership.book.published.contrasts import Share
from membership.book.published.outcomes import overall, untested
from membership.book.published.rows import number, rows_at

LEVEL, MOST = 0.05, 0.10
LATER = ("Fashion-MNIST", "CIFAR-10 (patch features)", "Purchase-like (simulated)")
"""The data sets that the bench got after the first claims about it were decided."""
SIMULATED = LATER[-1:]
HIDDEN = 0.02


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


def base_leads(source: Source) -> Outcome:
    """o06."""
    return _later(source, "BASE less LiRA", 0.0)


def references_uncover(source: Source) -> Outcome:
    """o07."""
    return _later(source, "LiRA less LOSS", HIDDEN, target="strongly regularised MLP")


def _later(source: Source, attack: str, least: float, **where: str) -> Outcome:
    """A difference of two attacks' AUC on the data sets that came later, each above a number."""
    at = {"attack": attack, "metric": "AUC gained", **where}
    rows = rows_at(source.table("comparison-fig-1"), **at)
    outcomes = {
        name: claim_rules.much_better(
            number(rows, f"AUC, {attack}, {name}", dataset=name), least
        ).on(name)
        for name in LATER
        if name in set(rows["dataset"])
    }
    if not outcomes:
        return untested("it takes data sets that this run does not have")
    return overall(outcomes, LATER[:-1], simulated=SIMULATED)


CLAIMS = claims.read("comparison", sys.modules[__name__])
