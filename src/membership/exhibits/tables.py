"""A card's tables as HTML, without styles or scripts; every text is escaped."""

from html import escape

import pandas as pd

from membership.exhibits.numbers import MISSING, number
from membership.exhibits.pivots import Group, Pivot
from membership.exhibits.rows import LONGEST, Cell, Row

# Word and symbol, so that no verdict hangs on its colour.
SYMBOLS = {"agrees": "\u2713", "differs": "\u2717", "not comparable": "\u25cb"}


def listed(title: str, headings: list[str], rows: list[Row], *, judged: bool) -> str:
    """One row a quantity: what the paper prints, where it was ``judged``, and each run's number.

    Parameters
    ----------
    title : str
        The exhibit in words.
    headings : list of str
        One a run.
    rows : list of Row
        At least one.
    judged : bool
        Whether there is anything published to set beside the runs.
    """
    beside = list(dict.fromkeys(name for row in rows for name, _ in row.cells[-1].extras))
    heads = ["quantity", *(["published"] if judged else []), *headings, *beside]
    body = []
    for row in rows:
        extras = dict(row.cells[-1].extras)
        cells = [escape(row.published)] if judged else []
        cells += [_judged_cell(cell) for cell in row.cells]
        body.append(_row(row.quantity, [*cells, *(escape(extras.get(n, MISSING)) for n in beside)]))
    caption = f"{title}: {'published and regenerated' if judged else 'regenerated'}"
    return _table(caption, heads, [body])


def pivoted(caption: str, pivot: Pivot) -> str:
    """One run's numbers, a row a key and a column a metric, with what the paper prints below."""
    bodies = [_group(group, pivot.metrics) for group in pivot.groups]
    return _table(caption, [pivot.corner, *pivot.metrics], bodies, kind=" exhibit-pivot")


def as_it_is(title: str, table: pd.DataFrame) -> str:
    """The first rows of a table that is no list of numbers under keys."""
    shown = table.head(LONGEST)
    rest = f"; {LONGEST} of {len(table)} rows, all are in the CSV" if len(table) > LONGEST else ""
    rows = [[number(value) for value in row] for row in shown.itertuples(index=False)]
    body = [_row(first, [escape(text) for text in others]) for first, *others in rows]
    return _table(f"{title}: data{rest}", [str(column) for column in table.columns], [body])


def scrolling(label: str, table: str) -> str:
    """A table in a container that scrolls sideways, by keyboard too, where it is too wide."""
    return (
        f'<div class="exhibit-scroll" tabindex="0" role="region" aria-label="{escape(label)}">\n'
        f"{table}\n</div>"
    )


def _table(caption: str, heads: list[str], bodies: list[list[str]], *, kind: str = "") -> str:
    head = "".join(f'<th scope="col">{escape(label)}</th>' for label in heads)
    rows = [line for body in bodies for line in ("<tbody>", *body, "</tbody>")]
    return "\n".join(
        [
            f'<table class="exhibit-table{kind}">',
            f"<caption>{escape(caption)}</caption>",
            f"<thead><tr>{head}</tr></thead>",
            *rows,
            "</table>",
        ]
    )


def _row(first: str, cells: list[str]) -> str:
    """A row whose heading is text and whose cells are HTML already."""
    rest = "".join(f"<td>{cell}</td>" for cell in cells)
    return f'<tr><th scope="row">{escape(first)}</th>{rest}</tr>'


def _group(group: Group, metrics: list[str]) -> list[str]:
    rows = [
        _row(words, [_pivot_cell(cells.get(metric, Cell())) for metric in metrics])
        for words, cells in group.rows.items()
    ]
    if not group.heading:
        return rows
    # The words in a span of their own, which stays in sight while the table scrolls sideways.
    words = f"<span>{escape(group.heading)}</span>"
    return [f'<tr><th scope="rowgroup" colspan="{len(metrics) + 1}">{words}</th></tr>', *rows]


def _pivot_cell(cell: Cell) -> str:
    lines = [f"{escape(name)} {escape(text)}" for name, text in cell.extras if text != MISSING]
    if cell.verdict:
        lines.append(f"paper {escape(cell.published)} {_chip(cell.verdict)}")
    return _number(cell) + "".join(f'<div class="exhibit-beside">{line}</div>' for line in lines)


def _judged_cell(cell: Cell) -> str:
    if not cell.verdict:
        return _number(cell)
    shown = f"{_number(cell)} {_chip(cell.verdict)}"
    if cell.verdict == "differs":
        shown += f'<div class="exhibit-reason">{escape(cell.reason)}</div>'
    return shown


def _number(cell: Cell) -> str:
    """The number, and its interval in one piece that no line end breaks."""
    shown = escape(cell.value)
    if cell.interval:
        shown += f' <span class="exhibit-interval">{escape(cell.interval)}</span>'
    return f'<span class="exhibit-number">{shown}</span>'


def _chip(verdict: str) -> str:
    return (
        f'<span class="verdict verdict-{verdict.replace(" ", "-")}">'
        f'<span aria-hidden="true">{SYMBOLS[verdict]}</span> {escape(verdict)}</span>'
    )
