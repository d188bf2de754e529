"""One run of an exhibit as its card shows it: a picture or a short table, and its numbers.

Below it is what a page's scripts read of a table: curves of error rates, at one rate for every
false positive rate, and records one by one. What a chapter declares as ``records`` makes a table of
one row a record from an exhibit's own; ranks are counted here, among all records of the group,
pictured or not.
"""

import io
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from membership import markup, paths
from membership.book.exhibits import files, provenance
from membership.book.exhibits.declaration import Exhibit
from membership.book.exhibits.layout import MOST_ROWS, Forest, Grid, forests, grid
from membership.book.exhibits.numbers import Quantity, is_tidy, number, quantities
from membership.book.published import verdicts
from membership.errors import InputError

WORDS = (*verdicts.WORDS, "not comparable", verdicts.SECONDS, "not judged")
# As a count says them: "14 agree".
PLURALS = {"agrees": "agree", "differs": "differ"}
_FILES = {"CSV": ".csv", "SVG": ".svg", "SVG, narrow": files.NARROW, "PDF": ".pdf", "JSON": ".json"}
# The cells of a picture: the CSV has them, and a page has the picture.
_OF_PICTURES = ("shape", "pixels")
# A page is no place to read hundreds of rows.
_MOST_LISTED = 60


@dataclass(frozen=True)
class Panel:
    """One run: what it is called, its table and record as they were saved, and where they lie."""

    name: str
    exhibit: Exhibit
    table: pd.DataFrame
    record: dict[str, Any]
    target: Path
    linked: bool

    @property
    def profile(self) -> str:
        """The run's profile."""
        return self.record["profile"]

    @property
    def about(self) -> dict[str, Any]:
        """The record, with what is assumed of a run that does not say it."""
        return {**files.ATTRIBUTES, "evidence": {}, **self.record}

    @cached_property
    def judged(self) -> pd.DataFrame | None:
        """The comparison with the published numbers, made now."""
        return self.exhibit.judge(self.table) if self.exhibit.judge else None

    @cached_property
    def numbers(self) -> list[Quantity]:
        """The numbers one by one; none where the table is no list of numbers under keys."""
        if self.judged is None and not is_tidy(self.table):
            return []
        return quantities(self.table, self.judged, self.exhibit.differences)

    @cached_property
    def listed(self) -> list[Quantity]:
        """The numbers that a page has room for: all that are judged, else the first."""
        return self.numbers if self.counts else self.numbers[:_MOST_LISTED]

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many numbers got each verdict that occurs, in a fixed order."""
        return counted([quantity.verdict for quantity in self.numbers], WORDS)

    @cached_property
    def counted(self) -> str:
        """The same in words: "14 agree, 7 differ"."""
        return in_words(self.counts)

    @cached_property
    def sentence(self) -> str:
        """The computed sentence, empty where the exhibit has none."""
        return self.exhibit.says(self.table) if self.exhibit.says else ""

    @property
    def alt(self) -> str:
        """What the picture shows, in words."""
        return self.exhibit.described(self.table)

    @cached_property
    def files(self) -> dict[str, str]:
        """Where its files are: addresses relative to a chapter's page, or paths."""
        there = {label: self._address(suffix) for label, suffix in _FILES.items()}
        return {label: address for label, address in there.items() if address}

    @property
    def picture(self) -> str:
        """The address of the picture, or, away from the site, the picture itself; or nothing."""
        return (self.linked and self._address(".svg")) or self.embedded

    @cached_property
    def embedded(self) -> str:
        """The picture itself as an address; or nothing."""
        lying = paths.in_run(self.target.with_suffix(".svg"))
        if not lying.is_file():
            return ""
        return markup.embedded("svg+xml", lying.read_bytes())

    @property
    def narrow_picture(self) -> str:
        """The address of the picture for a phone; nothing where there is none, or no site."""
        return self._address(files.NARROW) if self.linked else ""

    @cached_property
    def curves(self) -> dict[str, Any] | None:
        """The curves of error rates that the picture shows, for the page to read off."""
        return curves(self.table) if self.picture else None

    @cached_property
    def records(self) -> dict[str, Any] | None:
        """The records that the picture shows, for the page to show one by one."""
        if not (self.picture and self.exhibit.records):
            return None
        return one_by_one(self.exhibit.records(self.table))

    @property
    def is_of_records(self) -> bool:
        """Whether the picture shows records, whose colours have to stay as they are."""
        return "pixels" in self.table.columns

    @cached_property
    def forests(self) -> list[Forest]:
        """The numbers as marks on axes, where they suit it and there is no picture."""
        return [] if self.picture else forests(self.numbers)

    @cached_property
    def grid(self) -> Grid | None:
        """The numbers as a short table, where there is nothing better to look at."""
        if self.picture or not self.numbers or self.forests:
            return None
        return grid(self.numbers) if all(quantity.keys for quantity in self.numbers) else None

    @property
    def is_brief(self) -> bool:
        """Whether its sentence stands for it: a control of the book's own, without a picture."""
        return self.exhibit.kind == "control" and bool(self.sentence) and not self.picture

    @property
    def is_told(self) -> bool:
        """Whether the whole table stands in the panel already."""
        return not (self.picture or self.numbers or len(self.table) > MOST_ROWS)

    @property
    def columns(self) -> list[str]:
        """The table's columns without those that hold nothing, or pictures as numbers."""
        shown = [name for name in self.table.columns if name not in _OF_PICTURES]
        return [name for name in shown if not self.table[name].isna().all()]

    @property
    def most_listed(self) -> int:
        """How many rows of a table that is not judged a page shows."""
        return _MOST_LISTED

    def rows(self, most: int = _MOST_LISTED) -> list[list[str]]:
        """The first rows of the table as text, in the order of `columns`."""
        shown = self.table[self.columns].head(most)
        return [[number(value) for value in row] for row in shown.itertuples(index=False)]

    def _address(self, suffix: str) -> str:
        """Where one of its files is, or nothing where it has none."""
        path = self.target.with_suffix(suffix)
        if not paths.in_run(path).is_file():
            return ""
        if not self.linked:
            return str(paths.shown(path))
        return f"../../results/{self.profile}/{self.exhibit.chapter}/{path.name}"


def counted(words: list[str], order: Sequence[str]) -> dict[str, int]:
    """How often each word occurs that does, in the order given."""
    return {word: words.count(word) for word in order if word in words}


def in_words(counts: dict[str, int]) -> str:
    """Counts by verdict in words: "14 agree, 7 differ"."""
    return ", ".join(f"{n} {PLURALS.get(word, word)}" for word, n in counts.items())


def own_name(profile: str) -> str:
    """What a reader's own run is called."""
    return "Quick run" if profile in ("tiny", "quick") else "Own run"


def panels(exhibit: Exhibit, profile: str, results_dir: str) -> list[Panel]:
    """The committed full run, where there is one, and the reader's own, each once."""
    in_project = not results_dir or Path(results_dir).resolve() == paths.results_dir().resolve()
    paper = _panel(exhibit, "Full run", "paper", "")
    if profile == "paper" and in_project:
        return [paper] if paper else []
    own = _panel(exhibit, own_name(profile), profile, results_dir)
    if paper and own and paper.record["csv_sha256"] == own.record["csv_sha256"]:
        return [paper]
    return [run for run in (paper, own) if run]


def _panel(exhibit: Exhibit, name: str, profile: str, results_dir: str) -> Panel | None:
    saved = files.load(exhibit.id, profile, results_dir)
    if saved is None:
        return None
    target = files.location(exhibit.id, exhibit.chapter, profile, results_dir)
    linked = provenance.ON_SITE in os.environ and not results_dir
    return Panel(name, exhibit, *saved, target, linked)


RATES = {"tpr": "true positive rate", "fnr": "false negative rate"}
_DIGITS = 3


def curves(table: pd.DataFrame) -> dict[str, Any] | None:
    """The curves of a table with columns ``panel``, ``series``, ``fpr`` and a rate, else None.

    The rate on the vertical axis by name, and the curves of each panel, as plain JSON values.
    """
    column = next((name for name in RATES if name in table.columns), "")
    if not column or not {"panel", "series", "fpr"} <= set(table.columns):
        return None
    panels = table.groupby("panel", sort=False)
    parts = [_curves_of(str(name), rows, column) for name, rows in panels]
    return {"rate": RATES[column], "panels": parts}


def _curves_of(name: str, rows: pd.DataFrame, column: str) -> dict[str, Any]:
    """A panel with the false positive rates that all its curves share, where they do."""
    series = rows.groupby("series", sort=False)
    drawn = [_curve(str(label), part, column) for label, part in series]
    shared = drawn[0]["fpr"]
    if any(curve["fpr"] != shared for curve in drawn):
        return {"name": name, "curves": drawn}
    for curve in drawn:
        del curve["fpr"]
    return {"name": name, "fpr": shared, "curves": drawn}


def _curve(name: str, rows: pd.DataFrame, column: str) -> dict[str, Any]:
    rows = rows.sort_values("fpr")
    curve = {"name": name, "fpr": _numbers(rows["fpr"]), "value": _numbers(rows[column])}
    if {"low", "high"} <= set(rows.columns) and rows[["low", "high"]].notna().all(axis=None):
        ends = {"low": _numbers(rows["low"]), "high": _numbers(rows["high"])}
        # What is computed exactly has no interval.
        curve |= ends if ends["low"] != ends["high"] else {}
    return curve


def _numbers(values: pd.Series) -> list[float]:
    return [float(f"{value:.{_DIGITS}g}") for value in values]


COLUMNS = ("group", "label", "shape", "pixels")
"""What a record is ranked among, what it is called, and its picture; the other columns measure."""


def one_by_one(table: pd.DataFrame) -> dict[str, Any] | None:
    """The records that have a picture, in the order of the table, as plain JSON values.

    Parameters
    ----------
    table : pandas.DataFrame
        One row a record: `COLUMNS`, then one column a measure, higher where a record is more
        exposed.

    Returns
    -------
    dict or None
        ``measures``, and ``records`` with ``group``, ``label``, ``of`` (records in the group),
        ``picture``, ``values`` and ``ranks``; None where no record has a picture.

    Raises
    ------
    InputError
        A column is missing or nothing is measured.
    """
    measures = [str(name) for name in table.columns if name not in COLUMNS]
    if missing := [name for name in COLUMNS if name not in table.columns]:
        raise InputError(f"the table of records lacks the columns {missing}")
    if not measures:
        raise InputError("the table of records measures nothing; give a column a measure")
    groups = table.groupby("group", sort=False)
    ranks = groups[measures].rank(ascending=False, method="min").astype(int)
    sizes = groups["label"].transform("size")
    shown = table[table["pixels"].fillna("") != ""]
    if shown.empty:
        return None
    records = [
        {
            "group": row["group"],
            "label": row["label"],
            "of": int(sizes[place]),
            "picture": _address(row["shape"], row["pixels"]),
            "values": [number(row[name]) for name in measures],
            "ranks": ranks.loc[place].tolist(),
        }
        for place, row in shown.iterrows()
    ]
    return {"measures": measures, "records": records}


def _address(shape: str, pixels: str) -> str:
    """A picture as an address that holds it, unchanged."""
    # Here and not above: what only lists or cites exhibits should not wait for these.
    from PIL import Image

    from membership.plots.images import picture

    content = io.BytesIO()
    Image.fromarray(picture(shape, pixels)).save(content, "WEBP", lossless=True)
    return markup.embedded("webp", content.getvalue())
