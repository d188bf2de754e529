"""What the site's search knows beside pages, sections and functions."""

from types import SimpleNamespace

import pytest
from docutils import nodes
from docutils.utils import new_document
from sphinx import addnodes

from membership import paths
from membership.site import overview, search

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
    return search.Book(env)


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


@pytest.mark.parametrize("typed", search.synonyms())
def test_a_synonym_names_pages_of_the_book(typed):
    listed = paths.text_of(paths.project_root() / "_toc.yml")
    for place in search.synonyms()[typed]:
        assert f"book/{place.partition('#')[0]}\n" in listed
