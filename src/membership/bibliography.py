"""Who wrote the five papers, and how to cite them; ``references.bib`` has all the book cites."""

import re
from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType

from membership.errors import InputError

CHAPTERS = {
    "bayes_optimal": "sablayrolles2019",
    "iha": "suri2024",
    "bmia": "liu2025",
    "gmip": "leemann2023",
    "lood": "ye2024",
}
_TEXT = (files("membership") / "published/references.bib").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Paper:
    """One paper's bibliographic record."""

    key: str
    kind: str
    title: str
    authors: tuple[str, ...]
    venue: str
    year: int
    arxiv: str
    url: str

    @property
    def short(self) -> str:
        """The paper as running text names it: "Sablayrolles et al. (2019)"."""
        first = self.authors[0].split()[-1]
        return f"{first} et al. ({self.year})"


def _cited(key: str) -> re.Match[str]:
    """The entry of a key: its text, its kind, its fields a line each."""
    (match,) = re.finditer(rf"^@(\w+)\{{{key},\n(.*?)^\}}\n", _TEXT, re.MULTILINE | re.DOTALL)
    return match


def _paper(key: str) -> Paper:
    kind, lines = _cited(key).groups()
    of = dict(re.findall(r"^  (\w+) = \{(.*)\},$", lines, re.MULTILINE))
    (venue,) = (of[name] for name in ("booktitle", "journal", "howpublished") if name in of)
    # Double braces keep the capitals of names such as Bayes.
    title, authors = of["title"].strip("{}"), tuple(of["author"].split(" and "))
    return Paper(key, kind, title, authors, venue, int(of["year"]), of["eprint"], of["url"])


papers: MappingProxyType = MappingProxyType({name: _paper(key) for name, key in CHAPTERS.items()})
"""The papers by chapter: ``papers["bayes_optimal"].title``."""


@dataclass(frozen=True)
class Question:
    """What a chapter without a paper of its own asks, and the chapters of the papers it is about.

    Attributes
    ----------
    words : str
        Such as ``"Is the loss enough?"``.
    chapters : tuple of str
        Of ``papers``.
    """

    words: str
    chapters: tuple[str, ...]

    @property
    def short(self) -> str:
        """The question as running text names it."""
        return f"\N{LEFT DOUBLE QUOTATION MARK}{self.words}\N{RIGHT DOUBLE QUOTATION MARK}"


questions: MappingProxyType = MappingProxyType(
    {
        "loss_enough": Question("Is the loss enough?", ("bayes_optimal", "iha")),
        "comparison": Question("Which attack finds most?", tuple(CHAPTERS)),
    }
)
"""The questions across papers by chapter."""
subjects: MappingProxyType = MappingProxyType({**papers, **questions})
"""What each chapter is about, a `Paper` or a `Question`; both have ``short``."""


def bibtex(chapter: str) -> str:
    """The BibTeX entry of a chapter's paper, or those of the papers that its question is about.

    Parameters
    ----------
    chapter : str
        One of ``subjects``.

    Returns
    -------
    str
        The entries, each ending in a newline; a paper's citation key is ``papers[chapter].key``.

    Raises
    ------
    InputError
        There is no such chapter.
    """
    if chapter not in subjects:
        raise InputError(f"no paper for chapter {chapter!r}; there are {', '.join(subjects)}")
    of = questions[chapter].chapters if chapter in questions else (chapter,)
    return "\n".join(_cited(papers[name].key)[0] for name in of)


def entry(kind: str, key: str, fields: dict[str, str]) -> str:
    """Lay out one BibTeX entry."""
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items()]
    return "\n".join([f"@{kind}{{{key},", *lines, "}"]) + "\n"
