"""Promises of privacy held against what an audit proves: refuted, not refuted, or not tested."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from membership.arrays import is_number
from membership.errors import InputError

REFUTED, NOT_REFUTED, NOT_TESTED = "refuted", "not refuted", "not tested"
_SAID = {
    "epsilon": "The promise of differential privacy{whole} with an epsilon of {promised:g} at a "
    "delta of {delta:g}",
    "mu": "The promise of Gaussian privacy{whole} with a mu of {promised:g}",
}
WHOLE = " for a whole unit"
"""What a bound or a promise is of, where records were taken together."""
_ARTICLE = {"epsilon": "an epsilon", "mu": "a mu"}
_NO_BOUND = "memberships were not drawn, or fewer than four members or non-members were asked."
_BUDGET = (
    "Where what is assumed below holds, a promise that is kept is called refuted in at most "
    "{error:g}% of such audits. {sharing} share that error."
)


def checked(promised: Any, promised_mu: Any) -> dict[str, float]:
    """The promised levels by their notion, or an InputError where one is no positive number."""
    given = {"epsilon": ("promised", promised), "mu": ("promised_mu", promised_mu)}
    for notion, (name, value) in given.items():
        if value is not None and not (is_number(value) and 0 < value < np.inf):
            raise InputError(f"{name} = {value!r}: give {_ARTICLE[notion]} above 0, and finite")
    return {notion: float(value) for notion, (_, value) in given.items() if value is not None}


def held(
    promised: Mapping[str, float],
    bounds: dict[str, Any],
    delta: float,
    attacks: int,
    whole: bool = False,
) -> dict[str, Any]:
    """What a report says of promises beside its bounds; nothing where none was made.

    `whole` where the trials are units.
    """
    if not promised:
        return {}
    judged = []
    for notion, value in promised.items():
        said = {"notion": notion, "promised": value}
        said |= {"delta": delta} if notion == "epsilon" else {}
        verdict, rest = _judged(notion, value, bounds[f"{notion}_lower_bound"], attacks)
        sentence = f"{_SAID[notion].format(**said, whole=WHOLE * whole)} is {rest}"
        judged.append({**said, "verdict": verdict, "sentence": sentence})
    return {"promises": judged}


def _judged(
    notion: str, promised: float, bound: dict[str, Any] | None, attacks: int
) -> tuple[str, str]:
    """The verdict on a promise, and the sentence that can be signed from the verdict on."""
    of = _ARTICLE[notion]
    if bound is None:
        return NOT_TESTED, f"not tested: {_NO_BOUND}"
    if not bound["provable"]:
        return NOT_TESTED, f"not tested: {bound['reason'].removeprefix('0 proves nothing: ')}"
    value = f"{of} of at least {bound['value']:.3f}" if bound["value"] else f"no {notion} above 0"
    proved = f"{value} at a confidence of {100 * bound['level']:g}%"
    if bound["value"] > promised:
        by = "this attack proves" if attacks == 1 else "these attacks prove"
        return REFUTED, f"refuted: {by} {proved}."
    if bound["provable"] <= promised:
        return NOT_TESTED, (
            "not tested by these records: even an attack that is never wrong would prove no more "
            f"than {of} of {bound['provable']:.3f}."
        )
    by = "this attack, which proves" if attacks == 1 else "these attacks, which prove"
    return NOT_REFUTED, f"not refuted by {by} {proved}. Another attack may refute it."


def told(bounds: dict[str, Any]) -> list[str]:
    """The sentences on promises, and the budget of error that they share."""
    judged: Sequence[dict[str, Any]] = bounds["promises"]
    sentences = [one["sentence"] for one in judged]
    bound = bounds["epsilon_lower_bound"]
    if bound is None:
        return sentences
    attacks = bounds.get("different_attacks", 1)
    tries = "tries" if "design" in bounds else "thresholds"
    sharing = f"{bound['tried']} {tries}" + (f" of {attacks} attacks" if attacks > 1 else "")
    if len(judged) > 1:
        sharing = f"Two promises and {sharing}"
    error = round(100 * (1 - bound["level"]) * len(judged), 10)
    return [*sentences, _BUDGET.format(error=error, sharing=sharing)]
