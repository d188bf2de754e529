"""How to cite an exhibit, and which exhibits have been run."""

from pathlib import Path
from typing import Any

import pandas as pd

import membership
from membership.exhibits import files
from membership.exhibits.homes import page_of
from membership.exhibits.listing import find, listed, name
from membership.published.bibliography import entry

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
        commit. The address of the card is in it where the site has one (``membership.__url__``).

    Returns
    -------
    str
        The entry, ending in a newline. The paper's own is `membership.published.bibtex`.

    Raises
    ------
    InputError
        There is no such exhibit.
    """
    exhibit = find(exhibit_id)
    fields = {
        "title": f"{{{name(exhibit_id)}, regenerated: {_plain(exhibit['content'])}}}",
        "author": _AUTHOR,
        "howpublished": "membership: the reference companion to five membership-inference papers",
        "year": membership.__date__[:4],
        "version": membership.__version__,
        "note": _plain(_note(exhibit_id, record)),
    }
    # An address that holds on this disk only is none: the note has the id.
    if membership.__url__:
        fields["url"] = permalink(exhibit_id)
    return entry("misc", f"membership-{exhibit_id}", fields)


def catalogue(profile: str = "paper", root: Path | str | None = None) -> pd.DataFrame:
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
    table = listed()
    table["run"] = [
        files.location(row.id, row.chapter, profile, root).with_suffix(".json").is_file()
        for row in table.itertuples()
    ]
    return table


def permalink(exhibit_id: str) -> str:
    """The address of an exhibit's card on the published site."""
    known = find(exhibit_id)["id"]
    return f"{membership.__url__}book/chapters/{page_of(known)}.html#{known}"


def _note(exhibit_id: str, record: dict[str, Any] | None) -> str:
    if record is None:
        return f"Exhibit {exhibit_id}"
    commit = f", commit {record['commit']}" if record["commit"] else ""
    size = "paper-size run" if record["profile"] == "paper" else f"{record['profile']} run"
    return f"Exhibit {exhibit_id}, {size}, seed {record['seed']}{commit}"


def _plain(text: str) -> str:
    """Text that BibTeX prints as it stands."""
    return "".join(f"\\{letter}" if letter in "%&#_$" else letter for letter in text)
