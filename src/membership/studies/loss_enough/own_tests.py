"""The test of what this chapter says of its games that its list of claims does not declare."""

from dataclasses import replace
from typing import Any

from membership.published import Outcome
from membership.published.claim_rules import better
from membership.published.outcomes import every
from membership.published.rows import number, rows_at
from membership.studies.loss_enough import played
from membership.studies.loss_enough.names import (
    COMPARED,
    KNOWLEDGE_LESS_ACCESS,
    RIDGE,
    SGD,
    STEP,
)


def knowledge_before_access(source: Any) -> Outcome:
    """o05; beside it, deciding nothing, larger steps where the Hessian is ill-conditioned."""
    where = {"others": COMPARED, "attack": KNOWLEDGE_LESS_ACCESS}
    rows, parts = rows_at(source.table("loss-enough-tab-1"), **where), []
    for row in rows.itertuples():
        cell = f"{row.game}, {row.optimiser}"
        lead = number(rows, f"AUC (points), {cell}", game=row.game, optimiser=row.optimiser)
        parts.append(better(lead, 1.0, parts=len(rows)).on(cell))
    steps, outcome = source.table("loss-enough-fig-7"), every(parts)
    larger = [
        number(steps, f"AUC (points), {RIDGE}, {SGD}, {STEP} {one:g}", **{STEP: one}, **where)
        for one in played.RATES
    ]
    return replace(outcome, numbers=(*outcome.numbers, *larger))
