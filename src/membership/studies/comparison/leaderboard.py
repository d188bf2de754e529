"""The leaderboards: every attack on the same records of the same targets, each panel apart."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from membership import attacks, metrics
from membership.attacks import Attack
from membership.attacks.registry import BOTH, OUT
from membership.errors import InputError
from membership.exhibits import Source
from membership.exhibits.tidy import tidy
from membership.settings import suggest
from membership.studies.comparison import names
from membership.studies.comparison.scores import (
    Seen,
    carries,
    contrast,
    each,
    mislabelled,
    origin,
    over_sets,
    plain,
    read,
)
from membership.studies.comparison.settings import Settings

# Whose reference models include models such as these.
TRAINED = {BOTH: (OUT, BOTH), OUT: (OUT,), "none": ()}
AREA, RATE, LOW = "AUC", "TPR@1%FPR(%)", "TPR@0.1%FPR(%)"
BEHIND, BEHIND_RATE = "AUC behind the best", "TPR@1%FPR behind the best (points)"
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
LEAD, AREA_GAINED, PAIR = "LiRA less LOSS", "AUC gained", {"lira": 1.0, "loss": -1.0}
ACCURACY = {"accuracy on members (%)": "train_accuracy", "accuracy on others (%)": "test_accuracy"}
SHOWN = ("loss", "qmia", "bmia-mixture", "attack-r", "rmia", "lira", "base")
"""What Figure 1 draws: one of each family."""
# Of one pair of complements.
PAIRED = ("bmia-closed", "matt")


def panel(attack: Attack) -> str:
    """Which game an attack plays."""
    if "step gradients" in attack.knowledge:
        return names.ANOTHER
    return names.ALL_OTHERS if attack.leave_one_out else names.TARGET_AND_REFERENCES


def of_panel(some: Sequence[Seen], which: str) -> dict[str, list[Seen]]:
    """The attacks of a panel and the cells whose evidence allows each."""
    found = {}
    for name, attack in attacks.registry().items():
        cells = [one for one in some if name in one.table.score]
        if panel(attack) == which and cells:
            found[name] = cells
    return found


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
    some = read(source)
    allowed = of_panel(some, which)
    if not allowed:
        return tidy([_too_large(some, source.settings)], origin(some, note=_note(which)))
    areas = {name: _areas(name, cells) for name, cells in allowed.items()}
    mean = {name: _mean(areas[name], cells) for name, cells in allowed.items()}
    order = sorted(allowed, key=lambda name: (-len(allowed[name]), -mean[name]))
    rows = [one for name in order for one in _rows(source, name, allowed[name], areas)]
    return tidy(rows, origin(some, note=_note(which), timing=True))


def _too_large(some: Sequence[Seen], settings: Settings) -> dict[str, Any]:
    """The row of a panel without attacks: no target is small enough to be opened."""
    smallest = min(names.parameters(one.cell, settings) for one in some if one.cell.kind != "cnn")
    key = {"cells": "0 cells", "attack": "none", "knows": ""}
    return {**key, "metric": names.PARAMETERS, **metrics.exactly(smallest)}


def _rows(
    source: Source, name: str, cells: Sequence[Seen], areas: dict[str, dict[str, float]]
) -> list[dict[str, Any]]:
    """One attack's numbers, averaged over the cells that allow it."""
    settings, known = source.settings, attacks.registry()
    attack, best = known[name], _best(name, areas, cells)
    found = {AREA: contrast(plain(cells), {name: 1.0}, "auc", settings)}
    carried = {
        metric: plain([one for one in cells if carries(one, fpr)]) for metric, fpr in RATES.items()
    }
    for metric, tables in carried.items():
        if tables:
            how = {"scale": 100.0, "fpr": RATES[metric]}
            found[metric] = contrast(tables, {name: 1.0}, "tpr_at_fpr", settings, **how)
    if best != name:
        pair = {best: 1.0, name: -1.0}
        found[BEHIND] = contrast(plain(cells), pair, "auc", settings)
        if carried[RATE]:
            how = {"scale": 100.0, "fpr": RATES[RATE]}
            found[BEHIND_RATE] = contrast(carried[RATE], pair, "tpr_at_fpr", settings, **how)
    times = [source.evidence(f"times-{one.cell.word}") for one in cells]
    taken = [seconds_of(name, *pair) for pair in zip(cells, times, strict=True)]
    found[USED] = metrics.exactly(references_of(name, cells[0]))
    if np.isfinite(taken).all():
        found[SECONDS] = metrics.exactly(over_sets(cells, taken))
    trained = f" ({attack.references})" if attack.references in (OUT, BOTH) else ""
    knows = "; ".join(attack.knowledge) + trained
    key = {"cells": _cells(cells), "attack": attack.display, "knows": knows}
    more = {BASE: known[best].display}
    return [{**key, "metric": metric, **one, **more} for metric, one in found.items()]


def _areas(name: str, cells: Sequence[Seen]) -> dict[str, float]:
    """The AUC of an attack in each cell, averaged over targets."""
    return {
        one.cell.word: float(each(metrics.auc, one.table.score[name], one.table.member).mean())
        for one in cells
    }


def _best(name: str, areas: dict[str, dict[str, float]], cells: Sequence[Seen]) -> str:
    """The attack with the largest mean AUC on these cells among those that know no more.

    Nor train more: references without the record are less than references with and without it,
    and fewer less than many.
    """
    words = {one.cell.word for one in cells}
    most = references_of(name, cells[0])
    rivals = [
        other
        for other, area in areas.items()
        if words <= set(area)
        and _known(other) <= _known(name)
        and references_of(other, cells[0]) <= most
    ]
    return max(rivals, key=lambda other: _mean(areas[other], cells))


def _mean(area: dict[str, float], cells: Sequence[Seen]) -> float:
    return over_sets(cells, [area[one.cell.word] for one in cells])


def _known(name: str) -> set[str]:
    """What an attack's adversary knows and trains, and what follows from it."""
    attack = attacks.registry()[name]
    known = {*attack.knowledge, *TRAINED.get(attack.references, (attack.references,))}
    for word in IMPLIED:
        known |= set(IMPLIED[word]) if word in known else set()
    return known


def _cells(cells: Sequence[Seen]) -> str:
    sets = len({one.set for one in cells})
    return f"{_counted(len(cells), 'cell')} of {_counted(sets, 'data set')}"


def _counted(count: int, word: str) -> str:
    return f"{count} {word}" + "s" * (count > 1)


def _note(which: str) -> str:
    return (
        f"Panel: attacks that know {which}. An attack is compared with the best of those that know "
        "and train no more than it does, picked on the same targets. Each data set has the same "
        "weight. Equal numbers are one attack under two names: BASE is RMIA online, and offline it "
        "is MAST, RMIA at a = 1."
    )


def by_cell(source: Source) -> pd.DataFrame:
    """Figure 1: some attacks in every cell, what references add to the loss, and the models."""
    some, rows = read(source), []
    for one in some:
        for name in SHOWN:
            if name in one.table.score:
                key = {**one.key, "attack": attacks.registry()[name].display, "metric": AREA}
                rows.append({**key, **contrast(plain([one]), {name: 1.0}, "auc", source.settings)})
        key = {**one.key, "attack": LEAD, "metric": AREA_GAINED}
        rows.append({**key, **contrast(plain([one]), PAIR, "auc", source.settings)})
        for metric, side in ACCURACY.items():
            each = one.outputs[side].values[one.targets]
            right = metrics.summary(each, lowest=0.0, highest=100.0)
            rows.append({**one.key, "attack": "(model)", "metric": metric, **right})
    return tidy(rows, origin(some))


def canaries(source: Source) -> pd.DataFrame:
    """The same attacks on the mislabelled records beside the others, averaged over cells."""
    some, rows = read(source), []
    for name in SHOWN:
        for records, tables in (("as they are", plain(some)), ("mislabelled", mislabelled(some))):
            if not tables:
                continue
            key = {"records": records, "attack": attacks.registry()[name].display}
            number = contrast(tables, {name: 1.0}, "auc", source.settings)
            rows.append({**key, "metric": AREA, **number})
    count = {"Mislabelled records": ", ".join(f"{one.set} {one.canary.sum()}" for one in some)}
    found = origin(some)
    return tidy(rows, {**found, "sizes": {**found["sizes"], **count}})


def references_of(name: str, seen: Seen, count: int | None = None) -> int:
    """How many reference models an attack uses of those that there are."""
    every = len(seen.references) if count is None else count
    if "reference models" not in attacks.registry()[name].knowledge:
        return 0
    if name in PAIRED:
        return min(every, 2)
    # The mixture has the pairs whose posteriors were gathered.
    return min(every, 2 * len(seen.predicted)) if name == "bmia-mixture" else every


def seconds_of(name: str, seen: Seen, times: xr.Dataset, count: int | None = None) -> float:
    """End to end on one target: training and asking references, opening models, scoring.

    With fewer references the statistic is taken to cost in proportion. NaN where the run did not
    time the attack: it was entered later.
    """
    taken = dict(zip(times["part"].values.tolist(), times["seconds"].values, strict=True))
    attack, used = attacks.registry()[name], references_of(name, seen, count)
    share = 1.0 if count is None or not used else used / references_of(name, seen)
    total = taken["ask"] + used * (taken["train"] + taken["ask"])
    total += share * taken.get(f"score: {name}", np.nan)
    if name.startswith("bmia"):
        # What was timed is of a pair.
        total += used / 2 * taken["posterior"]
    total += taken["regression"] if name == "qmia" else 0.0
    total += taken["open"] if any(need.startswith("form.") for need in attack.needs) else 0.0
    return float(total)
