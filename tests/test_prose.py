"""Result numbers are taken from exhibits by name: nobody types them."""

import re
from pathlib import Path

import pytest

from membership.book import published
from membership.book.exhibits import declared

ROOT = Path(__file__).parents[1]
PAGES = [
    *ROOT.glob("notebooks/*.md"),
    *ROOT.glob("book/*.md"),
    *ROOT.glob("book/exercises/*.md"),
    ROOT / "README.md",
]

# Not brought over yet; to be emptied. A page that has no typed number may not stand here.
TO_DO: set[str] = set()

# Decimals that are no results, by page: parameters, printed numbers, versions, examples.
EXCEPTIONS: dict[str, set[str]] = {
    # Closed forms of two normal distributions.
    "book/game.md": {"0.50", "0.79", "0.638", "21.72", "40.29", "3.39", "22.12", "0.48", "12.50"},
    # Sizes of ImageNet and of its accounts; operation counts; the chance level of so many images.
    "book/imagenet_recipe.md": {"1.2", "1.28", "50.06"},
    # A false-positive rate that is asked for.
    "book/differences.md": {"0.1"},
    # False-positive rates that a paper names, and asks for.
    "book/errata.md": {"0.01", "0.1"},
    # Parameters to try; the paper's damping.
    "book/exercises/gmip.md": {"0.1"},
    "book/exercises/iha.md": {"0.2"},
    "book/exercises/lood.md": {"0.01"},
    # The licence.
    "README.md": {"4.0"},
}

# What is never prose: code, mathematics, what is computed already, comments, addresses, targets.
NOT_PROSE = [
    r"\A---\n.*?\n---\n",
    r"^(`{3,}|~{3,}|:{3,})\{(?:code-cell|math|code|bibliography)\}.*?^\1\s*$",
    r"^(`{3,}|~{3,})[a-z]*\n.*?^\1\s*$",
    r"\$\$.*?\$\$",
    r"(?<![\\$])\$[^$\n]+(?:\n[^$\n]+)?\$",
    r"\{\{.*?\}\}",
    r"\{[a-z:]+\}`[^`]*`",
    r"`[^`]*`",
    r"\]\([^)]*\)",
    r"<[^>]*>",
    r"^%.*$",
]
# The name of a section, theorem or measure is no number: "Section 4.2", "TPR at 0.1% FPR".
NAMES = [
    r"(?:Sections?|Sec\.|§|Theorems?|Definitions?|Corollar\w+|Remarks?|Appendix|Lemmas?|Propositions?"
    r"|Equations?|Eq\.|Algorithms?|Python|version|v)\s*[A-Z]?\d*(?:\.\d+)+"
    r"(?:(?:,| and| to)\s+[A-Z]?\d+(?:\.\d+)+)*",
    r"(?:TPR|FPR|rates?|level)[^.\n]{0,20} (?:at|of) 0\.\d+\s?%",
    r"0\.\d+\s?% (?:FPR|of false|false)",
]
DECIMAL = re.compile(r"(?<![\w.])\d*\.\d+(?![\w.]*\d)")


def typed(text: str) -> list[str]:
    """The decimals of a text that stand in prose."""
    for pattern in NOT_PROSE:
        text = re.sub(pattern, " ", text, flags=re.MULTILINE | re.DOTALL)
    for pattern in NAMES:
        text = re.sub(pattern, " ", text)
    return DECIMAL.findall(text)


def _name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_no_page_holds_a_typed_result(page):
    if _name(page) in TO_DO:
        pytest.skip("not brought over yet")
    found = typed(page.read_text(encoding="utf-8"))
    assert set(found) == EXCEPTIONS.get(_name(page), set())


def test_what_is_to_do_is_there_and_not_done():
    pages = {_name(page): page for page in PAGES}
    for name in TO_DO:
        assert typed(pages[name].read_text(encoding="utf-8")), f"{name} is done: strike it off"


@pytest.mark.parametrize("chapter", published.subjects)
def test_no_declaration_holds_a_typed_result(chapter):
    for one in declared(chapter):
        words = [
            one.content,
            one.question,
            one.caption,
            one.alt if isinstance(one.alt, str) else "",
        ]
        assert [typed(text) for text in words] == [[], [], [], []], one.id


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("IHA reaches 0.545, LiRA .515.", ["0.545", ".515"]),
        ("An AUC of 0.5\nor 1.25 times", ["0.5", "1.25"]),
        ('Here {{ number("iha-tab-2", ".3f", attack="IHA") }} and $x = 0.5$ and `0.5`.', []),
        ("At $0.5$ and 0.7 and $x$", ["0.7"]),
        ("By Section 4.2, Theorem 5.1 and Corollary 5.1 the TPR at 0.1% FPR", []),
        ("```{code-cell}\nx = 0.5\n```\nthen 0.6\n```python\n0.7\n```\n", ["0.6"]),
        ("{cite}`a2.5` [a](b0.5.html) version 0.1.0 on 3.11.7", []),
        ("$$\n\\mu = 0.4\n$$\n0.8 of them", ["0.8"]),
    ],
)
def test_the_scan_finds_what_is_typed_and_nothing_else(text, found):
    assert typed(text) == found
