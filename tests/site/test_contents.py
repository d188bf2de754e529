"""What a chapter's table of contents says of its exhibits."""

import numpy
import pytest
from docutils.core import publish_doctree

from membership.site import contents

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
    found = contents.by_section(page, LABELS)
    assert found == {
        "first": [("iha-tab-2", "Table 2"), ("iha-fig-1", "Figure <1>")],
        "second": [],
    }
    assert contents.with_exhibits(TOC, found) == TOC.replace(
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
    found = contents._without_places(None, "function", "f", None, None, signature, "-> float")
    assert found == (shown, "-> float")
