"""The catalogue of all exhibits, and finding one in it."""

import difflib
import tomllib
from importlib.resources import files

import pandas as pd

from membership import published
from membership.errors import InputError
from membership.exhibits.declaration import declared
from membership.exhibits.homes import chapter_of

COLUMNS = ["chapter", "id", "label", "kind", "content"]


def listed(chapter: str | None = None) -> pd.DataFrame:
    """The exhibits of the companion, each chapter's in the order of its page."""
    if chapter is not None and chapter not in published.subjects:
        known = ", ".join(published.subjects)
        raise InputError(f"no chapter {chapter!r}; the chapters are {known}")
    names = list(published.subjects) if chapter is None else [chapter]
    return pd.concat([_of_chapter(name) for name in names], ignore_index=True)


def _of_chapter(chapter: str) -> pd.DataFrame:
    rows = [
        [chapter, exhibit.id, exhibit.label, exhibit.kind, exhibit.content]
        for exhibit in declared(chapter)
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def find(exhibit_id: str) -> dict[str, str]:
    """The catalogue's entry for one exhibit."""
    chapter = chapter_of(exhibit_id)
    # One chapter's declarations are imported quickly, all of them are not.
    entries = listed(chapter if chapter in published.subjects else None)
    row = entries[entries["id"] == exhibit_id]
    if row.empty:
        if heir := retired().get(exhibit_id):
            raise InputError(f"exhibit {exhibit_id!r} is retired; {heir!r} took its place")
        known = list(listed()["id"])
        named = [full_id for full_id in known if full_id.endswith(f"-{exhibit_id}")]
        near = named or difflib.get_close_matches(str(exhibit_id), known, n=1)
        several = " or ".join(map(repr, near))
        hint = f"did you mean {several}?" if near else "see exhibits.catalogue()"
        raise InputError(f"no exhibit {exhibit_id!r}; {hint}")
    return row.iloc[0].to_dict()


def retired() -> dict[str, str]:
    """The ids of exhibits that are gone, each with the exhibit, or the tests, in their place."""
    text = files(__package__).joinpath("retired.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def name(exhibit_id: str) -> str:
    """The exhibit in words: "Table 1 of Sablayrolles et al. (2019)", or "Control 1, to ..."."""
    exhibit = find(exhibit_id)
    added = exhibit["kind"] == "control" and exhibit["chapter"] in published.papers
    joint = ", an addition to" if added else " of"
    return f"{exhibit['label']}{joint} {published.subjects[exhibit['chapter']].short}"
