"""The tests of what this chapter says of its games."""

from dataclasses import replace
from typing import Any

import numpy as np

from membership.published import Contrast, Outcome, claim_rules
from membership.published.outcomes import every
from membership.published.rows import number, rows_at
from membership.studies.loss_enough import played
from membership.studies.loss_enough.names import (
    ALL,
    APART,
    APART_BY,
    AUC,
    BEHIND,
    BEST_LOSS,
    BEST_PARAMETERS,
    COMPARED,
    CONDITION,
    CORRECTED,
    DECAY,
    ERROR,
    IHA_STAR,
    KNOWLEDGE_LESS_ACCESS,
    LOG_RATES,
    LOGISTIC,
    MEAN,
    PARAMETERS_LESS_LOSS,
    POSTERIOR,
    RESIDUAL,
    RIDGE,
    SGD,
    SPREAD,
    STEP,
    THRESHOLD_LESS_ACCESS,
)

POWERS, SHARES, CELLS = "loss-enough-fig-1", "loss-enough-fig-2", "loss-enough-tab-1"
KINDS, SUFFICIENT, LOSSES = "loss-enough-tab-2", "loss-enough-ctl-1", "loss-enough-ctl-2"
DECAYS, CONDITIONS, STEPS = (f"loss-enough-fig-{i}" for i in (5, 6, 7))
CORRECTED_BY = "AUC (points), IHA* less IHA"
# Points of AUC.
MARGIN = 1.0
TOLERANCE, RECOVERED = 1e-8, 1e-6


def loss_is_sufficient(source: Any) -> Outcome:
    """o01."""
    rows = rows_at(source.table(SUFFICIENT), optimiser=POSTERIOR, metric=SPREAD)
    label = "log-likelihood ratio + loss / T: largest spread in a game"
    return claim_rules.identity(rows["value"].to_numpy(), TOLERANCE, label).on(*rows["game"])


def loss_is_not_enough(source: Any) -> Outcome:
    """o02."""
    shares, kinds = source.table(SHARES), source.table(KINDS)
    label = "AUC (points), best on parameters less best on the loss"
    ridge = number(shares, f"{label}, ridge", share=1.0, attack=BEST_LOSS, metric=BEHIND)
    cell = {"optimiser": SGD, "others": ALL, "metric": AUC}
    best, loss = (
        number(kinds, attack=one, **cell).difference for one in (BEST_PARAMETERS, BEST_LOSS)
    )
    parts = [ridge, Contrast(f"{label}, logistic", best - loss)]
    found = [claim_rules.much_better(one, MARGIN, parts=2) for one in parts]
    return every(found).on(_games(shares), LOGISTIC)


def each_its_noise(source: Any) -> Outcome:
    """o03."""
    table = source.table(POWERS)
    tests = {-1.0: RESIDUAL, 0.0: BEST_LOSS, 1.0: IHA_STAR}
    found = []
    for exponent, attack in tests.items():
        label = f"AUC (points) behind the best at exponent {exponent:g}, {attack}"
        one = number(table, label, exponent=exponent, attack=attack, metric=BEHIND)
        found.append(claim_rules.about(one, MARGIN, parts=len(tests)))
    return every(found).on(_games(table))


def corrected_iha_leads(source: Any) -> Outcome:
    """o04."""
    table = source.table(SHARES)
    one = number(table, CORRECTED_BY, share=1.0, attack=CORRECTED, metric=AUC)
    return claim_rules.better(one, MARGIN).on(_games(table))


def corrected_iha_leads_at_first(source: Any) -> Outcome:
    """o04 at the weight decay that these games had at first."""
    table = source.table(DECAYS)
    one = _corrected(table, DECAY, played.DECAYS[-1])
    return claim_rules.better(one, MARGIN).on(_games(table))


def corrected_iha_leads_where_decay_is_large(source: Any) -> Outcome:
    """o10."""
    table = source.table(CONDITIONS)
    parts = [
        _corrected(source.table(DECAYS), DECAY, played.DECAYS[-1]),
        _corrected(table, CONDITION, played.ILL),
    ]
    found = [claim_rules.much_better(one, MARGIN, parts=2) for one in parts]
    return every(found).on(_games(table))


def _corrected(table: Any, name: str, value: float) -> Contrast:
    label = f"{CORRECTED_BY}, {name} {value:,g}"
    where = {name: value, "others": COMPARED, "attack": CORRECTED, "metric": APART_BY}
    return number(table, label, **where)


def knowledge_before_access(source: Any) -> Outcome:
    """o05; beside it larger steps where the Hessian is ill-conditioned."""
    table = source.table(STEPS)
    where = {"others": COMPARED, "attack": KNOWLEDGE_LESS_ACCESS}
    larger = [
        number(table, f"AUC (points), {RIDGE}, {SGD}, {STEP} {one:g}", **{STEP: one}, **where)
        for one in played.RATES
    ]
    return _beside(_compared(source, KNOWLEDGE_LESS_ACCESS, _better), larger)


def population_needs_loss_only(source: Any) -> Outcome:
    """o06."""
    return _compared(
        source,
        PARAMETERS_LESS_LOSS,
        lambda one, n: claim_rules.about(one, MARGIN, parts=n),
        optimiser=POSTERIOR,
    )


def threshold_before_parameters(source: Any) -> Outcome:
    """o07."""
    return _compared(
        source,
        THRESHOLD_LESS_ACCESS,
        _better,
        games=(MEAN, RIDGE),
        optimiser=POSTERIOR,
    )


def losses_are_parameters(source: Any) -> Outcome:
    """o08."""
    table = source.table(LOSSES)
    error = number(table, metric=ERROR).difference
    label = "largest error of a parameter, from losses"
    found = claim_rules.identity(np.array([error]), RECOVERED, label)
    return found.on(f"{RIDGE}, {table.attrs['sizes']['Games']} games")


def behind_at_low_rates(source: Any) -> Outcome:
    """o09."""
    table = source.table(SHARES)
    label = "log of the ratio of TPRs at 1% FPR, parameters over loss"
    one = number(table, label, share=1.0, attack=APART, metric=LOG_RATES)
    return claim_rules.much_better(one, float(np.log(1.25))).on(_games(table))


def _beside(outcome: Outcome, more: list[Contrast]) -> Outcome:
    """An outcome with contrasts that were looked at and decide nothing."""
    return replace(outcome, numbers=(*outcome.numbers, *more))


def _better(one: Contrast, parts: int) -> Outcome:
    return claim_rules.better(one, MARGIN, parts=parts)


def _compared(source: Any, label: str, rule: Any, games: tuple = (), **where: Any) -> Outcome:
    """A contrast of the two-by-two in each game and for each optimiser that has it."""
    table = source.table(CELLS)
    rows = rows_at(table, others=COMPARED, attack=label, **where)
    rows = rows[rows["game"].isin(games)] if games else rows
    found = []
    for row in rows.itertuples():
        key = {"game": row.game, "optimiser": row.optimiser}
        one = number(rows, f"AUC (points), {row.game}, {row.optimiser}", **key)
        found.append(rule(one, len(rows)).on(f"{row.game}, {row.optimiser}"))
    return every(found)


def _games(table: Any) -> str:
    return f"{RIDGE}, {table.attrs['sizes']['Games']} games"
