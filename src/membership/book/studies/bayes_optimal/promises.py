"""What Property 2 promises for each record of Table 2's networks, beside what is found.

Definition 3 takes a record's mean loss under networks that were trained without it, less its loss
under the target. Reference networks that did not see the record (OUT) stand for these, although
they were trained on halves of their own and not on the target's: that is the paper's mean field
(Section 4.1), p_T being the same for all training sets T. Then epsilon is a difference, and delta
is 0. With one network a training set, its mean over p_T cannot be told from its mean over T. The
other end is therefore tried as well, where each network is all of its p_T: delta is the share of
OUT networks whose loss exceeds the target's by more than epsilon, and the best epsilon is taken.

A promise bounds the chance of membership given the target and the record. So among records that
are sorted by what does not depend on the target's own coin, no larger share may be members than is
promised on average. One half of the references sorts, and the other promises, or records whose
promise is small by chance would be sought out.
"""

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.special import expit, logsumexp

from membership import plots
from membership.arrays import BoolArray, FloatArray
from membership.book.exhibits.rows import over_units
from membership.book.exhibits.tidy import tidy
from membership.book.studies.bayes_optimal import network_tables
from membership.book.studies.bayes_optimal.names import ACCURACY, MEMBERS, SHADOW
from membership.book.studies.bayes_optimal.networks import ReferenceGame, Target

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Readings of Definition 3's posterior, where reference models stand for it.
ONE_LAW, OWN_LAW = "Property 2, one law of networks", "Property 2, each network a law"
THEOREM = "Theorem 2, one law of networks"
EMPTY, SEEN = "promise of 100% or more(%)", "members"
PROMISED, EXCESS = "promised(%)", "members less promised(points)"
ALLOWED = f"{ONE_LAW} less MALT"
# Promised alike at every temperature: epsilon is 0.
NOTHING = "loss at or above the references' mean"
EVERYONE, OTHERS = "all", "others"
HALF = 50.0
# In percent; finer where the promise is small. Theorem 2 is no bound, and also goes below a half.
BOUND, PROBABILITY = (50, 51, 52, 55, 60, 70, 80, 90, 100), tuple(range(0, 101, 10))
# Beside 1, on either side of it.
TEMPERATURES = (0.1, 3.0)
NOTE = (
    "A record's epsilon is the mean loss of the reference models trained without it, about half of "
    "them, less its loss under the target. That takes models trained on other halves for models "
    "trained again on the target's own records (the paper's mean field, Section 4.1), and a "
    "temperature of 1. One model a training set cannot tell delta from the spread of training. "
    '"Each network a law" takes all spread for that of training sets.'
)
ATTACKS = ("0-1", SHADOW, "MALT", "MAST")


def one_law(loss: FloatArray, outside: FloatArray, _: FloatArray) -> FloatArray:
    """lambda + epsilon / 4, in percent, epsilon being the mean OUT loss less the target's, or 0."""
    return HALF + 25 * np.maximum(np.nanmean(outside, 0) - loss, 0)


def own_law(loss: FloatArray, outside: FloatArray, chosen_by: FloatArray) -> FloatArray:
    """lambda + epsilon / 4 + delta, in percent, at the epsilon that some networks call best."""
    best, least = np.zeros(len(loss)), np.full(len(loss), np.inf)
    for candidate in np.vstack([np.zeros(len(loss)), chosen_by - loss]):
        epsilon = np.fmax(candidate, 0)
        own = 25 * epsilon + 100 * _beyond(loss, chosen_by, epsilon)
        better = own < least
        best, least = np.where(better, epsilon, best), np.where(better, own, least)
    return HALF + 25 * best + 100 * _beyond(loss, outside, best)


def theorem(
    loss: FloatArray, outside: FloatArray, _: FloatArray, *, temperature: float = 1.0
) -> FloatArray:
    """The probability of Theorem 2 itself, in percent, its integral a mean over OUT networks."""
    energy = np.where(np.isnan(outside), -np.inf, -outside / temperature)
    tau = np.log(np.isfinite(outside).sum(0)) - logsumexp(energy, axis=0)
    return 100 * expit(tau - loss / temperature)


def _beyond(loss: FloatArray, outside: FloatArray, epsilon: FloatArray) -> FloatArray:
    """delta: the share of OUT networks whose loss exceeds the target's by more than epsilon."""
    return (outside - loss > epsilon + 1e-12).sum(0) / np.isfinite(outside).sum(0)


READINGS: dict[str, Callable[[FloatArray, FloatArray, FloatArray], FloatArray]] = {
    ONE_LAW: one_law,
    OWN_LAW: own_law,
    THEOREM: theorem,
    **{
        f"{THEOREM}, T = {temperature:g}": functools.partial(theorem, temperature=temperature)
        for temperature in TEMPERATURES
    },
}


def control_18(game: ReferenceGame) -> pd.DataFrame:
    """Members found and promised, by promise, and the accuracy that promises allow an attack.

    Temperature is 1 where none is named. Chances of membership average one half. So no attack is
    right more often than one half and twice the mean excess of the promises, each at most 1, over
    one half. A row's ``promised`` is the mean promise of its records.
    """
    reached = network_tables.per_target(game, halves=False)
    reached = reached[(reached["metric"] == ACCURACY) & reached["attack"].isin(ATTACKS)]
    rows = [reached.assign(records=EVERYONE)]
    malt = reached[reached["attack"] == "MALT"].set_index("target")["value"]
    for number, target in enumerate(game.targets()):
        own = pd.DataFrame([*_totals(target, float(malt[number])), *_sorted(target)])
        rows.append(own.assign(target=number))
    keys = ["attack", "records", "metric"]
    table = pd.concat(rows)
    complete = table.groupby(keys)["value"].transform("count") == len(game.attacked)
    table = table[complete]
    share = table["metric"].isin([ACCURACY, MEMBERS, EMPTY]) & (table["attack"] != ALLOWED)
    whole = over_units(table[share], keys, lowest=0.0, highest=100.0)
    summary = pd.DataFrame([*whole, *over_units(table[~share], keys)])
    promised = summary[summary["metric"] == PROMISED].set_index(["attack", "records"])["value"]
    at = pd.MultiIndex.from_frame(summary[["attack", "records"]])
    summary.insert(3, "promised", promised.reindex(at).to_numpy())
    return tidy([summary[summary["metric"] != PROMISED]], game.attrs | {"note": NOTE})


def control_18_drawn(table: pd.DataFrame) -> "Figure":
    """Control 18: the share of members over the promised one, on the line where they are equal."""
    at_one = table["attack"].isin([ONE_LAW, OWN_LAW, THEOREM])
    shown = table[at_one & (table["metric"] == MEMBERS) & table["promised"].notna()]
    shown = shown.assign(panel="", series=shown["attack"])
    labels = {"": ("promised, mean of the records (%)", "members found (%)")}
    return plots.scatter_panels(shown, x="promised", y="value", identity=True, labels=labels)


def _outside(target: Target) -> FloatArray:
    return np.where(target.reference_member, np.nan, target.reference_loss)


def _totals(target: Target, malt: float) -> Iterator[dict]:
    """What all OUT networks promise: how often it is empty, and what it allows on average."""
    outside, member = _outside(target), target.member
    for name in (ONE_LAW, OWN_LAW):
        promise = READINGS[name](target.loss, outside, outside)
        for kind, kept in ((EVERYONE, member | ~member), (SEEN, member), (OTHERS, ~member)):
            share = 100 * float((promise[kept] >= 100).mean())
            yield {"attack": name, "records": kind, "metric": EMPTY, "value": share}
        allowed = HALF + 2 * float((np.minimum(promise, 100) - HALF).mean())
        allowed = min(allowed, 100.0)
        yield {"attack": name, "records": EVERYONE, "metric": ACCURACY, "value": allowed}
        if name == ONE_LAW:
            less = allowed - malt
            yield {"attack": ALLOWED, "records": EVERYONE, "metric": ACCURACY, "value": less}
    nothing = target.loss >= np.nanmean(outside, 0)
    yield from _found(ONE_LAW, NOTHING, nothing, member, np.full(len(member), HALF))


def _sorted(target: Target) -> Iterator[dict]:
    """Records sorted by what one half of the references promises, and found and promised there."""
    outside = _outside(target)
    sorting, promising = outside[::2], outside[1::2]
    kept = np.isfinite(sorting).any(0) & np.isfinite(promising).any(0)
    sorting, promising = sorting[:, kept], promising[:, kept]
    loss, member = target.loss[kept], target.member[kept]
    for name, of in READINGS.items():
        first, promise = of(loss, sorting, sorting), of(loss, promising, sorting)
        edges = PROBABILITY if name.startswith(THEOREM) else BOUND
        for low, high in itertools.pairwise(edges):
            inside = (first > low) & (first <= high)
            yield from _found(name, f"{low} to {high}% by the other half", inside, member, promise)


def _found(
    name: str, records: str, inside: BoolArray, member: BoolArray, promise: FloatArray
) -> Iterator[dict]:
    if not inside.any():
        return
    found, promised = 100 * float(member[inside].mean()), float(promise[inside].mean())
    numbers = {MEMBERS: found, PROMISED: promised, EXCESS: found - promised}
    for metric, value in numbers.items():
        yield {"attack": name, "records": records, "metric": metric, "value": value}
