"""Who may be named as a member, with a stated share of the names wrong on average."""

from typing import Any

import numpy as np

from membership.arrays import BoolArray, FloatArray, is_number
from membership.audit.reading import Scored
from membership.errors import InputError

FDR = 0.1
_SOME = (
    "{count} of {members} members stand on a list of names of which at most {wrong:.3g}% are wrong "
    "on average, where {members} of {tested} who may be named are members."
)
_NOBODY = (
    "Nobody can be named by these scores, if at most {wrong:.3g}% of the names may be wrong on "
    "average where {members} of {tested} who may be named are members. Single records may be "
    "exposed all the same."
)
_SHARED = (
    " These {wrong:.3g}% are what is left of the {asked:g}% that were asked for: the choice among "
    "{attacks} attacks costs the rest."
)
ASSUMED = (
    "An accuser is supposed to know the scores of non-members like these, and to decide on the "
    "members and on as many further non-members. These have to be drawn like the known ones, and "
    "independently of each other; where members are rarer, more of the names are wrong."
)
NO_RATE = (
    "No record's own false-positive rate is counted here: that takes models which were trained "
    "without it. A record that every model finds easy can stand on such a list without being a "
    "member."
)
RATE = (
    "A record's own rate is counted over models that were trained without it. A name that scores "
    "as high in many of them shows the record, and not its membership."
)


def checked(fdr: Any) -> float:
    """A share of false discoveries, or an InputError."""
    if not is_number(fdr) or not 0 < fdr < 1:
        raise InputError(f"fdr = {fdr!r}: give a share of wrong names above 0 and below 1")
    return float(fdr)


def p_values(score: FloatArray, member: BoolArray) -> FloatArray:
    """Of each member, the share of non-members, and itself, that score at least as high.

    Of a further non-member it is below any level no more often than that level, whatever the
    distribution of the scores (conformal p-values: Bates et al. 2023).
    """
    known = np.sort(score[~member])
    below = np.searchsorted(known, score[member], side="left")
    return (1 + known.size - below) / (1 + known.size)


def places(score: FloatArray, member: BoolArray, fdr: float) -> np.ndarray:
    """Which members Benjamini and Hochberg's procedure names, among their own order.

    The p-values of the further non-members are not seen, and counted as 1: whoever is named stays
    named, whatever they are.
    """
    p, tested = p_values(score, member), score.size
    rising = np.sort(p)
    passed = np.flatnonzero(rising <= fdr * np.arange(1, p.size + 1) / tested)
    return np.flatnonzero(p <= rising[passed[-1]]) if passed.size else passed


def named(scored: Scored, fdr: float) -> dict[str, Any]:
    """What a report says of who may be named, the highest scores first; ties by the name."""
    score, member = scored.score, scored.member
    assert scored.record is not None
    found = np.flatnonzero(member)[places(score, member, fdr)]
    known = score[~member]
    listed = sorted(found, key=lambda row: (-score[row], str(scored.record[row])))
    above = known.size - np.searchsorted(np.sort(known), score[listed], side="left")
    count, members = len(listed), int(member.sum())
    told = _SOME if count else _NOBODY
    shown = {"wrong": 100 * fdr, "members": members, "tested": member.size}
    return {
        "fdr": fdr,
        "members": count,
        "sentence": told.format(count=count, **shown),
        "assumed": ASSUMED,
        "records": [
            {
                "record": str(scored.record[row]),
                "score": float(score[row]),
                "p": (1 + int(high)) / (1 + known.size),
            }
            for row, high in zip(listed, above, strict=True)
        ],
    }


def shared(who: dict[str, Any], asked: float, attacks: int) -> None:
    """Say why the share is not what was asked for, where the attack was chosen among several."""
    if attacks > 1:
        told = {"wrong": 100 * who["fdr"], "asked": 100 * asked, "attacks": attacks}
        who["sentence"] += _SHARED.format(**told)
