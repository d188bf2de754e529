"""Who wrote the five papers, and how to cite them; ``references.bib`` has all the book cites."""

from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType

from pybtex.database import Entry, parse_string

from membership.errors import InputError

CHAPTERS = {
    "bayes_optimal": "sablayrolles2019",
    "iha": "suri2024",
    "bmia": "liu2025",
    "gmip": "leemann2023",
    "lood": "ye2024",
}
EDITIONS = {"liu2025": ("liu2026",)}
"""Later editions of a paper, which are cited with it; what the book tests is the first."""
entries = parse_string(
    (files("membership.book") / "published/references.bib").read_text(encoding="utf-8"), "bibtex"
).entries
"""All that the book cites, by key."""
_VENUES = ("booktitle", "journal", "howpublished")


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
        return f"{by(self.key)} ({self.year})"


def by(key: str) -> str:
    """Whose an entry is, in short: "Doe", "Doe and Roe", "Doe et al."."""
    names = [
        " ".join(map(str, (*person.rich_prelast_names, *person.rich_last_names)))
        for person in entries[key].persons["author"]
    ]
    many = names[2:] or names[-1] == "others"
    return f"{names[0]} et al." if many else " and ".join(names)


def _paper(key: str) -> Paper:
    of = entries[key]
    parts = ("first", "middle", "prelast", "last", "lineage")
    authors = tuple(
        " ".join(str(name) for part in parts for name in getattr(person, f"rich_{part}_names"))
        for person in of.persons["author"]
    )
    # Double braces keep the capitals of names such as Bayes.
    title, fields = of.fields["title"].strip("{}"), of.fields
    (venue,) = (fields[name] for name in _VENUES if name in fields)
    year = int(fields["year"])
    return Paper(of.key, of.type, title, authors, venue, year, fields["eprint"], fields["url"])


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
        After a paper come its later editions.

    Raises
    ------
    InputError
        There is no such chapter.
    """
    if chapter not in subjects:
        raise InputError(f"no paper for chapter {chapter!r}; there are {', '.join(subjects)}")
    of = questions[chapter].chapters if chapter in questions else (chapter,)
    keys = [key for name in of for key in (papers[name].key, *EDITIONS.get(papers[name].key, ()))]
    return "\n".join(_laid_out(entries[key]) for key in keys)


def _laid_out(cited: Entry) -> str:
    first = {
        "title": cited.fields["title"],
        "author": " and ".join(map(str, cited.persons["author"])),
    }
    others = {name.lower(): value for name, value in cited.fields.items()}
    return entry(cited.type, cited.key, first | others)


def entry(kind: str, key: str, fields: dict[str, str]) -> str:
    """Lay out one BibTeX entry."""
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items()]
    return "\n".join([f"@{kind}{{{key},", *lines, "}"]) + "\n"
