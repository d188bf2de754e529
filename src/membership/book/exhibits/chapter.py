"""A chapter as its notebook sees it: it shows exhibits and claims, and gives single numbers."""

import os
from collections.abc import Mapping
from typing import Any

from membership import paths
from membership.book.exhibits import cards, claims, files, numbers, provenance
from membership.book.exhibits.declaration import Exhibit, declarations, declared
from membership.book.exhibits.panels import Panel, panels
from membership.book.exhibits.source import Committed, Source
from membership.book.published import Claim
from membership.errors import InputError


class Chapter:
    """One run of a chapter; made by `open_chapter`."""

    def __init__(self, settings: Any, exhibits: tuple[Exhibit, ...]) -> None:
        self.settings = settings
        self.source = _source(settings, exhibits)

    def show(self, exhibit_id: str) -> None:
        """Compute an exhibit, save what this run made of it and, in a notebook, show its card.

        Writes ``<results>/<profile>/<chapter>/<id>.{csv,json}`` and, where it is drawn,
        ``.{svg,pdf}``: all of them or none. The card shows the committed full run first.

        Parameters
        ----------
        exhibit_id : str
            One of the chapter's.

        Raises
        ------
        InputError
            The chapter has no such exhibit, its table is empty, or the results folder cannot be
            written to.
        """
        runs = self._saved(exhibit_id)
        if provenance.in_notebook():
            exhibit = self.source.exhibit(exhibit_id)
            text = cards.text(exhibit, runs)
            _display(cards.html(exhibit, runs), text, cards.alone(exhibit, runs))

    def gallery(self, *exhibit_ids: str) -> None:
        """Save several drawn exhibits, as `show` does, and show their pictures on one card.

        Parameters
        ----------
        *exhibit_ids : str
            Two or more of the chapter's, without numbers to judge; each keeps its own link.
        """
        runs = [self._saved(exhibit_id) for exhibit_id in exhibit_ids]
        if provenance.in_notebook():
            shown = [cards.text(of_exhibit[0].exhibit, of_exhibit) for of_exhibit in runs]
            alone = "".join(cards.alone(of_exhibit[0].exhibit, of_exhibit) for of_exhibit in runs)
            _display(cards.gallery(runs), "\n".join(shown), alone)

    def claims(self) -> None:
        """Test the chapter's claims, at paper size and on this run, and show them in a notebook.

        Paper-size outcomes are computed from the committed tables and evidence.

        Raises
        ------
        InputError
            The chapter declares no claims.
        """
        declared_claims = claims_of(self.settings.chapter)
        exhibits = tuple(self.source.exhibits.values())
        committed = type(self.settings).from_values({"profile": "paper"})
        is_committed = self.settings.profile == "paper" and not self.settings.results_dir
        own = None if is_committed else self.source
        results = claims.rows(declared_claims, exhibits, Committed(committed, exhibits), own)
        if provenance.in_notebook():
            html = claims.html(self.settings.chapter, results, exhibits)
            _display(html, claims.text(results), claims.alone(self.settings.chapter, results))

    def number(
        self, exhibit_id: str, where: Mapping[str, Any], form: str = "", column: str = "value"
    ) -> str:
        """One number of this run's exhibit, for prose.

        Parameters
        ----------
        exhibit_id : str
            One of the chapter's.
        where : mapping
            Column names and the values that single out one row.
        form : str
            Such as ``".3f"``; four significant digits unless given.
        column : str
            The column the number stands in.

        Raises
        ------
        InputError
            There is no such exhibit or column, or not exactly one such row.
        """
        return numbers.number_at(self.source.table(exhibit_id), where, form, column)

    def _saved(self, exhibit_id: str) -> list[Panel]:
        """What there is to show of an exhibit, once this run is computed and saved."""
        exhibit = self.source.exhibit(exhibit_id)
        table = self.source.table(exhibit_id)
        files.save(exhibit, table, self.settings, self.source.digests(exhibit))
        return panels(exhibit, self.settings.profile, self.settings.results_dir)


def claims_of(chapter: str) -> tuple[Claim, ...]:
    """The claims that a chapter declares."""
    declared_claims = declarations(chapter, "claims", "CLAIMS")
    if not declared_claims:
        raise InputError(f"chapter {chapter!r} declares no claims; see CLAIMS")
    return declared_claims


def open_chapter(settings: Any) -> Chapter:
    """Open a chapter for a notebook; evidence is gathered when the first exhibit asks for it.

    Parameters
    ----------
    settings : Settings
        The chapter's resolved settings.

    Raises
    ------
    InputError
        The chapter declares no exhibits, or a full run would name no commit that holds.
    """
    exhibits = declared(settings.chapter)
    if not exhibits:
        raise InputError(f"chapter {settings.chapter!r} declares no exhibits in its exhibits.toml")
    files.require_citable(settings)
    return Chapter(settings, exhibits)


# What the pages of one run share, by run and settings: one entry.
_of_run: dict[tuple[str, str], Source] = {}


def _source(settings: Any, exhibits: tuple[Exhibit, ...]) -> Source:
    """A source; within one `membership run` the one of the page before, with its tables."""
    if not (run := os.environ.get(paths.RUN)):
        return Source(settings, exhibits)
    key = run, settings.model_dump_json()
    if key not in _of_run:
        _of_run.clear()
        _of_run[key] = Source(settings, exhibits)
    return _of_run[key]


def _display(html: str, text: str, alone: str) -> None:
    """Show the site's card where the site will show it, with what it cannot do without beside it.

    A notebook by itself has no style sheet for the card, and no files that it links to.
    """
    from IPython.display import display

    shown = {"text/html": alone}
    if provenance.ON_SITE in os.environ:
        shown = {"text/html": html, provenance.ALONE: alone}
    display({**shown, "text/plain": text}, raw=True)
