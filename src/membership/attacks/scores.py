"""Every registered attack that evidence allows, and for each of the others what is lacking."""

from dataclasses import dataclass

import numpy as np
import xarray as xr

from membership.arrays import BoolArray, FloatArray
from membership.attacks.observed import observe
from membership.attacks.registry import registry
from membership.errors import InputError


@dataclass(frozen=True)
class Scores:
    """The scores of one target's records.

    Attributes
    ----------
    record : ndarray of shape (records,)
        Rows in the data set.
    member : bool ndarray of shape (records,)
    score : dict of str to ndarray of shape (records,)
        By the attack's name, in the registry's order.
    lacking : dict of str to str
        Attacks left out, and what each of them lacks.
    """

    record: np.ndarray
    member: BoolArray
    score: dict[str, FloatArray]
    lacking: dict[str, str]


@dataclass(frozen=True)
class ScoreTable:
    """The scores of several targets, in the form that `metrics.paired_interval` takes.

    Attributes
    ----------
    record : ndarray of shape (records,)
        Rows in the data set that any target was asked.
    member : bool ndarray of shape (targets, records)
        False where a target was not asked.
    score : dict of str to ndarray of shape (targets, records)
        By the attack's name; NaN where a target was not asked. Attacks that every target allows.
    targets : tuple of int
    """

    record: np.ndarray
    member: BoolArray
    score: dict[str, FloatArray]
    targets: tuple[int, ...]


def scores(*evidence: xr.Dataset, target: int = 0, references: int | None = None) -> Scores:
    """Attack one model in every way that evidence allows.

    Parameters
    ----------
    *evidence : xarray.Dataset
        Of kinds "outputs", "white_box" and "posterior" together, or of "pairs" or "steps" alone;
        all attacks score the records that every one of them has.
    target : int
        Number of the model attacked.
    references : int, optional
        Use the first so many reference models; None: all.

    Returns
    -------
    Scores

    Raises
    ------
    InputError
        The kinds do not go together, there is no such target, or a number is not finite.
    """
    seen = observe(*evidence, target=target, references=references)
    found: dict[str, FloatArray] = {}
    lacking: dict[str, str] = {}
    for name, attack in registry().items():
        missing = seen.lacking(attack.needs)
        if missing:
            lacking[name] = ", ".join(missing)
            continue
        try:
            found[name] = attack.score(seen)
        except InputError as error:
            # What is there does not do: no model trained on the record, one reference only.
            lacking[name] = str(error)
    return Scores(seen.record, seen.member, found, lacking)


def score_table(
    *evidence: xr.Dataset, targets: tuple[int, ...] | None = None, references: int | None = None
) -> ScoreTable:
    """Attack several models: `scores` of each, over the same columns.

    Parameters
    ----------
    *evidence, references
        As for `scores`.
    targets : tuple of int, optional
        The attribute ``targets`` of the evidence if not given.

    Returns
    -------
    ScoreTable

    Raises
    ------
    InputError
        As `scores`; or no targets are given and the evidence names none.
    """
    named = [t for one in evidence for t in one.attrs.get("targets", [])]
    chosen = tuple(dict.fromkeys(named)) if targets is None else tuple(targets)
    if not chosen:
        raise InputError("targets: the evidence names none; give the models' numbers")
    each = [scores(*evidence, target=target, references=references) for target in chosen]
    if any(np.unique(one.record).size < one.record.size for one in each):
        # Leave-one-out models: each record twice, in the same order for every target.
        record, places = each[0].record, [np.arange(one.record.size) for one in each]
    else:
        record = np.unique(np.concatenate([one.record for one in each]))
        places = [np.searchsorted(record, one.record) for one in each]
    member = np.zeros((len(chosen), record.size), dtype=bool)
    names = [name for name in each[0].score if all(name in one.score for one in each)]
    table = {name: np.full(member.shape, np.nan) for name in names}
    for row, (one, place) in enumerate(zip(each, places, strict=True)):
        member[row, place] = one.member
        for name in names:
            table[name][row, place] = one.score[name]
    return ScoreTable(record, member, table, chosen)
