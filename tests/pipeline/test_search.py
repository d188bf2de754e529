"""What the site's search looks through."""

import json

from docutils import nodes
from docutils.core import publish_doctree

from membership.pipeline import overview, search

PAGE = """\
A page
======

Its first words.

A *section*
-----------

Prose with :math:`\\mathrm{TPR} \\le \\epsilon`.

::

    code_is_not_prose()

.. raw:: html

   <p>a card</p>

Below it
~~~~~~~~

More.
"""
UNCHANGED = {"doctitle_xform": False}


def test_a_page_gives_its_sections_each_with_its_own_words():
    page, section, below = search.on_page(
        publish_doctree(PAGE, settings_overrides=UNCHANGED), "book/a"
    )
    assert page == ("page", "book/a.html", "A page", "A page", "Its first words.")
    assert section[:4] == ("section", "book/a.html#a-section", "A section", "A page")
    assert section.text == "Prose with TPR le epsilon."
    assert below == ("section", "book/a.html#below-it", "Below it", "A page", "More.")


def test_a_glossary_gives_its_terms():
    document = publish_doctree(
        "Words\n=====\n\nword\n  What it means.", settings_overrides=UNCHANGED
    )
    next(document.findall(nodes.term))["ids"].append("term-word")
    page, term = search.on_page(document, "book/words")
    assert page.text == "What it means."
    assert term == ("term", "book/words.html#term-word", "word", "Words", "What it means.")


def test_every_exhibit_and_claim_is_an_entry():
    found = list(search.exhibits_and_claims())
    wanted = {r["link"] for r in overview.rows(overview.parts()) if r["kind"] != "number"}
    assert {one.link for one in found} == wanted
    table = next(one for one in found if one.link.endswith("#iha-tab-2"))
    assert (table.kind, table.title) == ("exhibit", "Table 2")
    assert "iha-tab-2" in table.where


def test_the_script_is_one_whatever_a_text_holds():
    hostile = search.Found("page", "a.html", "</script>", 'a "title"', "one\u2028line\\")
    lines = search.script([hostile]).split("\n")
    read = [json.loads(line) for line in lines if line.startswith('["')]
    assert read == [list(hostile)]
