"""How memberships came about, which decides what bounds a report may state."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from membership import privacy
from membership.arrays import BoolArray, FloatArray
from membership.audit.reading import Scored
from membership.privacy import lower_bounds
from membership.privacy.lower_bounds import n_thresholds

TRIALS, COINS = "trials", "coins"
DESIGNS = (TRIALS, COINS)

_STATED = (
    "Whoever ordered this audit states that each record was included by its own fair coin, and "
    "that nothing else told the model or the attack how the coins fell."
)
_TRIED = (
    "{inside} of {total} records are members. A two-sided binomial test of a fair coin gives "
    "p = {p:.2g}; below {least:g} the audit refuses."
)
_NO_TEST = "Coins that were not tossed record by record can pass that test."
_FEW = (
    "0 proves nothing: {members} members and {others} others are too few. An attack that is never "
    "wrong would have a bound of 0 too, at this confidence and delta."
)
_TIED = (
    "0 proves nothing: {tied} of {total} records share a score, which hides what there is to find."
)
_CHANCE = (
    "0 proves nothing: chance could have done as well. A stronger attack, or more records, may "
    "prove more."
)
Cases = Sequence[tuple[FloatArray, BoolArray]]
"""Scores and truth of each attack, target or both whose bounds share the error."""
Pair = tuple[float, float]
"""Of epsilon, and of mu."""


def bounds_of(scored: Scored, level: float, delta: float, design: str) -> dict[str, Any]:
    """Both bounds as a report has them, and what is said of the design of coins."""
    cases = [(scored.score, scored.member)]
    if design == TRIALS:
        return trials(cases, level, delta)
    score, member = cases[0]

    def proved(score: Any) -> Pair:
        epsilon = privacy.one_run_epsilon(score, member, delta=delta, level=level)
        return epsilon, privacy.one_run_mu(score, member, level=level)

    counts = lower_bounds.counts_for(score.size)
    numbers = {"inside": int(member.sum()), "total": score.size, "least": lower_bounds.UNFAIR}
    fair = lower_bounds.fair(member)
    pair = proved(score)  # It refuses coins that are not fair.
    most = proved(member)
    bounds = _stated(pair, most, _reasons(pair, most, cases, None), level, delta, len(counts))
    stated = {
        "name": COINS,
        "guesses": counts,
        "fair_coin_p": fair,
        "assumed": [_STATED, _TRIED.format(**numbers, p=fair), _NO_TEST],
        "reason": bounds["epsilon_lower_bound"]["reason"],
    }
    return {**bounds, "design": stated}


def trials(cases: Cases, level: float, delta: float, void: str | None = None) -> dict[str, Any]:
    """The largest bounds of independent trials, at a confidence for all of them at once.

    `void` says why records are no such trials, where they are none.
    """
    shared = 1 - (1 - level) / len(cases)

    def largest(cases: Cases) -> Pair:
        epsilon = [privacy.epsilon_lower_bound(*case, delta=delta, level=shared) for case in cases]
        return max(epsilon), max(privacy.mu_lower_bound(*case, level=shared) for case in cases)

    sizes = {(int(truth.sum()), truth.size): truth for _, truth in cases}
    perfect = [(truth.astype(float), truth) for truth in sizes.values()]
    pair, most = ((0.0, 0.0),) * 2 if void else (largest(cases), largest(perfect))
    tried = sum(n_thresholds(truth) for _, truth in cases)
    return _stated(pair, most, _reasons(pair, most, cases, void), level, delta, tried)


def _stated(
    pair: Pair, most: Pair, reasons: Sequence[str | None], level: float, delta: float, tried: int
) -> dict[str, dict[str, Any]]:
    """The bounds on epsilon and mu as a report has them."""
    shared = {"level": level, "delta": delta, "tried": tried}
    epsilon, mu = (
        {"value": value, **shared, "provable": provable, "reason": reason}
        for value, provable, reason in zip(pair, most, reasons, strict=True)
    )
    meant = privacy.gaussian_epsilon(pair[1], delta) if delta else None
    return {"epsilon_lower_bound": epsilon, "mu_lower_bound": mu | {"epsilon": meant}}


def _reasons(pair: Pair, most: Pair, cases: Cases, void: str | None) -> list[str | None]:
    """Why each bound is 0, where it is; `most` is what an attack that is never wrong has."""
    return [
        None if value else void or _reason(best, cases)
        for value, best in zip(pair, most, strict=True)
    ]


def _reason(best: float, cases: Cases) -> str:
    """Why nothing is proved of distinct records."""
    if not best:
        truth = max((truth for _, truth in cases), key=len)
        members = int(truth.sum())
        return _FEW.format(members=members, others=truth.size - members)
    tied = [(int(np.unique(score, return_counts=True)[1].max()), score.size) for score, _ in cases]
    if all(2 * most > size for most, size in tied):
        return _TIED.format(tied=max(tied)[0], total=max(tied)[1])
    return _CHANCE
