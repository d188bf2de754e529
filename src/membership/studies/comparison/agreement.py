"""Do attacks find the same members: overlaps of what two of them flag, and of one with itself."""

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from membership import attacks, metrics
from membership.arrays import BoolArray, FloatArray
from membership.exhibits.tidy import tidy
from membership.studies.comparison.read import Seen, origin, read
from membership.studies.comparison.sentences import BY_CHANCE as CHANCE
from membership.studies.comparison.sentences import OTHER
from membership.studies.comparison.sentences import OVERLAP as JACCARD

RATES = (0.01, 0.05, 0.3)
CHOSEN = ("loss", "attack-r", "lira", "rmia", "iha")
ITSELF = ("attack-r", "lira", "rmia")
KAPPA, RATIO = "kappa", "overlap beyond chance, over an attack's with itself"


def agreement(source: Any) -> pd.DataFrame:
    """Members flagged at a false-positive rate by pairs of attacks, averaged over cells."""
    some, rows = read(source), []
    found = [of_cell(one) for one in some]
    pairs = list(dict.fromkeys(pair for one in found for pair in one))
    for rate in RATES:
        for pair in pairs:
            cells = [one[pair][rate] for one in found if pair in one]
            key = {"FPR": f"{rate:.0%}", "attacks": " and ".join(pair)}
            for metric in dict.fromkeys(name for one in cells for name in one):
                # Where an attack does not agree with itself there is nothing to divide by.
                each = [one[metric] for one in cells if metric in one]
                unit = metrics.summary(np.mean(each, axis=0))
                rows.append({**key, "metric": metric, **unit, "cells": len(each)})
    return tidy(rows, origin(some))


def of_cell(one: Seen) -> dict[tuple[str, str], dict[float, dict[str, FloatArray]]]:
    """Overlaps by pair of attacks and rate, each of shape (targets,)."""
    half = len(one.references) // 2 // 2 * 2
    halves = [_half(one, 0, half), _half(one, half, half)]
    known, found = attacks.registry(), {}
    present = [name for name in CHOSEN if name in one.table.score]
    whole = {name: one.table.score[name] for name in present}
    own = {
        name: overlaps(halves[0][name], halves[1][name], one.table.member)
        for name in ITSELF
        if name in halves[0] and name in halves[1]
    }
    for name, each in own.items():
        found[known[name].display, OTHER] = each
    for a, b in combinations(present, 2):
        each = overlaps(whole[a], whole[b], one.table.member)
        within = [own[name] for name in (a, b) if name in own]
        for rate, numbers in each.items():
            if within:
                ceiling = np.mean([_beyond(one[rate]) for one in within], axis=0)
                usable = np.where(ceiling > 0, ceiling, np.nan)
                if np.isfinite(usable).all():
                    numbers[RATIO] = _beyond(numbers) / usable
        found[known[a].display, known[b].display] = each
    return found


def _beyond(numbers: dict[str, FloatArray]) -> FloatArray:
    return numbers[JACCARD] - numbers[CHANCE]


def _half(one: Seen, first: int, count: int) -> dict[str, FloatArray]:
    """Scores by some of the references only."""
    every = one.references[first : first + count]
    rows = [one.one_model(target, ITSELF, every) for target in one.targets]
    shared = [name for name in rows[0] if all(name in row for row in rows)]
    return {name: np.stack([row[name] for row in rows]) for name in shared}


def overlaps(
    first: FloatArray, second: FloatArray, member: BoolArray
) -> dict[float, dict[str, FloatArray]]:
    """Jaccard index, its value by chance, and kappa of the members flagged, target by target."""
    found = {}
    for rate in RATES:
        numbers = [
            of_flags(flagged(a, m, rate)[m], flagged(b, m, rate)[m])
            for a, b, m in zip(first, second, member, strict=True)
        ]
        found[rate] = {name: np.array([one[name] for one in numbers]) for name in numbers[0]}
    return found


def flagged(score: FloatArray, member: BoolArray, rate: float) -> BoolArray:
    """The records above the threshold that lets at most so many non-members through."""
    others = np.sort(score[~member])[::-1]
    return score > others[int(np.floor(rate * others.size))]


def of_flags(a: BoolArray, b: BoolArray) -> dict[str, float]:
    """Overlap of two sets of flagged members."""
    p, q, both, either = a.mean(), b.mean(), (a & b).mean(), (a | b).mean()
    same = both + (~a & ~b).mean()
    expected = p * q + (1 - p) * (1 - q)
    by_chance = p * q / (p + q - p * q) if p + q > 0 else 0.0
    return {
        JACCARD: both / either if either > 0 else 0.0,
        CHANCE: by_chance,
        KAPPA: (same - expected) / (1 - expected) if expected < 1 else 0.0,
    }
