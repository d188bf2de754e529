"""How memberships came about, which decides what bounds a report may state."""

from typing import Any

import numpy as np

from membership import privacy
from membership.arrays import one_of
from membership.audit.reading import Scored
from membership.privacy import one_run
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
    "0 proves nothing: {total} records are too few. Even if every guess were right, no bound would "
    "be above 0 at this confidence and delta."
)
_TIED = (
    "0 proves nothing: so many records share a score that the guesses are not better than chance."
)
_CHANCE = "0 proves nothing: chance could have guessed as well."


def check(design: str) -> None:
    """Raise an InputError unless a design is one of the two."""
    one_of("design", design, DESIGNS)


def bounds_of(scored: Scored, level: float, delta: float, design: str) -> dict[str, Any]:
    """Both bounds, how many tests share their error, and what is said of the design of coins."""
    score, member = scored.score, scored.member
    if design == TRIALS:
        return {
            "epsilon": privacy.epsilon_lower_bound(score, member, delta=delta, level=level),
            "mu": privacy.mu_lower_bound(score, member, level=level),
            "tried": n_thresholds(member),
            "told": {},
        }
    epsilon = privacy.one_run_epsilon(score, member, delta=delta, level=level)
    mu = privacy.one_run_mu(score, member, level=level)
    counts = one_run.counts_for(score.size)
    numbers = {"inside": int(member.sum()), "total": score.size, "least": one_run.UNFAIR}
    fair = one_run.fair(member)
    told = {
        "name": COINS,
        "guesses": counts,
        "fair_coin_p": fair,
        "assumed": [_STATED, _TRIED.format(**numbers, p=fair), _NO_TEST],
        "reason": None if epsilon else _reason(scored, level, delta, counts),
    }
    return {"epsilon": epsilon, "mu": mu, "tried": len(counts), "told": {"design": told}}


def _reason(scored: Scored, level: float, delta: float, counts: list[int]) -> str:
    """Why nothing is proved of epsilon."""
    error, total = (1 - level) / len(counts), scored.score.size
    if all(one_run.chance(total, count, count, 0.0, delta) > error for count in counts):
        return _FEW.format(total=total)
    _, shared = np.unique(scored.score, return_counts=True)
    return _TIED if 2 * shared.max() > total else _CHANCE
