"""The leaderboards: every attack on the same records of the same targets, each panel apart.

Then what reference models buy: power against their number, and against seconds.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from membership import attacks, metrics
from membership.arrays import FloatArray
from membership.attacks import Attack
from membership.attacks.registry import BOTH, OUT
from membership.errors import InputError
from membership.exhibits import Source
from membership.exhibits.rows import of_each
from membership.exhibits.tidy import tidy
from membership.metrics.rate_names import tpr_column
from membership.settings import suggest
from membership.studies.comparison import names
from membership.studies.comparison.names import AREA, RATE
from membership.studies.comparison.scores import (
    CONTRASTS,
    CellEvidence,
    Table,
    area,
    carries,
    mislabelled,
    origin,
    over_sets,
    per_target,
    plain,
    rate,
    read,
    typical,
)
from membership.studies.comparison.settings import Settings

# Whose reference models include models such as these.
TRAINED = {BOTH: (OUT, BOTH), OUT: (OUT,), "none": ()}
LOW = tpr_column(0.001)
BEHIND, BEHIND_RATE = "AUC behind the best", tpr_column(0.01, " behind the best (points)")
LOSS_THERE = "AUC of LOSS on the same cells"
"""Beside an attack that not all cells allow: an average over others cannot be compared."""
USED, SECONDS, BASE = "reference models", "processor seconds", "best of no more knowledge"
RATES = {RATE: 0.01, LOW: 0.001}
# In this order, so that what follows from what follows is there.
IMPLIED = {
    "all other records": ("training records",),
    "training records": ("population records",),
    "weights": ("logits",),
    "logits": ("losses",),
    "losses": ("outputs",),
}
AREA_GAINED = "AUC gained"
PAIRS = {
    "LiRA less LOSS": {"lira": 1.0, "loss": -1.0},
    "BASE less LiRA": {"base": 1.0, "lira": -1.0},
}
ACCURACY = {"accuracy on members (%)": "train_accuracy", "accuracy on others (%)": "test_accuracy"}
SHOWN = ("loss", "qmia", "bmia-mixture", "attack-r", "rmia", "lira", "base")
"""What Figure 1 draws: one of each family."""


def panel(attack: Attack) -> str:
    """Which game an attack plays."""
    if "step gradients" in attack.knowledge:
        return names.ANOTHER
    return names.ALL_OTHERS if attack.leave_one_out else names.TARGET_AND_REFERENCES


def of_panel(cells: Sequence[CellEvidence], which: str) -> dict[str, list[CellEvidence]]:
    """The attacks of a panel and the cells whose evidence allows each."""
    by_attack = {}
    for name, attack in attacks.registry().items():
        allowing = [evidence for evidence in cells if name in evidence.table.score]
        if panel(attack) == which and allowing:
            by_attack[name] = allowing
    return by_attack


def references(source: Source) -> pd.DataFrame:
    """Table 1: attacks that know a target and reference models, averaged over data sets."""
    return _board(source, names.TARGET_AND_REFERENCES)


def all_others(source: Source) -> pd.DataFrame:
    """Table 2: attacks that know all other records, averaged over the cells that were opened."""
    return _board(source, names.ALL_OTHERS)


def row(source: Source, name: str) -> pd.DataFrame:
    """The rows of one attack in its panel's leaderboard."""
    known = attacks.registry()
    if name not in known:
        raise InputError(f"unknown attack {suggest(name, known, 'attacks')}")
    allowed = of_panel(read(source), panel(known[name]))
    if name not in allowed:
        raise InputError(
            f"attack {name!r}: the bench lacks {', '.join(known[name].needs)}; gather it, or give "
            "an attack that reads what is there"
        )
    areas = {other: _areas(other, cells) for other, cells in allowed.items()}
    return tidy(_rows(source, name, allowed[name], areas), origin(allowed[name]))


def _board(source: Source, which: str) -> pd.DataFrame:
    cells = read(source)
    allowed = of_panel(cells, which)
    if not allowed:
        return tidy([_too_large(cells, source.settings)], origin(cells, note=_note(which)))
    areas = {name: _areas(name, group) for name, group in allowed.items()}
    mean = {name: _mean(areas[name], group) for name, group in allowed.items()}
    order = sorted(allowed, key=lambda name: (-len(allowed[name]), -mean[name]))
    rows = [entry for name in order for entry in _rows(source, name, allowed[name], areas)]
    return tidy(rows, origin(cells, note=_note(which), timing=True))


def _too_large(cells: Sequence[CellEvidence], settings: Settings) -> dict[str, Any]:
    """The row of a panel without attacks: no target is small enough to be opened."""
    smallest = min(
        names.parameters(evidence.cell, settings)
        for evidence in cells
        if evidence.cell.kind != "cnn"
    )
    key = {"cells": "0 cells", "attack": "none", "knows": ""}
    return {**key, "metric": names.PARAMETERS, **metrics.exactly(smallest)}


def _rows(
    source: Source, name: str, cells: Sequence[CellEvidence], areas: dict[str, dict[str, float]]
) -> list[dict[str, Any]]:
    """One attack's numbers, averaged over the cells that allow it."""
    settings, known = source.settings, attacks.registry()
    attack, best = known[name], _best(name, areas, cells)
    numbers = {AREA: area(plain(cells), {name: 1.0}, settings)}
    carried = {
        metric: plain([evidence for evidence in cells if carries(evidence, fpr)])
        for metric, fpr in RATES.items()
    }
    for metric, tables in carried.items():
        if tables:
            numbers[metric] = rate(tables, {name: 1.0}, settings, RATES[metric])
    if best != name:
        pair = {best: 1.0, name: -1.0}
        numbers[BEHIND] = area(plain(cells), pair, settings)
        if carried[RATE]:
            numbers[BEHIND_RATE] = rate(carried[RATE], pair, settings)
    if len(cells) < len(areas.get("loss", ())):
        numbers[LOSS_THERE] = area(plain(cells), {"loss": 1.0}, settings)
    times = [source.evidence(f"times-{evidence.cell.word}") for evidence in cells]
    seconds = [seconds_of(name, *pair) for pair in zip(cells, times, strict=True)]
    numbers[USED] = metrics.exactly(references_of(name, cells[0]))
    if np.isfinite(seconds).all():
        numbers[SECONDS] = metrics.exactly(over_sets(cells, seconds))
    trained = f" ({attack.references})" if attack.references in (OUT, BOTH) else ""
    knows = "; ".join(attack.knowledge) + trained
    key = {"cells": _cells(cells), "attack": attack.display, "knows": knows}
    more = {BASE: known[best].display}
    return [{**key, "metric": metric, **number, **more} for metric, number in numbers.items()]


def _areas(name: str, cells: Sequence[CellEvidence]) -> dict[str, float]:
    """The AUC of an attack in each cell, averaged over targets."""
    return {
        evidence.cell.word: float(
            per_target(metrics.auc, evidence.table.score[name], evidence.table.member).mean()
        )
        for evidence in cells
    }


def _best(name: str, areas: dict[str, dict[str, float]], cells: Sequence[CellEvidence]) -> str:
    """The attack with the largest mean AUC on these cells among those that know no more.

    Nor train more: references without the record are less than references with and without it,
    and fewer less than many.
    """
    words = {evidence.cell.word for evidence in cells}
    most = references_of(name, cells[0])
    rivals = [
        other
        for other, by_cell in areas.items()
        if words <= set(by_cell)
        and _known(other) <= _known(name)
        and references_of(other, cells[0]) <= most
    ]
    return max(rivals, key=lambda other: _mean(areas[other], cells))


def _mean(by_cell: dict[str, float], cells: Sequence[CellEvidence]) -> float:
    return over_sets(cells, [by_cell[evidence.cell.word] for evidence in cells])


def _known(name: str) -> set[str]:
    """What an attack's adversary knows and trains, and what follows from it."""
    attack = attacks.registry()[name]
    known = {*attack.knowledge, *TRAINED.get(attack.references, (attack.references,))}
    for word in IMPLIED:
        known |= set(IMPLIED[word]) if word in known else set()
    return known


def _cells(cells: Sequence[CellEvidence]) -> str:
    sets = len({evidence.set for evidence in cells})
    return f"{_counted(len(cells), 'cell')} of {_counted(sets, 'data set')}"


def _counted(count: int, word: str) -> str:
    return f"{count} {word}" + "s" * (count > 1)


def _note(which: str) -> str:
    return (
        f"These attacks know {which}. Each data set has the same weight. The table compares an "
        "attack with the best of those that know and train no more, picked on the same targets. "
        "Some attacks have two names: BASE is online RMIA, and offline BASE is MAST."
    )


def by_cell(source: Source) -> pd.DataFrame:
    """Figure 1: some attacks in every cell, what references add to the loss, BASE to
    LiRA, and the models."""
    cells, rows = read(source), []
    for evidence in cells:
        for name in SHOWN:
            if name in evidence.table.score:
                key = {**evidence.key, "attack": attacks.registry()[name].display, "metric": AREA}
                rows.append({**key, **area(plain([evidence]), {name: 1.0}, source.settings)})
        for lead, pair in PAIRS.items():
            key = {**evidence.key, "attack": lead, "metric": AREA_GAINED}
            rows.append({**key, **area(plain([evidence]), pair, source.settings)})
        accuracy = {
            metric: evidence.outputs[side].values[evidence.targets]
            for metric, side in ACCURACY.items()
        }
        key = {**evidence.key, "attack": "(model)"}
        rows += of_each(key, "metric", accuracy, lowest=0.0, highest=100.0)
    return tidy(rows, origin(cells))


def canaries(source: Source) -> pd.DataFrame:
    """The same attacks on the mislabelled records beside the others, averaged over cells."""
    cells, rows = read(source), []
    for name in SHOWN:
        having = [evidence for evidence in cells if name in evidence.table.score]
        kinds = (("as they are", plain(having)), ("mislabelled", mislabelled(having)))
        for records, tables in kinds:
            if not tables:
                continue
            key = {"records": records, "attack": attacks.registry()[name].display}
            rows.append({**key, "metric": AREA, **area(tables, {name: 1.0}, source.settings)})
    count = {
        "Mislabelled records": ", ".join(
            f"{evidence.set} {evidence.canary.sum()}" for evidence in cells
        )
    }
    attributes = origin(cells)
    return tidy(rows, {**attributes, "sizes": {**attributes["sizes"], **count}})


def references_of(name: str, evidence: CellEvidence, count: int | None = None) -> int:
    """How many reference models an attack uses of those that there are."""
    attack = attacks.registry()[name]
    available = len(evidence.references) if count is None else count
    if "reference models" not in attack.knowledge:
        return 0
    if attack.single_reference:
        # A pair of complements: one of the two was trained without the record.
        return min(available, 2)
    return min(available, 2 * len(evidence.predicted)) if attack.reads_posteriors else available


def seconds_of(
    name: str, evidence: CellEvidence, times: xr.Dataset, count: int | None = None
) -> float:
    """End to end on one target: training and asking references, opening models, scoring.

    With fewer references the statistic is taken to cost in proportion. NaN where the run did not
    time the attack: it was entered later.
    """
    seconds = dict(zip(times["part"].values.tolist(), times["seconds"].values, strict=True))
    attack, used = attacks.registry()[name], references_of(name, evidence, count)
    share = 1.0 if count is None or not used else used / references_of(name, evidence)
    total = seconds["ask"] + used * (seconds["train"] + seconds["ask"])
    total += share * seconds.get(f"score: {name}", np.nan)
    if attack.reads_posteriors:
        # What was timed is of a pair.
        total += used / 2 * seconds["posterior"]
    total += seconds["regression"] if attack.reads_regression else 0.0
    total += seconds["open"] if attack.reads_curvature else 0.0
    return float(total)


COUNTS = (2, 4, 8, 16, 32, 64)
POWER = (
    "loss",
    "lira-offline-global",
    "lira",
    "bavaria",
    "rmia",
    "base",
    "bmia-mixture",
)
FRONT = "on the front"


def counts(source: Source) -> list[int]:
    """The numbers of reference models that are tried."""
    return [n for n in COUNTS if n <= source.settings.n_reference]


def against_references(source: Source) -> pd.DataFrame:
    """AUC and TPR at 1% FPR of attacks by the number of references, over one cell a data set.

    References come in pairs of complements: of two, each record has one trained without it.
    """
    cells, rows = typical(source), []
    times = {evidence.cell: source.evidence(f"times-{evidence.cell.word}") for evidence in cells}
    for count in counts(source):
        tables = [(evidence.set, evidence.fewer(POWER, count)) for evidence in cells]
        for name in POWER:
            if not all(name in table.score for _, table in tables):
                continue
            seconds = [
                seconds_of(name, evidence, times[evidence.cell], count) for evidence in cells
            ]
            key = {"references": count, "attack": attacks.registry()[name].display}
            more = {"seconds": float(np.mean(seconds))}
            for metric, contrast in CONTRASTS.items():
                number = contrast(tables, {name: 1.0}, source.settings)
                rows.append({**key, "metric": metric, **number, **more})
    return tidy(rows, {**origin(cells), "timing": True})


def against_seconds(source: Source) -> pd.DataFrame:
    """The same numbers by seconds; on the front are those that none is better than for no more.

    Costs are equal that differ by less than the training of one reference model: a second is spent
    on whole models, and was timed once. Attacks that the run did not time are left out.
    """
    table = source.table("comparison-fig-2")
    timed = (table["metric"] == AREA) & table["seconds"].notna()
    points = table[timed].reset_index(drop=True)
    is_on = front(points, _of_one_reference(source))
    marked = points.assign(**{FRONT: np.where(is_on, "yes", "no")})
    marked.attrs = dict(table.attrs)
    return marked


def front(points: pd.DataFrame, step: float) -> np.ndarray:
    """Which points no other is better than for no more, nor as good for less, by whole steps."""
    dearer, better = (
        points[name].to_numpy()[None] - points[name].to_numpy()[:, None]
        for name in ("seconds", "value")
    )
    return ~(((dearer < step) & (better > 0)) | ((dearer <= -step) & (better == 0))).any(axis=1)


def _of_one_reference(source: Source) -> float:
    """Seconds that one reference model takes to train, averaged as those of the attacks are."""
    timed = [source.evidence(f"times-{evidence.cell.word}") for evidence in typical(source)]
    return float(np.mean([times["seconds"][times["part"] == "train"].item() for times in timed]))


GAIN_RATE, GAIN_ACCURACY = "gain in TPR at 1% FPR (points)", "gain in accuracy (points)"
GAINERS, EIGHT = ("mast", "lira", "attack-r"), 8


def gains(source: Source) -> pd.DataFrame:
    """What three attacks with eight references gain over the loss, target by target."""
    cells, rows = typical(source), []
    for evidence in cells:
        table = evidence.fewer(("loss", *GAINERS), min(EIGHT, source.settings.n_reference))
        base = _measured(table, "loss")
        for name in GAINERS:
            key = {**evidence.key, "attack": attacks.registry()[name].display}
            gained = {
                metric: values - base[metric] for metric, values in _measured(table, name).items()
            }
            rows += of_each(key, "metric", gained)
    return tidy(rows, origin(cells))


def _measured(table: Table, name: str) -> dict[str, FloatArray]:
    score, member = table.score[name], table.member
    return {
        GAIN_RATE: 100 * per_target(metrics.tpr_at_fpr, score, member, fpr=0.01),
        GAIN_ACCURACY: 100 * per_target(metrics.balanced_accuracy, score, member),
    }
