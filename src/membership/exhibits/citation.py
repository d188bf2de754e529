"""How to cite an exhibit, and which exhibits have been run."""

from pathlib import Path
from typing import Any

import pandas as pd

import membership
from membership import published
from membership.exhibits import files
from membership.exhibits.listing import find, name
from membership.published.bibliography import entry

# As in CITATION.cff.
_AUTHOR = "{The membership companion's authors}"


def bibtex(exhibit_id: str, record: dict[str, Any] | None = None) -> str:
    """BibTeX for an exhibit as this companion regenerates it; cite its paper beside it.

    Parameters
    ----------
    exhibit_id : str
        Such as ``"bayes-optimal-tab-1"``.
    record : dict, optional
        The run's record, as `load` gives it; the entry then names the run's profile, seed and
        commit.

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
        "version": membership.__version__,
        "note": _plain(_note(exhibit_id, record)),
    }
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
        `membership.published.exhibits` with a boolean column ``run``.
    """
    listed = published.exhibits()
    listed["run"] = [
        files.location(row.id, row.chapter, profile, root).with_suffix(".json").is_file()
        for row in listed.itertuples()
    ]
    return listed


def _note(exhibit_id: str, record: dict[str, Any] | None) -> str:
    if record is None:
        return f"Exhibit {exhibit_id}"
    commit = f", commit {record['commit']}" if record["commit"] else ""
    return f"Exhibit {exhibit_id}, profile {record['profile']}, seed {record['seed']}{commit}"


def _plain(text: str) -> str:
    """Text that BibTeX prints as it stands."""
    return "".join(f"\\{letter}" if letter in "%&#_$" else letter for letter in text)
