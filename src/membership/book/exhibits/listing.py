"""The catalogue of all exhibits: found, named, cited, and how near each run is to the paper's."""

import difflib
import re
import tomllib
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import membership
from membership import paths
from membership.book import bibliography, home
from membership.book.exhibits import files
from membership.book.exhibits.declared_words import kind_of, words_of
from membership.book.exhibits.exhibit_pages import page_of
from membership.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from membership.book.exhibits.declaration import Exhibit
    from membership.book.exhibits.panels import Panel


def listed(chapter: str | None = None) -> list[dict[str, str]]:
    """The exhibits of the companion, each chapter's in the order of its page."""
    if chapter is not None and chapter not in bibliography.subjects:
        known = ", ".join(bibliography.subjects)
        raise InputError(f"no chapter {chapter!r}; the chapters are {known}")
    names = list(bibliography.subjects) if chapter is None else [chapter]
    return [
        {
            "chapter": name,
            "id": exhibit_id,
            "label": words["label"],
            "kind": kind_of(exhibit_id),
            "content": words["content"],
        }
        for name in names
        for exhibit_id, words in words_of(name).items()
    ]


def find(exhibit_id: str) -> dict[str, str]:
    """The catalogue's entry for one exhibit, by its id or as one has it.

    "IHA Table 2", the name of one of its files, or an address that ends in its id.
    """
    entries = {exhibit["id"]: exhibit for exhibit in listed()}
    said = _words(exhibit_id)
    spoken = {_words(f"{one['chapter']} {one['label']}"): one for one in entries.values()}
    if found := entries.get(exhibit_id) or spoken.get(said) or _within(said, entries):
        return found
    if heir := retired().get(said.strip("-")):
        raise InputError(f"exhibit {exhibit_id!r} is retired; {heir!r} took its place")
    named = [full_id for full_id in entries if full_id.endswith(f"-{exhibit_id}")]
    near = named or difflib.get_close_matches(str(exhibit_id), entries, n=1)
    several = " or ".join(map(repr, near))
    hint = f"did you mean {several}?" if near else "`membership list CHAPTER` has them"
    raise InputError(f"no exhibit {exhibit_id!r}; {hint}")


def _words(text: str) -> str:
    """Its words in small letters, with a hyphen before, between and behind them."""
    return "-" + "-".join(re.findall(r"[^\W_]+", str(text).lower())) + "-"


def _within(said: str, entries: dict[str, dict[str, str]]) -> dict[str, str] | None:
    """The one exhibit whose id is among these words; None where several or none are."""
    found = [one for one in entries if f"-{one}-" in said]
    whole = [one for one in found if not any(f"-{one}-" in f"-{o}-" for o in found if o != one)]
    return entries[whole[0]] if len(whole) == 1 else None


def retired() -> dict[str, str]:
    """The ids of exhibits that are gone, each with the exhibit, or the tests, in their place."""
    text = resources.files(__package__).joinpath("retired.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def name(exhibit_id: str) -> str:
    """The exhibit in words: "Table 1 of Sablayrolles et al. (2019)", or "Control 1, to ..."."""
    exhibit = find(exhibit_id)
    added = exhibit["kind"] == "control" and exhibit["chapter"] in bibliography.papers
    joint = ", an addition to" if added else " of"
    return f"{exhibit['label']}{joint} {bibliography.subjects[exhibit['chapter']].short}"


# As in CITATION.cff.
_AUTHOR = "{The Membership companion's contributors}"


def bibtex(exhibit_id: str, record: dict[str, Any] | None = None) -> str:
    """BibTeX for an exhibit as this companion regenerates it; cite its paper beside it.

    Parameters
    ----------
    exhibit_id : str
        Such as ``"bayes-optimal-tab-1"``.
    record : dict, optional
        The run's record, as `load` gives it; the entry then names the run's profile, seed and
        commit, its data and the parameters that are not the profile's, and has a key of its own
        unless it is the committed run's. The address of the card is in it where the site has one
        (`membership.book.home`).

    Returns
    -------
    str
        The entry, ending in a newline. The paper's own is `membership.book.published.bibtex`.

    Raises
    ------
    InputError
        There is no such exhibit.
    """
    exhibit = find(exhibit_id)
    exhibit_id = exhibit["id"]
    fields = {
        "title": f"{{{_title(exhibit, record or {})}}}",
        "author": _AUTHOR,
        "howpublished": "membership: the reference companion to five membership-inference papers",
        "year": membership.__date__[:4],
        "version": membership.__version__,
        "note": _plain(_note(exhibit_id, record)),
    }
    # An address that holds on this disk only is none: the note has the id.
    if address := home.site():
        page = page_of(exhibit_id)
        fields["url"] = f"{address}book/chapters/{page}.html#{exhibit_id}"
    return bibliography.entry("misc", f"membership-{exhibit_id}{_of_its_own(record)}", fields)


def catalogue(profile: str = "paper", root: Path | str | None = None) -> "pd.DataFrame":
    """Every exhibit of the companion, and whether a run of it is at hand.

    Parameters
    ----------
    profile : str, default "paper"
        The profile whose results are looked for.
    root : Path or str, optional
        The results folder; the project's own unless given.

    Returns
    -------
    pandas.DataFrame
        Columns ``chapter``, ``id``, ``label``, ``kind``, ``content`` and, boolean, ``run``.
    """
    import pandas as pd  # lists and citations, which need none, answer at once

    def is_run(exhibit: dict[str, str]) -> bool:
        target = files.location(exhibit["id"], exhibit["chapter"], profile, root)
        return target.with_suffix(".json").is_file()

    return pd.DataFrame([exhibit | {"run": is_run(exhibit)} for exhibit in listed()])


def _of_its_own(record: dict[str, Any] | None) -> str:
    """The end of an entry's key: by the table of a run that is not the committed one."""
    if record is None or (record["profile"] == "paper" and "parameters" not in record):
        return ""
    return f"-{record['profile']}-{record['csv_sha256'][:8]}"


def _title(exhibit: dict[str, str], record: dict[str, Any]) -> str:
    """What was made: of the reader's own data nothing of the paper's is regenerated."""
    content = _plain(exhibit["content"])
    if own := record.get("own_data"):
        return f"After {name(exhibit['id'])}, on {_plain(', '.join(own))} (own data): {content}"
    return f"{name(exhibit['id'])}, regenerated: {content}"


def _note(exhibit_id: str, record: dict[str, Any] | None) -> str:
    if record is None:
        return f"Exhibit {exhibit_id}"
    commit = f", commit {record['commit']}" if record["commit"] else ""
    size = "full run" if record["profile"] == "paper" else f"{record['profile']} run"
    own = record.get("own_data", ())
    data = [f"{one} (own data)" if one in own else one for one in record.get("data", {})]
    on = f", on {', '.join(data)}" if data and "parameters" in record else ""
    changed = [f"{key} = {value}" for key, value in record.get("parameters", {}).items()]
    given = f", with {', '.join(changed)}" if changed else ""
    return f"Exhibit {exhibit_id}, {size}{on}{given}, seed {record['seed']}{commit}"


def _plain(text: str) -> str:
    """Text that BibTeX prints as it stands."""
    return "".join(f"\\{letter}" if letter in "%&#_$" else letter for letter in text)


AS_PAPER = "paper's size and data"
SMALLER = "smaller"
OTHER = "other set-up"
UNKNOWN = "size not on record"
SUBSTITUTE = "substitute data"
COMPUTED = "computed"
RECIPE = "recipe"
NOT_RUN = "not run"
STANDINGS = {
    AS_PAPER: "nothing differs that the numbers depend on; fewer repeats only widen the interval",
    SMALLER: "the paper's data, but fewer records, models or units than the numbers depend on",
    OTHER: "the paper's data, but another network, recipe or feature extractor",
    UNKNOWN: "the paper's data; the paper's own sizes are not in the text at hand",
    SUBSTITUTE: "public or simulated data in the place of the paper's",
    COMPUTED: "closed forms, simulations and printed tables: no data set",
    RECIPE: "not run here; a page says how",
    NOT_RUN: "not run here",
}


def standing(exhibit: "Exhibit", run: "Panel | None") -> tuple[str, ...]:
    """The words of `STANDINGS` that hold, in their order; several where its data sets differ."""
    if run is None:
        return (RECIPE if recipe(exhibit.id) else NOT_RUN,)
    if not run.about["data"]:
        return (COMPUTED,)
    return tuple(word for word in STANDINGS if word in exhibit.standing)


def recipe(exhibit_id: str) -> str:
    """The page of the book that says how to make an exhibit that is not run, or nothing."""
    pages = sorted((paths.project_root() / "book").glob("*_recipe.md"))
    stems = [page.stem for page in pages if exhibit_id in page.read_text(encoding="utf-8")]
    return stems[0] if stems else ""
