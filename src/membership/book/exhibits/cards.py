"""The card of an exhibit: what it asks, what came out, and what it takes to check and cite it."""

from functools import cache
from typing import Any

import jinja2

from membership import markup
from membership.book import published
from membership.book.exhibits.declaration import Exhibit
from membership.book.exhibits.layout import MOST_ROWS
from membership.book.exhibits.listing import bibtex, name
from membership.book.exhibits.panels import PLURALS, Panel


def html(exhibit: Exhibit, runs: list[Panel]) -> str:
    """The card as HTML, without styles or scripts; every text is escaped.

    Parameters
    ----------
    exhibit : Exhibit
        What the card is of.
    runs : list of Panel
        At least one; the first is judged in the header and cited.
    """
    first = runs[0]
    return rendered(
        "card.html",
        exhibit=exhibit,
        runs=runs,
        counts=first.counts,
        summary=published.summary(first.judged) if first.counts else "",
        most=MOST_ROWS,
        entry=bibtex(exhibit.id, first.record),
        paper_entry=published.bibtex(exhibit.chapter),
        paper=published.papers.get(exhibit.chapter),
    )


def gallery(runs: list[list[Panel]]) -> str:
    """The pictures of several exhibits on one card, each with its own link, files and citation.

    Parameters
    ----------
    runs : list of list of Panel
        Of each exhibit; none is judged.
    """
    by_run: dict[str, list[Panel]] = {}
    for panels in runs:
        for run in panels:
            by_run.setdefault(run.name, []).append(run)
    entries = [bibtex(panels[0].exhibit.id, panels[0].record) for panels in runs]
    return rendered("gallery.html", runs=runs, by_run=by_run, entries=entries)


def alone(exhibit: Exhibit, runs: list[Panel]) -> str:
    """The card as HTML that needs nothing beside it: picture, words and plain tables."""
    return macro("alone.html", "card", exhibit, runs)


def text(exhibit: Exhibit, runs: list[Panel]) -> str:
    """The card in a few lines of plain text, for where no HTML is shown."""
    lines = [f"{name(exhibit.id)} ({exhibit.id}): {exhibit.question}"]
    for run in runs:
        parts = [run.counted] if run.counts else []
        lines.append(f"{run.name}, {run.profile}: {', '.join([*parts, run.files['CSV']])}")
        lines += [run.sentence] if run.sentence else []
    return "\n".join(lines)


def rendered(template: str, **values: Any) -> str:
    """One of the room's templates, filled in."""
    return templates().get_template(template).render(plurals=PLURALS, **values)


def macro(template: str, name: str, *values: Any) -> str:
    """What a macro of one of the room's templates makes of some values."""
    return str(getattr(templates().get_template(template).make_module({}), name)(*values))


@cache
def templates() -> jinja2.Environment:
    """The room's templates."""
    return markup.templates("membership.book.exhibits")
