"""The card under an exhibit: numbers side by side, and how to cite, download and check them."""

from dataclasses import dataclass
from html import escape
from typing import Any

import pandas as pd

from membership import published
from membership.exhibits.citation import bibtex
from membership.exhibits.listing import name
from membership.exhibits.numbers import MISSING, number
from membership.exhibits.rows import LONGEST, Cell, compared, extra_columns, is_tidy, measured

# Word and symbol, so that no verdict hangs on its colour.
_SYMBOLS = {"agrees": "\u2713", "differs": "\u2717", "not comparable": "\u25cb"}


@dataclass(frozen=True)
class Run:
    """One run of the exhibit: its heading, table and record, and where its files are.

    ``files`` maps a label ("CSV") to an address; with ``linked`` False they are plain paths.
    """

    heading: str
    table: pd.DataFrame
    record: dict[str, Any]
    files: dict[str, str]
    linked: bool


def html(exhibit_id: str, runs: list[Run]) -> str:
    """The card as HTML.

    Parameters
    ----------
    exhibit_id : str
        Such as ``"bayes-optimal-tab-1"``.
    runs : list of Run
        The reader's own run last; the committed paper-size run before it, where there is one.

    Returns
    -------
    str
        One ``div.exhibit-card`` without styles or scripts; every text is escaped.
    """
    return "\n".join(
        [
            '<div class="exhibit-card">',
            _numbers(exhibit_id, runs),
            _rule(runs),
            *[_remarks(run, several=len(runs) > 1) for run in runs],
            _details(exhibit_id, runs),
            "</div>",
        ]
    )


def text(exhibit_id: str, runs: list[Run]) -> str:
    """The card in a few lines of plain text, for where no HTML is shown."""
    lines = [f"{name(exhibit_id)} ({exhibit_id})"]
    for run in runs:
        comparison = run.record["comparison"]
        verdicts = [row["verdict"] for row in comparison["rows"]] if comparison else []
        counts = [f"{word}: {verdicts.count(word)}" for word in _SYMBOLS if word in verdicts]
        lines.append(f"{run.heading}: {', '.join([*counts, run.files['CSV']])}")
    return "\n".join(lines)


def _numbers(exhibit_id: str, runs: list[Run]) -> str:
    """The table in a container that scrolls sideways, by keyboard too, where it is too wide."""
    title = name(exhibit_id)
    if any(run.record["comparison"] for run in runs):
        table = _judged_table(title, runs)
    elif all(is_tidy(run.table) and len(run.table) <= LONGEST for run in runs):
        table = _measured_table(title, runs)
    else:
        table = _as_it_is(title, runs[-1].table)
    label = escape(f"{title}: numbers")
    return (
        f'<div class="exhibit-scroll" tabindex="0" role="region" aria-label="{label}">\n'
        f"{table}\n</div>"
    )


def _judged_table(title: str, runs: list[Run]) -> str:
    rows = compared([run.record for run in runs])
    heads = ["quantity", "published", *[run.heading for run in runs]]
    body = [[escape(row.published), *map(_cell, row.cells)] for row in rows]
    return _table(
        f"{title}: published and regenerated", heads, [row.quantity for row in rows], body
    )


def _measured_table(title: str, runs: list[Run]) -> str:
    rows = measured([run.table for run in runs])
    heads = ["quantity", *[run.heading for run in runs], *extra_columns(runs[-1].table)]
    width = len(heads) - 1
    body = [[*map(_cell, row.cells), *map(escape, row.extras)] for row in rows]
    body = [cells + [MISSING] * (width - len(cells)) for cells in body]
    return _table(f"{title}: regenerated", heads, [row.quantity for row in rows], body)


def _as_it_is(title: str, table: pd.DataFrame) -> str:
    shown = table.head(LONGEST)
    rest = f"; {LONGEST} of {len(table)} rows, all are in the CSV" if len(table) > LONGEST else ""
    cells = [[escape(number(value)) for value in row] for row in shown.itertuples(index=False)]
    heads = [str(column) for column in table.columns]
    firsts = [number(value) for value in shown.iloc[:, 0]]
    return _table(f"{title}: data{rest}", heads, firsts, [row[1:] for row in cells])


def _table(caption: str, heads: list[str], firsts: list[str], body: list[list[str]]) -> str:
    """A table whose captions and headings are text and whose cells are HTML already."""
    head = "".join(f'<th scope="col">{escape(label)}</th>' for label in heads)
    lines = [
        f'<tr><th scope="row">{escape(first)}</th>'
        + "".join(f"<td>{cell}</td>" for cell in cells)
        + "</tr>"
        for first, cells in zip(firsts, body, strict=True)
    ]
    return "\n".join(
        [
            '<table class="exhibit-table">',
            f"<caption>{escape(caption)}</caption>",
            f"<thead><tr>{head}</tr></thead>",
            "<tbody>",
            *lines,
            "</tbody>",
            "</table>",
        ]
    )


def _cell(cell: Cell) -> str:
    shown = f'<span class="exhibit-number">{escape(cell.text)}</span>'
    if not cell.verdict:
        return shown
    kind = cell.verdict.replace(" ", "-")
    shown += (
        f' <span class="verdict verdict-{kind}">'
        f'<span aria-hidden="true">{_SYMBOLS[cell.verdict]}</span> {escape(cell.verdict)}</span>'
    )
    if cell.verdict == "differs":
        shown += f'<div class="exhibit-reason">{escape(cell.reason)}</div>'
    return shown


def _rule(runs: list[Run]) -> str:
    """What counts as agreement."""
    tolerances = [run.record["tolerance"] for run in runs if run.record["comparison"]]
    if not tolerances:
        return ""
    near = f", or within {tolerances[-1]:g} of the regenerated one" if tolerances[-1] else ""
    return (
        '<p class="exhibit-note"><strong>Agrees</strong>: the published value lies inside the '
        f"95% interval{near}.</p>"
    )


def _remarks(run: Run, *, several: bool) -> str:
    """How this run was set up, and where it departs from the paper."""
    record = run.record
    remarks = [record["note"]] if record["note"] else []
    if several:
        sizes = [f"{key} {value}" for key, value in record["parameters"].items() if value != ""]
        remarks.append(f"{'; '.join(sizes)}; run on {record['device'] or 'no stated device'}.")
    if record["deviations"]:
        remarks.append(f"Differs from the paper: {'; '.join(record['deviations'])}.")
    if not remarks:
        return ""
    heading = run.heading[0].upper() + run.heading[1:]
    lead = f"<strong>{escape(heading)}.</strong>"
    return f'<p class="exhibit-note">{lead} {escape(" ".join(remarks))}</p>'


def _details(exhibit_id: str, runs: list[Run]) -> str:
    record = runs[-1].record
    own, paper = bibtex(exhibit_id, record), published.bibtex(record["chapter"])
    return "\n".join(
        [
            '<details class="exhibit-details">',
            "<summary>Cite, download, provenance</summary>",
            _entry("Cite this exhibit", f"BibTeX of {exhibit_id}", own),
            _entry("Cite the paper", f"BibTeX of the paper, for {exhibit_id}", paper),
            *[_files(run) for run in runs],
            *[_provenance(run) for run in runs],
            "</details>",
        ]
    )


def _entry(heading: str, label: str, entry: str) -> str:
    return (
        f'<p class="exhibit-heading">{escape(heading)}</p>\n'
        f'<pre class="exhibit-bibtex" tabindex="0" role="group" aria-label="{escape(label)}">'
        f"{escape(entry)}</pre>"
    )


def _files(run: Run) -> str:
    items = [
        f'<a href="{escape(place)}">{escape(label)}</a>'
        if run.linked
        else f"{escape(label)}: <code>{escape(place)}</code>"
        for label, place in run.files.items()
    ]
    listed = "".join(f"<li>{item}</li>" for item in items)
    return (
        f'<p class="exhibit-heading">Download: {escape(run.heading)}</p>\n'
        f'<ul class="exhibit-files">{listed}</ul>'
    )


def _provenance(run: Run) -> str:
    record = run.record
    facts = {
        "parameters": _listed(record["parameters"]),
        "seed": str(record["seed"]),
        "device": record["device"] or "not stated",
        "data": _listed(record["data"]) or "simulated",
        "commit": record["commit"] or "not run from a checkout",
        "code (SHA-256)": record["code_sha256"],
        "versions": _listed(record["versions"]),
    }
    items = "".join(f"<dt>{escape(key)}</dt><dd>{escape(fact)}</dd>" for key, fact in facts.items())
    return (
        f'<p class="exhibit-heading">Provenance: {escape(run.heading)}</p>\n'
        f'<dl class="exhibit-provenance">{items}</dl>'
    )


def _listed(values: dict[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in values.items())
