"""The leaderboards: every attack on the same records of the same targets, each panel apart."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from membership import attacks, metrics, plots
from membership.attacks import Attack
from membership.attacks.registry import BOTH, OUT
from membership.book.exhibits import Source
from membership.book.exhibits.rows import of_each
from membership.book.exhibits.sentences import joined
from membership.book.exhibits.tidy import tidy
from membership.book.studies.comparison import names
from membership.book.studies.comparison.costs import references_of, seconds_of
from membership.book.studies.comparison.names import AREA, RATE, in_words, picked
from membership.book.studies.comparison.scores import (
    CellEvidence,
    area,
    carries,
    mislabelled,
    origin,
    over_sets,
    per_target,
    plain,
    rate,
    read,
)
from membership.book.studies.comparison.settings import Settings
from membership.errors import InputError, suggest
from membership.metrics.rate_names import tpr_column

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Whose reference models include models such as these.
TRAINED = {BOTH: (OUT, BOTH), OUT: (OUT,), "none": ()}


IN_WORDS = {
    "none": "no references",
    OUT: "references without the record",
    BOTH: "references with and without the record",
}
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


def references_said(table: pd.DataFrame) -> str:
    """The first attack, the loss, and the largest rate."""
    area = picked(table, AREA)
    widest = area["cells"].iloc[0]
    area = area[area["cells"] == widest].sort_values("value", ascending=False)
    first, loss = area.iloc[0], area[area["attack"] == "LOSS"]["value"].iloc[0]
    rate = picked(table, RATE).query("cells == @widest").nlargest(1, "value")
    most = "".join(
        f" {row.attack} has the largest TPR at 1% FPR, {row.value:.1f}%."
        for row in rate.itertuples()
    )
    return (
        f"{first['attack']} has the largest AUC, {first['value']:.3f} averaged over {widest}; "
        f"LOSS has {loss:.3f}.{most}"
    )


def all_others_said(table: pd.DataFrame) -> str:
    """Every attack of the panel, or why there is none."""
    area = picked(table, AREA)
    if area.empty:
        size, most = picked(table, names.PARAMETERS)["value"].iloc[0], names.LARGEST_OPENED
        return (
            f"The smallest target has {size:,.0f} parameters. Attacks that invert its Hessian are "
            f"run up to {most:,}: here none is."
        )
    clauses = [f"{row.attack} {row.value:.3f}" for row in area.itertuples()]
    return f"AUC averaged over {area['cells'].iloc[0]}: {joined(clauses)}."


def trained(attack: pd.Series) -> pd.Series:
    """What each attack trains references on, in words."""
    known = {
        registered.display: registered.references for registered in attacks.registry().values()
    }
    return attack.map(known).fillna("none").map(lambda kind: IN_WORDS.get(kind, kind))


def board_drawn(table: pd.DataFrame) -> "Figure":
    """Tables 1 and 2: attacks by their AUC, averaged over cells.

    Those that fewer cells allow stand last, beside LOSS on the same cells.
    """
    area = table[table["metric"].isin((names.AREA, LOSS_THERE, names.PARAMETERS))]
    area = area.assign(attack=area["attack"].where(area["metric"] != LOSS_THERE, "LOSS"))
    area = area.drop_duplicates(["cells", "attack"])
    place = area["cells"].map(list(area["cells"].unique()).index)
    area = area.assign(place=place, lower=-area["value"]).sort_values(["place", "lower"])
    widest = area["cells"].iloc[0]
    fewer = " (" + area["cells"].str.split(" of ").str[0] + ")"
    name = area["attack"] + fewer.where(area["cells"] != widest, "")
    shown = area.assign(row=name, references=trained(area["attack"]))
    is_area = names.AREA in set(area["metric"])
    label = f"AUC, averaged over {widest}" if is_area else area["metric"].iloc[0]
    baseline = 0.5 if is_area else None
    return plots.dots_by_row(shown, "row", by="references", baseline=baseline, label=label)


def require(name: str) -> Attack:
    """The registered attack of a name; an InputError where there is none."""
    known = attacks.registry()
    if name not in known:
        raise InputError(f"unknown attack {suggest(name, known, 'attacks')}")
    return known[name]


def row(source: Source, name: str) -> pd.DataFrame:
    """The rows of one attack in its panel's leaderboard."""
    attack = require(name)
    allowed = of_panel(read(source), panel(attack))
    if name not in allowed:
        raise InputError(
            f"attack {name!r}: the bench lacks {', '.join(attack.needs)}; gather it, or give "
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
        "BASE is RMIA online, under another name. Offline BASE is as in its authors' code; with a "
        "plain threshold it would be MAST."
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


def by_cell_said(table: pd.DataFrame) -> str:
    """The extremes, and which attack leads how many cells."""
    area = picked(table, AREA)
    best = area.loc[area.groupby(["dataset", "target"], sort=False)["value"].idxmax()]
    counts = best["attack"].value_counts()
    clauses = [f"{name} leads in {count}" for name, count in counts.items()]
    high, low = best.loc[best["value"].idxmax()], best.loc[best["value"].idxmin()]
    return (
        f"The largest AUC goes from {low['value']:.3f} ({low['dataset']}, {low['target']}) to "
        f"{high['value']:.3f} ({high['dataset']}, {high['target']}). Of {len(best)} rows "
        f"{joined(clauses)}."
    )


def by_cell_drawn(table: pd.DataFrame) -> "Figure":
    """Figure 1: the AUC in every cell."""
    shown = table[table["metric"] == names.AREA]
    shown = shown.assign(cell=in_words(shown))
    # One of each family has its colour.
    coloured = ("LOSS", "BMIA, mixture", "LiRA", "BASE")
    return plots.dots_by_row(shown, "cell", baseline=0.5, label="AUC", coloured=coloured)


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
