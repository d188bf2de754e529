"""Who wrote the five papers, and how to cite them."""

import tomllib
from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType

from membership.errors import InputError

_VENUE_FIELD = {"inproceedings": "booktitle", "article": "journal", "misc": "howpublished"}


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


def _read_papers() -> MappingProxyType:
    text = (files("membership.published") / "papers.toml").read_text(encoding="utf-8")
    return MappingProxyType(
        {
            chapter: Paper(**{**fields, "authors": tuple(fields["authors"])})
            for chapter, fields in tomllib.loads(text).items()
        }
    )


papers: MappingProxyType = _read_papers()
"""The papers by chapter: ``papers["bayes_optimal"].title``."""


def bibtex(chapter: str) -> str:
    """The BibTeX entry of a chapter's paper.

    Parameters
    ----------
    chapter : str
        One of ``papers``.

    Returns
    -------
    str
        The entry, ending in a newline; its citation key is ``papers[chapter].key``.

    Raises
    ------
    InputError
        There is no such chapter.
    """
    if chapter not in papers:
        raise InputError(f"no paper for chapter {chapter!r}; there are {', '.join(papers)}")
    paper = papers[chapter]
    # Double braces keep the capitals of names such as Bayes.
    fields = {
        "title": f"{{{paper.title}}}",
        "author": " and ".join(paper.authors),
        _VENUE_FIELD[paper.kind]: paper.venue,
        "year": str(paper.year),
        "eprint": paper.arxiv,
        "archiveprefix": "arXiv",
        "url": paper.url,
    }
    return entry(paper.kind, paper.key, fields)


def entry(kind: str, key: str, fields: dict[str, str]) -> str:
    """Lay out one BibTeX entry."""
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items()]
    return "\n".join([f"@{kind}{{{key},", *lines, "}"]) + "\n"
