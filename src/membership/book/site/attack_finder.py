"""Which attack for which case: the registered ones by what they need, and what they reached."""

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from membership.attacks import Attack, registry
from membership.attacks.registry import BOTH
from membership.book import published
from membership.book.exhibits.declaration import Exhibit
from membership.book.exhibits.panels import Panel
from membership.book.site.overview import Part, parts
from membership.data.public import entries
from membership.metrics.rate_names import tpr_label

# Who holds the one can work out the others.
IMPLIED = {
    "weights": ("logits", "losses", "outputs"),
    "logits": ("losses", "outputs"),
    "losses": ("outputs",),
    "all other records": ("training records",),
}
NONE, WITHOUT, HALVES, EACH = (
    "none",
    "once, without the records",
    "once, with and without them",
    "anew for each record",
)
COSTS = {
    NONE: "no reference model",
    WITHOUT: "the same reference models serve all records, each asked of records it has not seen",
    HALVES: "the same again, of which half were trained with the record",
    EACH: "models with and without each record that is asked",
}
BENCH = "comparison"
"""The chapter in which all attacks meet: its numbers come first."""
_KEYS = ("dataset", "cells", "n")
# A line each for the values of these.
_GROUPS = {"dataset": "{}", "cells": "average of {}"}
# By the metric's name: measure, factor to its unit (AUC in 0-1, rates in percent), digits, unit.
_MEASURES = {
    "AUC": ("AUC", 1.0, ".3f", ""),
    "AUC (%)": ("AUC", 0.01, ".3f", ""),
    tpr_label(0.01): ("TPR", 1.0, ".1f", "%"),
}


@dataclass(frozen=True)
class Line:
    """One data set: AUC and TPR at 1% FPR as text, empty where not measured."""

    data: str
    auc: str
    tpr: str


@dataclass(frozen=True)
class Reached:
    """What an attack reached in one exhibit, and with how many reference models where it says."""

    exhibit: Exhibit
    models: int
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Case:
    """One attack, what it costs, and what it reached where the book measured it."""

    attack: Attack
    reached: tuple[Reached, ...]

    @property
    def models(self) -> str:
        """How often its reference models are trained."""
        if self.attack.references == "none":
            return NONE
        if self.attack.leave_one_out:
            return EACH
        return HALVES if self.attack.references == BOTH else WITHOUT

    @property
    def chapter(self) -> str:
        """The chapter about its paper, or else the first beside the bench that measures it."""
        of_paper = {paper.key: chapter for chapter, paper in published.papers.items()}
        chapters = [result.exhibit.chapter for result in self.reached]
        first_chapter = next(iter(sorted(chapters, key=BENCH.__eq__)), "")
        return of_paper.get(self.attack.paper, first_chapter)


def cases() -> list[Case]:
    """Every registered attack, in the order of the registry."""
    tables = [_attack_panels(part) for part in sorted(parts(), key=lambda p: p.chapter != BENCH)]
    return [Case(attack, tuple(_results(attack, tables))) for attack in registry().values()]


def _attack_panels(part: Part) -> list[Panel]:
    """The committed runs of a chapter that list attacks: tables first, data before games."""
    runs = [entry.run for entry in part.entries if entry.run]
    listing = [
        run for run in runs if {"attack", "quantity"} & set(run.table) and "value" in run.table
    ]
    return sorted(listing, key=lambda run: (run.exhibit.kind != "table", not run.about["data"]))


def _results(attack: Attack, chapters: list[list[Panel]]) -> Iterator[Reached]:
    """The first exhibit of each chapter that measured an attack."""
    for runs in chapters:
        results = (_result(attack, run) for run in runs)
        if first := next((result for result in results if result.lines), None):
            yield first


def _result(attack: Attack, run: Panel) -> Reached:
    rows, models = _attack_rows(attack, run.table), 0
    if rows.empty:  # of most runs: what follows takes pandas longer
        return Reached(run.exhibit, 0, ())
    if "n_reference" in rows:
        models = int(rows["n_reference"].max())
        rows = rows[rows["n_reference"] == models]
    rows = rows.assign(measure=[_measure(metric) for metric in rows["metric"]])
    rows = rows[rows["measure"] != ""]
    key = next((name for name in _KEYS if name in rows and rows[name].notna().all()), "")
    if key in _GROUPS:
        groups = rows.groupby(key, sort=False)
        lines = [_line(_GROUPS[key].format(value), part) for value, part in groups]
    else:
        words = [_data_name(run), _span(key, rows[key])] if key else [_data_name(run)]
        lines = [_line(", ".join(filter(None, words)), rows)] if len(rows) else []
    return Reached(run.exhibit, models, tuple(lines))


def _span(key: str, values: pd.Series) -> str:
    """From the first to the last value of a key."""
    texts = [f"{value:,.6g}" if isinstance(value, float | int) else value for value in values]
    return f"{key} = {texts[0]} to {texts[-1]}" if texts else ""


def _attack_rows(attack: Attack, table: pd.DataFrame) -> pd.DataFrame:
    """The rows of a table that are about an attack under one of its names."""
    if "attack" in table and "metric" in table:
        names = {attack.display, f"{attack.display} (Exact)"}
        if attack.name == "loss":
            names |= {attack.term, f"{attack.term} (Exact)"}
        return table[table["attack"].isin(names)]
    if "quantity" not in table:
        return table.iloc[:0].assign(metric="")
    quantities = [f"AUC of {attack.display}{steps} (%)" for steps in ("", ", one step")]
    rows = table[table["quantity"].isin(quantities)]
    return rows.assign(metric="auc(%)")


def _measure(metric: str) -> str:
    """What the page calls a metric; empty for one that it leaves out."""
    words = published.metric_words(metric)
    return words if words in _MEASURES else ""


def _line(name: str, rows: pd.DataFrame) -> Line:
    texts = {measure: "" for measure in ("AUC", "TPR")}
    for measure, part in rows.groupby("measure", sort=False):
        column, factor, style, unit = _MEASURES[measure]
        low, high = part["value"].min() * factor, part["value"].max() * factor
        ends = [f"{x:{style}}" for x in (low, high)]
        texts[column] = " to ".join(dict.fromkeys(ends)) + unit
    return Line(name, texts["AUC"], texts["TPR"])


def _data_name(run: Panel) -> str:
    """The data set of a run whose table does not name it, by its first words."""
    known = entries()
    names = [known[name].title for name in run.about["data"] if name in known]
    return names[0].partition(",")[0] if names else "simulated"
