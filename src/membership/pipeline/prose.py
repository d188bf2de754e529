"""A Sphinx extension: pages and chapters take their numbers from exhibits by name.

In Markdown, of the paper-size run::

    {{ number("iha-tab-2", ".3f", dataset="MNIST-Odd", attack="LiRA", metric="AUC") }}
    {{ interval("iha-tab-2", dataset="MNIST-Odd", attack="LiRA", metric="AUC") }}
    {{ printed("iha_table2", ".3f", dataset="MNIST-Odd", attack="LiRA", metric="AUC") }}
    {{ counts("iha-tab-2") }}   {{ says("iha-tab-2") }}   {{ ref("iha-tab-2") }}

    {{ claim("iha-o01") }}   {{ claim("iha-o01", "said") }}   {{ tally("iha") }}

of the privacy calculator, where a target stands in the place of sigma::

    {{ calculated("epsilon", ".2f", n=256, n_records=60000, epochs=60, sigma=1.1) }}
    {{ calculated("differential.tpr.0", ".1%", n=256, n_records=60000, epochs=60, epsilon=2) }}

and, on a line of its own, ``{{ attacks() }}``: the table of registered attacks; ``{{ verdicts(part)
}}``: a part of the overview; ``{{ cases() }}``: the attacks by what they need; ``{{
own_data() }}``: what each chapter asks of a reader's own data.

A name that is not there is a warning, and the site is built with every warning an error.
"""

import os
import re
from functools import cache, partial, update_wrapper
from html import escape
from typing import Any

import jinja2
import pandas as pd

from membership import privacy, published
from membership.attacks import Attack, registry
from membership.errors import InputError
from membership.exhibits import files, lookup, numbers
from membership.exhibits.declaration import declared
from membership.exhibits.listing import find
from membership.exhibits.panels import Panel
from membership.pipeline import exercises, pages
from membership.pipeline.own_data import own_data

_SPECIAL = re.compile(r"([\\`*_\[\]<>$])")


def setup(app: Any) -> dict[str, Any]:
    """Offer the functions to every page; called by Sphinx."""
    app.connect("config-inited", _offer)
    app.connect("config-inited", _choose_mathjax)
    app.connect("build-finished", pages.write_copies)
    app.connect("source-read", exercises.show_outputs)
    app.connect("build-finished", exercises.write_notebooks)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _offer(app: Any, config: Any) -> None:
    config.myst_substitutions = {**config.myst_substitutions, **SUBSTITUTIONS}


def _choose_mathjax(app: Any, config: Any) -> None:
    """Load the parts of MathJax that ``_config.yml`` lists, and no menu on each formula.

    The extension that brings MathJax along names the bundle of everything, past any setting.
    """
    if "loader" in (config.mathjax3_config or {}):
        config.mathjax_path = "mathjax/startup.js"


def number(exhibit_id: str, form: str = "", column: str = "value", **where: Any) -> str:
    """One number of an exhibit."""
    return lookup.number(_table(exhibit_id), where, form, column)


def interval(exhibit_id: str, **where: Any) -> str:
    """A number with its 95% interval, "0.515 [0.511, 0.519]"."""
    row = lookup.row(_table(exhibit_id), where)
    return " ".join(numbers.with_interval(row["value"], row["low"], row["high"])).rstrip()


def printed(name: str, form: str = "", column: str = "value", **where: Any) -> str:
    """A number as a paper prints it."""
    return lookup.number(published.table(name), where, form, column)


def counts(exhibit_id: str) -> str:
    """The verdicts on an exhibit, "14 agree, 7 differ"."""
    return _panel(exhibit_id).counted or "not judged"


def says(exhibit_id: str) -> str:
    """The computed sentence of an exhibit."""
    return _SPECIAL.sub(r"\\\1", _panel(exhibit_id).sentence)


@jinja2.pass_context
def ref(context: Any, exhibit_id: str, text: str = "") -> str:
    """A link to the card, "Table 2" unless told otherwise."""
    exhibit = find(exhibit_id)
    page = f"book/chapters/{exhibit['chapter']}.html"
    here = os.path.dirname(context["env"].docname)
    address = f"{os.path.relpath(page, here or '.')}#{exhibit_id}"
    words = escape(text or exhibit["label"])
    return f'<a class="reference internal" href="{escape(address)}">{words}</a>'


def calculated(quantity: str, form: str, by: str = "assess", **sizes: Any) -> str:
    """What the calculator or dp_accounting says."""
    found = _calculation(by, **sizes)
    for part in quantity.split("."):
        found = found[int(part)] if part.isdigit() else getattr(found, part)
    return format(found, form)


def attacks() -> str:
    """Every registered attack, with what it reads and where it is from."""
    head = "| Attack | Access | Reference models trained on | Reads | Source | Computed by |\n"
    return head + "|---|---|---|---|---|---|\n" + "".join(map(_attack, registry().values()))


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


# What pages may call. Sphinx warns of functions in its configuration, and takes partials.
_CALLED = (
    *(attacks, calculated, counts, interval, number, printed, ref, says),
    *(pages.cases, pages.claim, pages.tally, pages.verdicts, own_data),
)
SUBSTITUTIONS = {each.__name__: update_wrapper(partial(each), each) for each in _CALLED}


def _table(exhibit_id: str) -> pd.DataFrame:
    return _load(exhibit_id)[0]


@cache
def _load(exhibit_id: str) -> tuple[pd.DataFrame, dict[str, Any]]:
    found = files.load(exhibit_id, "paper")
    if found is None:
        raise InputError(f"{exhibit_id} has no paper-size run to take a number from")
    return found


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
    exhibits = [one for one in declared(chapter) if one.id == exhibit_id]
    if not exhibits:
        raise InputError(f"chapter {chapter} declares no exhibits yet")
    target = files.location(exhibit_id, chapter, "paper")
    return Panel("Paper-size run", exhibits[0], *_load(exhibit_id), target, linked=True)
