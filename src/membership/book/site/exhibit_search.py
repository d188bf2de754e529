"""A Sphinx extension: a page's contents name its exhibits, and the search finds them by words.

Sphinx's search works from disk. It knows pages and functions, sections by more than half of their
title, and terms as the glossary; the domain here tells it of all of these, of exhibits and claims,
and of the words that readers type for them.
`book/_static/search-order.js` puts what stands under the very words that were typed first.
"""

import itertools
import re
import tomllib
from collections.abc import Iterator
from html import escape
from importlib import resources
from typing import Any, ClassVar

from docutils import nodes
from sphinx import addnodes
from sphinx.domains import Domain, ObjType

from membership.book import published
from membership.book.exhibits.exhibit_pages import chapter_of_page
from membership.book.exhibits.listing import listed
from membership.book.site import overview
from membership.book.site.plain_markdown import CHAPTERS

_ID = re.compile(r'<(?:article|figure)\b[^>]*\bid="([\w-]+)"')


def setup(app: Any) -> dict[str, Any]:
    """Tell Sphinx, which calls this, what contents name, and what the book is searched for."""
    app.connect("html-page-context", _amend)
    app.connect("autodoc-process-signature", _without_places)
    app.connect("autodoc-skip-member", _without_aliases)
    app.add_domain(Book)
    app.config.html_search_scorer = str(app.srcdir / "book" / "_static" / "search-order.js")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _without_places(
    app: Any, kind: str, name: str, obj: Any, options: Any, signature: str | None, returned: str
) -> tuple[str | None, str]:
    """A module as a default goes by its name: Python's own words for it say where it lies."""
    return re.sub(r"<module '([\w.]+)'[^>]*>", r"\1", signature or "") or signature, returned


def _without_aliases(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool:
    """No line "Alias for field number 0": what a field is stands in its class."""
    return skip or (getattr(obj, "__doc__", None) or "").startswith("Alias for field number")


def _amend(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    chapter = chapter_of_page(page.removeprefix(CHAPTERS))
    if doctree is not None and chapter in published.subjects and "toc" in context:
        labels = {exhibit["id"]: exhibit["label"] for exhibit in listed(chapter)}
        context["toc"] = with_exhibits(context["toc"], by_section(doctree, labels))
    chapters = [f"{CHAPTERS}{one}" for one in published.subjects]
    following = dict(itertools.pairwise(chapters)).get(page)
    if following in app.env.titles:  # the details stand beside a chapter, and not on the way
        link = app.builder.get_relative_uri(page, following)
        context["next"] = {"link": link, "title": escape(app.env.titles[following].astext())}


def by_section(doctree: nodes.document, labels: dict[str, str]) -> dict[str, list[tuple[str, str]]]:
    """The exhibits whose cards stand in each section below the title: (id, label) by anchor."""
    by_anchor = {}
    for title in doctree.findall(nodes.section):
        if isinstance(title.parent, nodes.document):
            for section in title.children:
                if isinstance(section, nodes.section):
                    text = "".join(raw.astext() for raw in section.findall(nodes.raw))
                    ids = dict.fromkeys(
                        exhibit_id for exhibit_id in _ID.findall(text) if exhibit_id in labels
                    )
                    by_anchor[section["ids"][0]] = [
                        (exhibit_id, labels[exhibit_id]) for exhibit_id in ids
                    ]
    return by_anchor


def with_exhibits(toc: str, sections: dict[str, list[tuple[str, str]]]) -> str:
    """The contents with a line of small links below each section that has exhibits."""

    def below(link: re.Match) -> str:
        exhibits = sections.get(link[1], ())
        links = " ".join(
            f'<a href="#{exhibit_id}">{escape(label)}</a>' for exhibit_id, label in exhibits
        )
        # As a part of the theme's navigation: with one of them its section is marked, too.
        return f'{link[0]}<span class="nav toc-exhibits">{links}</span>' if links else link[0]

    return re.sub(r'<a\b[^>]*href="#([^"]+)"[^>]*>.*?</a>', below, toc, flags=re.S)


class Book(Domain):
    """What the book has beside its pages and functions, under the words that it is looked for."""

    name, label = "book", "Membership, a companion"
    object_types: ClassVar = {
        kind: ObjType(kind) for kind in ("exhibit", "claim", "term", "section", "synonym")
    }

    def get_type_name(self, type: ObjType, primary: bool = False) -> str:
        """Without the name of the domain, since there is one book."""
        return type.lname

    def get_objects(self) -> Iterator[tuple[str, str, str, str, str, int]]:
        # Sphinx forgets the place of what is named as its anchor is: hence the words as the name.
        if overview.PAGE in self.env.found_docs:
            for row in overview.rows(overview.parts()):
                if (kind := row["kind"]) in self.object_types:
                    words, (page, _, anchor) = _words(row), row["link"].partition(".html")
                    # An exhibit that is not run has a page; there is nothing to point at on it.
                    anchor = anchor.removeprefix("#") or "top"
                    yield words, words, kind, page, anchor, int(kind == "claim")
        terms = {
            place: term
            for (kind, term), place in self.env.get_domain("std").objects.items()
            if kind == "term"
        }
        for (page, anchor), term in terms.items():
            yield term, term, "term", page, anchor, 0
        for page, contents in self.env.tocs.items():
            for entry in contents.findall(nodes.reference):
                if entry["refuri"] == page and (anchor := entry["anchorname"].removeprefix("#")):
                    yield entry.astext(), entry.astext(), "section", page, anchor, 1
        for query, places in synonyms().items():
            for page, _, anchor in (f"book/{place}".partition("#") for place in places):
                if page in self.env.found_docs:
                    target = terms.get((page, anchor)) or self.env.titles[page].astext()
                    yield query, f"{query}: see {target}", "synonym", page, anchor or "top", 0

    def process_doc(self, env: Any, docname: str, document: nodes.document) -> None:
        """Leave terms out of the index: they would be found again, as the page that they are on."""
        for node in list(document.findall(addnodes.index)):
            if isinstance(node.parent, nodes.term):
                node.parent.remove(node)

    def resolve_any_xref(self, *_: Any) -> list[tuple[str, nodes.reference]]:
        """Pages link to exhibits by ``ref``."""
        return []

    def merge_domaindata(self, docnames: Any, otherdata: Any) -> None:
        """There is none: the overview, the glossary and the contents have everything."""


def synonyms() -> dict[str, list[str]]:
    """For words that readers type, the pages of the book, or terms of its glossary, that help."""
    text = resources.files("membership.book.site").joinpath("synonyms.toml").read_text("utf-8")
    return tomllib.loads(text)


def _words(row: dict[str, Any]) -> str:
    """What an exhibit or a claim is found under, and shown as."""
    of_paper = f"{row['label']}, {row['paper']}" if row["label"] else row["paper"]
    return f"{of_paper}: {row['what']} ({row['id']})"
