"""What Sphinx would fill in is filled in, in Markdown that any notebook shows."""

import json
import re
from types import SimpleNamespace

import jupytext
import pytest

from membership import paths
from membership.book.exhibits import files
from membership.book.exhibits.exhibit_pages import pages_of, source_path
from membership.book.running.chapter_files import chapters
from membership.book.site import notebook_copies, plain_markdown, substitutions
from membership.errors import InputError

PAGE = "book/chapters/gmip"
# What a notebook shows as it is written: a substitution, a role, a directive, a target.
LEFT = re.compile(
    r"\{\{|\{[\w:+-]+\}`|^ *[`~:]{3,}\{|^ *:{3,}|^\([\w-]+\)=|href=\"\.\.", re.MULTILINE
)
PAGES = [page for chapter in chapters() for page in pages_of(chapter)]


@pytest.fixture
def outcomes(monkeypatch):
    """Every claim supported: testing them all takes half a minute."""
    row = SimpleNamespace(
        outcome=SimpleNamespace(mark="supported"), claim=SimpleNamespace(quote="“So it is.”")
    )
    monkeypatch.setattr(substitutions, "claimed", lambda claim_id: (None, row))
    monkeypatch.setattr(plain_markdown.claims, "counts", lambda rows, origin: {"supported": 2})
    part = SimpleNamespace(claims=[row], counts={"agrees": 3, "differs": 1})
    parts = [SimpleNamespace(chapter=one, **vars(part)) for one in chapters()]
    monkeypatch.setattr(plain_markdown.overview, "parts", lambda: parts)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{cite:t}`suri2024` say", "[Suri et al. (2024)](https://arxiv.org/abs/2406.11544) say"),
        ("Carlini et al. {cite}`carlini2022`.", "Carlini et al. (Carlini et al., 2022)."),
        ("a {term}`threshold <MALT>`, {term}`MAST`", "a threshold, MAST"),
        (
            "{doc}`controls\nand details <gmip_details>`",
            "[controls and details](gmip_details.ipynb)",
        ),
        ("{doc}`this one <gmip>`", "this one"),
        ("{doc}`the game <../game>`, {doc}`../errata`", "the game, Errata"),
        ("{ref}`More limits <gmip-limits>`", "[More limits](gmip_details.ipynb)"),
        ("{eq}`eq-gmip-mu`, {prf:ref}`thm-gmip-step`", "(4.2), Theorem 4.1"),
        ("{prf:ref}`thm-loss`", "[Theorem 1.1](bayes_optimal.ipynb)"),
        ("(here)=\n## Heading\n% a remark\n\nText.", "## Heading\n\nText."),
        ('<a href="../x.ipynb" download>a notebook</a>, [a page](../y.md)', "a notebook, a page"),
        ("[a paper](https://a.org), $\\{#1\\} {%$", "[a paper](https://a.org), $\\{#1\\} {%$"),
        ('{{ claim("iha-o01") }}', "*supported*"),
        ('{{ claim("iha-o01", "said") }}', "“So it is.” *supported*"),
        ('{{ tally("iha") }}', "of 2 claims 2 supported; of 4 numbers 3 agree, 1 differ"),
        ('{{ ref("gmip-fig-3") }}', "Figure 3"),
        ('{{ ref("iha-tab-2", "there") }}', "[there](iha.ipynb)"),
        ("```{math}\n:label: eq-gmip-mu\nx\n```\n", "$$\nx\n\\tag{4.2}\n$$"),
        ("Text.\n```{math}\nx\n```", "Text.\n\n$$\nx\n$$"),
        (
            "```{prf:theorem} A law\n:label: thm-gmip-step\nBy {eq}`eq-gmip-mu`\n\n$$\nx\n$$\n```",
            "**Theorem 4.1** (A law)\n\nBy (4.2)\n\n$$\nx\n$$",
        ),
        ("```{prf:proof}\nClear.\n```", "*Proof.* Clear."),
        (
            "::::{dropdown} a < b\n{term}`MALT`\n\n```{math}\nx\n```\n::::",
            "<details><summary>a &lt; b</summary>\n\nMALT\n\n$$\nx\n$$\n\n</details>",
        ),
        (":::{warning}\nOne.\n\nTwo.\n:::", "> **Warning**\n>\n> One.\n>\n> Two."),
        (":::{admonition} Look\n:class: tip\nOne.\n:::", "> **Look**\n>\n> One."),
        ("```python\nprint(f'{{ x }}')\n```", "```python\nprint(f'{{ x }}')\n```"),
    ],
)
def test_each_thing_is_told_in_words(text, expected, outcomes):
    assert plain_markdown.plain(text, PAGE) == expected


def test_what_is_not_there_is_an_error():
    with pytest.raises(InputError, match="no exhibit 'iha-tab-99'"):
        plain_markdown.plain('{{ number("iha-tab-99") }}', PAGE)
    with pytest.raises(KeyError, match="nobody1999"):
        plain_markdown.plain("{cite}`nobody1999`", PAGE)


@pytest.mark.parametrize("page", PAGES)
def test_a_chapter_s_notebook_has_nothing_that_only_the_site_fills_in(page, outcomes):
    text = paths.text_of(source_path(page))
    assert LEFT.search(text)
    whole = json.loads(jupytext.writes(jupytext.reads(text, fmt="md:myst"), fmt="ipynb"))
    code = [cell for cell in whole["cells"] if cell["cell_type"] == "code"]
    made = notebook_copies.filled(json.loads(json.dumps(whole)), page)
    assert [cell for cell in made["cells"] if cell["cell_type"] == "code"] == code
    assert [found for prose in prose_of(made) for found in LEFT.findall(prose)] == []
    assert len(prose_of(made)) == len(prose_of(whole))
    is_run = (paths.results_dir() / "paper" / page.removesuffix("_details")).is_dir()
    assert any(plain_markdown.NOT_RUN in prose for prose in prose_of(made)) <= (not is_run)


def prose_of(whole):
    return ["".join(c["source"]) for c in whole["cells"] if c["cell_type"] == "markdown"]


def test_numbers_are_those_of_the_site(outcomes):
    asked = 'number("gmip-ctl-2", ".2f", dataset="Adult", quantity="mu with d")'
    table, _ = files.load("gmip-ctl-2", "paper")
    rows = table[(table["dataset"] == "Adult") & (table["quantity"] == "mu with d")]
    assert plain_markdown.plain(f"{{{{ {asked} }}}}", PAGE) == f"{rows['value'].item():.2f}"


def test_a_chapter_that_was_not_run_says_so_once(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "results_dir", lambda: tmp_path)
    substitutions._load.cache_clear()
    substitutions._table.cache_clear()
    asked = '{{ number("gmip-ctl-2", ".2f") }} and {{ interval("gmip-ctl-2") }}'
    cells = [{"cell_type": "markdown", "source": [text]} for text in ("# Title\n", asked)]
    made = prose_of(notebook_copies.filled({"cells": cells}, "gmip"))
    substitutions._load.cache_clear()
    substitutions._table.cache_clear()
    assert made[1] == f"{plain_markdown.NOT_RUN} and {plain_markdown.NOT_RUN}"
    assert made[0].startswith("# Title\n\n> ")
    assert made[0].count("results/paper") == 1
