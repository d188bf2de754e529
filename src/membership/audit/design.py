"""How memberships came about, which decides what bounds a report may state."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from membership import privacy
from membership.arrays import BoolArray, FloatArray
from membership.privacy import one_run
from membership.privacy.lower_bounds import n_thresholds

TRIALS, COINS = "trials", "coins"
DESIGNS = (TRIALS, COINS)

_STATED = (
    "Whoever ordered this audit states that each {one} was included by its own fair coin, and "
    "that nothing else told the model or the attack how the coins fell."
)
_TRIED = (
    "{inside} of {total} {one}s are members. A two-sided binomial test of a fair coin gives "
    "p = {p:.2g}; below {least:g} the audit refuses."
)
_NO_TEST = "Coins that were not tossed {one} by {one} can pass that test."
_FEW = (
    "0 proves nothing: {members} members and {others} others are too few. An attack that is never "
    "wrong would have a bound of 0 too, at this confidence and delta."
)
_TIED = (
    "0 proves nothing: {tied} of {total} records share a score, which hides what there is to find."
)
_CHANCE = (
    "0 proves nothing: at no threshold were more guesses right than chance allows. A stronger "
    "attack, or more records, may prove more."
)
Cases = Sequence[tuple[FloatArray, BoolArray]]
"""Scores and truth of each attack, target or both whose bounds share the error."""
Pair = tuple[float, float]
"""Of epsilon, and of mu."""


def proved(
    cases: Cases,
    level: float,
    delta: float,
    drawn: str = TRIALS,
    *,
    tossed: str | None = None,
    void: str | None = None,
    one: str = "record",
) -> dict[str, Any]:
    """The largest bounds as a report has them, at a confidence for all cases at once.

    `drawn` is one of `DESIGNS`; `tossed` says how the audit itself tossed the coins, where it did,
    `void` why records are no trials of the design, where they are none, and `one` what a trial is.
    """
    shared = 1 - (1 - level) / len(cases)
    of_epsilon, of_mu = _BOUNDS[drawn]

    def largest(cases: Cases) -> Pair:
        epsilon = [of_epsilon(*case, delta=delta, level=shared) for case in cases]
        return max(epsilon), max(of_mu(*case, level=shared) for case in cases)

    sizes = {(int(truth.sum()), truth.size): truth for _, truth in cases}
    perfect = [(truth.astype(float), truth) for truth in sizes.values()]
    pair, most = ((0.0, 0.0),) * 2 if void else (largest(cases), largest(perfect))
    tried = sum(
        len(one_run.tries_for(truth.size)) if drawn == COINS else n_thresholds(truth)
        for _, truth in cases
    )
    bounds = _stated(pair, most, _reasons(pair, most, cases, drawn, void), level, delta, tried)
    if drawn == TRIALS:
        return bounds
    reason = bounds["epsilon_lower_bound"]["reason"]
    return {**bounds, "design": _tossed([*sizes.values()], reason, tossed, one)}


_BOUNDS: dict[str, tuple[Callable[..., float], Callable[..., float]]] = {
    TRIALS: (privacy.epsilon_lower_bound, privacy.mu_lower_bound),
    COINS: (privacy.one_run_epsilon, privacy.one_run_mu),
}


def _tossed(
    truths: Sequence[BoolArray], reason: str | None, tossed: str | None, one: str
) -> dict[str, Any]:
    """What is said of the coins; of several targets' the least likely."""
    tries = [each for truth in truths for each in one_run.tries_for(truth.size)]
    p, odd = min(((one_run.fair(truth), truth) for truth in truths), key=lambda pair: pair[0])
    numbers = {"inside": int(odd.sum()), "total": odd.size, "least": one_run.UNFAIR, "p": p}
    stated = [text.format(one=one, **numbers) for text in (_STATED, _TRIED, _NO_TEST)]
    return {
        "name": COINS,
        "guesses": sorted({two.made for two in tries if two.high and two.low}, reverse=True),
        "one_sided": sorted({low.made for low in tries if not low.high}, reverse=True),
        "fair_coin_p": p,
        "assumed": [tossed] if tossed else stated,
        "reason": reason,
    }


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


def _reasons(
    pair: Pair, most: Pair, cases: Cases, drawn: str, void: str | None
) -> list[str | None]:
    """Why each bound is 0, where it is; `most` is what an attack that is never wrong has."""
    return [
        None if value else void or _reason(best, cases, drawn)
        for value, best in zip(pair, most, strict=True)
    ]


def _reason(best: float, cases: Cases, drawn: str) -> str:
    """Why nothing is proved of distinct records."""
    if not best:
        truth = max((truth for _, truth in cases), key=len)
        members = int(truth.sum())
        return _FEW.format(members=members, others=truth.size - members)
    tied = [(int(np.unique(score, return_counts=True)[1].max()), score.size) for score, _ in cases]
    if drawn == TRIALS and all(2 * most > size for most, size in tied):
        return _TIED.format(tied=max(tied)[0], total=max(tied)[1])
    return _CHANCE
