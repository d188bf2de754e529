"""What the site's search knows beside pages, sections and functions."""

from types import SimpleNamespace

import numpy
import pytest
from docutils import nodes
from docutils.core import publish_doctree
from docutils.utils import new_document
from sphinx import addnodes

from membership import paths
from membership.book.site import exhibit_search, overview

PLACES = {("term", "LiRA"): ("book/glossary", "term-LiRA"), ("label", "x"): ("book/index", "x")}


def contents(page):
    entries = (("", "Its title"), ("#first", "First"))
    references = [
        nodes.reference("", text, refuri=page, anchorname=anchor) for anchor, text in entries
    ]
    other = nodes.reference("", "Elsewhere", refuri="book/other", anchorname="#elsewhere")
    return nodes.bullet_list("", *references, other)


def domain(*found):
    titles = {page: nodes.title(text=page.title()) for page in found}
    env = SimpleNamespace(domaindata={}, found_docs=set(found), titles=titles)
    env.tocs = {page: contents(page) for page in found}
    env.get_domain = {"std": SimpleNamespace(objects=PLACES)}.get
    return exhibit_search.Book(env)


@pytest.mark.slow
def test_every_exhibit_and_claim_is_an_object_at_its_place():
    found = [one for one in domain(overview.PAGE).get_objects() if one[2] in ("exhibit", "claim")]
    rows = [row for row in overview.rows(overview.parts()) if row["kind"] != "number"]
    for (_, words, kind, page, anchor, _), row in zip(found, rows, strict=True):
        assert kind == row["kind"]
        assert f"{page}.html#{anchor}" in (row["link"], f"{row['link']}#top")
        assert words.endswith(f"{row['what']} ({row['id']})")
    table = next(one for one in found if one[4] == "iha-tab-2")
    assert table[1].startswith("Table 2, Suri et al.")


def test_terms_sections_and_what_readers_type_for_them_are_objects_too():
    found = {one[0]: one[1:] for one in domain("book/glossary", "book/audit").get_objects()}
    assert found["LiRA"] == ("LiRA", "term", "book/glossary", "term-LiRA", 0)
    typed = found["likelihood ratio attack"]
    assert typed[:2] == ("likelihood ratio attack: see LiRA", "synonym")
    assert found["auditing"] == ("auditing: see Book/Audit", "synonym", "book/audit", "top", 0)
    assert found["First"] == ("First", "section", "book/audit", "first", 1)
    assert not {"x", "reproduce", "Its title", "Elsewhere"} & set(found)


def test_a_term_is_found_once():
    document = new_document("book/glossary")
    document += nodes.term("", "LiRA", addnodes.index(entries=[]))
    document += addnodes.index(entries=[])
    domain().process_doc(None, "book/glossary", document)
    (left,) = document.findall(addnodes.index)
    assert left.parent is document


@pytest.mark.parametrize("typed", exhibit_search.synonyms())
def test_a_synonym_names_pages_of_the_book(typed):
    listed = paths.text_of(paths.project_root() / "_toc.yml")
    for place in exhibit_search.synonyms()[typed]:
        assert f"book/{place.partition('#')[0]}\n" in listed


PAGE = """\
A chapter
=========

First
-----

.. raw:: html

   <article class="exhibit" id="iha-tab-2"><p id="iha-tab-3">No card.</p></article>

Below it
~~~~~~~~

.. raw:: html

   <article class="exhibit exhibit-gallery" id="other"><figure class="a" id="iha-fig-1"></figure>

Second
------

Words.
"""
TOC = '<ul><li><a class="a" href="#first">First</a></li><li><a href="#second">2</a></li></ul>'
LABELS = {"iha-tab-2": "Table 2", "iha-tab-3": "Table 3", "iha-fig-1": "Figure <1>"}


def test_a_section_leads_to_the_cards_in_it():
    page = publish_doctree(PAGE, settings_overrides={"doctitle_xform": False})
    found = exhibit_search.by_section(page, LABELS)
    assert found == {
        "first": [("iha-tab-2", "Table 2"), ("iha-fig-1", "Figure <1>")],
        "second": [],
    }
    assert exhibit_search.with_exhibits(TOC, found) == TOC.replace(
        "First</a>",
        'First</a><span class="nav toc-exhibits"><a href="#iha-tab-2">Table 2</a> '
        '<a href="#iha-fig-1">Figure &lt;1&gt;</a></span>',
    )


@pytest.mark.parametrize(
    ("signature", "shown"),
    [
        (f"(x, xp={numpy!r})", "(x, xp=numpy)"),
        (f"(xp={numpy.linalg!r}, n: int = 3)", "(xp=numpy.linalg, n: int = 3)"),
        ("(rates=(0.1, 0.01))", "(rates=(0.1, 0.01))"),
        ("", ""),
        (None, None),
    ],
)
def test_a_signature_says_no_place_of_this_machine(signature, shown):
    found = exhibit_search._without_places(None, "function", "f", None, None, signature, "-> float")
    assert found == (shown, "-> float")


@pytest.mark.parametrize(
    ("page", "link", "title"),
    [
        ("book/chapters/iha", "bmia.html", "Bmia &amp; co"),
        ("book/chapters/iha_details", "x", "X"),
        ("book/chapters/lood", "x", "X"),  # what follows it is not of this book
        ("book/chapters/comparison", "x", "X"),
        ("book/game", "x", "X"),
    ],
)
def test_a_chapter_leads_on_to_the_next_and_its_details_stand_beside_it(page, link, title):
    titles = {"book/chapters/bmia": nodes.title(text="Bmia & co")}
    app = SimpleNamespace(
        env=SimpleNamespace(titles=titles),
        builder=SimpleNamespace(get_relative_uri=lambda a, b: f"{b.rpartition('/')[2]}.html"),
    )
    context = {"next": {"link": "x", "title": "X"}}
    exhibit_search._amend(app, page, "page.html", context, None)
    assert context["next"] == {"link": link, "title": title}
