"""A Sphinx extension: pages and chapters take their numbers from exhibits by name.

In Markdown, of the full run::

    {{ number("iha-tab-2", ".3f", dataset="MNIST-Odd", attack="LiRA", metric="AUC") }}
    {{ interval("iha-tab-2", dataset="MNIST-Odd", attack="LiRA", metric="AUC") }}
    {{ printed("iha_table2", ".3f", dataset="MNIST-Odd", attack="LiRA", metric="AUC") }}
    {{ counts("iha-tab-2") }}   {{ says("iha-tab-2") }}   {{ ref("iha-tab-2") }}
    {{ verdict("iha-tab-2", dataset="MNIST-Odd", attack="LiRA", metric="AUC") }}

    {{ claim("iha-o01") }}   {{ claim("iha-o01", "said") }}   {{ tally("iha") }}
    {{ lasted("iha") }}

of the privacy calculator, where a target stands in the place of sigma::

    {{ calculated("epsilon", ".2f", n=256, n_records=60000, epochs=60, sigma=1.1) }}
    {{ calculated("differential.tpr.0", ".1%", n=256, n_records=60000, epochs=60, epsilon=2) }}

of a small case worked by hand, ``{{ worked("fog", "0.5", ".1f") }}``;

and, on a line of its own, ``{{ attacks() }}``: the table of registered attacks; ``{{ verdicts(part)
}}``: a part of the overview; ``{{ cases() }}``: the attacks by what they need; ``{{
own_data() }}``: what each chapter asks of a reader's own data; ``{{ levels("iha") }}``: chapters'
exercises by level; ``{{ score() }}``: how many printed numbers could be compared; ``{{ bars(50,
("LOSS", number(...)), ...) }}``: numbers as bars from 50; ``{{ square(50, columns, row=[...]) }}``:
as a square, darker further from 50; ``{{ moving("iha") }}``: the picture at the head of a chapter
that its reader moves.

A name that is not there is a warning, and the site is built with every warning an error.
"""

import os
import re
from functools import cache, partial, update_wrapper
from html import escape
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd

from membership import privacy
from membership.attacks import KNOWLEDGE, Attack, registry
from membership.book import home, published
from membership.book.exhibits import files, numbers
from membership.book.exhibits.cards import macro, rendered
from membership.book.exhibits.claims import ClaimRow
from membership.book.exhibits.declaration import declared
from membership.book.exhibits.exhibit_pages import page_of
from membership.book.exhibits.listing import STANDINGS, find
from membership.book.exhibits.panels import PLURALS, Panel
from membership.book.exhibits.sentences import joined
from membership.book.published.outcomes import MARKS
from membership.book.running.chapter_files import chapters, settings_class
from membership.book.site import exercises, overview, statistics
from membership.book.site import moving as pictures
from membership.book.site import worked as by_hand
from membership.book.site.attack_finder import COSTS, IMPLIED
from membership.book.site.attack_finder import cases as every_case
from membership.errors import InputError

_SPECIAL = re.compile(r"([\\`*_\[\]<>$])")
_PARTS = ("summary", "wall", "exhibits", "claims")
_HEAD = """\
| Chapter | Records, at least | Images | Features far from 1 in size |
|---|---|---|---|
"""


class NotRun(InputError):
    """An exhibit without a full run."""


def setup(app: Any) -> dict[str, Any]:
    """Offer the functions to every page; called by Sphinx."""
    app.connect("config-inited", _offer)
    app.connect("config-inited", _choose_mathjax)
    app.connect("build-finished", _drop_what_no_page_loads)
    app.connect("build-finished", overview.write_copies)
    app.connect("source-read", exercises.show_outputs)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _offer(app: Any, config: Any) -> None:
    config.html_theme_options = {**config.html_theme_options, **home.buttons()}
    config.myst_substitutions = {**config.myst_substitutions, **SUBSTITUTIONS}


def _choose_mathjax(app: Any, config: Any) -> None:
    """Load the parts of MathJax that ``_config.yml`` lists, and no menu on each formula.

    The extension that brings MathJax along names the bundle of everything, past any setting.
    """
    if "loader" in (config.mathjax3_config or {}):
        config.mathjax_path = "mathjax/startup.js"


def _drop_what_no_page_loads(app: Any, exception: Exception | None) -> None:
    """Take MathJax's other bundles and the maps for debuggers off the site: half of its bytes."""
    loader = (app.config.mathjax3_config or {}).get("loader")
    if exception or not loader:
        return
    static = Path(app.outdir) / "_static"
    loaded = ("startup", "loader", *loader["load"])
    for path in (static / "mathjax").rglob("*.*"):
        name = path.relative_to(static / "mathjax").as_posix()
        if path.is_file() and not name.startswith(
            tuple(f"{part}{e}" for part in loaded for e in "./")
        ):
            path.unlink()
    for path in static.rglob("*.map"):
        path.unlink()


def number(exhibit_id: str, form: str = "", column: str = "value", **where: Any) -> str:
    """One number of an exhibit."""
    return numbers.number_at(_table(exhibit_id), where, form, column)


def interval(exhibit_id: str, **where: Any) -> str:
    """A number with its 95% interval, "0.515 [0.511, 0.519]"."""
    row = numbers.row_at(_table(exhibit_id), where)
    return " ".join(numbers.with_interval(row["value"], row["low"], row["high"])).rstrip()


def printed(name: str, form: str = "", column: str = "value", **where: Any) -> str:
    """A number as a paper prints it, by the name of its table and what singles out its row."""
    return numbers.number_at(published.table(name), where, form, column)


def counts(exhibit_id: str) -> str:
    """The verdicts on an exhibit, "14 agree, 7 differ"."""
    return _panel(exhibit_id).counted or "not judged"


def verdict(exhibit_id: str, **where: Any) -> str:
    """The verdict on one number and its reason, "agrees: difference 0.001 [...]"."""
    row = numbers.row_at(_panel(exhibit_id).judged, where, "verdict", "reason")
    reason = _SPECIAL.sub(r"\\\1", row["reason"])
    return f"{row['verdict']}: {reason}"


def says(exhibit_id: str) -> str:
    """The computed sentence of an exhibit."""
    return _SPECIAL.sub(r"\\\1", _panel(exhibit_id).sentence)


@jinja2.pass_context
def ref(context: Any, exhibit_id: str, text: str = "") -> str:
    """A link to the card, "Table 2" unless told otherwise."""
    exhibit = find(exhibit_id)
    page = f"book/chapters/{page_of(exhibit_id)}.html"
    folder = os.path.dirname(context["env"].docname)
    address = f"{os.path.relpath(page, folder or '.')}#{exhibit_id}"
    words = escape(text or exhibit["label"])
    return f'<a class="reference internal" href="{escape(address)}">{words}</a>'


def calculated(quantity: str, form: str, by: str = "assess", **sizes: Any) -> str:
    """What the calculator or dp_accounting says."""
    value = _calculation(by, **sizes)
    for part in quantity.split("."):
        value = value[int(part)] if part.isdigit() else getattr(value, part)
    return format(value, form)


def worked(case: str, quantity: str, form: str) -> str:
    """A number of a small case that a page works by hand."""
    return format(by_hand.number(case, quantity), form)


def attacks() -> str:
    """Every registered attack, with what it reads and where it is from."""
    head = "| Attack | Access | Reference models trained on | Reads | Source | Computed by |\n"
    return (
        head
        + "|---|---|---|---|---|---|\n"
        + "".join(map(_attack, registry(others=False).values()))
    )


def _attack(attack: Attack) -> str:
    entry = (attack.term or attack.display).replace("\\", "")
    access = "white box" if attack.white_box else "black box"
    reads = ", ".join(f"`{need}`".replace("|", "` or `") for need in attack.needs)
    cells = (
        f"{{term}}`{attack.display} <{entry}>`",
        access,
        attack.references,
        reads,
        f"{{cite:t}}`{attack.paper}`, {attack.equation}",
        f"`{attack.function.__name__}`",
    )
    return f"| {' | '.join(cells)} |\n"


def own_data() -> str:
    """One row a chapter, from the constants that its checks use."""
    return _HEAD + "".join(map(_row, chapters()))


def _row(chapter: str) -> str:
    limits, link = settings_class(chapter).takes(), f"{{doc}}`chapters/{chapter}`"
    if limits is None:
        return f"| {link} | none: it makes its own | | |\n"
    side = f"{limits.side} x {limits.side} pixels or more" if limits.side > 1 else "of any size"
    scaled = "refused without `-p standardise true`" if limits.scaled else "taken"
    return f"| {link} | {limits.records} {limits.counted} | {side} | {scaled} |\n"


@jinja2.pass_context
def verdicts(context: Any, part: str) -> str:
    """A part of the overview: summary, wall, exhibits or claims."""
    if part not in _PARTS:
        raise InputError(f"no part {part!r} of the overview; there are {', '.join(_PARTS)}")
    parts = overview.parts()
    numbers, claims, findings = overview.totals()
    standings = {word for chapter in parts for entry in chapter.entries for word in entry.standing}
    listed = [word for word in STANDINGS if word in standings]
    rows = [row.outcome.mark for chapter in parts for row in chapter.claims]
    results = {word: rows.count(word) for word in MARKS}
    return raw(
        rendered(
            "verdicts.html",
            part=part,
            parts=parts,
            base=base(context),
            numbers=numbers,
            claims=claims,
            today=overview.today(),
            findings=findings,
            papers=[(chapter.chapter, chapter.paper) for chapter in parts],
            runs=[(word, word) for word in listed],
            standings=[(word, STANDINGS[word]) for word in listed],
            results={word: n for word, n in results.items() if n},
            order={word: i for i, word in enumerate(MARKS)},
        )
    )


@jinja2.pass_context
def score(context: Any) -> str:
    """How many printed numbers could be compared, and what came of them, in a sentence."""
    measured, formula = overview.compared()
    total = sum(overview.totals()[0].values())
    agreeing = formula.get("agrees", 0)
    verbs = {**PLURALS, "compatible": "are compatible"}
    words = joined([f"{n} {verbs.get(word, word)}" for word, n in measured.items()])
    return (
        f'<a href="{base(context)}verdicts.html">Of {total} printed numbers</a> '
        f"{sum(measured.values()) + sum(formula.values())} could be compared. "
        f"{sum(formula.values())} of these stand in one table of a formula, and "
        f"{'all' if agreeing == sum(formula.values()) else agreeing} of them agree. "
        f"Of the other {sum(measured.values())}, {words}."
    )


def bars(start: float, *numbers: tuple[str, str]) -> str:
    """Named numbers as bars that begin at ``start`` and share one scale."""
    lengths = [float(text.rstrip("%")) - start for _, text in numbers]
    rows = "".join(
        f'<dt>{escape(name)}</dt><dd><i style="width: {max(0, length) / max(lengths):.0%}"></i>'
        f"<b>{escape(text)}</b></dd>"
        for (name, text), length in zip(numbers, lengths, strict=True)
    )
    return raw(f'<dl class="bars">{rows}</dl>')


def square(start: float, columns: list[str], **rows: list[str]) -> str:
    """Numbers in a square whose cells are the darker the further they lie from ``start``."""
    most = max(float(text.rstrip("%")) - start for texts in rows.values() for text in texts)

    def cell(text: str) -> str:
        share = max(0, float(text.rstrip("%")) - start) / most
        return f'<td style="--share: {share:.0%}">{escape(text)}</td>'

    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns)
    body = "".join(
        f'<tr><th scope="row">{escape(name.replace("_", " "))}</th>{"".join(map(cell, texts))}</tr>'
        for name, texts in rows.items()
    )
    return raw(f'<table class="square"><tr><td></td>{head}</tr>{body}</table>')


@jinja2.pass_context
def moving(context: Any, chapter: str) -> str:
    """A chapter's moving picture."""
    return raw(pictures.figure(chapter, base(context), {"exhibit": number, "printed": printed}))


@jinja2.pass_context
def claim(context: Any, claim_id: str, form: str = "") -> str:
    """What came of a claim, as a link; ``claim(id, "said")``: its words before."""
    part, row = claimed(claim_id)
    address = base(context) + part.link(claim_id)
    return " ".join(macro("claimed.html", "claimed", row, address, form == "said").split())


@jinja2.pass_context
def cases(context: Any) -> str:
    """The registered attacks by what they need, with what they reached."""
    attack_cases = every_case()
    knowledge = {word for case in attack_cases for word in case.attack.knowledge}
    words = {
        word: KNOWLEDGE[word]
        for word in KNOWLEDGE
        if word in knowledge and word != "reference models"
    }
    return raw(
        rendered(
            "cases.html",
            cases=attack_cases,
            page_of=page_of,
            base=base(context),
            knowledge=words,
            implied=IMPLIED,
            costs=COSTS,
            papers={name: subject.short for name, subject in published.subjects.items()},
        )
    )


@jinja2.pass_context
def tally(context: Any, chapter: str) -> str:
    """A chapter's claims and numbers as marks, on a page of the chapter with words."""
    by_chapter = {part.chapter: part for part in overview.parts()}
    shown = macro("claimed.html", "marks", by_chapter[chapter], bool(base(context)), PLURALS)
    return " ".join(shown.split())


def raw(html: str) -> str:
    """HTML as a block of a Markdown page."""
    return f"`````{{raw}} html\n{html}\n`````"


def base(context: Any) -> str:
    """From the page that is written to the folder of the book's pages: "" or "../"."""
    folder = os.path.dirname(context["env"].docname)
    return "" if folder == "book" else os.path.relpath("book", folder or ".") + "/"


# What pages may call. Sphinx warns of functions in its configuration, and takes partials.
_FUNCTIONS = (
    *(attacks, calculated, counts, interval, number, printed, ref, says, verdict, worked),
    *(bars, cases, claim, moving, score, square, tally, verdicts, own_data),
    *(exercises.levels, statistics.lasted),
)
SUBSTITUTIONS = {
    function.__name__: update_wrapper(partial(function), function) for function in _FUNCTIONS
}


def claimed(claim_id: str) -> tuple[overview.Part, ClaimRow]:
    """A claim with what came of it, and the chapter that it is of."""
    for part in overview.parts():
        for row in part.claims:
            if row.claim.id == claim_id:
                return part, row
    raise InputError(f"no claim {claim_id!r}; the chapters' tables of claims list them")


@cache
def _table(exhibit_id: str) -> pd.DataFrame:
    """An exhibit's table alone: what it says of itself, pandas would copy with each row."""
    table = _load(exhibit_id)[0].copy()
    table.attrs = {}
    return table


@cache
def _load(exhibit_id: str) -> tuple[pd.DataFrame, dict[str, Any]]:
    exhibit = files.load(exhibit_id, "paper")
    if exhibit is None:
        raise NotRun(f"{exhibit_id} has no full run to take a number from")
    return exhibit


@cache
def _calculation(by: str, **sizes: Any) -> Any:
    target = next((name for name in ("mu", "epsilon", "tpr") if name in sizes), None)
    if target:
        sigma = privacy.required_sigma(target, sizes.pop(target), **sizes)
        sizes = {k: v for k, v in sizes.items() if k not in ("protect", "fpr")} | {"sigma": sigma}
    return {"assess": privacy.assess, "dp_accounting": privacy.established}[by](**sizes)


@cache
def _panel(exhibit_id: str) -> Panel:
    chapter = find(exhibit_id)["chapter"]
    exhibits = [exhibit for exhibit in declared(chapter) if exhibit.id == exhibit_id]
    if not exhibits:
        raise InputError(f"chapter {chapter} declares no exhibits yet")
    target = files.location(exhibit_id, chapter, "paper")
    return Panel("Full run", exhibits[0], *_load(exhibit_id), target, linked=True)
