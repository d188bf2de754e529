"""What the overview, the landing page and the errata take from `overview`, by name."""

import os
from typing import Any

import jinja2

from membership import paths, published
from membership.attacks import KNOWLEDGE
from membership.errors import InputError
from membership.exhibits.cards import templates
from membership.exhibits.claims import Row
from membership.exhibits.panels import PLURALS
from membership.exhibits.standing import WORDS as STANDINGS
from membership.pipeline import overview
from membership.pipeline.cases import COSTS, IMPLIED
from membership.pipeline.cases import cases as every_case
from membership.published.outcomes import MARKS

PAGE = "book/verdicts"
_PARTS = ("summary", "wall", "exhibits", "claims")


@jinja2.pass_context
def verdicts(context: Any, part: str) -> str:
    """A part of the overview: summary, wall, exhibits or claims."""
    if part not in _PARTS:
        raise InputError(f"no part {part!r} of the overview; there are {', '.join(_PARTS)}")
    parts = overview.parts()
    numbers, claims, findings = overview.totals()
    occur = {word for one in parts for entry in one.entries for word in entry.standing}
    return raw(
        templates()
        .get_template("verdicts.html")
        .render(
            part=part,
            parts=parts,
            base=base(context),
            numbers=numbers,
            claims=claims,
            findings=findings,
            plurals=PLURALS,
            papers=[(one.chapter, one.paper) for one in parts],
            runs=[(word, word) for word in STANDINGS if word in occur],
            standings=[(word, STANDINGS[word]) for word in STANDINGS if word in occur],
            verdicts=[(word, f"{n} {PLURALS.get(word, word)}") for word, n in numbers.items()],
            results=[
                (word, f"{claims.get(word, 0) + findings.get(word, 0)} {word}")
                for word in MARKS
                if word in {*claims, *findings}
            ],
            order={word: i for i, word in enumerate(MARKS)},
        )
    )


@jinja2.pass_context
def claim(context: Any, claim_id: str, form: str = "") -> str:
    """What came of a claim, as a link; ``claim(id, "said")``: its words before."""
    part, row = _find(claim_id)
    macros = templates().get_template("claimed.html").make_module({})
    shown = macros.claimed(row, base(context) + part.link(claim_id), form == "said")
    return " ".join(str(shown).split())


@jinja2.pass_context
def cases(context: Any) -> str:
    """The registered attacks by what they need, with what they reached."""
    found = every_case()
    used = {word for one in found for word in one.attack.knowledge}
    words = {
        word: KNOWLEDGE[word] for word in KNOWLEDGE if word in used and word != "reference models"
    }
    return raw(
        templates()
        .get_template("cases.html")
        .render(
            cases=found,
            base=base(context),
            knowledge=words,
            implied=IMPLIED,
            costs=COSTS,
            papers={name: one.short for name, one in published.subjects.items()},
        )
    )


@jinja2.pass_context
def tally(context: Any, chapter: str) -> str:
    """A chapter's claims and numbers as marks."""
    found = {one.chapter: one for one in overview.parts()}
    macros = templates().get_template("claimed.html").make_module({})
    return " ".join(str(macros.marks(found[chapter], base(context))).split())


def raw(html: str) -> str:
    """HTML as a block of a Markdown page."""
    return f"`````{{raw}} html\n{html}\n`````"


def base(context: Any) -> str:
    """From the page that is written to the folder of the book's pages: "" or "../"."""
    here = os.path.dirname(context["env"].docname)
    return "" if here == "book" else os.path.relpath("book", here or ".") + "/"


def write_copies(app: Any, exception: Exception | None) -> None:
    """Put the overview beside its page as CSV and JSON; called by Sphinx at its end."""
    if exception is None and PAGE in app.env.found_docs:
        for suffix, content in ((".csv", overview.as_csv), (".json", overview.as_json)):
            paths.atomic_write((app.outdir / PAGE).with_suffix(suffix), content(overview.parts()))


def _find(claim_id: str) -> tuple[overview.Part, Row]:
    for part in overview.parts():
        for row in part.claims:
            if row.claim.id == claim_id:
                return part, row
    raise InputError(f"no claim {claim_id!r}; the chapters' tables of claims list them")
