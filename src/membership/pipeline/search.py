"""A Sphinx extension: what the site's search looks through, written as the script it loads.

Sphinx's own index knows pages and not what stands in them, and its results fetch their excerpts,
which a browser refuses on pages opened from disk. This one has sections, terms, functions, exhibits
and claims, each with its place and its text; `book/_static/searchtools.js` searches in it.
"""

import json
import re
import tomllib
from collections.abc import Iterator
from importlib import resources
from typing import Any, NamedTuple

from docutils import nodes
from sphinx import addnodes

from membership import paths
from membership.pipeline import overview, pages

# Loaded by the search page of the theme; Sphinx's own is replaced.
INDEX = "searchindex.js"

_NO_PROSE = (
    *(nodes.title, nodes.literal_block, nodes.math_block, nodes.raw),
    *(nodes.term, addnodes.desc_signature),
)
_COMMANDS = re.compile(r"\\(?:math\w+|operatorname|text|left|right|[dt]?frac|[,;!:]|q?quad)|[\\{}]")
_REFERENCE = "book/api/"
_OUTPUT = {"cell_input", "cell_output"}


class Found(NamedTuple):
    """One thing to find: ``where`` is its page, or the paper that it is about."""

    kind: str
    link: str
    title: str
    where: str
    text: str


def setup(app: Any) -> dict[str, Any]:
    """Collect while the pages are written and put the index in its place; called by Sphinx."""
    app.connect("doctree-resolved", _collect)
    app.connect("build-finished", _write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": False}


def on_page(doctree: nodes.document, page: str) -> Iterator[Found]:
    """The sections, theorems, glossary terms, functions and classes of a page."""
    name = next((_words(title) for title in doctree.findall(nodes.title)), page)
    for node in doctree.findall(nodes.Element):
        if opened := _opened(node):
            kind, title, anchor = opened
            link = f"{page}.html" if kind == "page" else f"{page}.html#{anchor}"
            if page.startswith(_REFERENCE):
                kind = "reference"
            text = _prose(node.children) or next(map(_words, node.findall(nodes.paragraph)), "")
            yield Found(kind, link, title, name, text)


def exhibits_and_claims() -> Iterator[Found]:
    """Each exhibit under its label and each claim under its words, as the overview has them."""
    for row in overview.rows(overview.parts()):
        if row["kind"] == "exhibit":
            text = f"{row['what']} {row['reason']}".strip()
            yield Found("exhibit", row["link"], row["label"], f"{row['paper']}, {row['id']}", text)
        elif row["kind"] == "claim":
            place = f"{row['paper']}, {row['id']}"
            yield Found("claim", row["link"], row["what"], place, f"{row['verdict'].capitalize()}.")


def synonyms() -> dict[str, list[str]]:
    """The field's terms for the words that readers type."""
    text = resources.files("membership.pipeline").joinpath("synonyms.toml").read_text("utf-8")
    return tomllib.loads(text)


def script(found: list[Found]) -> str:
    """The index as JavaScript."""
    lines = ",\n".join(json.dumps(one, ensure_ascii=False) for one in found)
    return f"const SYNONYMS = {json.dumps(synonyms())};\nconst FOUND = [\n{lines}\n];\n"


def _collect(app: Any, doctree: nodes.document, page: str) -> None:
    by_page = app.env.__dict__.setdefault("membership_search", {})
    by_page[page] = list(on_page(doctree, page))


def _write(app: Any, exception: Exception | None) -> None:
    if exception is not None or not (app.outdir / INDEX).is_file():
        return
    by_page = getattr(app.env, "membership_search", {})
    found = [one for page in sorted(by_page) for one in by_page[page]]
    if pages.PAGE in app.env.found_docs:
        found += exhibits_and_claims()
    paths.atomic_write(app.outdir / INDEX, script(found))


def _opened(node: nodes.Element) -> tuple[str, str, str] | None:
    """Kind, title and anchor of what has an entry of its own."""
    first = next(iter(node.children), None)
    if isinstance(first, addnodes.desc_signature) and first["ids"]:
        is_member = isinstance(node.parent, addnodes.desc_content)
        return None if is_member else ("reference", first["ids"][0], first["ids"][0])
    if isinstance(first, nodes.term) and first["ids"]:
        return "term", _words(first), first["ids"][0]
    if isinstance(first, nodes.title) and node["ids"]:
        kind = "page" if isinstance(node.parent, nodes.document) else "section"
        return kind, re.sub(r"^\((.*)\)$", r"\1", _words(first)), node["ids"][0]
    return None


def _prose(children: list[nodes.Node]) -> str:
    """The text below, without what has an entry of its own, code and tables of results."""
    return " ".join(filter(None, map(_prose_of, children)))


def _prose_of(node: nodes.Node) -> str:
    if not isinstance(node, nodes.Element) or isinstance(node, _NO_PROSE) or _opened(node):
        return ""
    if _OUTPUT & set(node.get("classes", ())):
        return ""
    return _words(node) if isinstance(node, nodes.TextElement) else _prose(node.children)


def _words(node: nodes.Element) -> str:
    """Text on one line, mathematics as one would say it."""
    parts = []
    for text in node.findall(nodes.Text):
        is_math = isinstance(text.parent, nodes.math)
        if not isinstance(text.parent, nodes.raw):
            parts.append(_COMMANDS.sub("", text) if is_math else str(text))
    return " ".join("".join(parts).split())
