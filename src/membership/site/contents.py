"""A Sphinx extension: a page's table of contents names the exhibits of each section."""

import re
from html import escape
from typing import Any

from docutils import nodes

from membership import published
from membership.exhibits.homes import chapter_of_page
from membership.exhibits.listing import listed

CHAPTERS = "book/chapters/"
_ID = re.compile(r'<(?:article|figure)\b[^>]*\bid="([\w-]+)"')


def setup(app: Any) -> dict[str, Any]:
    """Amend the contents of each chapter before the theme lays them out; called by Sphinx."""
    app.connect("html-page-context", _amend)
    app.connect("autodoc-process-signature", _without_places)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _without_places(
    app: Any, kind: str, name: str, obj: Any, options: Any, signature: str | None, returned: str
) -> tuple[str | None, str]:
    """A module as a default goes by its name: Python's own words for it say where it lies."""
    return re.sub(r"<module '([\w.]+)'[^>]*>", r"\1", signature or "") or signature, returned


def _amend(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    chapter = chapter_of_page(page.removeprefix(CHAPTERS))
    if doctree is not None and chapter in published.subjects and "toc" in context:
        labels = listed(chapter).set_index("id")["label"].to_dict()
        context["toc"] = with_exhibits(context["toc"], by_section(doctree, labels))


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
