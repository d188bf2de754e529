"""Do attacks find the same members: overlaps of what they flag, and who is found by all or one."""

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from membership import attacks, metrics, plots
from membership.arrays import BoolArray, FloatArray
from membership.book.exhibits import Source
from membership.book.exhibits.tidy import tidy
from membership.book.studies.comparison import names
from membership.book.studies.comparison.names import picked
from membership.book.studies.comparison.scores import (
    CellEvidence,
    of_targets,
    origin,
    read,
    typical,
)
from membership.book.studies.comparison.thresholds import CHOSEN
from membership.metrics.roc import flagged
from membership.plots.look import is_narrow

if TYPE_CHECKING:
    from matplotlib.figure import Figure

JACCARD, BY_CHANCE, OTHER = "Jaccard", "Jaccard by chance", "other references"
SHARE, CHANCE = "members found so (%)", "members found so by chance (%)"
RATES = (0.01, 0.05, 0.3)
COMPARED = ("loss", "attack-r", "lira", "rmia", "iha")
ITSELF = ("attack-r", "lira", "rmia")
KAPPA, RATIO = "kappa", "overlap beyond chance, over an attack's with itself"
FINDERS = ("loss", "attack-r", "lira", "rmia")
RATE = 0.05
LOW, HIGH = f"{SHARE}, low", f"{SHARE}, high"
MOST, MOST_NARROW = 8, 5
"""Records that the picture shows of each group, and that of a phone."""


def agreement(source: Source) -> pd.DataFrame:
    """Members flagged at a false-positive rate by pairs of attacks, averaged over data sets."""
    cells, rows = read(source), []
    by_cell = [of_cell(evidence) for evidence in cells]
    pairs = list(dict.fromkeys(pair for by_pair in by_cell for pair in by_pair))
    for rate in RATES:
        for pair in pairs:
            having = [by_pair[pair][rate] if pair in by_pair else {} for by_pair in by_cell]
            key = {"FPR": f"{rate:.0%}", "attacks": " and ".join(pair)}
            for metric in dict.fromkeys(name for numbers in having for name in numbers):
                # Where an attack does not agree with itself there is nothing to divide by.
                shown = [k for k, numbers in enumerate(having) if metric in numbers]
                values = [having[k][metric] for k in shown]
                number = of_targets([cells[k] for k in shown], values)
                rows.append({**key, "metric": metric, **number, "cells": len(values)})
    return tidy(rows, origin(cells))


def agreement_said(table: pd.DataFrame) -> str:
    """The largest and the least overlap of two attacks at 5%."""
    rows = picked(table, JACCARD)
    rows = rows[(rows["FPR"] == "5%") & ~rows["attacks"].str.contains(OTHER)]
    high, low = rows.loc[rows["value"].idxmax()], rows.loc[rows["value"].idxmin()]
    return (
        "Of the members that either of two attacks flags at 5% FPR, both flag from "
        f"{100 * low['value']:.0f}% ({low['attacks']}) to {100 * high['value']:.0f}% "
        f"({high['attacks']})."
    )


def agreement_drawn(table: pd.DataFrame) -> "Figure":
    """Table 4: overlaps above the diagonal, by chance below, and of an attack with itself on it."""
    pairs = table["attacks"].str.split(" and ", n=1, expand=True)
    shown = table.assign(first=pairs[0], second=pairs[1], at=table["FPR"] + " FPR")
    itself = shown["second"] == OTHER
    overlap, chance = (shown["metric"] == name for name in (JACCARD, BY_CHANCE))
    above, on = shown[overlap & ~itself], shown[overlap & itself]
    below = shown[chance & ~itself].rename(columns={"first": "second", "second": "first"})
    cells = pd.concat([above, below, on.assign(second=on["first"])])
    return plots.heat_maps(cells, "first", "second", panel="at")


def of_cell(evidence: CellEvidence) -> dict[tuple[str, str], dict[float, dict[str, FloatArray]]]:
    """Overlaps by pair of attacks and rate, each of shape (targets,)."""
    half = len(evidence.references) // 2 // 2 * 2
    halves = [_half(evidence, 0, half), _half(evidence, half, half)]
    known, by_pair = attacks.registry(), {}
    present = [name for name in COMPARED if name in evidence.table.score]
    whole = {name: evidence.table.score[name] for name in present}
    own = {
        name: overlaps(halves[0][name], halves[1][name], evidence.table.member)
        for name in ITSELF
        if name in halves[0] and name in halves[1]
    }
    for name, by_rate in own.items():
        by_pair[known[name].display, OTHER] = by_rate
    for a, b in combinations(present, 2):
        by_rate = overlaps(whole[a], whole[b], evidence.table.member)
        within = [own[name] for name in (a, b) if name in own]
        for rate, numbers in by_rate.items():
            if within:
                ceiling = np.mean([_beyond(repeat[rate]) for repeat in within], axis=0)
                usable = np.where(ceiling > 0, ceiling, np.nan)
                if np.isfinite(usable).all():
                    numbers[RATIO] = _beyond(numbers) / usable
        by_pair[known[a].display, known[b].display] = by_rate
    return by_pair


def _beyond(numbers: dict[str, FloatArray]) -> FloatArray:
    return numbers[JACCARD] - numbers[BY_CHANCE]


def _half(evidence: CellEvidence, first: int, count: int) -> dict[str, FloatArray]:
    """Scores by some of the references only."""
    references = evidence.references[first : first + count]
    rows = [evidence.one_model(target, ITSELF, references) for target in evidence.targets]
    shared = [name for name in rows[0] if all(name in row for row in rows)]
    return {name: np.stack([row[name] for row in rows]) for name in shared}


def overlaps(
    first: FloatArray, second: FloatArray, member: BoolArray
) -> dict[float, dict[str, FloatArray]]:
    """Jaccard index, its value by chance, and kappa of the members flagged, target by target."""
    by_rate = {}
    for rate in RATES:
        numbers = [
            of_flags(flagged(a, m, rate)[m], flagged(b, m, rate)[m])
            for a, b, m in zip(first, second, member, strict=True)
        ]
        by_rate[rate] = {
            name: np.array([target[name] for target in numbers]) for name in numbers[0]
        }
    return by_rate


def of_flags(a: BoolArray, b: BoolArray) -> dict[str, float]:
    """Overlap of two sets of flagged members."""
    p, q, intersection, union = a.mean(), b.mean(), (a & b).mean(), (a | b).mean()
    same = intersection + (~a & ~b).mean()
    expected = p * q + (1 - p) * (1 - q)
    by_chance = p * q / (p + q - p * q) if p + q > 0 else 0.0
    return {
        JACCARD: intersection / union if union > 0 else 0.0,
        BY_CHANCE: by_chance,
        KAPPA: (same - expected) / (1 - expected) if expected < 1 else 0.0,
    }


def found_by(source: Source) -> pd.DataFrame:
    """Figure 5: the records that most models give away to all attacks, or to one alone.

    An attack finds a member whose score is above the threshold for 5% of the non-members of the
    same model. Shares are of the targets' members; beside them what they would be if attacks
    found members independently.
    """
    evidence = _shown_cell(source)
    table = evidence.every_model(CHOSEN)
    flags = np.array(
        [
            [flagged(s, m, RATE) & m for s, m in zip(table.score[name], table.member, strict=True)]
            for name in FINDERS
        ]
    )
    pictures = _pictures(source, evidence)
    rows, first = [], len(evidence.targets)
    expectations = by_chance(flags, table.member)
    for (name, group), expected in zip(groups(flags).items(), expectations, strict=True):
        share = 100 * group[:first].sum(axis=1) / table.member[:first].sum(axis=1)
        whole = metrics.summary(share, lowest=0.0, highest=100.0)
        number = {SHARE: whole["value"], LOW: whole["low"], HIGH: whole["high"]}
        number[CHANCE] = 100 * float(expected[:first].mean())
        frequency = group.sum(axis=0) / table.member.sum(axis=0)
        most = np.argsort(-frequency, kind="stable")[:MOST].tolist()
        # A group that nobody is in keeps a row for its share.
        for place, record in enumerate([i for i in most if frequency[i] > 0] or [None]):
            key = {**evidence.key, "row": name, "column": place + 1}
            rows.append({**key, **_cell(evidence, record, frequency, pictures), **number})
    return tidy(rows, origin([evidence]))


def found_by_said(table: pd.DataFrame) -> str:
    """The group of members that is the furthest from what chance gives."""
    groups = table.drop_duplicates("row")
    group = groups.loc[(groups[SHARE] - groups[CHANCE]).idxmax()]
    return (
        f"On {group['dataset']}, {group['target']}, {group[SHARE]:.1f}% of members are found by "
        f"{group['row']}, where chance gives {group[CHANCE]:.1f}%."
    )


def found_by_drawn(table: pd.DataFrame) -> "Figure":
    """Figure 5: the records, or the shares where there are no pictures."""
    if (table["pixels"].fillna("") == "").all():
        ends = {SHARE: "value", LOW: "low", HIGH: "high"}
        shares = table[table["column"] == 1].drop(columns="value").rename(columns=ends)
        return plots.dots_by_row(shares, "row", by="target", label=SHARE)
    most = MOST_NARROW if is_narrow() else MOST
    return plots.image_grid(table[table["column"] <= most])


def _cell(
    evidence: CellEvidence,
    record: int | None,
    frequency: np.ndarray,
    pictures: list[dict[str, str]],
) -> dict[str, Any]:
    """One record: its row in the data set, how often it is found so, its picture."""
    if record is None:
        return {"record": "", "text": "", "shape": "", "pixels": "", "value": 0.0}
    share = {"text": f"{frequency[record]:.0%}", "value": float(frequency[record])}
    return {"record": str(evidence.record[record]), **share, **pictures[record]}


def groups(flags: BoolArray) -> dict[str, BoolArray]:
    """Members found by every attack, by all but the first, by one alone, (models, records) each."""
    names_of = [attacks.registry()[name].display for name in FINDERS]
    count = flags.sum(axis=0)
    alone = {
        f"only {name}": flag & (count == 1) for name, flag in zip(names_of, flags, strict=True)
    }
    but_first = (count == len(flags) - 1) & ~flags[0]
    return {"every attack": count == len(flags), f"all but {names_of[0]}": but_first, **alone}


def by_chance(flags: BoolArray, member: BoolArray) -> list[np.ndarray]:
    """The shares of the same groups in each model if attacks found its members independently."""
    rate = flags.sum(axis=2) / member.sum(axis=1)
    none = [np.delete(1 - rate, place, axis=0).prod(axis=0) for place in range(len(rate))]
    but_first = (1 - rate[0]) * rate[1:].prod(axis=0)
    return [
        rate.prod(axis=0),
        but_first,
        *(own * missed for own, missed in zip(rate, none, strict=True)),
    ]


def _shown_cell(source: Source) -> CellEvidence:
    """The cell with pictures, or the first where there is none."""
    with_pictures, cells = names.pictured(source.settings), typical(source)
    return next((evidence for evidence in cells if evidence.cell in with_pictures), cells[0])


def _pictures(source: Source, evidence: CellEvidence) -> list[dict[str, str]]:
    """Shape and pixels of each record; empty where records are no pictures."""
    if not names.pictured(source.settings):
        return [{"shape": "", "pixels": ""}] * len(evidence.record)
    level = source.evidence(f"pictures-{evidence.cell.word}")["level"].values[~evidence.canary]
    shape = "x".join(map(str, level.shape[1:]))
    return [{"shape": shape, "pixels": " ".join(map(str, picture.ravel()))} for picture in level]
