"""Finding one exhibit in the catalogue."""

import difflib

from membership import published
from membership.errors import InputError


def find(exhibit_id: str) -> dict[str, str]:
    """The catalogue's entry for one exhibit.

    Parameters
    ----------
    exhibit_id : str
        Such as ``"bayes-optimal-tab-1"``.

    Returns
    -------
    dict
        ``chapter``, ``id``, ``label``, ``kind``, ``content``.

    Raises
    ------
    InputError
        There is no such exhibit; the message suggests the nearest.
    """
    listed = published.exhibits()
    row = listed[listed["id"] == exhibit_id]
    if row.empty:
        nearest = difflib.get_close_matches(str(exhibit_id), listed["id"], n=1)
        hint = f"did you mean {nearest[0]!r}?" if nearest else "see exhibits.catalogue()"
        raise InputError(f"no exhibit {exhibit_id!r}; {hint}")
    return row.iloc[0].to_dict()


def name(exhibit_id: str) -> str:
    """The exhibit in words: "Table 1 of Sablayrolles et al. (2019)", or "Control 1, to ...".

    Raises
    ------
    InputError
        There is no such exhibit.
    """
    exhibit = find(exhibit_id)
    paper = published.papers[exhibit["chapter"]].short
    joint = ", an addition to" if exhibit["kind"] == "control" else " of"
    return f"{exhibit['label']}{joint} {paper}"
